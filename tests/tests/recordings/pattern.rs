//! Patterns in which `*` stands for anything.

/// Whether a text is what a pattern describes.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, rest)) => {
            let Some(text) = text.strip_prefix(head) else {
                return false;
            };
            (0..=text.len())
                .filter(|&at| text.is_char_boundary(at))
                .any(|at| fits(rest, &text[at..]))
        }
    }
}

/// Why a pattern for a frame, or for `frame: path`, may not stand in a reason: it would cover what nobody has looked at.
pub(crate) fn is_too_wide(pattern: &str) -> Option<&'static str> {
    match pattern.split_once(": ") {
        None if pattern == "*" => Some("it means every frame: name them"),
        Some((_, path)) if path.starts_with('*') || path.ends_with('*') => {
            Some("its path has no beginning or no end: name the fields")
        }
        Some(("*", path)) if path.contains('*') => {
            Some("it means many fields of every frame: name the frames or the field")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{fits, is_too_wide};

    #[test]
    fn a_star_stands_for_anything() {
        assert!(fits("a*c*", "abcd") && fits("*", "") && fits("a", "a"));
        assert!(!fits("a*c", "abcd") && !fits("a", "ab"));
    }

    #[test]
    fn a_pattern_says_which_fields_it_means() {
        for wide in [
            "*",
            "*: *",
            "a: *",
            "a: b.*",
            "a: *b",
            "a: b_*",
            "*: a.*.b",
            "*: *usage.*",
        ] {
            assert!(is_too_wide(wide).is_some(), "{wide}");
        }
        for narrow in [
            "a",
            "a/*",
            "*: a.b",
            "a/*: a.*.b",
            "a/*: a.b",
            "0 in place of 1",
        ] {
            assert_eq!(is_too_wide(narrow), None, "{narrow}");
        }
    }
}
