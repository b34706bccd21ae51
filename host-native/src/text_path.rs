//! Converts paths of the operating system to the engine's paths, which are text.

use std::{io, path::Path};

use windlass_engine::TextPath;

use crate::files::slashed;

/// A path as text.
///
/// # Errors
/// [`NotUtf8`].
pub(crate) fn text_path(path: &Path) -> Result<TextPath, NotUtf8> {
    path.to_str().map(|_| lossy(path)).ok_or(NotUtf8)
}

/// A path for display: bytes that are not UTF-8 become `U+FFFD`. The result is opened only if the path is known to be UTF-8.
pub(crate) fn lossy(path: &Path) -> TextPath {
    TextPath::new(slashed(path))
}

/// The path is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("path contains invalid UTF-8 characters")]
pub(crate) struct NotUtf8;

impl From<NotUtf8> for io::Error {
    fn from(error: NotUtf8) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Tries every short text: both kinds of path agree about it.
    #[test]
    fn paths_of_the_engine_are_those_of_the_system() {
        let mut texts = vec![String::new()];
        for length in 0..6 {
            let longer: Vec<String> = (texts.iter().filter(|text| text.len() == length))
                .flat_map(|text| ["a", ".", "/", "-"].map(|more| format!("{text}{more}")))
                .collect();
            texts.extend(longer);
        }
        let said = |path: Option<&Path>| path.map(|path| path.display().to_string());
        for text in &texts {
            let (theirs, ours) = (Path::new(text), TextPath::from(text.as_str()));
            let parent = ours.parent().map(|path| path.to_string());
            assert_eq!(parent, said(theirs.parent()), "{text}");
            let name = theirs.file_name().and_then(|name| name.to_str());
            assert_eq!(ours.file_name(), name, "{text}");
            let stem = theirs.file_stem().and_then(|stem| stem.to_str());
            assert_eq!(ours.file_stem(), stem, "{text}");
            let extension = theirs.extension().and_then(|extension| extension.to_str());
            assert_eq!(ours.extension(), extension, "{text}");
            assert_eq!(ours.is_absolute(), theirs.is_absolute(), "{text}");
            for other in texts.iter().filter(|text| text.len() < 4) {
                let (path, other) = (Path::new(other), TextPath::from(other.as_str()));
                assert_eq!(ours.cmp(&other), theirs.cmp(path), "{text} {other}");
                let joined = theirs.join(path);
                assert_eq!(ours.join(&other).as_str(), joined.to_str().unwrap());
                let below = ours.strip_prefix(&other).map(|path| path.to_string());
                assert_eq!(
                    below,
                    said(theirs.strip_prefix(path).ok()),
                    "{text} {other}"
                );
            }
        }
        eprintln!("tried: {} paths", texts.len());
    }
}
