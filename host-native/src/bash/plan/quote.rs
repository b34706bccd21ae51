//! Quotes text for a shell, as `printf %q` and bash's messages do.

use std::borrow::Cow;

use super::locale::Locale;

/// The text as a shell word.
pub(super) fn quoted(text: &[u8], locale: Locale) -> Vec<u8> {
    if text.is_empty() {
        return b"''".to_vec();
    }
    if needs_names(text, locale) {
        return with_names(text, locale);
    }
    let mut output = Vec::with_capacity(text.len());
    for (index, byte) in text.iter().enumerate() {
        let is_first = index == 0;
        let special = match byte {
            b'#' | b'~' => is_first,
            byte => b" \t\n'\"\\|&;()<>!{}*[]?^$`,".contains(byte),
        };
        if special {
            output.push(b'\\');
        }
        output.push(*byte);
    }
    output
}

/// The name of a file or program for a message: quoted only if it contains unprintable characters.
pub(super) fn shown(name: &[u8], locale: Locale) -> Cow<'_, [u8]> {
    match needs_names(name, locale) {
        true => Cow::Owned(with_names(name, locale)),
        false => Cow::Borrowed(name),
    }
}

/// Whether a text contains unprintable characters.
fn needs_names(text: &[u8], locale: Locale) -> bool {
    match std::str::from_utf8(text) {
        Ok(text) => text.chars().any(|c| !is_shown(c, locale)),
        Err(_) => true,
    }
}

fn is_shown(c: char, locale: Locale) -> bool {
    !c.is_control() && (locale.is_utf8 || c.is_ascii())
}

/// Quotes as `$'…'`.
fn with_names(text: &[u8], locale: Locale) -> Vec<u8> {
    let mut output = b"$'".to_vec();
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            let name = match c {
                '\x07' => 'a',
                '\x08' => 'b',
                '\x1b' => 'E',
                '\x0c' => 'f',
                '\n' => 'n',
                '\r' => 'r',
                '\t' => 't',
                '\x0b' => 'v',
                '\\' | '\'' => c,
                c if !is_shown(c, locale) => {
                    let mut bytes = [0; 4];
                    octal(c.encode_utf8(&mut bytes).as_bytes(), &mut output);
                    continue;
                }
                c => {
                    let mut bytes = [0; 4];
                    output.extend_from_slice(c.encode_utf8(&mut bytes).as_bytes());
                    continue;
                }
            };
            output.extend_from_slice(format!("\\{name}").as_bytes());
        }
        octal(chunk.invalid(), &mut output);
    }
    output.push(b'\'');
    output
}

fn octal(bytes: &[u8], output: &mut Vec<u8>) {
    for byte in bytes {
        output.extend_from_slice(format!("\\{byte:03o}").as_bytes());
    }
}
