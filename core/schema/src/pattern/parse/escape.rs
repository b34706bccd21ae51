//! Escapes: what follows a backslash.

use alloc::{borrow::ToOwned, format, vec::Vec};

use super::{
    super::{
        PatternError,
        set::{Class, Item},
    },
    Node, Parser,
};

impl Parser {
    pub(super) fn escape_in_set(&mut self) -> Result<Item, PatternError> {
        if self.eat("b") {
            return Ok(Item::Range('\u{8}', '\u{8}'));
        }
        self.escape()
    }

    /// A back reference. Only accepted where the pattern is not matched.
    pub(super) fn back_reference(&mut self) -> Result<Node, PatternError> {
        if self.eat("k") {
            if !self.eat("<") {
                return Err(self.fault("`\\k` is followed by the name of a group: `\\k<name>`"));
            }
            self.until('>', "the name of a group ends with `>`")?;
        } else {
            self.number();
        }
        Ok(Node::All(Vec::new()))
    }

    /// Parses what follows a backslash.
    pub(super) fn escape(&mut self) -> Result<Item, PatternError> {
        let Some(c) = self.take() else {
            return Err(
                self.fault("the pattern ends with a backslash; write two for the character")
            );
        };
        let class = match c {
            'd' => Some((Class::Digit, false)),
            'D' => Some((Class::Digit, true)),
            'w' => Some((Class::Word, false)),
            'W' => Some((Class::Word, true)),
            's' => Some((Class::Space, false)),
            'S' => Some((Class::Space, true)),
            'p' | 'P' => Some((self.property()?, c == 'P')),
            _ => None,
        };
        if let Some((class, negative)) = class {
            return Ok(Item::Class(class, negative));
        }
        let c = match c {
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => '\0',
            'c' => self.control()?,
            'x' => self.hex(2)?,
            'u' => self.unicode()?,
            '0'..='9' | 'k' => {
                self.at -= 1;
                return Err(self.fault("references back to a group are not supported"));
            }
            c if c.is_ascii_alphabetic() => {
                self.at -= 1;
                return Err(self.fault(&format!("there is no escape `\\{c}`")));
            }
            c => c,
        };
        Ok(Item::Range(c, c))
    }

    fn property(&mut self) -> Result<Class, PatternError> {
        if !self.eat("{") {
            return Err(self.fault("`\\p` is followed by the name of a property in braces"));
        }
        let begun = self.at;
        let name = self.until('}', "the name of a property ends with `}`")?;
        Class::property(&name).ok_or_else(|| PatternError {
            place: begun,
            problem: format!("the property `{name}` is not supported"),
        })
    }

    fn control(&mut self) -> Result<char, PatternError> {
        match self.take() {
            Some(c) if c.is_ascii_alphabetic() => Ok(char::from(c as u8 % 32)),
            _ => Err(self.fault("`\\c` is followed by a letter")),
        }
    }

    fn hex_number(&mut self, digits: usize) -> Option<u32> {
        let mut number = 0;
        for i in 0..digits {
            number = number * 16 + self.text.get(self.at + i)?.to_digit(16)?;
        }
        self.at += digits;
        Some(number)
    }

    fn hex(&mut self, digits: usize) -> Result<char, PatternError> {
        let begun = self.at;
        let c = self.hex_number(digits).and_then(char::from_u32);
        c.ok_or_else(|| PatternError {
            place: begun,
            problem: "hexadecimal digits of a character are expected here".to_owned(),
        })
    }

    /// `\u0041`, `\u{1F600}`, or a surrogate pair `\uD83D\uDE00`.
    fn unicode(&mut self) -> Result<char, PatternError> {
        if self.eat("{") {
            let digits = self.text[self.at..].iter().position(|c| *c == '}');
            let c = self.hex(digits.filter(|n| (1..=6).contains(n)).unwrap_or(9))?;
            self.at += 1;
            return Ok(c);
        }
        let begun = self.at;
        if let Some(high @ 0xD800..0xDC00) = self.hex_number(4) {
            if self.eat("\\u")
                && let Some(low @ 0xDC00..0xE000) = self.hex_number(4)
                && let Some(c) = char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
            {
                return Ok(c);
            }
            self.at = begun;
            return Err(self.fault("half of a surrogate pair is no character"));
        }
        self.at = begun;
        self.hex(4)
    }
}
