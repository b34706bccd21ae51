//! What runs is what was judged, for every line.
#![allow(clippy::unwrap_used)]

use std::env;

use windlass_shell_judge::{
    CLASSES, Detect, FORBIDDING, Judged, LEAST_PASSING, Line, Permissions, Reading, Stage, Tried,
    corpus, generate, generate_for, run_many, shrink, try_line, written_out,
};

/// So many lines are tried when nothing is said.
const LINES: u64 = 20_000;

/// So many lines are tried where everything may run but what is denied.
const FORBIDDING_LINES: u64 = 3_000;

/// The least share of them, in hundredths, that must pass.
const LEAST_PASSING_FORBIDDING: u64 = 20;

/// Faults after which the search ends.
const MOST_FAULTS: usize = 10;

fn reading() -> &'static dyn Reading {
    &Judged
}

/// Tries lines, and panics with those that are at fault.
fn hold(lines: impl IntoIterator<Item = Line>) {
    let stage = Stage::new().unwrap();
    let mut faulty = Vec::new();
    for line in lines {
        if let Tried::Faulty(fault) = try_line(&line, reading(), &stage).unwrap() {
            faulty.push(format!(
                "{} ({}): {fault}",
                line.text, line.permissions.name
            ));
        }
    }
    assert!(faulty.is_empty(), "{}", faulty.join("\n"));
}

#[test]
fn perm_4_no_line_that_ever_failed_fails() {
    hold(corpus::failed().unwrap());
}

#[test]
fn perm_4_no_class_that_got_through_gets_through() {
    let mut lines = Vec::new();
    for class in CLASSES {
        assert!(
            class.lines.len() >= 5,
            "{}: {} lines",
            class.name,
            class.lines.len()
        );
        for (permissions, text) in class.lines {
            let line = Line {
                seed: 0,
                permissions: Permissions::named(permissions).unwrap(),
                text: written_out(text),
            };
            if class.detect != Detect::Runs {
                let stage = Stage::new().unwrap();
                let passes = reading().passes(&line.text, &line.permissions, &stage);
                assert!(passes.is_none(), "{}: {text}", class.name);
                continue;
            }
            lines.push(line);
        }
    }
    hold(lines);
}

/// Tries generated lines, and gives how many passed. Panics with those that are at fault.
fn passed(line_of: &(dyn Fn(u64) -> Line + Sync), count: u64) -> u64 {
    let tally = run_many(reading(), line_of, count, 0, MOST_FAULTS, &|_, _| {}).unwrap();
    let stage = Stage::new().unwrap();
    let mut report = String::new();
    for (line, fault) in &tally.faulty {
        let (short, fault) = shrink(line, fault, reading(), &stage).unwrap();
        report += &format!(
            "seed {}: {:?}\n  {fault}\n  shortest: {}\n",
            line.seed,
            line.text,
            corpus::row(&short).unwrap()
        );
    }
    println!("{} lines, {} passed", tally.tried, tally.passed);
    assert!(tally.faulty.is_empty(), "{report}");
    tally.passed
}

#[test]
fn perm_4_of_generated_lines_only_what_was_judged_runs() {
    let count = env::var("WINDLASS_JUDGE_LINES")
        .ok()
        .map_or(LINES, |count| count.parse().unwrap());
    let passed = passed(&generate, count);
    assert!(
        passed * 100 >= count * LEAST_PASSING,
        "{passed} of {count} passed"
    );
}

#[test]
fn perm_4_where_all_may_run_but_what_is_denied_that_does_not_run() {
    let passed = passed(&|seed| generate_for(FORBIDDING, seed), FORBIDDING_LINES);
    assert!(
        passed * 100 >= FORBIDDING_LINES * LEAST_PASSING_FORBIDDING,
        "{passed} of {FORBIDDING_LINES} passed"
    );
}
