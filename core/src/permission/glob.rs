//! Path patterns: `*` and `?` within a segment, `**` across segments, `[a-z]` classes, `\` to escape a character.
//!
//! Bytes are compared, as in the hosts' resolvers (globset), so that a pattern matches the same files on both sides. The code is
//! small on purpose (a web page has to download every table) and does not backtrack: a pattern is traversed once, with the set of
//! positions in the path that its beginning can match. Time is at most proportional to the product of both lengths, whatever path
//! a model writes.

use alloc::{string::String, vec, vec::Vec};

/// Whether an absolute pattern covers a path: the path itself, or a directory above it.
pub(super) fn covers(pattern: &str, path: &str) -> bool {
    if !has_its_texts(pattern, path) {
        return false;
    }
    let path = path.as_bytes();
    // `reached[i]`: the pattern so far matches the first `i` bytes.
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for token in tokens(pattern.trim_end_matches('/')) {
        reached = token.step(&reached, path);
    }
    (0..=path.len()).any(|end| reached[end] && path.get(end).is_none_or(|next| *next == b'/'))
}

/// Whether an absolute pattern covers all that lies in this directory, which it names without wildcards: `/data/**`.
pub(super) fn is_all_of(pattern: &str, directory: &str) -> bool {
    let Some(named) = pattern.strip_suffix("/**") else {
        return false;
    };
    let last = named.rsplit('/').next().unwrap_or_default();
    !last.contains(['*', '?', '[', '\\']) && covers(named, directory)
}

/// Whether the literal texts of a pattern occur in a path in this order: a cheap check that rejects most paths. Text after a
/// class or an escape is not checked.
fn has_its_texts(pattern: &str, path: &str) -> bool {
    let plain = pattern.find(['[', '\\']).unwrap_or(pattern.len());
    let mut texts = pattern[..plain].trim_end_matches('/').split(['*', '?']);
    let begin = texts.next().unwrap_or_default();
    if !path.starts_with(begin) {
        return false;
    }
    let mut rest = &path[begin.len()..];
    // The slash after `**` may also match nothing.
    texts.all(|text| {
        let text = text.strip_prefix('/').unwrap_or(text);
        match rest.find(text) {
            Some(at) => {
                rest = &rest[at + text.len()..];
                true
            }
            None => false,
        }
    })
}

/// Whether an absolute pattern covers something below a folder: every name on the path matches. A pattern with `**` on the way
/// would match every folder and is only checked against the folder itself.
pub(super) fn may_cover_below(pattern: &str, folder: &str) -> bool {
    let mut wanted = pattern.trim_end_matches('/').split('/');
    for name in folder.trim_end_matches('/').split('/') {
        match wanted.next() {
            // A parent folder is covered, and with it this one.
            None => return true,
            Some(segment) if segment.contains("**") => return covers(pattern, folder),
            Some(segment) if !covers(segment, name) => return false,
            Some(_) => {}
        }
    }
    true
}

/// What is wrong with a pattern whose meaning differs between implementations: a rule must mean the same everywhere.
pub(super) fn fault(pattern: &str) -> Option<&'static str> {
    if pattern == ".." || normal(pattern).is_none() {
        return Some("a `..` stands behind a name with wildcards: write the path that is meant");
    }
    let bytes = pattern.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' if at == bytes.len() => return Some("nothing stands behind the `\\` at its end"),
            b'\\' => at += 1,
            b'[' => match class_end(bytes, at) {
                Ok(end) => at = end,
                Err(fault) => return Some(fault),
            },
            _ => {}
        }
    }
    None
}

/// The index after the bracket that closes the class which begins here.
fn class_end(bytes: &[u8], begin: usize) -> Result<usize, &'static str> {
    const OPEN: &str = "a `[` is not closed: write `\\[` for the character itself";
    let negated = matches!(bytes.get(begin), Some(b'!' | b'^'));
    let first = begin + usize::from(negated);
    let mut at = first;
    loop {
        match bytes.get(at) {
            None | Some(b'/') => return Err(OPEN),
            Some(b']') if at > first => return Ok(at + 1),
            Some(low) => {
                let high = bytes.get(at + 2).filter(|high| **high != b']');
                if bytes.get(at + 1) == Some(&b'-')
                    && let Some(high) = high
                {
                    if high < low {
                        return Err("a range in `[…]` ends before it begins");
                    }
                    at += 2;
                }
                at += 1;
            }
        }
    }
}

/// A pattern in normalised form: without `.`, `..` and repeated slashes. None if `..` follows a name with wildcards, since the
/// parent is then unknown.
pub(super) fn normal(pattern: &str) -> Option<String> {
    let is_wild = |name: &str| {
        let mut chars = name.chars();
        while let Some(c) = chars.next() {
            match c {
                '*' | '?' | '[' => return true,
                '\\' => drop(chars.next()),
                _ => {}
            }
        }
        false
    };
    let mut names: Vec<&str> = Vec::new();
    for name in pattern.split('/') {
        match name {
            "" | "." => {}
            ".." => match names.pop() {
                Some(above) if is_wild(above) => return None,
                _ => {}
            },
            name => names.push(name),
        }
    }
    let mut out = String::with_capacity(pattern.len());
    for name in &names {
        if !out.is_empty() || pattern.starts_with('/') {
            out.push('/');
        }
        out.push_str(name);
    }
    // A final slash is kept: it matches directories only.
    if pattern.ends_with('/') || names.is_empty() {
        out.push('/');
    }
    Some(out)
}

/// Escapes a text as a pattern that matches exactly this text.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The patterns that a pattern with alternatives (`*.{pem,key}`) stands for; none if there are too many. Braces without a comma
/// are literal, and so are those after a `\\`.
pub(super) fn alternatives(pattern: &str) -> Option<Vec<String>> {
    const MOST: usize = 64;
    let mut open = alloc::vec![String::from(pattern)];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        match split_braces(&pattern) {
            None if done.contains(&pattern) => {}
            None => done.push(pattern),
            Some((before, inner, after)) => {
                open.extend(
                    inner
                        .iter()
                        .rev()
                        .map(|part| [before, part, after].concat()),
                );
            }
        }
        if done.len() + open.len() > MOST {
            return None;
        }
    }
    Some(done)
}

/// The first pair of braces with a comma in it: the text before, the alternatives, the text after.
fn split_braces(pattern: &str) -> Option<(&str, Vec<&str>, &str)> {
    // The positions of open braces, and the commas directly inside them.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut escaped = false;
    for (at, byte) in pattern.bytes().enumerate() {
        if core::mem::take(&mut escaped) {
            continue;
        }
        match byte {
            b'\\' => escaped = true,
            b'{' => open.push((at, Vec::new())),
            b',' => {
                if let Some((_, commas)) = open.last_mut() {
                    commas.push(at);
                }
            }
            b'}' => {
                if let Some((start, commas)) = open.pop()
                    && !commas.is_empty()
                {
                    let mut parts = Vec::new();
                    let mut from = start + 1;
                    for end in commas.into_iter().chain([at]) {
                        parts.push(&pattern[from..end]);
                        from = end + 1;
                    }
                    return Some((&pattern[..start], parts, &pattern[at + 1..]));
                }
            }
            _ => {}
        }
    }
    None
}

enum Token {
    Literal(u8),
    /// `?`
    AnyInSegment,
    /// `*`
    StarInSegment,
    /// `**`
    Anything,
    /// `**/` at the start of a segment: zero or more whole segments.
    Segments,
    Class {
        negated: bool,
        ranges: Vec<(u8, u8)>,
    },
}

impl Token {
    /// The positions that can be reached by matching this token from the given positions.
    fn step(&self, from: &[bool], path: &[u8]) -> Vec<bool> {
        let mut to = vec![false; from.len()];
        let mut before = false; // some earlier place was reached
        for end in 0..from.len() {
            let last = end.checked_sub(1).map(|i| path[i]);
            let one_more = |fits: bool| fits && end > 0 && from[end - 1];
            to[end] = match (self, last) {
                (Self::Literal(c), last) => one_more(last == Some(*c)),
                (Self::AnyInSegment, last) => one_more(last != Some(b'/')),
                (Self::Class { negated, ranges }, Some(last)) => {
                    let found = ranges
                        .iter()
                        .any(|(low, high)| (*low..=*high).contains(&last));
                    one_more(last != b'/' && found != *negated)
                }
                (Self::Class { .. }, None) => false,
                (Self::StarInSegment, last) => {
                    from[end] || (end > 0 && to[end - 1] && last != Some(b'/'))
                }
                (Self::Anything, _) => from[end] || before,
                (Self::Segments, last) => from[end] || (before && last == Some(b'/')),
            };
            before |= from[end];
        }
        to
    }
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut rest: Vec<u8> = pattern.bytes().rev().collect(); // the next one last
    let mut at_segment_start = true;
    while let Some(c) = rest.pop() {
        let token = match c {
            b'*' if rest.last() == Some(&b'*') => {
                while rest.last() == Some(&b'*') {
                    rest.pop();
                }
                if at_segment_start && rest.last() == Some(&b'/') {
                    rest.pop();
                    Token::Segments
                } else {
                    Token::Anything
                }
            }
            b'*' => Token::StarInSegment,
            b'?' => Token::AnyInSegment,
            // Without its closing bracket it is a literal.
            b'[' => class(&mut rest).unwrap_or(Token::Literal(b'[')),
            b'\\' => Token::Literal(rest.pop().unwrap_or(b'\\')),
            c => Token::Literal(c),
        };
        at_segment_start = matches!(token, Token::Literal(b'/') | Token::Segments);
        out.push(token);
    }
    out
}

/// Parses a bracket expression after its opening bracket. Consumes `rest` only if it is one.
fn class(rest: &mut Vec<u8>) -> Option<Token> {
    if !rest.contains(&b']') {
        return None;
    }
    let mut ahead = rest.clone();
    let negated = matches!(ahead.last(), Some(b'!' | b'^'));
    if negated {
        ahead.pop();
    }
    let mut ranges = Vec::new();
    let mut first = true;
    loop {
        let low = ahead.pop()?;
        // A closing bracket right at the beginning is literal.
        if low == b']' && !first {
            break;
        }
        first = false;
        let is_range = ahead.last() == Some(&b'-')
            && ahead.len() > 1
            && ahead.get(ahead.len() - 2).is_some_and(|high| *high != b']');
        if is_range {
            ahead.pop();
            ranges.push((low, ahead.pop()?));
        } else {
            ranges.push((low, low));
        }
    }
    *rest = ahead;
    Some(Token::Class { negated, ranges })
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{alternatives, covers, escape, normal};

    #[test]
    fn alternatives_are_written_out() {
        for (pattern, expected) in [
            ("/a", &["/a"][..]),
            ("/*.{pem,key}", &["/*.pem", "/*.key"]),
            ("/{a,b}/{c,d}", &["/a/c", "/a/d", "/b/c", "/b/d"]),
            ("/{a,b{c,d}}", &["/a", "/bc", "/bd"]),
            ("/{a}", &["/{a}"]),
            ("/\\{a,b\\}", &["/\\{a,b\\}"]),
            ("/{a,b", &["/{a,b"]),
            ("/{,.bak}x", &["/x", "/.bakx"]),
        ] {
            let mut found = alternatives(pattern).unwrap();
            let mut expected: Vec<&str> = expected.to_vec();
            found.sort();
            expected.sort_unstable();
            assert_eq!(found, expected, "{pattern}");
        }
        assert_eq!(alternatives(&"{a,b}".repeat(40)), None);
    }

    #[test]
    fn patterns_cover_paths_and_what_lies_below() {
        for (pattern, path, expected) in [
            ("/w/a.rs", "/w/a.rs", true),
            ("/w/*.rs", "/w/a.rs", true),
            ("/w/*.rs", "/w/x/a.rs", false),
            ("/w/**/*.rs", "/w/x/y/a.rs", true),
            ("/w/**/*.rs", "/w/a.rs", true),
            ("/w/**", "/w/a/b", true),
            ("/w/**", "/wx/a", false),
            ("/w/secret", "/w/secret/deep/key", true),
            ("/w/secret/", "/w/secret/deep/key", true),
            ("/w/secret", "/w/secrets", false),
            ("/w/[ab].rs", "/w/b.rs", true),
            ("/w/[!ab].rs", "/w/b.rs", false),
            ("/w/[a-c]?.rs", "/w/cd.rs", true),
            ("/w/[]a].rs", "/w/].rs", true),
            ("/w/[.rs", "/w/[.rs", true),
            ("/w/\\[id\\].rs", "/w/[id].rs", true),
            ("/w/a**/b", "/w/ab", false),
            ("/w/a**/b", "/w/ax/y/b", true),
            ("/**/.env", "/w/deep/.env", true),
            ("/**/.env", "/.env", true),
            ("/", "/anything/at/all", true),
        ] {
            assert_eq!(covers(pattern, path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn texts_between_wildcards_are_looked_for_in_their_order() {
        for (pattern, path, expected) in [
            ("/w/**/.env", "/w/a/.env", true),
            ("/w/**/.env", "/w/.env", true),
            ("/w/**/.env/", "/w/.env", true),
            ("/w/**/secrets/**", "/w/secrets/a", true),
            ("/w/**/secrets/**", "/w/secrets", false),
            ("/w/*.pem", "/w/.pem", true),
            ("/w/a?c", "/w/abc", true),
            ("/w/**/a/[bc]", "/w/a/c", true),
            ("/w/**/a\\*b", "/w/a*b", true),
            ("/w/**", "/w", false),
            ("/**", "/w", true),
            ("/w/***/a", "/w/a", true),
            ("/w/*/é*", "/w/x/éa", true),
        ] {
            assert_eq!(covers(pattern, path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn an_escaped_text_means_itself() {
        let odd = "/w/[id]/{a,b}/*?\\";
        assert!(covers(&escape(odd), odd));
        assert!(!covers(&escape("/w/[id]"), "/w/i"));
    }

    #[test]
    fn conf_12_a_pattern_is_made_normal_before_it_is_compared() {
        let table = [
            ("/w/./x.pem", Some("/w/x.pem")),
            ("/w//x/*.pem", Some("/w/x/*.pem")),
            ("/w/x/../y/.", Some("/w/y")),
            ("/w/\\*/../y", Some("/w/y")),
            ("/w/**/x/../y", Some("/w/**/y")),
            ("/w/x/", Some("/w/x/")),
            ("/../..", Some("/")),
            ("/w/*/../y", None),
            ("/w/[ab]/../y", None),
        ];
        for (pattern, expected) in table {
            assert_eq!(normal(pattern).as_deref(), expected, "{pattern}");
        }
    }

    #[test]
    fn many_stars_take_no_longer_than_few() {
        let pattern = "/**/*a*a*a*a*a*a*a*a*a*a*b";
        let path = alloc::format!("/{}", "a".repeat(4_000));
        assert!(!covers(pattern, &path));
    }
}
