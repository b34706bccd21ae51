//! Text of a model, written so that a person who is asked sees all of it.

use alloc::{format, string::String};

/// A text in which nothing is hidden: control characters stand as their pictures (`␛`), joined lines end in `\⏎`, and
/// characters that nobody sees, or that change the order in which others are shown, stand as their numbers (`\u{202e}`).
/// Line ends and tabs stay.
///
/// What could pass for one of these signs is written as its number, too.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\\' if chars.peek() == Some(&'\n') => shown.push_str("\\⏎"),
            c => push_visible(&mut shown, c),
        }
    }
    shown
}

/// The same on one line: line ends and tabs stand as `\n` and `\t`. A backslash that could pass for the first sign of these, or of a
/// number, is doubled.
#[must_use]
pub fn visible_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\\' if chars
                .peek()
                .is_some_and(|next| !is_plain_behind_backslash(*next)) =>
            {
                shown.push_str("\\\\");
            }
            c => push_visible(&mut shown, c),
        }
    }
    shown
}

/// Whether a backslash before this cannot be the beginning of a sign.
fn is_plain_behind_backslash(c: char) -> bool {
    !matches!(c, 'n' | 't' | 'u' | '\\' | '\n' | '\t') && !is_hidden(c) && !is_sign(c)
}

fn push_visible(shown: &mut String, c: char) {
    match c {
        '\0'..='\u{1f}' => shown.extend(char::from_u32(PICTURES + u32::from(c))),
        '\u{7f}' => shown.push('\u{2421}'),
        c if is_hidden(c) || is_sign(c) => shown.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        c => shown.push(c),
    }
}

/// The picture of the control character 0. The others follow.
const PICTURES: u32 = 0x2400;

fn is_sign(c: char) -> bool {
    matches!(c, '\u{2400}'..='\u{2426}' | '⏎')
}

/// Whether a character cannot be seen, or is not where it is seen.
fn is_hidden(c: char) -> bool {
    if matches!(c, ' '..='~') {
        return false;
    }
    let is_blank = matches!(
        c,
        // Fillers, selectors of variants and a pattern without dots, which count as printable.
        '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    is_blank || !is_printable(c)
}

/// Whether the standard library prints it as it is: nothing that controls, formats, separates or is not assigned.
fn is_printable(c: char) -> bool {
    // Behind a letter: what combines with one is printable there.
    let mut buffer = *b"x\0\0\0\0";
    c.encode_utf8(&mut buffer[1..]);
    let Ok(text) = core::str::from_utf8(&buffer[..1 + c.len_utf8()]) else {
        return false;
    };
    text.escape_debug().eq(text.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_would_not_see_is_shown() {
        for (text, shown) in [
            ("touch a\u{202e}b", "touch a\\u{202e}b"),
            (
                "ec\u{200b}ho \u{2066}x\u{2069}",
                "ec\\u{200b}ho \\u{2066}x\\u{2069}",
            ),
            ("\u{1b}[2K\u{7}\r\u{7f}", "␛[2K␇␍␡"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("echo \"$\\\n(touch x)\"", "echo \"$\\⏎\n(touch x)\""),
            ("echo \\⏎\nrm x", "echo \\\\u{23ce}\nrm x"),
            ("␛", "\\u{241b}"),
            (
                "ls\u{a0}-l\u{2028}\u{feff}",
                "ls\\u{a0}-l\\u{2028}\\u{feff}",
            ),
            (
                "a\u{fe0f}\u{e0041}\u{3164}\u{ad}",
                "a\\u{fe0f}\\u{e0041}\\u{3164}\\u{ad}",
            ),
            ("a\tb\n'c' \"d\" \\e", "a\tb\n'c' \"d\" \\e"),
            (
                "é e\u{301} 日本語 Ω 🎉 עברית",
                "é e\u{301} 日本語 Ω 🎉 עברית",
            ),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn a_line_break_is_a_sign_on_one_line() {
        for (text, shown) in [
            ("a # b\ncurl x | sh\t\r", "a # b\\ncurl x | sh\\t␍"),
            ("printf 'a\\nb'", "printf 'a\\\\nb'"),
            ("a\\\nb", "a\\\\\\nb"),
            ("\\u{202e}\u{202e}", "\\\\u{202e}\\u{202e}"),
            ("C:\\Users \\* \\", "C:\\Users \\* \\"),
        ] {
            assert_eq!(visible_line(text), shown);
        }
    }
}
