//! The tokens of a JSON text.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use serde::de::{Error as _, Expected, Unexpected};

use crate::json::{decimal, fault::Fault, string::plain_bytes};

/// The maximum nesting depth of objects and arrays, including the outermost, when decoding to types: each level takes stack
/// space.
const DEPTH: u8 = 127;

/// A text and the current position in it.
pub(super) struct Reader<'de> {
    text: &'de str,
    at: usize,
    /// How many more levels of objects and arrays may follow.
    room: u8,
    /// After the bracket that opens an object or array.
    opened: bool,
    /// Before the name of a field.
    named: bool,
    /// Where the last name that was looked up begins.
    looked_up: usize,
}

/// The index of a name that is not in the list.
const UNKNOWN: u64 = u64::MAX;

/// A number: an integer if possible.
pub(super) enum Numeral {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

impl<'de> Reader<'de> {
    pub(super) fn new(text: &'de str) -> Self {
        Self {
            text,
            at: 0,
            room: DEPTH,
            opened: false,
            named: false,
            looked_up: 0,
        }
    }

    /// Adds the current position to an error that has none yet.
    pub(super) fn placed(&self, error: Fault) -> Fault {
        error.at(self.text, self.at, 0)
    }

    /// Expects the end of the text.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        match self.token() {
            None => Ok(()),
            Some(_) => Err(self.fault("trailing characters")),
        }
    }

    // Inlined also where code is compiled for its size: a call for each byte is most of the time that reading takes.
    #[inline(always)]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space and returns the first byte of the next token.
    #[inline(always)]
    pub(super) fn token(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                byte => return byte,
            }
        }
    }

    /// An error at the next byte.
    fn fault(&self, reason: &str) -> Fault {
        Fault::in_text(reason, false).at(self.text, self.at, 1)
    }

    /// An error at the next byte, or at the end of the text within something.
    fn stopped(&self, reason: &str, within: &str) -> Fault {
        if self.at < self.text.len() {
            return self.fault(reason);
        }
        let reason = format!("EOF while parsing {within}");
        Fault::in_text(reason, true).at(self.text, self.at, 0)
    }

    pub(super) fn no_value(&self) -> Fault {
        self.stopped("expected value", "a value")
    }

    /// The error that the next value is not of the expected type.
    #[cold]
    pub(super) fn mismatch(&mut self, expected: &dyn Expected) -> Fault {
        let mut found = || {
            Ok(match self.token() {
                Some(b'n') => {
                    self.word("null")?;
                    Fault::invalid_type(Unexpected::Unit, expected)
                }
                Some(b't' | b'f') => Fault::invalid_type(Unexpected::Bool(self.truth()?), expected),
                Some(b'-' | b'0'..=b'9') => {
                    let found = match self.numeral()? {
                        Numeral::Unsigned(number) => Unexpected::Unsigned(number),
                        Numeral::Signed(number) => Unexpected::Signed(number),
                        Numeral::Float(number) => Unexpected::Float(number),
                    };
                    Fault::invalid_type(found, expected)
                }
                Some(b'"') => Fault::invalid_type(Unexpected::Str(&self.string()?), expected),
                Some(b'[') => Fault::invalid_type(Unexpected::Seq, expected),
                Some(b'{') => Fault::invalid_type(Unexpected::Map, expected),
                _ => self.no_value(),
            })
        };
        let error = found().unwrap_or_else(|fault| fault);
        self.placed(error)
    }

    /// Reads `null`, `true` or `false`.
    pub(super) fn word(&mut self, word: &str) -> Result<(), Fault> {
        for expected in word.bytes() {
            if self.byte() != Some(expected) {
                return Err(self.stopped("expected ident", "a value"));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Reads the boolean that begins here.
    pub(super) fn truth(&mut self) -> Result<bool, Fault> {
        let truth = self.byte() == Some(b't');
        self.word(if truth { "true" } else { "false" })?;
        Ok(truth)
    }

    /// Enters an object or array; `expected` describes it for the error message.
    pub(super) fn open(&mut self, bracket: u8, expected: &dyn Expected) -> Result<u8, Fault> {
        if self.token() != Some(bracket) {
            return Err(self.mismatch(expected));
        }
        self.enter()
    }

    /// Enters the object or array that begins here, and returns its level.
    pub(super) fn enter(&mut self) -> Result<u8, Fault> {
        if self.room == 0 {
            return Err(self.fault("recursion limit exceeded"));
        }
        self.at += 1;
        self.room -= 1;
        self.opened = true;
        Ok(self.room)
    }

    /// Leaves the object or array of this level, skipping what was not read.
    pub(super) fn leave(&mut self, level: u8, bracket: u8) -> Result<(), Fault> {
        if self.room != level {
            return Ok(());
        }
        if self.token() != Some(bracket) {
            let within = if bracket == b']' {
                "a list"
            } else {
                "an object"
            };
            return Err(self.stopped("trailing characters", within));
        }
        self.at += 1;
        self.room += 1;
        self.opened = false;
        Ok(())
    }

    /// Moves to the next field of an object, up to its name, or out of the object.
    pub(super) fn next_field(&mut self) -> Result<bool, Fault> {
        let more = self.next_part(b'}')?;
        self.named = more;
        self.room += u8::from(!more);
        Ok(more)
    }

    /// Moves to the next field of an object, past its name, and returns the name's index in the list; or moves out of the object.
    pub(super) fn next_field_of(&mut self, names: &[&str]) -> Result<Option<u64>, Fault> {
        match self.next_field()? {
            true => self.number_in(names).map(Some),
            false => Ok(None),
        }
    }

    /// Reads a name and returns its index in a list.
    pub(super) fn number_in(&mut self, names: &[&str]) -> Result<u64, Fault> {
        self.looked_up = self.at;
        let name = self.string()?;
        let number = (0..).zip(names).find(|(_, known)| **known == name);
        Ok(number.map_or(UNKNOWN, |(number, _)| number))
    }

    #[cold]
    pub(super) fn unknown_field(&self, names: &'static [&'static str]) -> Fault {
        Fault::unknown_field(&self.last_name(), names)
    }

    #[cold]
    pub(super) fn unknown_variant(&self, names: &'static [&'static str]) -> Fault {
        Fault::unknown_variant(&self.last_name(), names)
    }

    /// The name that was looked up last.
    fn last_name(&self) -> Cow<'de, str> {
        let mut again = Self::new(self.text);
        again.at = self.looked_up;
        // It was read successfully before.
        again.string().unwrap_or_default()
    }

    /// Moves to the next element of an array, or out of the array.
    pub(super) fn next_element(&mut self) -> Result<bool, Fault> {
        let more = self.next_part(b']')?;
        self.room += u8::from(!more);
        Ok(more)
    }

    /// Moves to the name of a variant; returns the level if it is in an object.
    pub(super) fn open_variant(&mut self) -> Result<Option<u8>, Fault> {
        match self.token() {
            Some(b'"') => Ok(None),
            Some(b'{') => {
                let level = self.enter()?;
                if self.token() != Some(b'"') {
                    return Err(self.stopped("key must be a string", "an object"));
                }
                self.opened = false;
                self.named = true;
                Ok(Some(level))
            }
            _ => Err(self.no_value()),
        }
    }

    fn next_part(&mut self, bracket: u8) -> Result<bool, Fault> {
        let first = core::mem::replace(&mut self.opened, false);
        let (separator, within) = match bracket {
            b']' => ("expected `,` or `]`", "a list"),
            _ => ("expected `,` or `}`", "an object"),
        };
        match self.token() {
            Some(byte) if byte == bracket => {
                self.at += 1;
                return Ok(false);
            }
            Some(b',') if !first => {
                self.at += 1;
                match self.token() {
                    Some(byte) if byte == bracket => return Err(self.fault("trailing comma")),
                    Some(_) => {}
                    None => return Err(self.no_value()),
                }
            }
            Some(_) if first => {}
            _ => return Err(self.stopped(separator, within)),
        }
        if bracket == b'}' && self.byte() != Some(b'"') {
            return Err(self.fault("key must be a string"));
        }
        Ok(true)
    }

    /// Skips what is between a name and its value, if the last string was a name.
    fn after_string(&mut self) -> Result<(), Fault> {
        if core::mem::replace(&mut self.named, false) {
            if self.token() != Some(b':') {
                return Err(self.stopped("expected `:`", "an object"));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Reads the string that begins here. If it is a name, also the colon.
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>, Fault> {
        self.at += 1;
        let mut start = self.at;
        // Text with escapes is copied.
        let mut copy = String::new();
        loop {
            self.at = self.plain_end();
            let plain = self.text.get(start..self.at).unwrap_or_default();
            match self.string_byte()? {
                b'"' => {
                    self.after_string()?;
                    if copy.is_empty() {
                        return Ok(Cow::Borrowed(plain));
                    }
                    copy.push_str(plain);
                    return Ok(Cow::Owned(copy));
                }
                _ => {
                    copy.push_str(plain);
                    copy.push(self.escape()?);
                    start = self.at;
                }
            }
        }
    }

    /// The position of the first byte that is not plain: the end of the string, an escape or an error.
    fn plain_end(&self) -> usize {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at + plain_bytes(rest)
    }

    /// Reads a byte of a string that is not plain: a quotation mark or a backslash.
    fn string_byte(&mut self) -> Result<u8, Fault> {
        match self.byte() {
            Some(byte @ (b'"' | b'\\')) => {
                self.at += 1;
                Ok(byte)
            }
            _ => Err(self.stopped(
                "control character (\\u0000-\\u001F) found while parsing a string",
                "a string",
            )),
        }
    }

    /// Reads the escape after a backslash.
    fn escape(&mut self) -> Result<char, Fault> {
        let unit = self.escaped_unit()?;
        let trailing = 0xDC00..=0xDFFF;
        let unpaired = |reader: &Self| {
            reader.placed(Fault::in_text(
                "lone leading surrogate in hex escape",
                false,
            ))
        };
        if !(0xD800..=0xDBFF).contains(&unit) {
            return char::from_u32(unit).ok_or_else(|| unpaired(self));
        }
        for expected in *b"\\u" {
            if self.byte() != Some(expected) {
                return Err(self.stopped("unexpected end of hex escape", "a string"));
            }
            self.at += 1;
        }
        let second = self.hex()?;
        if !trailing.contains(&second) {
            return Err(unpaired(self));
        }
        let point = 0x1_0000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
        char::from_u32(point).ok_or_else(|| unpaired(self))
    }

    /// Reads one UTF-16 unit of the escape after a backslash.
    fn escaped_unit(&mut self) -> Result<u32, Fault> {
        let unit = match self.byte() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0C,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 1;
                return self.hex();
            }
            _ => return Err(self.stopped("invalid escape", "a string")),
        };
        self.at += 1;
        Ok(u32::from(unit))
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.byte().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.stopped("invalid escape", "a string"));
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }

    /// Whether a number begins here.
    pub(super) fn at_number(&mut self) -> bool {
        matches!(self.token(), Some(b'-' | b'0'..=b'9')) || self.named
    }

    /// Reads the number that begins here; as the name of a field it is in quotation marks.
    pub(super) fn numeral(&mut self) -> Result<Numeral, Fault> {
        if !self.named {
            let digits = self.digits()?;
            return value_of(digits).ok_or_else(|| self.placed(out_of_range()));
        }
        let name = self.string()?;
        let mut inner = Reader::new(&name);
        let read = inner.digits().and_then(|digits| {
            inner.end()?;
            value_of(digits).ok_or_else(out_of_range)
        });
        read.map_err(|_| {
            let expected = &"a number in quotation marks";
            self.placed(Fault::invalid_value(Unexpected::Str(&name), expected))
        })
    }

    /// Reads the text of the number that begins here.
    fn digits(&mut self) -> Result<&'de str, Fault> {
        let start = self.at;
        self.at += usize::from(self.byte() == Some(b'-'));
        if self.byte() == Some(b'0') {
            self.at += 1;
            if let Some(b'0'..=b'9') = self.byte() {
                return Err(self.fault("invalid number"));
            }
        } else {
            self.some_digits()?;
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.some_digits()?;
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn some_digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.stopped("invalid number", "a value"));
        }
        Ok(())
    }

    /// Returns the text of the next value without decoding it.
    pub(super) fn raw(&mut self) -> Result<&'de str, Fault> {
        self.token();
        let start = self.at;
        self.skip()?;
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Skips the next value, however deep it is.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        // The expected closing bracket, and those of the enclosing levels.
        let mut within = None;
        let mut around = Vec::new();
        loop {
            match self.token() {
                Some(bracket @ (b'[' | b'{')) => {
                    self.at += 1;
                    self.opened = true;
                    // Opening and closing brackets are two apart in ASCII.
                    around.extend(within.replace(bracket + 2));
                }
                Some(b'"') => self.skip_string()?,
                Some(b'-' | b'0'..=b'9') => drop(self.digits()?),
                Some(b'n') => self.word("null")?,
                Some(b't' | b'f') => drop(self.truth()?),
                _ => return Err(self.no_value()),
            }
            loop {
                let Some(bracket) = within else {
                    return Ok(());
                };
                if self.next_part(bracket)? {
                    if bracket == b'}' {
                        self.named = true;
                        self.skip_string()?;
                    }
                    break;
                }
                within = around.pop();
            }
        }
    }

    fn skip_string(&mut self) -> Result<(), Fault> {
        self.at += 1;
        loop {
            self.at = self.plain_end();
            match self.string_byte()? {
                b'"' => return self.after_string(),
                // Unpaired surrogates are left to whoever decodes the string.
                _ => drop(self.escaped_unit()?),
            }
        }
    }
}

/// The value of a number's text; none if it is too large.
fn value_of(digits: &str) -> Option<Numeral> {
    if let Ok(number) = digits.parse() {
        return Some(Numeral::Unsigned(number));
    }
    // Negative zero is not an integer.
    if let Some(number) = digits.parse().ok().filter(|number| *number != 0) {
        return Some(Numeral::Signed(number));
    }
    decimal::read(digits).map(Numeral::Float)
}

fn out_of_range() -> Fault {
    Fault::in_text("number out of range", false)
}
