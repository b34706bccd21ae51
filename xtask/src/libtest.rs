//! Parses the output of Rust's own test harness, where there is no report: for documentation tests, and for all tests
//! on a machine without nextest.

use crate::junit::{Outcome, Passed};

/// Adds the test that a line of output reports, if it reports one.
pub(crate) fn read_line(line: &str, outcome: &mut Outcome) {
    let Some((name, result)) = line
        .strip_prefix("test ")
        .and_then(|rest| rest.rsplit_once(" ... "))
    else {
        return;
    };
    match result.trim_end() {
        "ok" => outcome.passed.push(Passed::named(name)),
        "FAILED" => outcome.failed.push(name.to_owned()),
        _ => {} // ignored, or output of the test itself
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_read_from_the_lines_of_the_harness() {
        let printed = "
running 4 tests
test sse::reads ... ok
test core/src/lib.rs - Session (line 12) - compile ... ok
test sse::slow ... ignored, takes an hour
test sse::breaks ... FAILED

test result: FAILED. 2 passed; 1 failed; 1 ignored";
        let mut outcome = Outcome::default();
        printed
            .lines()
            .for_each(|line| read_line(line, &mut outcome));
        assert_eq!(
            outcome.passed,
            [
                Passed::named("sse::reads"),
                Passed::named("core/src/lib.rs - Session (line 12) - compile")
            ]
        );
        assert_eq!(outcome.failed, ["sse::breaks"]);
    }
}
