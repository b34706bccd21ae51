//! Reading what a project brings along, within the rules that reads of the model are held against.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::find::MAX_FILE_BYTES;

/// Reads files that a project, or an instruction of the user, names. A host implements it with what also holds the reads of
/// tools against rules.
pub trait ReadProject {
    /// A file whose real path lies in one of the folders, or anywhere where none is given. No file that a deny rule closes, none
    /// of more than [`MAX_FILE_BYTES`], and only of what was judged: nobody can turn a link elsewhere in between. None if there
    /// is no such file.
    ///
    /// # Errors
    /// Why the file is left out.
    fn read(&self, path: &Path, folders: &[PathBuf]) -> Result<Option<ReadFile>, String>;
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFile {
    /// Its real path.
    pub real: PathBuf,
    /// Its text.
    pub text: String,
}

/// Reads a file of the user's own configuration, which no rule of a session closes. None if there is none.
pub(super) fn own(path: &Path) -> Result<Option<ReadFile>, String> {
    let read = || {
        let meta = fs::metadata(path)?;
        if !meta.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        if meta.len() > MAX_FILE_BYTES {
            let limit = format!("it is larger than {MAX_FILE_BYTES} bytes");
            return Err(io::Error::other(limit));
        }
        Ok(ReadFile {
            real: fs::canonicalize(path)?,
            text: fs::read_to_string(path)?,
        })
    };
    match read() {
        Ok(file) => Ok(Some(file)),
        Err(error) if super::find::is_absent(&error) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}
