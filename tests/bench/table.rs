//! The table that is printed: figure, ours, baseline, ratio, and what it is held to.

use std::fmt;

/// Rows in the order measured.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

struct Row {
    figure: String,
    ours: String,
    baseline: String,
    ratio: String,
    goal: String,
    met: Option<bool>,
}

/// What a ratio or a value is held to.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
    None,
}

impl Goal {
    fn met(self, value: f64) -> Option<bool> {
        match self {
            Self::AtMost(limit) => Some(value <= limit),
            Self::AtLeast(limit) => Some(value >= limit),
            Self::None => None,
        }
    }

    fn text(self, unit: &str) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {limit}{unit}"),
            Self::AtLeast(limit) => format!("≥ {limit}{unit}"),
            Self::None => String::new(),
        }
    }
}

impl Table {
    /// Two values of one unit; the goal is about ours divided by the baseline.
    pub(crate) fn pair(&mut self, figure: &str, unit: &str, ours: f64, baseline: f64, goal: Goal) {
        let ratio = ours / baseline;
        self.rows.push(Row {
            figure: figure.to_owned(),
            ours: format!("{} {unit}", short(ours)),
            baseline: format!("{} {unit}", short(baseline)),
            ratio: short(ratio),
            goal: goal.text(" ×"),
            met: goal.met(ratio),
        });
    }

    /// A value of its own.
    pub(crate) fn value(&mut self, figure: &str, unit: &str, ours: f64, goal: Goal) {
        self.rows.push(Row {
            figure: figure.to_owned(),
            ours: format!("{} {unit}", short(ours)),
            baseline: String::new(),
            ratio: String::new(),
            goal: goal.text(&format!(" {unit}")),
            met: goal.met(ours),
        });
    }

    /// A figure that could not be measured here.
    pub(crate) fn skipped(&mut self, figure: &str, why: &str) {
        self.rows.push(Row {
            figure: figure.to_owned(),
            ours: format!("skipped: {why}"),
            baseline: String::new(),
            ratio: String::new(),
            goal: String::new(),
            met: None,
        });
    }
}

/// Three significant digits.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| figure | ours | baseline | ratio | goal | met |")?;
        writeln!(f, "|---|---|---|---|---|---|")?;
        for row in &self.rows {
            let met = match row.met {
                Some(true) => "yes",
                Some(false) => "NO",
                None => "",
            };
            writeln!(
                f,
                "| {} | {} | {} | {} | {} | {met} |",
                row.figure, row.ours, row.baseline, row.ratio, row.goal
            )?;
        }
        Ok(())
    }
}

/// The median of measurements.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs `ours` and `baseline` in turns after one warm-up each, and gives both medians.
pub(crate) fn in_turns(
    rounds: usize,
    mut ours: impl FnMut() -> f64,
    mut baseline: impl FnMut() -> f64,
) -> (f64, f64) {
    ours();
    baseline();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        a.push(ours());
        b.push(baseline());
    }
    (median(a), median(b))
}
