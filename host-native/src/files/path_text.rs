//! Real paths as text: how they are written and compared in grants.

use std::{borrow::Cow, path::Path};

/// Whether `path` is `base` or below it. Both are absolute, use `/`, and have no trailing slash.
pub(crate) fn is_within(path: &str, base: &str) -> bool {
    match path.strip_prefix(base) {
        Some(rest) => rest.is_empty() || base.ends_with('/') || rest.starts_with('/'),
        None => false,
    }
}

/// A path as text with `/` as separator; invalid UTF-8 becomes `U+FFFD`.
pub(crate) fn slashed(path: &Path) -> Cow<'_, str> {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        Cow::Owned(text.trim_start_matches(r"\\?\").replace('\\', "/"))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_begins_alike_is_not_within() {
        assert!(is_within("/a/b", "/a"));
        assert!(is_within("/a", "/a"));
        assert!(is_within("/a", "/"));
        assert!(!is_within("/ab", "/a"));
    }
}
