//! The table of attacks: what was tried, and whether it held.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitStatus;

use anyhow::{Context, Result};

use crate::junit::{self, Outcome, Said};

/// A class of attacks and its outcome.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) class: &'static str,
    pub(super) state: State,
    /// How much was tried.
    pub(super) tried: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Held,
    /// What was tried held; some of it could not be tried on this machine.
    Partly,
    /// Nothing could be tried on this machine.
    NotTried,
    Broken,
}

impl Row {
    /// The row for a run of tests, from its report.
    pub(super) fn of_tests(class: &'static str, report: &Path, status: ExitStatus) -> Result<Self> {
        let Ok(xml) = fs::read_to_string(report) else {
            return Ok(Self {
                class,
                state: State::Broken,
                tried: format!("nothing: the tests did not run, nextest ended with {status}"),
            });
        };
        let cannot = || format!("cannot read {}", report.display());
        let outcome = junit::read(&xml).with_context(cannot)?;
        let said = junit::said(&xml).with_context(cannot)?;
        Ok(Self {
            class,
            state: state(&outcome, &said, status.success()),
            tried: in_words(&outcome, &said),
        })
    }
}

fn state(outcome: &Outcome, said: &Said, success: bool) -> State {
    if !success || !outcome.failed.is_empty() || outcome.passed.is_empty() {
        return State::Broken;
    }
    match said.not_tried.len() {
        0 => State::Held,
        some if some < outcome.passed.len() => State::Partly,
        _ => State::NotTried,
    }
}

/// `17 tests: 1000000 variants of inputs; 1 not tried (nothing can be mounted here)`.
fn in_words(outcome: &Outcome, said: &Said) -> String {
    let mut text = format!("{} tests", outcome.passed.len() + outcome.failed.len());
    let mut before = ": ";
    for (what, count) in &said.tried {
        text += &format!("{before}{count} {what}");
        before = ", ";
    }
    if !outcome.failed.is_empty() {
        text += &format!("; {} failed", outcome.failed.len());
    }
    if !said.not_tried.is_empty() {
        let reasons: BTreeSet<&str> = said.not_tried.iter().map(String::as_str).collect();
        let reasons = reasons.into_iter().collect::<Vec<_>>().join("; ");
        text += &format!("; {} not tried ({reasons})", said.not_tried.len());
    }
    text
}

/// Formats the rows below a header.
pub(super) fn table(rows: &[Row]) -> String {
    let mut text = format!("{:<10} {:<10} tried\n", "class", "");
    for row in rows {
        let state = match row.state {
            State::Held => "held",
            State::Partly => "partly",
            State::NotTried => "not tried",
            State::Broken => "BROKEN",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<10} {state:<10} {}", row.class, row.tried);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::junit::Passed;

    fn outcome(passed: usize, failed: usize) -> Outcome {
        Outcome {
            passed: vec![Passed::named("a"); passed],
            failed: vec!["b".to_owned(); failed],
        }
    }

    fn said(tried: &[(&str, u64)], not_tried: &[&str]) -> Said {
        Said {
            tried: tried.iter().map(|&(what, n)| (what.into(), n)).collect(),
            not_tried: not_tried.iter().map(|&why| why.to_owned()).collect(),
        }
    }

    #[test]
    fn what_was_not_tried_did_not_hold() {
        let nothing = said(&[], &[]);
        assert_eq!(state(&outcome(3, 0), &nothing, true), State::Held);
        let one = said(&[], &["no mount"]);
        assert_eq!(state(&outcome(3, 0), &one, true), State::Partly);
        assert_eq!(state(&outcome(1, 0), &one, true), State::NotTried);
    }

    #[test]
    fn a_class_without_tests_or_with_a_failure_is_broken() {
        let nothing = said(&[], &[]);
        assert_eq!(state(&outcome(0, 0), &nothing, true), State::Broken);
        assert_eq!(state(&outcome(3, 1), &nothing, true), State::Broken);
        // It was stopped, or did not start.
        assert_eq!(state(&outcome(3, 0), &nothing, false), State::Broken);
    }

    #[test]
    fn a_row_says_how_much_was_tried_and_what_was_not() {
        assert_eq!(in_words(&outcome(7, 0), &said(&[], &[])), "7 tests");
        let counted = said(&[("accesses", 1_000_000), ("calls", 5)], &[]);
        assert_eq!(
            in_words(&outcome(4, 1), &counted),
            "5 tests: 1000000 accesses, 5 calls; 1 failed"
        );
        let skipped = said(&[("lines", 9)], &["no mount", "no mount", "no Landlock"]);
        assert_eq!(
            in_words(&outcome(4, 0), &skipped),
            "4 tests: 9 lines; 3 not tried (no Landlock; no mount)"
        );
    }

    #[test]
    fn the_table_names_every_class() {
        let row = |class, state| Row {
            class,
            state,
            tried: "2 tests".to_owned(),
        };
        let rows = [row("lines", State::Held), row("sandbox", State::NotTried)];
        assert_eq!(
            table(&rows),
            "class                 tried\n\
             lines      held       2 tests\n\
             sandbox    not tried  2 tests\n"
        );
    }
}
