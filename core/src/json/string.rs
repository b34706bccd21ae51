//! Strings, written as JSON literals.

use alloc::string::String;
use core::fmt::Write as _;

/// Appends the literal for a text.
pub(super) fn write(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(is_escaped) {
        let (plain, escaped) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut escaped = escaped.chars();
        if let Some(char) = escaped.next() {
            escape(char, out);
        }
        rest = escaped.as_str();
    }
    out.push_str(rest);
    out.push('"');
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
