//! The grammar of patterns.

mod escape;

use alloc::{borrow::ToOwned, boxed::Box, string::String, sync::Arc, vec::Vec};

use super::{
    PatternError,
    set::{CharSet, Class, Item},
};

/// The maximum nesting depth of groups.
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

/// Parses a pattern that can be matched.
pub(super) fn parse(source: &str) -> Result<Node, PatternError> {
    read(source, false)
}

/// Parses a pattern of ECMA-262, whether or not it can be matched here; the result is not matched.
pub(super) fn parse_as_ecmascript(source: &str) -> Result<(), PatternError> {
    read(source, true).map(|_| ())
}

fn read(source: &str, ecmascript: bool) -> Result<Node, PatternError> {
    let mut parser = Parser {
        text: source.chars().collect(),
        at: 0,
        ecmascript,
    };
    let node = parser.alternatives(DEPTH)?;
    match parser.peek() {
        None => Ok(node),
        // Only a bracket can end the alternatives early.
        Some(_) => Err(parser.fault("this `)` closes no group; write `\\)` for the character")),
    }
}

struct Parser {
    text: Vec<char>,
    at: usize,
    /// Accept back references, which cannot be matched here, and refuse groups `(?P<name>…)`, which ECMA-262 does not have.
    ecmascript: bool,
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
            // Greediness only matters for captures.
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
                Some('1'..='9' | 'k') if self.ecmascript => return self.back_reference(),
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
            } else if self.eat("<") || (!self.ecmascript && self.eat("P<")) {
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
            // Not a count: the brace is literal.
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
                // `[a-\d]`: the hyphen is literal.
                class @ Item::Class(..) => {
                    set.items.extend([first, Item::Range('-', '-'), class]);
                }
            }
        }
    }
}
