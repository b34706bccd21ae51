//! What runs is what was judged, in the shell of pages too.
#![allow(clippy::unwrap_used)]

use windlass_shell_judge::{
    CLASSES, Detect, FORBIDDING, JustBash, Line, Permissions, Stage, Tried, corpus, generate,
    generate_for, run_many, try_line, written_out,
};

/// So many generated lines are tried.
const LINES: u64 = 3_000;

/// So many lines are tried where everything may run but what is denied.
const FORBIDDING_LINES: u64 = 500;

/// The least share of generated lines, in hundredths, that must pass: what is refused shows nothing.
const LEAST_PASSING: u64 = 20;

/// Faults after which the search ends.
const MOST_FAULTS: usize = 10;

/// Tries lines; panics with those in which something ran that was not judged.
fn hold(lines: impl IntoIterator<Item = Line>) {
    let stage = Stage::new().unwrap();
    let mut faulty = Vec::new();
    for line in lines {
        if let Tried::Faulty(fault) = try_line(&line, &JustBash, &stage).unwrap() {
            faulty.push(format!(
                "{} ({}): {fault}",
                line.text, line.permissions.name
            ));
        }
    }
    assert!(faulty.is_empty(), "{}", faulty.join("\n"));
}

#[test]
fn perm_4_no_line_that_ever_failed_fails_in_the_shell_of_pages() {
    hold(corpus::failed().unwrap());
}

#[test]
fn perm_4_no_class_that_got_through_gets_through_in_the_shell_of_pages() {
    let runs = CLASSES.iter().filter(|class| class.detect == Detect::Runs);
    let lines = runs.flat_map(|class| class.lines);
    hold(lines.map(|(permissions, text)| Line {
        seed: 0,
        permissions: Permissions::named(permissions).unwrap(),
        text: written_out(text),
    }));
}

/// A form that is known to run more than was judged is found out: the text of the model, without a judgement.
#[test]
fn what_was_not_judged_is_found_in_the_shell_of_pages() {
    let stage = Stage::new().unwrap();
    let line = Line {
        seed: 0,
        permissions: Permissions::named("echo").unwrap(),
        text: "echo \"$(touch CAN)\"".to_owned(),
    };
    let outcome = JustBash::run_as_written(&line.text, &stage).unwrap();
    let ran = outcome.ran.iter().find(|ran| ran.program == "touch");
    assert!(!line.permissions.cover(ran.unwrap()), "{outcome:?}");
    assert!(outcome.files.contains_key("CAN"), "{outcome:?}");
}

/// Tries generated lines, of which enough must pass. Panics with those that are at fault.
fn hold_generated(line_of: &(dyn Fn(u64) -> Line + Sync), count: u64) {
    let tally = run_many(&JustBash, line_of, count, 0, MOST_FAULTS, &|_, _| {}).unwrap();
    let faulty: Vec<String> = (tally.faulty.iter())
        .map(|(line, fault)| format!("seed {}: {:?}\n  {fault}", line.seed, line.text))
        .collect();
    assert!(faulty.is_empty(), "{}", faulty.join("\n"));
    let passed = tally.passed;
    assert!(passed * 100 >= count * LEAST_PASSING, "{passed} passed");
}

#[test]
fn perm_4_of_generated_lines_only_what_was_judged_runs_in_the_shell_of_pages() {
    hold_generated(&generate, LINES);
}

#[test]
fn perm_4_what_is_denied_does_not_run_in_the_shell_of_pages() {
    hold_generated(&|seed| generate_for(FORBIDDING, seed), FORBIDDING_LINES);
}
