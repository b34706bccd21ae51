//! Why the resolver refused or failed.

use std::io;

/// What a component learns of a refusal. Denied and missing look the same on purpose; the refusals
/// recorded by [`super::Reach`] say which it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FsError {
    /// Missing, outside the grant, or denied.
    #[error("no such file or directory")]
    NotFound,
    /// There already.
    #[error("it exists already")]
    Exists,
    /// A directory was needed.
    #[error("not a directory")]
    NotDirectory,
    /// A file was needed.
    #[error("it is a directory")]
    IsDirectory,
    /// The grant allows reading here, not writing.
    #[error("the grant allows reading here, not writing")]
    ReadOnly,
    /// Neither a regular file nor a directory, or a malformed argument.
    #[error("not a regular file, or a malformed argument")]
    Invalid,
    /// Larger than the host hands out in one piece.
    #[error("larger than the host hands out in one piece")]
    TooLarge,
    /// The file changed since the digest that was expected.
    #[error("the file changed since it was read")]
    Changed,
    /// The host's disk failed.
    #[error("the host's file system failed")]
    Io,
}

impl From<io::Error> for FsError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind as K;
        match error.kind() {
            K::NotFound => Self::NotFound,
            K::AlreadyExists | K::DirectoryNotEmpty => Self::Exists,
            K::NotADirectory => Self::NotDirectory,
            K::IsADirectory => Self::IsDirectory,
            K::ReadOnlyFilesystem => Self::ReadOnly,
            K::InvalidInput | K::InvalidFilename => Self::Invalid,
            K::FileTooLarge => Self::TooLarge,
            _ => Self::Io,
        }
    }
}
