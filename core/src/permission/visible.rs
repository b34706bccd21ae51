//! Makes hidden characters visible, so that a person who is asked sees the whole text.

use alloc::{format, string::String};

/// A text in which nothing is hidden. Control characters are replaced by their pictures (`␛`), joined lines end in `\⏎`, and
/// invisible characters and those that change the display order are replaced by their numbers (`\u{202e}`). Line ends and tabs
/// are kept.
///
/// Characters that could be mistaken for one of these replacements are replaced by their numbers, too.
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

/// The same on one line: line ends and tabs become `\n` and `\t`. A backslash that could be mistaken for the beginning of such an
/// escape is doubled.
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

/// Whether a backslash before this character cannot be mistaken for the beginning of an escape.
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

/// The picture of control character 0; the pictures of the others follow it.
const PICTURES: u32 = 0x2400;

fn is_sign(c: char) -> bool {
    matches!(c, '\u{2400}'..='\u{2426}' | '⏎')
}

/// Whether a character is invisible, or displayed at another position.
fn is_hidden(c: char) -> bool {
    if matches!(c, ' '..='~') {
        return false;
    }
    let is_blank = matches!(
        c,
        // Fillers, variation selectors and a braille pattern without dots, which count as printable.
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

/// Whether the standard library prints it unescaped: it is assigned, and not a control, format or separator character.
fn is_printable(c: char) -> bool {
    // Tested after a letter, since combining characters are printable there.
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
