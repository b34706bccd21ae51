//! What a person reads about the tests of a plugin.

use std::{fmt::Write as _, path::Path};

use windlass::plugins::{CallUsage, DeclaredLimits};

use super::session::Outcome;
use crate::cli::plain::{fit, grouped, one_line};

/// The columns that a call or its result may take.
const COLUMNS: usize = 72;

/// The calls of one test.
pub(super) fn write(text: &mut String, path: &Path, outcomes: &[Outcome]) {
    // Writing to a String cannot fail, here and below.
    let _ = writeln!(text, "{}", path.display());
    for outcome in outcomes {
        let mark = if outcome.faults.is_empty() {
            "✓"
        } else {
            "✗"
        };
        let call = one_line(&outcome.call);
        let _ = writeln!(text, "  {mark} {}", fit(&call, COLUMNS));
        let result = one_line(&outcome.text);
        let _ = writeln!(text, "      {}", fit(&result, COLUMNS));
        let used = match &outcome.usage {
            Some(usage) => used(usage, &outcome.limits),
            None => "the component was not called".to_owned(),
        };
        let _ = writeln!(text, "      {used}");
        for fault in &outcome.faults {
            let _ = writeln!(text, "      but {}", one_line(fault));
        }
    }
}

/// What was used, each of what the plugin declares, if it declares that.
fn used(usage: &CallUsage, limits: &DeclaredLimits) -> String {
    // A usize has at most 64 bits.
    let number = |number: usize| grouped(u64::try_from(number).unwrap_or(u64::MAX));
    let of = |used: String, limit: Option<String>| match limit {
        Some(limit) => format!("{used} of {limit}"),
        None => used,
    };
    let bytes = |used: usize, limit: Option<usize>| of(number(used), limit.map(number));
    let calls = limits.host_calls.map(|calls| grouped(calls.into()));
    format!(
        "fuel {} · memory {} bytes · {} host calls · {} bytes of result · {} of log",
        grouped(usage.fuel),
        bytes(usage.memory, limits.memory_bytes),
        of(grouped(usage.host_calls.into()), calls),
        bytes(usage.output, limits.output_bytes),
        bytes(usage.log, limits.log_bytes),
    )
}

/// The last line.
pub(super) fn sum(tests: usize, calls: usize, failed: usize) -> String {
    let plural = |number: usize| if number == 1 { "" } else { "s" };
    let rest = match failed {
        0 => "all as expected".to_owned(),
        failed => format!("{failed} not as expected"),
    };
    format!(
        "{tests} test{}, {calls} call{}: {rest}\n",
        plural(tests),
        plural(calls)
    )
}
