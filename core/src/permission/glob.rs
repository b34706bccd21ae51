//! Path patterns: `*` and `?` within a segment, `**` across segments, `[a-z]` classes.
//!
//! Small on purpose (the browser pays for every table); no backtracking beyond the last star.

/// Whether an absolute pattern covers a path: the path itself, or a directory above it.
pub(super) fn covers(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_end_matches('/');
    let mut end = path.len();
    loop {
        if matches(pattern.as_bytes(), &path.as_bytes()[..end]) {
            return true;
        }
        match path[..end].rfind('/') {
            Some(slash) if slash > 0 => end = slash,
            _ => return false,
        }
    }
}

fn matches(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => path.is_empty(),
        [b'*', b'*', b'/', rest @ ..] => {
            // Zero or more whole segments.
            matches(rest, path)
                || (0..path.len()).any(|i| path[i] == b'/' && matches(rest, &path[i + 1..]))
        }
        [b'*', b'*', rest @ ..] => (0..=path.len()).any(|i| matches(rest, &path[i..])),
        [b'*', rest @ ..] => {
            let segment = path.iter().position(|b| *b == b'/').unwrap_or(path.len());
            (0..=segment).any(|i| matches(rest, &path[i..]))
        }
        [b'?', rest @ ..] => match path {
            [first, tail @ ..] if *first != b'/' => matches(rest, tail),
            _ => false,
        },
        [b'[', rest @ ..] => class(rest, path),
        [b'\\', literal, rest @ ..] | [literal, rest @ ..] => match path {
            [first, tail @ ..] if first == literal => matches(rest, tail),
            _ => false,
        },
    }
}

/// A bracket expression; without its closing bracket it is a literal `[`.
fn class(after_bracket: &[u8], path: &[u8]) -> bool {
    let Some(close) = after_bracket.iter().skip(1).position(|b| *b == b']') else {
        return path.first() == Some(&b'[') && matches(after_bracket, &path[1..]);
    };
    let (set, rest) = (&after_bracket[..=close], &after_bracket[close + 2..]);
    let [first, tail @ ..] = path else {
        return false;
    };
    let (negated, mut set) = match set {
        [b'!' | b'^', set @ ..] => (true, set),
        set => (false, set),
    };
    let mut found = false;
    while let [low, others @ ..] = set {
        if let [b'-', high, others @ ..] = others {
            found |= (*low..=*high).contains(first);
            set = others;
        } else {
            found |= low == first;
            set = others;
        }
    }
    *first != b'/' && found != negated && matches(rest, tail)
}

#[cfg(test)]
mod tests {
    use super::covers;

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
            ("/w/[.rs", "/w/[.rs", true),
            ("/**/.env", "/w/deep/.env", true),
            ("/**/.env", "/.env", true),
        ] {
            assert_eq!(covers(pattern, path), expected, "{pattern} on {path}");
        }
    }
}
