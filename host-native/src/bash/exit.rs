//! How a command ended, and what its exit code means.

use std::process::ExitStatus;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It exited with this code.
    Code(i32),
    /// It was ended by a signal that this tool did not send.
    Signal(i32),
    /// Stopped at its time limit.
    OutOfTime,
    /// It was stopped because the call was cancelled.
    Cancelled,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), crate::os::ending_signal(status)) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            // A process that was waited for has one or the other.
            (None, None) => Self::Code(-1),
        }
    }
}

/// The meaning of an exit code that is an answer rather than a failure. `is_quiet` if nothing was written to standard error.
pub(super) fn meaning(command: &str, code: i32, is_quiet: bool) -> Option<&'static str> {
    if code != 1 {
        return None;
    }
    match last_program(command, is_quiet)? {
        "grep" | "egrep" | "fgrep" | "rg" => Some("No matches found"),
        "diff" | "cmp" => Some("Files differ"),
        "test" | "[" => Some("Condition is false"),
        "find" => Some("Some directories were inaccessible"),
        _ => None,
    }
}

/// The program that determines the exit code, if the command is simple enough to tell. After `&&`, `||` and `exit` it
/// may not have run; a failed `cd` would have printed an error.
fn last_program(command: &str, is_quiet: bool) -> Option<&str> {
    // In quotes, groups and substitutions, the separators below have another meaning.
    if command.contains(['(', ')', '`', '#', '\\']) || command.contains("<<") {
        return None;
    }
    let mut words = command.split_whitespace();
    if words.any(|word| matches!(word.trim_end_matches(';'), "exit" | "set" | "exec")) {
        return None;
    }
    let mut quote = None;
    // Where the last command starts, and where its list of commands joined by `&&` starts.
    let (mut start, mut list) = (0, 0);
    let mut is_alone = true;
    let mut before = ' ';
    for (index, c) in command.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, ';' | '\n') => (start, list, is_alone) = (index + 1, index + 1, true),
            (None, '&') if before == '&' => {
                let enters = command[start..index].trim_start().starts_with("cd ");
                is_alone &= enters && is_quiet && start == list;
                (start, list) = (index + 1, index + 1);
            }
            (None, '|') if before == '|' => (start, is_alone) = (index + 1, false),
            (None, '|') => start = index + 1,
            _ => {}
        }
        before = if quote.is_some() { ' ' } else { c };
    }
    let program = command[start..].split_whitespace().next()?;
    is_alone.then(|| program.rsplit('/').next())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_from_a_failure() {
        let answers = [
            ("grep x file", 1, Some("No matches found")),
            (
                "cat f | /usr/bin/grep -c 'a;b'",
                1,
                Some("No matches found"),
            ),
            ("cd a && diff x y", 1, Some("Files differ")),
            (
                "cd a && cd b && cat c | grep x",
                1,
                Some("No matches found"),
            ),
            ("make; grep x file", 1, Some("No matches found")),
            ("make && grep x file", 1, None),
            ("cat f | tee g && grep x g", 1, None),
            ("cd a | cat && grep x g", 1, None),
            ("make || exit 1; grep x file", 1, None),
            ("make || grep x file", 1, None),
            ("set -e; make; grep x file", 1, None),
            ("[ -f x ]", 1, Some("Condition is false")),
            ("grep x file", 2, None),
            ("grep x file; make", 1, None),
            ("echo 'x; grep y'", 1, None),
            ("(exit 1) # grep", 1, None),
            ("", 1, None),
        ];
        for (command, code, expected) in answers {
            assert_eq!(meaning(command, code, true), expected, "{command}");
        }
        assert_eq!(meaning("cd a && diff x y", 1, false), None);
        assert!(meaning("cd a; diff x y", 1, false).is_some());
    }
}
