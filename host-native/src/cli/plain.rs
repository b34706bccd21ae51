//! Makes untrusted text safe for a terminal.
//!
//! Text from a model, a tool or a server must not move the cursor, change colours, hide text or imitate a question of
//! this program.

use std::{borrow::Cow, fmt::Write as _, ops::RangeInclusive};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Characters that are not seen, although a reader of the text would take them for a part of it: space and fillers without a width,
/// invisible operators, tags.
const INVISIBLE: [RangeInclusive<char>; 13] = [
    '\u{00AD}'..='\u{00AD}',
    '\u{034F}'..='\u{034F}',
    '\u{115F}'..='\u{1160}',
    '\u{17B4}'..='\u{17B5}',
    '\u{180B}'..='\u{180F}',
    '\u{200B}'..='\u{200B}',
    '\u{2060}'..='\u{2065}',
    '\u{206A}'..='\u{206F}',
    '\u{3164}'..='\u{3164}',
    '\u{FEFF}'..='\u{FEFF}',
    '\u{FFA0}'..='\u{FFA0}',
    '\u{FFF9}'..='\u{FFFB}',
    '\u{E0000}'..='\u{E0FFF}',
];

/// Whether a character controls the terminal, or the order of others, or is not seen, instead of being displayed.
fn acts(c: char) -> bool {
    let bidirectional = matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{061C}');
    let line_separator = matches!(c, '\u{2028}' | '\u{2029}');
    (c.is_control() && c != '\n' && c != '\t')
        || bidirectional
        || line_separator
        || !c.is_ascii() && INVISIBLE.iter().any(|range| range.contains(&c))
}

/// Keeps line ends and tabs; other control characters become visible symbols, and carriage returns are removed.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\r' => {}
            // U+2400 to U+241F are pictures of the control characters 0 to 31.
            '\0'..='\u{1F}' if acts(c) => {
                out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{FFFD}'));
            }
            '\u{7F}' => out.push('\u{2421}'),
            c if acts(c) => {
                // Writing to a String cannot fail.
                let _ = write!(out, "<U+{:04X}>", u32::from(c));
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// JSON in which such characters are escapes: readers of JSON get what was there.
pub(crate) fn clean_json(json: &str) -> Cow<'_, str> {
    if !json.contains(acts) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if acts(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The text on one line: safe, with every run of white space as one space.
pub(crate) fn one_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a line that fits into this many columns; `…` replaces the rest.
pub(crate) fn fit(line: &str, columns: usize) -> Cow<'_, str> {
    if line.width() <= columns {
        return Cow::Borrowed(line);
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in line.chars() {
        used += c.width().unwrap_or(0);
        if used + 1 > columns {
            break;
        }
        kept.push(c);
    }
    kept.push('…');
    Cow::Owned(kept)
}

/// A duration in milliseconds, formatted for people.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// A number with thousands separators.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_do_nothing() {
        assert_eq!(clean("a\tb\nc"), "a\tb\nc");
        assert_eq!(clean("\x1b[2K\x07"), "␛[2K␇");
        assert_eq!(clean("safe\rforged\r\n"), "safeforged\n");
        assert_eq!(clean("\u{9b}31m"), "<U+009B>31m");
        assert_eq!(clean("a\u{202E}b"), "a<U+202E>b");
        assert_eq!(clean("rm\u{200B} x\u{E0041}"), "rm<U+200B> x<U+E0041>");
        // What joins letters, or chooses the form of one, is a part of them.
        assert_eq!(clean("👩\u{200D}💻 ❤\u{FE0F}"), "👩\u{200D}💻 ❤\u{FE0F}");
        assert_eq!(clean_json("[\"\u{E0041}\"]"), "[\"\\udb40\\udc41\"]");
        assert_eq!(
            clean_json("[\"a\u{9b}2J\u{7f}\"]\n"),
            "[\"a\\u009b2J\\u007f\"]\n"
        );
    }

    #[test]
    fn lines_are_cut_by_their_width_in_columns() {
        assert_eq!(fit("short", 5), "short");
        assert_eq!(fit("longer", 5), "long…");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 6), "日本語");
        assert_eq!(one_line("  a\n\tb  c\x1b "), "a b c␛");
    }

    #[test]
    fn figures_are_written_for_people() {
        assert_eq!(duration(999), "999 ms");
        assert_eq!(duration(1_999), "1.9 s");
        assert_eq!(duration(61_000), "1 min 1 s");
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
