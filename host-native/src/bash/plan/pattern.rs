//! Patterns: `*`, `?` and bracket expressions, as bash matches them.

/// A parsed pattern for one path component.
#[derive(Debug)]
pub(super) struct Pattern(Vec<Token>);

#[derive(Debug)]
enum Token {
    One(u32),
    Any,
    Many,
    Set { items: Vec<Item>, negated: bool },
}

#[derive(Debug)]
enum Item {
    Range(u32, u32),
    Class(fn(char) -> bool),
}

/// Whether a text has special characters. An unclosed bracket also counts.
pub(super) fn has_special(text: &[u8]) -> bool {
    text.iter().any(|b| matches!(b, b'*' | b'?' | b'['))
}

/// Appends a text with its special characters escaped.
pub(super) fn escape(text: &[u8], to: &mut Vec<u8>) {
    for byte in text {
        if matches!(
            byte,
            b'*' | b'?' | b'[' | b']' | b'\\' | b'-' | b'!' | b'^' | b':' | b'.' | b'='
        ) {
            to.push(b'\\');
        }
        to.push(*byte);
    }
}

/// The text that a pattern without special characters matches.
pub(super) fn unescape(pattern: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => text.extend(bytes.next().or(Some(byte))),
            byte => text.push(*byte),
        }
    }
    text
}

/// Whether a pattern has special characters that are not escaped.
pub(super) fn is_live(pattern: &[u8]) -> bool {
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'*' | b'?' => return true,
            b'[' if pattern.contains(&b']') => return true,
            _ => {}
        }
    }
    false
}

impl Pattern {
    /// Parses a pattern. There are no errors: invalid parts are literal.
    pub(super) fn read(pattern: &[u32]) -> Self {
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(&c) = pattern.get(at) {
            at += 1;
            tokens.push(match char::from_u32(c) {
                Some('*') => {
                    if matches!(tokens.last(), Some(Token::Many)) {
                        continue;
                    }
                    Token::Many
                }
                Some('?') => Token::Any,
                Some('[') => match set(pattern, at) {
                    Some((token, end)) => {
                        at = end;
                        token
                    }
                    None => Token::One(c),
                },
                Some('\\') if at < pattern.len() => {
                    at += 1;
                    Token::One(pattern[at - 1])
                }
                _ => Token::One(c),
            });
        }
        Self(tokens)
    }

    /// Whether a file name matches. A leading dot must be matched explicitly.
    pub(super) fn matches_name(&self, name: &[u32]) -> bool {
        let dot = u32::from(b'.');
        let is_hidden = name.first() == Some(&dot);
        let begins_with_dot = matches!(self.0.first(), Some(Token::One(c)) if *c == dot);
        (!is_hidden || begins_with_dot) && self.matches(name)
    }

    /// Whether the whole text matches.
    pub(super) fn matches(&self, name: &[u32]) -> bool {
        let (mut token, mut at) = (0, 0);
        // Where to continue after a mismatch: after the last star, one character further.
        let mut again = None;
        loop {
            match (self.0.get(token), name.get(at)) {
                (None, None) => return true,
                (Some(Token::Many), _) => {
                    token += 1;
                    again = Some((token, at));
                    continue;
                }
                (Some(one), Some(c)) if one.matches(*c) => {
                    token += 1;
                    at += 1;
                    continue;
                }
                _ => {}
            }
            match again {
                Some((star, from)) if from < name.len() => {
                    (token, at) = (star, from + 1);
                    again = Some((star, from + 1));
                }
                _ => return false,
            }
        }
    }
}

impl Pattern {
    /// The pattern for matching a reversed text.
    pub(super) fn reversed(mut self) -> Self {
        self.0.reverse();
        self
    }

    /// For each length, whether the prefix of that length matches. A dot is not special here.
    pub(super) fn prefixes(&self, text: &[u32]) -> Vec<bool> {
        let mut ends = vec![false; text.len() + 1];
        ends[0] = true;
        for token in &self.0 {
            if let Token::Many = token {
                let first = ends.iter().position(|end| *end).unwrap_or(ends.len());
                ends[first..].fill(true);
                continue;
            }
            for at in (0..text.len()).rev() {
                ends[at + 1] = ends[at] && token.matches(text[at]);
            }
            ends[0] = false;
        }
        ends
    }
}

impl Token {
    fn matches(&self, c: u32) -> bool {
        match self {
            Self::One(own) => *own == c,
            Self::Any => true,
            Self::Many => false,
            Self::Set { items, negated } => items.iter().any(|item| item.matches(c)) != *negated,
        }
    }
}

impl Item {
    fn matches(&self, c: u32) -> bool {
        match self {
            Self::Range(first, last) => (*first..=*last).contains(&c),
            Self::Class(contains) => char::from_u32(c).is_some_and(contains),
        }
    }
}

/// Parses a bracket expression whose bracket precedes `at`, and returns its end; `None` if it is not closed.
fn set(pattern: &[u32], mut at: usize) -> Option<(Token, usize)> {
    let char_at = |at: usize| pattern.get(at).copied().and_then(char::from_u32);
    let negated = matches!(char_at(at), Some('!' | '^'));
    at += usize::from(negated);
    let first = at;
    let mut items = Vec::new();
    loop {
        match char_at(at) {
            Some(']') if at > first => return Some((Token::Set { items, negated }, at + 1)),
            Some('[') if char_at(at + 1) == Some(':') => {
                if let Some((name, end)) = named(pattern, at, ':') {
                    items.extend(class(&name).map(Item::Class));
                    at = end;
                    continue;
                }
            }
            _ => {}
        }
        let (low, behind) = element(pattern, at)?;
        let is_range = char_at(behind) == Some('-') && char_at(behind + 1) != Some(']');
        at = behind;
        let mut high = low;
        if is_range {
            (high, at) = element(pattern, behind + 1)?;
        }
        if let (Some(low), Some(high)) = (low, high) {
            items.push(Item::Range(low, high));
        }
    }
}

/// Parses one character of a set, and returns the position after it. The character is `None` for a name of several characters.
fn element(pattern: &[u32], at: usize) -> Option<(Option<u32>, usize)> {
    let c = *pattern.get(at)?;
    let next = pattern.get(at + 1).copied();
    match (char::from_u32(c), next.and_then(char::from_u32)) {
        (Some('\\'), Some(_)) => Some((next, at + 2)),
        (Some('['), Some(kind @ ('=' | '.'))) => match named(pattern, at, kind) {
            Some((name, end)) => {
                let mut characters = name.chars();
                let one = characters.next().filter(|_| characters.next().is_none());
                Some((one.map(u32::from), end))
            }
            None => Some((Some(c), at + 1)),
        },
        _ => Some((Some(c), at + 1)),
    }
}

/// Parses the name between `[:` and `:]`, and returns its end.
fn named(pattern: &[u32], at: usize, kind: char) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut at = at + 2;
    loop {
        let c = char::from_u32(*pattern.get(at)?)?;
        let next = pattern.get(at + 1).copied().and_then(char::from_u32);
        if c == kind && next == Some(']') {
            return Some((name, at + 2));
        }
        name.push(c);
        at += 1;
    }
}

fn class(name: &str) -> Option<fn(char) -> bool> {
    Some(match name {
        "alnum" => char::is_alphanumeric,
        "alpha" => char::is_alphabetic,
        "ascii" => |c| c.is_ascii(),
        "blank" => |c| matches!(c, ' ' | '\t'),
        "cntrl" => char::is_control,
        "digit" => |c| c.is_ascii_digit(),
        "graph" => |c| !c.is_control() && !c.is_whitespace(),
        "lower" => char::is_lowercase,
        "print" => |c| !c.is_control(),
        "punct" => |c| match c.is_ascii() {
            true => c.is_ascii_punctuation(),
            false => !c.is_alphanumeric() && !c.is_control() && !c.is_whitespace(),
        },
        "space" => char::is_whitespace,
        "upper" => char::is_uppercase,
        "word" => |c| c.is_alphanumeric() || c == '_',
        "xdigit" => |c| c.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        let codes = |text: &str| text.chars().map(u32::from).collect::<Vec<_>>();
        Pattern::read(&codes(pattern)).matches_name(&codes(name))
    }

    #[test]
    fn names_match_as_in_bash() {
        let hold = [
            ("*", "a"),
            ("a*b*c", "aXbYbZc"),
            ("?", "é"),
            ("[]a]", "]"),
            ("[!]a]", "b"),
            ("[a-]", "-"),
            ("[\\]]", "]"),
            ("[[:digit:]x]", "7"),
            ("[[.a.]-c]", "b"),
            ("[[=a=]]", "a"),
            ("[a", "[a"),
            ("\\*", "*"),
            (".*", ".x"),
            ("*.rs", "a.rs"),
        ];
        for (pattern, name) in hold {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        let fail = [
            ("*", ".a"),
            ("?a", ".a"),
            ("[.]a", ".a"),
            ("[!a]", "a"),
            ("[z-a]", "m"),
            ("[[:nonsense:]]", "a"),
            ("a*b", "ac"),
            ("", "a"),
        ];
        for (pattern, name) in fail {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_do_not_take_long() {
        let name = "a".repeat(250);
        let pattern = "a*".repeat(120) + "b";
        assert!(!matches(&pattern, &name));
    }
}
