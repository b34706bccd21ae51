//! The literals of strings: which of their bytes stand for themselves, and how the others are written.

use alloc::string::String;
use core::fmt::Write as _;

/// Appends the literal for a text.
pub(super) fn write(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    loop {
        let plain = plain_bytes(rest.as_bytes());
        let (plain, escaped) = rest.split_at_checked(plain).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut escaped = escaped.chars();
        let Some(char) = escaped.next() else {
            break;
        };
        escape(char, out);
        rest = escaped.as_str();
    }
    out.push('"');
}

/// Strings are scanned eight bytes at a time.
const WORD: usize = size_of::<u64>();
const ONES: u64 = u64::MAX / 255;

/// How many bytes at the beginning stand for themselves in a literal: no quotation mark, no backslash, no control character.
pub(crate) fn plain_bytes(text: &[u8]) -> usize {
    let (words, bytes) = text.as_chunks::<WORD>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The highest bit of a byte marks such bytes. Carries only affect bytes after the first of them.
        let control = word.wrapping_sub(ONES * 0x20);
        let is = |byte: u8| (word ^ (ONES * u64::from(byte))).wrapping_sub(ONES);
        let below = control & !word;
        let quote = is(b'"') & !(word ^ (ONES * u64::from(b'"')));
        let escape = is(b'\\') & !(word ^ (ONES * u64::from(b'\\')));
        let found = (below | quote | escape) & (ONES << 7);
        if found != 0 {
            return index * WORD + found.trailing_zeros() as usize / 8;
        }
    }
    let plain = bytes.iter().position(|byte| is_escaped(*byte));
    words.len() * WORD + plain.unwrap_or(bytes.len())
}

fn escape(char: char, out: &mut String) {
    let short = match char {
        '"' | '\\' => char,
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        _ => {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(char));
            return;
        }
    };
    out.push('\\');
    out.push(short);
}

fn is_escaped(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | ..0x20)
}
