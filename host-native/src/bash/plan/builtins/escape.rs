//! Backslash escapes in `echo -e`, `printf` formats and `%b`.

use std::ops::ControlFlow;

/// Where an escape occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In an operand of `echo`.
    Echo,
    /// In the format of `printf`.
    Format,
    /// In an operand for `%b`.
    Operand,
}

/// Which escapes are recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Escapes {
    pub(super) place: Place,
    /// Those of dash, which differ.
    pub(super) is_dash: bool,
    /// Whether characters beyond ASCII are written as UTF-8; otherwise they are written as their escape.
    pub(super) is_utf8: bool,
}

/// Expands the escapes of a text. Breaks at `\c` where it ends all output.
pub(super) fn expand(text: &[u8], which: Escapes, output: &mut Vec<u8>) -> ControlFlow<()> {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte == b'\\' {
            at += one(&text[at..], which, output)?;
        } else {
            output.push(byte);
        }
    }
    ControlFlow::Continue(())
}

/// Expands one escape; the backslash precedes `text`. Returns how many bytes of the text belong to it.
pub(super) fn one(text: &[u8], which: Escapes, output: &mut Vec<u8>) -> ControlFlow<(), usize> {
    let Some(&byte) = text.first() else {
        output.push(b'\\');
        return ControlFlow::Continue(0);
    };
    let is_dash = which.is_dash;
    let in_format = which.place == Place::Format;
    // In `echo` of bash, an octal number starts with a zero; elsewhere with any digit.
    let needs_zero = which.place == Place::Echo && !is_dash;
    let plain = match byte {
        b'a' => Some(0x07),
        b'b' => Some(0x08),
        b'e' => Some(0x1b),
        b'E' if !is_dash => Some(0x1b),
        b'f' => Some(0x0c),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'v' => Some(0x0b),
        b'\\' => Some(b'\\'),
        b'\'' | b'"' | b'?' if in_format && !is_dash => Some(byte),
        _ => None,
    };
    if let Some(plain) = plain {
        output.push(plain);
        return ControlFlow::Continue(1);
    }
    match byte {
        b'c' if !in_format => return ControlFlow::Break(()),
        b'0'..=b'7' if !needs_zero || byte == b'0' => {
            // Up to three more digits follow a zero, except in a format.
            let zero = usize::from(byte == b'0' && !in_format);
            let digits = number(&text[zero..], 8, 3);
            let length = digits.1 + zero;
            output.push(digits.0.to_le_bytes()[0]);
            return ControlFlow::Continue(length);
        }
        b'x' if !is_dash => {
            let (value, length) = number(&text[1..], 16, 2);
            if length > 0 {
                output.push(value.to_le_bytes()[0]);
                return ControlFlow::Continue(1 + length);
            }
        }
        b'u' | b'U' if !is_dash => {
            let most = if byte == b'u' { 4 } else { 8 };
            let (value, length) = number(&text[1..], 16, most);
            if length > 0 {
                match (value, which.is_utf8) {
                    (_, true) | (..0x80, false) => encode(value, output),
                    (..0x1_0000, false) => output.extend(format!("\\u{value:04X}").bytes()),
                    (_, false) => output.extend(format!("\\U{value:08X}").bytes()),
                }
                return ControlFlow::Continue(1 + length);
            }
        }
        _ => {}
    }
    output.push(b'\\');
    ControlFlow::Continue(0)
}

/// Encodes a number as UTF-8, even if it is not a character (surrogates and larger values), as bash does. Values with
/// the highest of 32 bits set produce nothing.
fn encode(value: u32, output: &mut Vec<u8>) {
    let (begin, further) = match value {
        0..0x80 => (0, 0),
        0x80..0x800 => (0xc0, 1),
        0x800..0x1_0000 => (0xe0, 2),
        0x1_0000..0x20_0000 => (0xf0, 3),
        0x20_0000..0x400_0000 => (0xf8, 4),
        0x400_0000..0x8000_0000 => (0xfc, 5),
        0x8000_0000.. => return,
    };
    let bits = |shift: u32| (value >> shift).to_le_bytes()[0];
    output.push(begin | bits(6 * further));
    let rest = (0..further)
        .rev()
        .map(|number| 0x80 | bits(6 * number) & 0x3f);
    output.extend(rest);
}

/// The warning of bash for an escape (the backslash precedes `text`) that names a character by number but has no digits.
pub(super) fn complaint(text: &[u8]) -> Option<&'static str> {
    let has_digit = text.get(1).is_some_and(u8::is_ascii_hexdigit);
    match text.first()? {
        b'x' if !has_digit => Some("missing hex digit for \\x"),
        b'u' if !has_digit => Some("missing unicode digit for \\u"),
        b'U' if !has_digit => Some("missing unicode digit for \\U"),
        _ => None,
    }
}

/// The warnings for all escapes of a text, up to the one that ends all output.
pub(super) fn complaints(mut text: &[u8]) -> impl Iterator<Item = &'static str> {
    std::iter::from_fn(move || {
        loop {
            let at = text.iter().position(|b| *b == b'\\')?;
            let behind = &text[at + 1..];
            if behind.first() == Some(&b'c') {
                return None;
            }
            text = behind.get(1..).unwrap_or_default();
            if let Some(complaint) = complaint(behind) {
                return Some(complaint);
            }
        }
    })
}

/// A number of at most this many digits, and its length.
fn number(text: &[u8], radix: u32, most: usize) -> (u32, usize) {
    let digits = text.iter().take(most);
    let digits = digits.map_while(|b| char::from(*b).to_digit(radix));
    digits.fold((0_u32, 0), |(value, length), digit| {
        (value.wrapping_mul(radix).wrapping_add(digit), length + 1)
    })
}
