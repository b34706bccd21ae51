//! Paths as text. The path type of the standard library depends on the operating system, and on wasm32 no path is absolute.
//! These paths behave the same everywhere, and no file system is consulted.

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
};

use serde::{Deserialize, Serialize};

/// A path whose components are separated by `/`. A path of a Windows host begins with its drive, as in `C:/Users`.
///
/// The text is kept as it was written. Two paths are equal if their components are: `a//b/.` equals `a/b`. `..` is kept,
/// because its target is known only after links have been followed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TextPath(String);

/// A component of a path. Paths sort by the order of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part<'a> {
    /// The root of an absolute path, with its drive letter if it has one.
    Root(Option<u8>),
    /// `.`, which is significant only as the first component.
    Current,
    /// `..`
    Above,
    Name(&'a str),
}

impl TextPath {
    /// A path with this text, kept as written.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text of the path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the path is absolute.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        root(&self.0) > 0
    }

    /// Resolves another path in this folder: an absolute path is returned unchanged. A drive is recognised only if this path
    /// has one too; elsewhere `C:` is an ordinary name.
    #[must_use]
    pub fn join(&self, below: impl AsRef<str>) -> Self {
        let below = below.as_ref();
        let drive = drive(&self.0);
        if drive.is_some() && below.starts_with('/') {
            return Self(format!("{}{below}", &self.0[..2]));
        }
        let is_other = match drive {
            Some(_) => root(below) > 0,
            None => below.starts_with('/'),
        };
        if is_other || self.0.is_empty() {
            return Self::new(below);
        }
        let between = if self.0.ends_with('/') { "" } else { "/" };
        Self(format!("{}{between}{below}", self.0))
    }

    /// The parent folder; `None` for a root and for the empty path.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let mut parts = self.parts();
        let (_, last) = parts.next_back()?;
        match parts.next_back() {
            Some((_, before)) => Some(Self::new(&self.0[..before.end])),
            None if last.start < root(&self.0) => None,
            None => Some(Self::default()),
        }
    }

    /// The path itself, its parent folder, and so on.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self.clone()), Self::parent)
    }

    /// The last name; `None` if the path ends in a root or in `..`.
    #[must_use]
    pub fn file_name(&self) -> Option<&str> {
        match self.parts().next_back()? {
            (Part::Name(name), _) => Some(name),
            _ => None,
        }
    }

    /// The last name without its extension. A leading dot is part of the name.
    #[must_use]
    pub fn file_stem(&self) -> Option<&str> {
        let name = self.file_name()?;
        Some(split_at_dot(name).map_or(name, |(stem, _)| stem))
    }

    /// The extension of the last name: what follows its last dot.
    #[must_use]
    pub fn extension(&self) -> Option<&str> {
        split_at_dot(self.file_name()?).map(|(_, extension)| extension)
    }

    /// The names of the path in order, without the root.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts()
            .filter(|(part, _)| !matches!(part, Part::Root(_)))
            .map(|(_, at)| &self.0[at])
    }

    /// Whether the path is this folder or lies below it, compared by components.
    #[must_use]
    pub fn starts_with(&self, folder: &Self) -> bool {
        self.strip_prefix(folder).is_some()
    }

    /// The path relative to a folder; `None` if it does not lie there.
    #[must_use]
    pub fn strip_prefix(&self, folder: &Self) -> Option<Self> {
        let mut parts = self.parts();
        for (wanted, _) in folder.parts() {
            let (part, _) = parts.next()?;
            if part != wanted {
                return None;
            }
        }
        let Some((_, first)) = parts.next() else {
            return Some(Self::default());
        };
        let end = parts.next_back().map_or(first.end, |(_, last)| last.end);
        Some(Self::new(&self.0[first.start..end]))
    }

    /// The components, each with its range in the text.
    fn parts(&self) -> impl DoubleEndedIterator<Item = (Part<'_>, std::ops::Range<usize>)> {
        let text = self.0.as_str();
        let root = root(text);
        let begin = (root > 0).then_some((Part::Root(drive(text)), 0..root));
        let names = text[root..].split('/').filter_map(move |name| {
            // `name` is a slice of `text`, so the difference of their addresses is its offset.
            let start = name.as_ptr() as usize - text.as_ptr() as usize;
            let part = match name {
                "" => return None,
                "." if start > 0 => return None,
                "." => Part::Current,
                ".." => Part::Above,
                name => Part::Name(name),
            };
            Some((part, start..start + name.len()))
        });
        begin.into_iter().chain(names)
    }
}

/// The length in bytes of the root of an absolute path; 0 for a relative path.
fn root(text: &str) -> usize {
    match drive(text) {
        Some(_) => 3,
        None => usize::from(text.starts_with('/')),
    }
}

/// The drive letter, normalised for comparison.
fn drive(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [letter, b':', b'/', ..] if letter.is_ascii_alphabetic() => {
            Some(letter.to_ascii_uppercase())
        }
        _ => None,
    }
}

fn split_at_dot(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())
}

impl fmt::Display for TextPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for TextPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for TextPath {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for TextPath {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl PartialEq for TextPath {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for TextPath {}

impl PartialOrd for TextPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TextPath {
    fn cmp(&self, other: &Self) -> Ordering {
        let parts = self.parts().map(|(part, _)| part);
        parts.cmp(other.parts().map(|(part, _)| part))
    }
}

impl Hash for TextPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().for_each(|(part, _)| part.hash(state));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> TextPath {
        TextPath::from(text)
    }

    #[test]
    fn a_path_is_read_in_a_folder() {
        for (folder, below, wanted) in [
            ("/a", "b/c.md", "/a/b/c.md"),
            ("/a/", "./b", "/a/./b"),
            ("/", "b", "/b"),
            ("/a", "/b", "/b"),
            ("", "b", "b"),
            ("/a", "C:/b", "/a/C:/b"),
            ("C:/a", "b", "C:/a/b"),
            ("C:/a", "D:/b", "D:/b"),
            ("C:/a", "/b", "C:/b"),
        ] {
            assert_eq!(path(folder).join(below).as_str(), wanted);
        }
        assert!(path("/a").is_absolute() && path("c:/a").is_absolute());
        assert!(
            !path("a/b").is_absolute() && !path("").is_absolute() && !path("C:a").is_absolute()
        );
    }

    #[test]
    fn a_path_has_a_name_and_lies_in_a_folder() {
        for (text, parent, name, stem, extension) in [
            (
                "/a/b.tar.gz",
                Some("/a"),
                Some("b.tar.gz"),
                Some("b.tar"),
                Some("gz"),
            ),
            ("/a//b/", Some("/a"), Some("b"), Some("b"), None),
            ("/a", Some("/"), Some("a"), Some("a"), None),
            ("C:/a", Some("C:/"), Some("a"), Some("a"), None),
            (".md", Some(""), Some(".md"), Some(".md"), None),
            ("a/..", Some("a"), None, None, None),
            ("./a", Some("."), Some("a"), Some("a"), None),
            ("/", None, None, None, None),
            ("C:/", None, None, None, None),
            ("", None, None, None, None),
        ] {
            let path = path(text);
            assert_eq!(
                path.parent().as_ref().map(TextPath::as_str),
                parent,
                "{text}"
            );
            let said = (path.file_name(), path.file_stem(), path.extension());
            assert_eq!(said, (name, stem, extension), "{text}");
        }
        let above: Vec<String> = path("/a/b")
            .ancestors()
            .map(|path| path.to_string())
            .collect();
        assert_eq!(above, ["/a/b", "/a", "/"]);
        assert_eq!(path("/a/./b").names().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn what_is_below_a_folder_is_told_by_whole_names() {
        for (text, folder, wanted) in [
            ("/a/b/c", "/a", Some("b/c")),
            ("/a//b/", "/a/.", Some("b")),
            ("/a", "/a", Some("")),
            ("/a", "", Some("/a")),
            ("/ab", "/a", None),
            ("a/b", "/a", None),
            ("C:/a/b", "c:/a", Some("b")),
            ("C:/a", "/a", None),
        ] {
            let below = path(text).strip_prefix(&path(folder));
            assert_eq!(below.as_ref().map(TextPath::as_str), wanted, "{text}");
            assert_eq!(path(text).starts_with(&path(folder)), wanted.is_some());
        }
    }

    #[test]
    fn paths_are_sorted_by_their_names() {
        let mut paths = ["/a-b/c", "/a/d", "b", "../a", "/a", "./b"].map(path);
        paths.sort();
        let texts = paths.each_ref().map(TextPath::as_str);
        assert_eq!(texts, ["/a", "/a/d", "/a-b/c", "./b", "../a", "b"]);
        assert_eq!(path("/a//b/."), path("/a/b"));
        assert_ne!(path("./b"), path("b"));
    }

    proptest! {
        #[test]
        fn what_is_joined_comes_apart_again(
            folder in "(/|C:/)?([a-c.]{1,2}/{1,2}){0,3}",
            below in "[a-c]{1,2}(/{1,2}[a-c.]{1,2}){0,3}",
        ) {
            let (folder, below) = (TextPath::from(folder), TextPath::from(below));
            let joined = folder.join(&below);
            prop_assert!(joined.starts_with(&folder));
            prop_assert_eq!(joined.strip_prefix(&folder), Some(below));
            prop_assert_eq!(joined.is_absolute(), folder.is_absolute());
        }

        #[test]
        fn a_path_is_its_folder_and_its_name(text in "(/|C:/)?[a-c./]{0,8}") {
            let path = TextPath::from(text);
            for above in path.ancestors() {
                prop_assert!(path.starts_with(&above));
            }
            if let (Some(parent), Some(name)) = (path.parent(), path.file_name()) {
                prop_assert_eq!(parent.join(name), path.clone());
            }
            let depth = path.ancestors().count();
            prop_assert!(depth <= path.as_str().len() + 1);
            prop_assert_eq!(path.cmp(&path.join("")), Ordering::Equal);
        }
    }
}
