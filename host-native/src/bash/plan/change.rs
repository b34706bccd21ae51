//! The kinds of changes that an approved file command may make.

/// What a program may do with a file, or with a folder and its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Write to existing files.
    Write,
    /// Create files, and write to files.
    MakeFiles,
    /// Create folders.
    MakeFolders,
    /// Remove files and folders.
    Remove,
    /// Move files away to another folder.
    Take,
    /// Move files and folders here, replace and remove existing ones, without writing into any.
    Place,
    /// All of these.
    All,
}
