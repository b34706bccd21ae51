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

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_anything() {
        assert!(fits("a*c*", "abcd") && fits("*", "") && fits("a", "a"));
        assert!(!fits("a*c", "abcd") && !fits("a", "ab"));
    }
}
