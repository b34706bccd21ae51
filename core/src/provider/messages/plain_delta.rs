//! The event that nearly all are: a piece of a text, without escapes, in the form in which servers write it.
//!
//! It is taken out without looking for what else an event could be, which costs a small part of reading it by its fields. Whatever
//! is not exactly this is left to the reader of all events; what is read here means the same to it.

use alloc::borrow::Cow;

use super::block::Delta;
use crate::json::plain_bytes;

const BEFORE_INDEX: &str = r#"{"type":"content_block_delta","index":"#;
const BEFORE_KIND: &str = r#","delta":{"type":""#;
const TEXT: &str = r#"text_delta","text":""#;
const INPUT: &str = r#"input_json_delta","partial_json":""#;
const THINKING: &str = r#"thinking_delta","thinking":""#;

/// More digits could be a number that an index cannot be.
const MOST_DIGITS: usize = 9;

/// The index of the block and its delta, if the text is such an event.
pub(super) fn read(event: &str) -> Option<(u32, Delta<'_>)> {
    let (index, rest) = index(event.strip_prefix(BEFORE_INDEX)?)?;
    let rest = rest.strip_prefix(BEFORE_KIND)?;
    let mut delta = Delta::default();
    let (piece, rest) = if let Some(rest) = rest.strip_prefix(TEXT) {
        (&mut delta.text, rest)
    } else if let Some(rest) = rest.strip_prefix(INPUT) {
        (&mut delta.partial_json, rest)
    } else {
        (&mut delta.thinking, rest.strip_prefix(THINKING)?)
    };
    let (plain, rest) = rest.split_at_checked(plain_bytes(rest.as_bytes()))?;
    *piece = Some(Cow::Borrowed(plain));
    let rest = closed(rest.strip_prefix('"')?)?;
    closed(rest)?.is_empty().then_some((index, delta))
}

fn index(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    let is_plain = digits == 1 || (digits <= MOST_DIGITS && !number.starts_with('0'));
    let number = number.parse().ok()?;
    is_plain.then_some((number, rest))
}

/// What comes after the end of an object. Some servers fill their events up with blanks.
fn closed(text: &str) -> Option<&str> {
    let blanks = [' ', '\t', '\n', '\r'];
    let rest = text.trim_start_matches(blanks).strip_prefix('}')?;
    Some(rest.trim_start_matches(blanks))
}
