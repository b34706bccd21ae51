//! `cargo xtask test`: every check of the repository, cheapest first.

mod deny;
mod steps;

use std::cell::OnceCell;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::artefacts::{self, Artefacts};
use crate::junit::Outcome;
use crate::progress;
use crate::workspace::Workspace;

/// Which checks to run.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Names of the only steps to run; empty for all.
    pub(crate) only: Vec<String>,
    /// Run only tests whose name contains this.
    pub(crate) filter: Option<String>,
    /// Run only the tests of this test target.
    pub(crate) target: Option<String>,
}

/// A check. It returns the tests that it ran; a check without tests counts as one.
struct Step {
    name: &'static str,
    work: fn(&Run<'_>) -> Result<Report>,
}

/// The context of a step.
struct Run<'a> {
    workspace: &'a Workspace,
    options: &'a Options,
    /// The tests of the previous steps.
    tests: Outcome,
    artefacts: OnceCell<Artefacts>,
}

impl Run<'_> {
    /// The wasm32 artefacts, which several steps need.
    fn artefacts(&self) -> Result<&Artefacts> {
        if let Some(built) = self.artefacts.get() {
            return Ok(built);
        }
        let built = artefacts::build(self.workspace)?;
        Ok(self.artefacts.get_or_init(|| built))
    }
}

/// The outcome of a step that could be carried out.
enum Report {
    /// The check holds.
    Holds,
    /// The step ran these tests.
    Tests(Outcome),
    /// The check holds; the text says what it covered.
    Said(String),
    /// There was nothing to check, for this reason.
    Skipped(&'static str),
}

const STEPS: [Step; 11] = [
    Step {
        name: "fmt",
        work: steps::fmt,
    },
    Step {
        name: "clippy",
        work: steps::clippy,
    },
    Step {
        name: "doc",
        work: steps::doc,
    },
    Step {
        name: "deny",
        work: deny::check,
    },
    Step {
        name: "wasm",
        work: steps::wasm,
    },
    Step {
        name: "tests",
        work: steps::tests,
    },
    Step {
        name: "doctests",
        work: steps::doctests,
    },
    Step {
        name: "simulate",
        work: steps::simulate,
    },
    Step {
        name: "package",
        work: steps::package,
    },
    Step {
        name: "parity",
        work: steps::parity,
    },
    Step {
        name: "features",
        work: steps::features,
    },
];

/// The names of the steps, in order.
pub(crate) fn step_names() -> Vec<&'static str> {
    STEPS.iter().map(|step| step.name).collect()
}

/// Runs the steps until one fails, and prints the times and the test count.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<ExitCode> {
    if let Some(unknown) = options
        .only
        .iter()
        .find(|name| !step_names().contains(&name.as_str()))
    {
        bail!(
            "no step is called `{unknown}`; there are {}",
            step_names().join(", ")
        );
    }
    let begun = Instant::now();
    let mut run = Run {
        workspace,
        options,
        tests: Outcome::default(),
        artefacts: OnceCell::new(),
    };
    let mut summary = Vec::new();
    let (mut passed, mut failed) = (0, 0);
    for step in STEPS.iter().filter(|step| options.includes(step.name)) {
        let begun = Instant::now();
        let report = progress::step(step.name, || (step.work)(&run));
        let (said, more_passed, more_failed) = judge(&report);
        passed += more_passed;
        failed += more_failed;
        summary.push((step.name, begun.elapsed(), said));
        match report {
            Err(error) => progress::failure(&format!("{}: {error:#}", step.name)),
            Ok(Report::Tests(mut outcome)) => {
                run.tests.passed.append(&mut outcome.passed);
                run.tests.failed.append(&mut outcome.failed);
            }
            Ok(_) => {}
        }
        if failed > 0 {
            break;
        }
    }
    print_summary(&summary, begun.elapsed(), &run.tests.failed);
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Options {
    fn includes(&self, step: &str) -> bool {
        let some_tests = self.filter.is_some() || self.target.is_some();
        match (some_tests, self.only.is_empty()) {
            (_, false) => self.only.iter().any(|only| only == step),
            (true, true) => step == "tests",
            (false, true) => true,
        }
    }

    /// The cargo arguments that select test targets.
    fn target_arguments(&self) -> Vec<&str> {
        self.target
            .as_deref()
            .map_or_else(Vec::new, |name| vec!["--test", name])
    }

    /// Whether all tests of this target are run.
    fn runs_all_of(&self, target: &str) -> bool {
        self.includes("tests")
            && self.filter.is_none()
            && self.target.as_deref().is_none_or(|only| only == target)
    }
}

/// The summary of a step, and its numbers of passed and failed tests.
fn judge(report: &Result<Report>) -> (String, usize, usize) {
    match report {
        Ok(Report::Holds) => ("ok".to_owned(), 1, 0),
        Ok(Report::Said(what)) => (what.clone(), 1, 0),
        Ok(Report::Skipped(why)) => (format!("skipped: {why}"), 0, 0),
        Ok(Report::Tests(Outcome { passed, failed })) => {
            let (passed, failed) = (passed.len(), failed.len());
            (format!("{passed} passed, {failed} failed"), passed, failed)
        }
        Err(_) => ("failed".to_owned(), 0, 1),
    }
}

fn print_summary(steps: &[(&str, Duration, String)], total: Duration, failed_tests: &[String]) {
    println!();
    for (name, took, said) in steps {
        println!("{name:<10} {:>14}  {said}", progress::seconds(*took));
    }
    println!("{:<10} {:>14}", "all", progress::seconds(total));
    for test in failed_tests {
        println!("failed: {test}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::junit::Passed;

    fn chosen(only: &[&str], filter: Option<&str>) -> Vec<&'static str> {
        let options = Options {
            only: only.iter().map(|&name| name.to_owned()).collect(),
            filter: filter.map(str::to_owned),
            target: None,
        };
        step_names()
            .into_iter()
            .filter(|name| options.includes(name))
            .collect()
    }

    #[test]
    fn without_options_every_step_runs_in_order() {
        assert_eq!(chosen(&[], None), step_names());
    }

    #[test]
    fn only_and_filter_choose_steps() {
        assert_eq!(chosen(&["doc", "fmt"], None), ["fmt", "doc"]);
        assert_eq!(chosen(&[], Some("loop_7")), ["tests"]);
        assert_eq!(
            chosen(&["wasm", "tests"], Some("loop_7")),
            ["wasm", "tests"]
        );
    }

    #[test]
    fn a_test_target_is_chosen_by_name_and_what_tells_of_others_is_known() {
        let all = Options::default();
        assert!(all.runs_all_of("sdk") && all.target_arguments().is_empty());
        let one = Options {
            target: Some("sdk".to_owned()),
            ..Options::default()
        };
        assert!(one.includes("tests") && !one.includes("fmt"));
        assert_eq!(one.target_arguments(), ["--test", "sdk"]);
        assert!(one.runs_all_of("sdk") && !one.runs_all_of("browser"));
        let some = Options {
            filter: Some("sdk_1".to_owned()),
            ..Options::default()
        };
        assert!(!some.runs_all_of("sdk"));
    }

    #[test]
    fn the_count_never_hides_a_failure() {
        assert_eq!(
            judge(&Err(anyhow::anyhow!("no"))),
            ("failed".to_owned(), 0, 1)
        );
        let tests = Outcome {
            passed: vec![Passed::named("a"), Passed::named("b")],
            failed: vec!["c".into()],
        };
        assert_eq!(
            judge(&Ok(Report::Tests(tests))),
            ("2 passed, 1 failed".to_owned(), 2, 1)
        );
        assert_eq!(judge(&Ok(Report::Holds)), ("ok".to_owned(), 1, 0));
    }
}
