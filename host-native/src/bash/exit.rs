//! How a command ended, and what its exit code means.

use std::process::ExitStatus;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that was not ours.
    Signal(i32),
    /// Stopped at its time limit.
    OutOfTime,
    /// Stopped because nobody wants its result.
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

/// What an exit code says when it is an answer and no failure.
pub(super) fn meaning(command: &str, code: i32) -> Option<&'static str> {
    if code != 1 {
        return None;
    }
    match last_program(command)? {
        "grep" | "egrep" | "fgrep" | "rg" => Some("No matches found"),
        "diff" | "cmp" => Some("Files differ"),
        "test" | "[" => Some("Condition is false"),
        "find" => Some("Some directories were inaccessible"),
        _ => None,
    }
}

/// The program that decides the exit code, if the command is plain enough to tell.
fn last_program(command: &str) -> Option<&str> {
    // In quotes, groups and substitutions the separators below mean something else.
    if command.contains(['(', ')', '`', '#', '\\']) || command.contains("<<") {
        return None;
    }
    let mut quote = None;
    let mut start = 0;
    for (index, c) in command.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, ';' | '|' | '&' | '\n') => start = index + 1,
            _ => {}
        }
    }
    let program = command[start..].split_whitespace().next()?;
    program.rsplit('/').next()
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
            ("[ -f x ]", 1, Some("Condition is false")),
            ("grep x file", 2, None),
            ("grep x file; make", 1, None),
            ("echo 'x; grep y'", 1, None),
            ("(exit 1) # grep", 1, None),
            ("", 1, None),
        ];
        for (command, code, expected) in answers {
            assert_eq!(meaning(command, code), expected, "{command}");
        }
    }
}
