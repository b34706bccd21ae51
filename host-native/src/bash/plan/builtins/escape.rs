//! Escapes with a backslash, of `echo -e`, `printf` formats and `%b`.

use std::ops::ControlFlow;

/// Whose escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// Of `echo`; dash knows fewer.
    Echo { is_dash: bool },
    /// Of the format of `printf`.
    Format,
    /// Of an operand for `%b`.
    Operand,
}

/// Expands the escapes of a text. It breaks off at `\c`, where that means the end of all output.
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

/// Expands the escape whose backslash stands before a text; tells how much of the text belongs to it.
pub(super) fn one(text: &[u8], which: Escapes, output: &mut Vec<u8>) -> ControlFlow<(), usize> {
    let Some(&byte) = text.first() else {
        output.push(b'\\');
        return ControlFlow::Continue(0);
    };
    let is_dash = which == Escapes::Echo { is_dash: true };
    let is_echo = matches!(which, Escapes::Echo { .. });
    let plain = match byte {
        b'a' => Some(0x07),
        b'b' => Some(0x08),
        b'e' | b'E' if !is_dash => Some(0x1b),
        b'f' => Some(0x0c),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        b'v' => Some(0x0b),
        b'\\' => Some(b'\\'),
        b'\'' | b'"' | b'?' if which == Escapes::Format => Some(byte),
        _ => None,
    };
    if let Some(plain) = plain {
        output.push(plain);
        return ControlFlow::Continue(1);
    }
    match byte {
        b'c' if which != Escapes::Format => return ControlFlow::Break(()),
        b'0'..=b'7' if !is_echo || byte == b'0' => {
            // Behind a zero stand up to three more, but not in a format.
            let zero = usize::from(byte == b'0' && which != Escapes::Format);
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
                let mut bytes = [0; 4];
                if let Some(c) = char::from_u32(value) {
                    output.extend_from_slice(c.encode_utf8(&mut bytes).as_bytes());
                }
                return ControlFlow::Continue(1 + length);
            }
        }
        _ => {}
    }
    output.push(b'\\');
    ControlFlow::Continue(0)
}

/// What bash complains of in the escape whose backslash stands before a text: it names a character by its number, and there is none.
pub(super) fn complaint(text: &[u8]) -> Option<&'static str> {
    let has_digit = text.get(1).is_some_and(u8::is_ascii_hexdigit);
    match text.first()? {
        b'x' if !has_digit => Some("missing hex digit for \\x"),
        b'u' if !has_digit => Some("missing unicode digit for \\u"),
        b'U' if !has_digit => Some("missing unicode digit for \\U"),
        _ => None,
    }
}

/// The same for every escape of a text, up to the one that ends all output.
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

/// A number of at most so many digits, and how many it has.
fn number(text: &[u8], radix: u32, most: usize) -> (u32, usize) {
    let digits = text.iter().take(most);
    let digits = digits.map_while(|b| char::from(*b).to_digit(radix));
    digits.fold((0_u32, 0), |(value, length), digit| {
        (value.wrapping_mul(radix).wrapping_add(digit), length + 1)
    })
}
