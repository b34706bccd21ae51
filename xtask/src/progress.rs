//! Progress output: one line when a step starts, and one with its duration at the end. It goes to standard error, so
//! that standard output contains only results.

use std::io::IsTerminal;
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs `work` between a line that names the step and a line with its duration.
pub(crate) fn step<T, E>(what: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    eprintln!("{} {what}", coloured("36", "==>"));
    let begun = Instant::now();
    let outcome = work();
    let took = seconds(begun.elapsed());
    match &outcome {
        Ok(_) => eprintln!("{} {what}: {took}", coloured("32", "<==")),
        Err(_) => eprintln!("{} {what}: failed after {took}", coloured("31", "<==")),
    }
    outcome
}

/// Prints the command line about to be run.
pub(crate) fn command(command: &Command) {
    eprintln!(
        "    {}",
        coloured("2", &format!("$ {}", command_line(command)))
    );
}

/// A command as it could be typed.
pub(crate) fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| quoted(&word.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Prints a remark that is neither a step nor a failure, for example something skipped.
pub(crate) fn note(text: &str) {
    eprintln!("    {text}");
}

/// Prints a warning.
pub(crate) fn warning(text: &str) {
    eprintln!("{} {text}", coloured("33", "warning:"));
}

/// Prints why the whole command failed.
pub(crate) fn failure(text: &str) {
    eprintln!("{} {text}", coloured("31", "error:"));
}

/// A duration for people: tenths of seconds below a minute, minutes and seconds above.
pub(crate) fn seconds(duration: Duration) -> String {
    let whole = duration.as_secs();
    if whole < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{} min {:02} s", whole / 60, whole % 60)
    }
}

fn coloured(code: &str, text: &str) -> String {
    if std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        format!("\x1b[{code}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

/// Quotes a word only where a shell would split or expand it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:@,%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let first_line = word.lines().next().unwrap_or_default();
    let ellipsis = if first_line.len() < word.len() {
        " …"
    } else {
        ""
    };
    format!("'{first_line}{ellipsis}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_naturally() {
        assert_eq!(seconds(Duration::from_millis(1_240)), "1.2 s");
        assert_eq!(seconds(Duration::from_secs(605)), "10 min 05 s");
    }

    #[test]
    fn only_words_that_need_it_are_quoted() {
        assert_eq!(quoted("--package=windlass"), "--package=windlass");
        assert_eq!(quoted("-D warnings"), "'-D warnings'");
        assert_eq!(quoted("first\nsecond"), "'first …'");
    }
}
