//! Errors of the file resolver.

use std::io;

/// The error as a component sees it. Denied and missing files are indistinguishable on purpose; the refusals recorded
/// by [`super::Reach`] tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FsError {
    /// Missing, outside the grant, or denied.
    #[error("no such file or directory")]
    NotFound,
    /// Already exists.
    #[error("it exists already")]
    Exists,
    /// Not a directory.
    #[error("not a directory")]
    NotDirectory,
    /// A directory, where a file is required.
    #[error("it is a directory")]
    IsDirectory,
    /// The grant allows only reading here.
    #[error("the grant allows reading here, not writing")]
    ReadOnly,
    /// Neither a regular file nor a directory, or a malformed argument.
    #[error("not a regular file, or a malformed argument")]
    Invalid,
    /// Larger than the limit for one operation.
    #[error("larger than the host hands out in one piece")]
    TooLarge,
    /// The file's digest is not the expected one.
    #[error("the file changed since it was read")]
    Changed,
    /// An I/O error on the host.
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
