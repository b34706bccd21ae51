//! The grammar of patterns.

use alloc::{borrow::ToOwned, boxed::Box, format, string::String, sync::Arc, vec::Vec};

use super::PatternError;

/// Groups within groups.
const DEPTH: u32 = 50;

pub(super) enum Node {
    One(Arc<CharSet>),
    Begin,
    End,
    Boundary {
        inside: bool,
    },
    Look {
        ahead: bool,
        negative: bool,
        node: Box<Node>,
    },
    All(Vec<Node>),
    Any(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
    },
}

/// Some characters.
#[derive(Debug, Default)]
pub(super) struct CharSet {
    negative: bool,
    items: Vec<Item>,
}

#[derive(Debug, Clone, Copy)]
enum Item {
    Range(char, char),
    Class(Class, bool),
}

#[derive(Debug, Clone, Copy)]
enum Class {
    Digit,
    Word,
    Space,
    LineEnd,
    Alphabetic,
    Uppercase,
    Lowercase,
    Numeric,
    WhiteSpace,
    Control,
    Ascii,
    Any,
}

impl CharSet {
    fn one(item: Item) -> Self {
        Self {
            negative: false,
            items: alloc::vec![item],
        }
    }

    pub(super) fn contains(&self, c: char) -> bool {
        let within = self.items.iter().any(|item| match item {
            Item::Range(first, last) => (*first..=*last).contains(&c),
            Item::Class(class, negative) => class.contains(c) != *negative,
        });
        within != self.negative
    }
}

impl Class {
    fn contains(self, c: char) -> bool {
        match self {
            Self::Digit => c.is_ascii_digit(),
            Self::Word => c.is_ascii_alphanumeric() || c == '_',
            // ECMAScript counts the byte order mark among the blanks, and U+0085 not.
            Self::Space => c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'),
            Self::LineEnd => matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}'),
            Self::Alphabetic => c.is_alphabetic(),
            Self::Uppercase => c.is_uppercase(),
            Self::Lowercase => c.is_lowercase(),
            Self::Numeric => c.is_numeric(),
            Self::WhiteSpace => c.is_whitespace(),
            Self::Control => c.is_control(),
            Self::Ascii => c.is_ascii(),
            Self::Any => true,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "L" | "Letter" | "Alphabetic" | "Alpha" => Self::Alphabetic,
            "Lu" | "Uppercase_Letter" | "Uppercase" | "Upper" => Self::Uppercase,
            "Ll" | "Lowercase_Letter" | "Lowercase" | "Lower" => Self::Lowercase,
            "N" | "Number" => Self::Numeric,
            "White_Space" | "space" => Self::WhiteSpace,
            "Cc" | "Control" => Self::Control,
            "ASCII" => Self::Ascii,
            "Any" => Self::Any,
            _ => return None,
        })
    }
}

pub(super) fn parse(source: &str) -> Result<Node, PatternError> {
    let mut parser = Parser {
        text: source.chars().collect(),
        at: 0,
    };
    let node = parser.alternatives(DEPTH)?;
    match parser.peek() {
        None => Ok(node),
        // Only a bracket ends the alternatives early.
        Some(_) => Err(parser.fault("this `)` closes no group; write `\\)` for the character")),
    }
}

struct Parser {
    text: Vec<char>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, expected: &str) -> bool {
        let rest = &self.text[self.at..];
        let fits = expected
            .chars()
            .enumerate()
            .all(|(i, c)| rest.get(i) == Some(&c));
        if fits {
            self.at += expected.chars().count();
        }
        fits
    }

    fn fault(&self, problem: &str) -> PatternError {
        PatternError {
            place: self.at,
            problem: problem.to_owned(),
        }
    }

    fn alternatives(&mut self, depth: u32) -> Result<Node, PatternError> {
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| self.fault("the groups are nested too deep"))?;
        let mut nodes = alloc::vec![self.sequence(depth)?];
        while self.eat("|") {
            nodes.push(self.sequence(depth)?);
        }
        Ok(match nodes.pop() {
            Some(only) if nodes.is_empty() => only,
            last => {
                nodes.extend(last);
                Node::Any(nodes)
            }
        })
    }

    fn sequence(&mut self, depth: u32) -> Result<Node, PatternError> {
        let mut nodes = Vec::new();
        while self.peek().is_some_and(|c| c != '|' && c != ')') {
            let at = self.at;
            let node = self.atom(depth)?;
            let Some((min, max)) = self.quantifier()? else {
                nodes.push(node);
                continue;
            };
            if matches!(node, Node::Begin | Node::End | Node::Boundary { .. }) {
                return Err(PatternError {
                    place: at,
                    problem: "a place cannot be repeated".to_owned(),
                });
            }
            // Whether it takes as much as it can or as little matters to captures only.
            let _ = self.eat("?");
            nodes.push(Node::Repeat {
                node: Box::new(node),
                min,
                max,
            });
        }
        Ok(Node::All(nodes))
    }

    fn atom(&mut self, depth: u32) -> Result<Node, PatternError> {
        let set = match self.take() {
            Some('^') => return Ok(Node::Begin),
            Some('$') => return Ok(Node::End),
            Some('(') => return self.group(depth),
            Some('.') => CharSet::one(Item::Class(Class::LineEnd, true)),
            Some('[') => self.set()?,
            Some('\\') => match self.peek() {
                Some('b') => {
                    self.at += 1;
                    return Ok(Node::Boundary { inside: false });
                }
                Some('B') => {
                    self.at += 1;
                    return Ok(Node::Boundary { inside: true });
                }
                _ => CharSet::one(self.escape()?),
            },
            Some('*' | '+' | '?') => {
                self.at -= 1;
                return Err(self.fault("there is nothing before it to repeat; write a `\\` before it for the character"));
            }
            Some(c) => CharSet::one(Item::Range(c, c)),
            None => CharSet::default(),
        };
        Ok(Node::One(Arc::new(set)))
    }

    fn group(&mut self, depth: u32) -> Result<Node, PatternError> {
        let opened = self.at - 1;
        let mut look = None;
        if self.eat("?") {
            if self.eat("=") {
                look = Some((true, false));
            } else if self.eat("!") {
                look = Some((true, true));
            } else if self.eat("<=") {
                look = Some((false, false));
            } else if self.eat("<!") {
                look = Some((false, true));
            } else if self.eat("<") || self.eat("P<") {
                self.until('>', "the name of a group ends with `>`")?;
            } else if !self.eat(":") {
                return Err(self.fault(
                    "this kind of group is not supported: groups are (…), (?:…), (?<name>…), (?=…), (?!…), (?<=…), (?<!…)",
                ));
            }
        }
        let node = Box::new(self.alternatives(depth)?);
        if !self.eat(")") {
            return Err(PatternError {
                place: opened,
                problem: "this group is not closed".to_owned(),
            });
        }
        Ok(match look {
            Some((ahead, negative)) => Node::Look {
                ahead,
                negative,
                node,
            },
            None => *node,
        })
    }

    fn until(&mut self, end: char, problem: &str) -> Result<String, PatternError> {
        let rest = &self.text[self.at..];
        let Some(len) = rest.iter().position(|c| *c == end) else {
            return Err(self.fault(problem));
        };
        let name = rest[..len].iter().collect();
        self.at += len + 1;
        Ok(name)
    }

    fn quantifier(&mut self) -> Result<Option<(u32, Option<u32>)>, PatternError> {
        if self.eat("*") {
            return Ok(Some((0, None)));
        }
        if self.eat("+") {
            return Ok(Some((1, None)));
        }
        if self.eat("?") {
            return Ok(Some((0, Some(1))));
        }
        let begun = self.at;
        if !self.eat("{") {
            return Ok(None);
        }
        let min = self.number();
        let max = if self.eat(",") { self.number() } else { min };
        let (Some(min), true) = (min, self.eat("}")) else {
            // Not a count: the character itself.
            self.at = begun;
            return Ok(None);
        };
        if max.is_some_and(|max| max < min) {
            self.at = begun;
            return Err(self.fault("the largest count comes after the smallest"));
        }
        Ok(Some((min, max)))
    }

    fn number(&mut self) -> Option<u32> {
        let mut number: Option<u32> = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            let so_far = number.unwrap_or(0);
            number = Some(so_far.saturating_mul(10).saturating_add(digit));
            self.at += 1;
        }
        number
    }

    fn set(&mut self) -> Result<CharSet, PatternError> {
        let opened = self.at - 1;
        let unclosed = || PatternError {
            place: opened,
            problem: "this set is not closed; write `\\[` for the character".to_owned(),
        };
        let mut set = CharSet {
            negative: self.eat("^"),
            items: Vec::new(),
        };
        loop {
            let first = match self.take().ok_or_else(unclosed)? {
                ']' => return Ok(set),
                '\\' => self.escape_in_set()?,
                c => Item::Range(c, c),
            };
            let is_range =
                self.peek() == Some('-') && !matches!(self.text.get(self.at + 1), None | Some(']'));
            let Item::Range(from, _) = first else {
                set.items.push(first);
                continue;
            };
            if !is_range {
                set.items.push(first);
                continue;
            }
            self.at += 1;
            let last = match self.take().ok_or_else(unclosed)? {
                '\\' => self.escape_in_set()?,
                c => Item::Range(c, c),
            };
            match last {
                Item::Range(to, _) if from <= to => set.items.push(Item::Range(from, to)),
                Item::Range(..) => {
                    self.at -= 1;
                    return Err(self.fault("the range ends before it begins"));
                }
                // `[a-\d]`: the hyphen is one.
                class @ Item::Class(..) => {
                    set.items.extend([first, Item::Range('-', '-'), class]);
                }
            }
        }
    }

    fn escape_in_set(&mut self) -> Result<Item, PatternError> {
        if self.eat("b") {
            return Ok(Item::Range('\u{8}', '\u{8}'));
        }
        self.escape()
    }

    /// What follows a backslash.
    fn escape(&mut self) -> Result<Item, PatternError> {
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
        let value = name
            .strip_prefix("General_Category=")
            .or_else(|| name.strip_prefix("gc="))
            .unwrap_or(&name);
        Class::named(value).ok_or_else(|| PatternError {
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
