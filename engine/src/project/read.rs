//! The interface through which a host reads the files of a user and a project.

use crate::path::TextPath;

/// The maximum size of a file, in bytes.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Reads files that a project, or an instruction of the user, refers to. A host implements it with the same component that
/// checks the reads of tools against permission rules.
pub trait ReadProject {
    /// Reads a file whose real path lies in one of the folders, or anywhere if no folders are given. Files that a deny rule
    /// excludes and files larger than [`MAX_FILE_BYTES`] are refused. The content must come from the file that was checked,
    /// even if a link is changed in between. `None` if there is no such file.
    ///
    /// # Errors
    /// The reason why the file is left out.
    fn read(&self, path: &TextPath, folders: &[TextPath]) -> Result<Option<ReadFile>, String>;

    /// Reads a file of the user's own configuration, to which the rules of a session do not apply. Links are followed. `None`
    /// if there is no such file.
    ///
    /// # Errors
    /// The reason why the file is left out, such as a size of more than [`MAX_FILE_BYTES`].
    fn read_own(&self, path: &TextPath) -> Result<Option<ReadFile>, String>;

    /// Lists a folder, in any order. At most `most` entries are visited and returned. A folder that does not exist is empty.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    fn list(&self, folder: &TextPath, most: usize) -> Result<Vec<Entry>, String>;

    /// Whether a path exists.
    fn exists(&self, path: &TextPath) -> bool;
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// Its real path, which identifies the file.
    pub real: TextPath,
    /// Its text.
    pub text: String,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Whether the name is valid text. Otherwise `name` is only for display, and the entry cannot be opened by it.
    pub is_text: bool,
    /// The kind of entry.
    pub kind: EntryKind,
}

/// The kinds of entries in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, or a link to one.
    File,
    /// A folder.
    Folder,
    /// A link to a folder.
    LinkedFolder,
    /// Anything else, or a dangling link.
    Other,
}
