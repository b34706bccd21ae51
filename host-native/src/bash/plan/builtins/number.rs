//! Number parsing as in shells.

/// A decimal number that is the whole text, except for surrounding blanks.
pub(super) fn whole(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let text = text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    // Rust accepts a sign and digits only.
    text.parse().ok()
}

/// A number parsed as in C.
pub(super) struct Read {
    pub(super) value: i128,
    /// The number of bytes it uses; 0 if there is none.
    pub(super) length: usize,
}

/// Parses a number at the beginning of a text: decimal, octal after `0`, hexadecimal after `0x`.
pub(super) fn read(text: &[u8]) -> Read {
    let is_blank = |b: &&u8| b.is_ascii_whitespace() || **b == 0x0b;
    let mut at = text.iter().take_while(is_blank).count();
    let sign = text.get(at).copied();
    let is_negative = sign == Some(b'-');
    at += usize::from(matches!(sign, Some(b'-' | b'+')));
    let rest = &text[at..];
    let is_hex = matches!(rest, [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit());
    let (radix, skip) = match rest {
        _ if is_hex => (16, 2),
        [b'0', ..] => (8, 0),
        _ => (10, 0),
    };
    let digits = rest[skip..].iter();
    let digits: Vec<u32> = digits
        .map_while(|b| char::from(*b).to_digit(radix))
        .collect();
    let mut value = 0_i128;
    for digit in &digits {
        // Saturates: values far beyond 64 bits are all treated alike.
        value = (value * i128::from(radix) + i128::from(*digit)).min(1 << 100);
    }
    Read {
        value: if is_negative { -value } else { value },
        length: if digits.is_empty() {
            0
        } else {
            at + skip + digits.len()
        },
    }
}
