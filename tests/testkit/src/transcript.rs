//! Assertions that are written like the transcript.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};

use windlass_core::message::Message;

use super::render;

/// A placeholder for any number of lines.
const ANY_LINES: &str = "…";

/// A difference between messages and an expected transcript.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the transcript is not as expected: line {line} should be\n  {}\nbut is\n  {}\nthe whole transcript:\n{transcript}",
    expected.as_deref().unwrap_or("(the end)"), found.as_deref().unwrap_or("(the end)"))]
pub struct TranscriptDifference {
    /// The line in what was found, counted from 1.
    pub line: usize,
    /// The expected line; `None` for the end.
    pub expected: Option<String>,
    /// The line that was found; `None` for the end.
    pub found: Option<String>,
    /// The complete transcript that was found.
    pub transcript: String,
}

/// Compares messages, rendered by [`render()`], with an expected transcript.
///
/// Indentation and empty lines of the expected text are ignored. A line `…` matches any number of lines, and a line that ends
/// in `…` matches every line with that prefix.
///
/// # Errors
/// The first [`TranscriptDifference`].
pub fn compare_transcript<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    expected: &str,
) -> Result<(), TranscriptDifference> {
    let transcript = render(messages);
    let found: Vec<&str> = transcript.lines().collect();
    let wanted: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let (mut at, mut skipping) = (0, false);
    for line in wanted {
        if line == ANY_LINES {
            skipping = true;
            continue;
        }
        let place = match skipping {
            true => found[at..].iter().position(|found| fits(line, found)),
            false => found
                .get(at)
                .is_some_and(|found| fits(line, found))
                .then_some(0),
        };
        let Some(place) = place else {
            return Err(TranscriptDifference {
                line: at + 1,
                expected: Some(line.to_owned()),
                found: found.get(at).map(ToString::to_string),
                transcript: transcript.clone(),
            });
        };
        at += place + 1;
        skipping = false;
    }
    match found.get(at) {
        Some(more) if !skipping => Err(TranscriptDifference {
            line: at + 1,
            expected: None,
            found: Some((*more).to_owned()),
            transcript: transcript.clone(),
        }),
        _ => Ok(()),
    }
}

/// Holds messages against a transcript ([`compare_transcript`]).
///
/// ```
/// use windlass_core::Spec;
/// use windlass_testkit::{Script, TestHost, assert_transcript};
///
/// let host = TestHost::new(Script::says(["Hello."]));
/// let messages = host.prompt(&mut host.session(Spec::default()), "Hi")?;
/// assert_transcript(&messages, r#"
///     system init …
///     assistant text "Hello."
///     result success …
/// "#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// When they differ, with the first difference and the whole transcript.
#[track_caller]
pub fn assert_transcript<'a>(messages: impl IntoIterator<Item = &'a Message>, expected: &str) {
    if let Err(difference) = compare_transcript(messages, expected) {
        panic!("{difference}");
    }
}

fn fits(expected: &str, found: &str) -> bool {
    match expected.strip_suffix(ANY_LINES) {
        Some(beginning) => found.starts_with(beginning.trim_end()),
        None => expected == found,
    }
}
