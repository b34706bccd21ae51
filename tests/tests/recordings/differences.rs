//! Differences from what was recorded, and the reasons that are given for them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
};

use serde::Deserialize;

use crate::{
    data,
    pattern::{fits, is_too_wide},
    shape::Fault,
};

/// Something that is not as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Difference {
    /// A field of a frame: the frame's name, the path.
    Field(Fault, String, String),
    /// A frame was recorded and does not come.
    FrameMissing(String),
    /// A frame comes that was not recorded.
    FrameAdditional(String),
    /// A frame comes in another place.
    FrameMoved(String),
    /// The exit code is another one.
    Exit(String),
    /// What the SDK waited for never came.
    Hangs(String),
}

impl Difference {
    /// What kind of difference it is and of what, as reasons say it.
    fn place(&self) -> (&'static str, String) {
        match self {
            Self::Field(fault, label, path) => {
                let kind = match fault {
                    Fault::Missing => "missing",
                    Fault::Additional => "additional",
                    Fault::OtherKind => "other_kind",
                    Fault::OtherValue => "other_value",
                };
                (kind, format!("{label}: {path}"))
            }
            Self::FrameMissing(label) => ("missing", label.clone()),
            Self::FrameAdditional(label) => ("additional", label.clone()),
            Self::FrameMoved(label) => ("moved", label.clone()),
            Self::Exit(codes) => ("exit", codes.clone()),
            Self::Hangs(label) => ("hangs", label.clone()),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, place) = self.place();
        write!(f, "{kind:<11} {place}")
    }
}

/// Differences by what they are, and the scenarios in which they were met with what was seen there.
#[derive(Default)]
pub(crate) struct Differences(pub(crate) BTreeMap<Difference, BTreeMap<String, String>>);

impl Differences {
    pub(crate) fn add(&mut self, difference: Difference, scenario: &str, detail: String) {
        let met = self.0.entry(difference).or_default();
        met.entry(scenario.to_owned()).or_insert(detail);
    }

    pub(crate) fn extend(&mut self, others: Self) {
        for (difference, met) in others.0 {
            self.0.entry(difference).or_default().extend(met);
        }
    }
}

/// `tests/recordings/differences.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reasons {
    because: Vec<Reason>,
}

/// Why something differs. Patterns say what it speaks of: names of frames, or `frame: path` for fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    reason: String,
    #[serde(default)]
    missing: Vec<String>,
    #[serde(default)]
    additional: Vec<String>,
    #[serde(default)]
    moved: Vec<String>,
    #[serde(default)]
    other_kind: Vec<String>,
    #[serde(default)]
    other_value: Vec<String>,
    #[serde(default)]
    exit: Vec<String>,
    #[serde(default)]
    hangs: Vec<String>,
    /// Only in these scenarios.
    #[serde(default)]
    scenarios: Vec<String>,
}

impl Reason {
    fn patterns(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("missing", &self.missing),
            ("additional", &self.additional),
            ("moved", &self.moved),
            ("other_kind", &self.other_kind),
            ("other_value", &self.other_value),
            ("exit", &self.exit),
            ("hangs", &self.hangs),
        ];
        all.into_iter()
            .flat_map(|(kind, patterns)| patterns.iter().map(move |text| (kind, text.as_str())))
    }

    fn speaks_of(&self, scenario: &str) -> bool {
        self.scenarios.is_empty() || self.scenarios.iter().any(|name| fits(name, scenario))
    }
}

impl Reasons {
    pub(crate) fn read() -> Self {
        let path = data("differences.toml");
        let text = fs::read_to_string(&path).unwrap();
        Self::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// # Errors
    /// When the text is no list of reasons, or a pattern in it is too wide.
    fn parse(text: &str) -> Result<Self, String> {
        let reasons: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        for (kind, pattern) in reasons.because.iter().flat_map(Reason::patterns) {
            if let Some(why) = is_too_wide(pattern) {
                return Err(format!("{kind} {pattern:?} is too wide: {why}"));
            }
        }
        Ok(reasons)
    }

    /// The reasons that speak of a difference, each with the pattern that fits.
    fn fitting(&self, kind: &str, place: &str, scenario: &str) -> Vec<(usize, &str)> {
        let speaking = self.because.iter().enumerate();
        speaking
            .filter(|(_, reason)| reason.speaks_of(scenario))
            .flat_map(|(index, reason)| {
                let patterns = reason.patterns();
                let fitting = patterns.filter(|(of, text)| *of == kind && fits(text, place));
                fitting
                    .map(move |(_, text)| (index, text))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Holds differences against the reasons: how many each explains, what nobody explains, what explains nothing.
    pub(crate) fn judge(&self, differences: &Differences, is_complete: bool) -> Judgement {
        let mut unexplained = String::new();
        let mut explained: BTreeMap<&str, usize> = BTreeMap::new();
        let mut used: BTreeSet<(usize, &str, &str)> = BTreeSet::new();
        for (difference, met) in &differences.0 {
            let (kind, place) = difference.place();
            let mut left: Vec<(&str, &str)> = Vec::new();
            for (scenario, detail) in met {
                let fitting = self.fitting(kind, &place, scenario);
                match fitting.first() {
                    Some((index, _)) => {
                        *explained.entry(&self.because[*index].reason).or_default() += 1;
                        used.extend(fitting.into_iter().map(|(index, text)| (index, kind, text)));
                    }
                    None => left.push((scenario, detail)),
                }
            }
            if let Some((first, detail)) = left.first() {
                let more = left.len() - 1;
                unexplained.push_str(&format!(
                    "{difference}   ({detail}; {first} and {more} more)\n"
                ));
            }
        }
        let mut stale = String::new();
        for (index, reason) in self.because.iter().enumerate() {
            for (kind, pattern) in reason.patterns() {
                if is_complete && !used.contains(&(index, kind, pattern)) {
                    stale.push_str(&format!("{kind} {pattern:?} ({})\n", reason.reason));
                }
            }
        }
        Judgement {
            explained: explained
                .into_iter()
                .map(|(reason, times)| (reason.to_owned(), times))
                .collect(),
            unexplained,
            stale,
        }
    }
}

/// What comes of holding differences against reasons.
pub(crate) struct Judgement {
    explained: Vec<(String, usize)>,
    unexplained: String,
    stale: String,
}

impl Judgement {
    /// Says how much was explained.
    ///
    /// # Panics
    /// When anything was not, or a reason explains nothing.
    pub(crate) fn settle(&self, looked_at: &str) {
        println!("{looked_at}; differences by reason:");
        for (reason, times) in &self.explained {
            println!("{times:>5}  {reason}");
        }
        let Self {
            unexplained, stale, ..
        } = self;
        assert!(
            unexplained.is_empty() && stale.is_empty(),
            "differences without a reason in tests/recordings/differences.toml:\n{unexplained}\nreasons for differences \
             that there are not:\n{stale}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(patterns: &str) -> Result<Reasons, String> {
        Reasons::parse(&format!("[[because]]\nreason = \"so\"\n{patterns}"))
    }

    fn other_value() -> Differences {
        let mut differences = Differences::default();
        let field = Difference::Field(Fault::OtherValue, "a".to_owned(), "b.c".to_owned());
        differences.add(field, "s", "1 in place of 2".to_owned());
        differences
    }

    #[test]
    fn a_difference_needs_a_reason_and_a_reason_a_difference() {
        let judge = |patterns| reasons(patterns).unwrap().judge(&other_value(), true);
        let fits = judge("other_value = ['a: b.c']");
        assert_eq!((fits.unexplained.as_str(), fits.stale.as_str()), ("", ""));
        let other = judge("missing = ['a: b.c']");
        assert!(
            other.unexplained.contains("1 in place of 2"),
            "{}",
            other.unexplained
        );
        assert!(other.stale.contains("a: b.c"), "{}", other.stale);
    }

    #[test]
    fn a_pattern_that_is_too_wide_is_refused() {
        let refusal = reasons("missing = ['a: b.c', '*: b.*']")
            .err()
            .unwrap_or_default();
        assert!(refusal.contains("\"*: b.*\" is too wide"), "{refusal}");
    }
}
