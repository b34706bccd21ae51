//! Reading what a person and a project bring along: what a host does for it.

use crate::path::TextPath;

/// No file of more bytes is read.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Reads files that a project, or an instruction of the user, names. A host implements it with what also holds the reads of
/// tools against rules.
pub trait ReadProject {
    /// A file whose real path lies in one of the folders, or anywhere where none is given. No file that a deny rule closes, none
    /// of more than [`MAX_FILE_BYTES`], and only of what was judged: nobody can turn a link elsewhere in between. None if there
    /// is no such file.
    ///
    /// # Errors
    /// Why the file is left out.
    fn read(&self, path: &TextPath, folders: &[TextPath]) -> Result<Option<ReadFile>, String>;

    /// A file of the user's own configuration, which no rule of a session closes. Links are followed. None if there is none.
    ///
    /// # Errors
    /// Why the file is left out; one of more than [`MAX_FILE_BYTES`] is.
    fn read_own(&self, path: &TextPath) -> Result<Option<ReadFile>, String>;

    /// What is in a folder, in any order; no more than `most` entries are looked at and told. Nothing is in a folder that is not
    /// there.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn list(&self, folder: &TextPath, most: usize) -> Result<Vec<Entry>, String>;

    /// Whether anything is at a path.
    fn exists(&self, path: &TextPath) -> bool;
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// Its real path: by it a file is known that was read before.
    pub real: TextPath,
    /// Its text.
    pub text: String,
}

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The name is all of it. One that is no text cannot be opened by what is shown of it.
    pub is_text: bool,
    /// What it is.
    pub kind: EntryKind,
}

/// What is in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, or a link to one.
    File,
    /// A folder.
    Folder,
    /// A link to a folder.
    LinkedFolder,
    /// Something else, or a link to nothing.
    Other,
}
