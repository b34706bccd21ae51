//! What a plain file command may do where it was judged.

/// What a program may do with a file or a folder, and with all that is in the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Write into files that are there.
    Write,
    /// Make files, and write into files.
    MakeFiles,
    /// Make folders.
    MakeFolders,
    /// Take files and folders away.
    Remove,
    /// Take files away to another folder.
    Take,
    /// Put files and folders there that lie elsewhere, in the place of others, and take them away; nothing is written into them.
    Place,
    /// All of it.
    All,
}
