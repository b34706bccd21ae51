//! How texts are read before keys are looked for in them: a server may write any byte of a key as an escape, so texts are
//! decoded instead of guessing which bytes an encoder leaves alone.

/// The most characters of line ends in a row that do not end a key in base64 or hexadecimal. It bounds how much of a stream
/// has to be held back.
const MOST_SKIPPED: usize = 4;

/// What is made of the decoded bytes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    /// They are as they are.
    Bytes,
    /// A space is a `+`, since forms write one so.
    Words,
    /// Both alphabets of base64 are one, and lines may end anywhere.
    Base64,
    /// Letters are small, and lines may end anywhere.
    Hex,
}

/// A way to read a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Notation {
    json: bool,
    percent: bool,
    alphabet: Alphabet,
}

/// A byte, or an escape with what it stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    bytes: [u8; 4],
    count: usize,
    /// Its own bytes in the text.
    pub(super) length: usize,
}

impl Notation {
    pub(super) const PLAIN: Self = Self::new(false, false, Alphabet::Bytes);
    pub(super) const JSON: Self = Self::new(true, false, Alphabet::Words);
    pub(super) const PERCENT: Self = Self::new(false, true, Alphabet::Words);
    /// Percent-encoded, and written into JSON: `\/` and `%2B`.
    pub(super) const PERCENT_IN_JSON: Self = Self::new(true, true, Alphabet::Words);
    pub(super) const BASE64: Self = Self::new(true, true, Alphabet::Base64);
    pub(super) const HEX: Self = Self::new(true, true, Alphabet::Hex);

    const fn new(json: bool, percent: bool, alphabet: Alphabet) -> Self {
        Self {
            json,
            percent,
            alphabet,
        }
    }

    /// Whether a text may read differently than as it is.
    pub(super) fn applies_to(self, bytes: &[u8]) -> bool {
        let has_escapes = || memchr::memchr(b'\\', bytes).is_some();
        let has_codes = || memchr::memchr2(b'%', b'+', bytes).is_some();
        match self.alphabet {
            Alphabet::Bytes | Alphabet::Hex => true,
            Alphabet::Words => (!self.json || has_escapes()) && (!self.percent || has_codes()),
            Alphabet::Base64 => {
                has_escapes() || memchr::memchr3(b'%', b'\r', b'\n', bytes).is_some()
            }
        }
    }

    /// The first token of a text that is not empty; `None` if it may go on behind the end.
    pub(super) fn token(self, text: &[u8]) -> Option<Token> {
        match text[0] {
            b'%' if self.percent => percent_code(text),
            b'\\' if self.json => json_escape(text),
            byte => Some(Token::literal(byte)),
        }
    }

    /// The byte that is looked for instead of a decoded one; `None` if it is passed over, after so many that were.
    pub(super) fn byte(self, byte: u8, skipped: usize) -> Option<u8> {
        match (self.alphabet, byte) {
            (Alphabet::Base64 | Alphabet::Hex, b'\r' | b'\n') if skipped < MOST_SKIPPED => None,
            (Alphabet::Words, b' ') => Some(b'+'),
            (Alphabet::Base64, b'-') => Some(b'+'),
            (Alphabet::Base64, b'_') => Some(b'/'),
            (Alphabet::Hex, _) => Some(byte.to_ascii_lowercase()),
            _ => Some(byte),
        }
    }
}

impl Token {
    /// A byte that stands for itself.
    pub(super) fn literal(byte: u8) -> Self {
        Self::byte(byte, 1)
    }

    fn byte(byte: u8, length: usize) -> Self {
        Self {
            bytes: [byte, 0, 0, 0],
            count: 1,
            length,
        }
    }

    fn character(character: char, length: usize) -> Self {
        let mut bytes = [0; 4];
        let count = character.encode_utf8(&mut bytes).len();
        Self {
            bytes,
            count,
            length,
        }
    }

    /// What it stands for.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.count]
    }
}

/// `%2B`, or a lone percent sign.
fn percent_code(text: &[u8]) -> Option<Token> {
    let code = hexadecimal(&text[1..], 2)?;
    Some(match code.and_then(|code| u8::try_from(code).ok()) {
        Some(byte) => Token::byte(byte, 3),
        None => Token::literal(b'%'),
    })
}

/// `\/`, `\n` or `\u002b`, or a lone backslash.
fn json_escape(text: &[u8]) -> Option<Token> {
    let byte = match *text.get(1)? {
        byte @ (b'"' | b'\\' | b'/') => byte,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'u' => return numbered(text),
        _ => return Some(Token::literal(b'\\')),
    };
    Some(Token::byte(byte, 2))
}

/// `\u002b`, also as one of two that are one character.
fn numbered(text: &[u8]) -> Option<Token> {
    let Some(code) = hexadecimal(&text[2..], 4)? else {
        return Some(Token::literal(b'\\'));
    };
    if let Some(character) = char::from_u32(code) {
        return Some(Token::character(character, 6));
    }
    let rest = &text[6..];
    let second = match rest.len() < 2 && b"\\u".starts_with(rest) {
        true => return None,
        false if rest.starts_with(b"\\u") => hexadecimal(&rest[2..], 4)?,
        false => None,
    };
    let pair = second.and_then(|second| {
        let units = [u16::try_from(code).ok()?, u16::try_from(second).ok()?];
        char::decode_utf16(units).next()?.ok()
    });
    Some(match pair {
        Some(character) => Token::character(character, 12),
        None => Token::character(char::REPLACEMENT_CHARACTER, 6),
    })
}

/// The number that a text begins with, of so many digits; the outer `None` if it may go on behind the end.
fn hexadecimal(text: &[u8], digits: usize) -> Option<Option<u32>> {
    let mut number = 0;
    for at in 0..digits {
        let Some(digit) = char::from(*text.get(at)?).to_digit(16) else {
            return Some(None);
        };
        number = number * 16 + digit;
    }
    Some(Some(number))
}
