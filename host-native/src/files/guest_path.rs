//! Paths from components: relative to a directory, separated by `/`.

use super::{FsError, MAX_DEPTH, MAX_NAME, MAX_PATH};

/// A checked relative path: no root, no `..`, no NUL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GuestPath<'a> {
    /// The components in order; empty for the directory itself (`.` or an empty text).
    pub(crate) names: Vec<&'a str>,
    /// Whether it ended in `/` or `/.`, so that only a directory matches.
    pub(crate) wants_directory: bool,
}

impl<'a> GuestPath<'a> {
    /// Checks a path from a component.
    ///
    /// # Errors
    /// [`FsError::Invalid`] if the text is not a valid path; [`FsError::NotFound`] if it leads out of the directory.
    pub(crate) fn parse(text: &'a str) -> Result<Self, FsError> {
        if text.len() > MAX_PATH || text.contains('\0') {
            return Err(FsError::Invalid);
        }
        if text.starts_with('/') || crate::os::is_special_path(text) {
            return Err(FsError::NotFound);
        }
        let mut names = Vec::new();
        let mut wants_directory = false;
        for name in text.split('/') {
            wants_directory = matches!(name, "" | ".");
            match name {
                "" | "." => {}
                ".." => return Err(FsError::NotFound),
                name if name.len() > MAX_NAME => return Err(FsError::Invalid),
                name => names.push(name),
            }
        }
        if names.len() > MAX_DEPTH {
            return Err(FsError::Invalid);
        }
        Ok(Self {
            names,
            wants_directory,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_and_trailing_slashes_remembered() {
        let path = GuestPath::parse("a/./b//c").expect("a path");
        assert_eq!(
            (path.names, path.wants_directory),
            (vec!["a", "b", "c"], false)
        );
        for text in ["a/", "a/.", "a//"] {
            let path = GuestPath::parse(text).expect("a path");
            assert_eq!((path.names, path.wants_directory), (vec!["a"], true));
        }
        for text in ["", ".", "./"] {
            assert!(GuestPath::parse(text).expect("a path").names.is_empty());
        }
    }

    #[test]
    fn what_leads_out_or_is_no_path_is_refused() {
        for text in ["/", "/etc", "..", "a/..", "../a", "a/../b", "./.."] {
            assert_eq!(GuestPath::parse(text), Err(FsError::NotFound), "{text}");
        }
        for text in [
            "a\0b",
            &"x".repeat(256),
            &"x/".repeat(3000),
            &"x/".repeat(257),
        ] {
            assert_eq!(GuestPath::parse(text), Err(FsError::Invalid), "{text}");
        }
    }
}
