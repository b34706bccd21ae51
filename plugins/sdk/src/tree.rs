//! A directory tree as tools see it: the capability of the host, or a tree in memory.

use crate::bindings::windlass::host::filesystem::Directory;
use crate::{Entry, ErrorCode, Page, Stat, WriteOptions};

/// One directory tree. Paths are relative to it and separated by `/`; the empty path is the tree itself.
///
/// The WIT resource `directory` implements it, and so does `testing::MemoryTree`, so that
/// the logic of a tool runs natively in tests.
pub trait Tree {
    /// Kind, size and modification time of a file or directory; a link is followed.
    ///
    /// # Errors
    /// [`ErrorCode`] as the host gives it.
    fn stat(&self, path: &str) -> Result<Stat, ErrorCode>;

    /// At most `max` bytes from byte `offset`; fewer only at the end of the file.
    ///
    /// # Errors
    /// [`ErrorCode`] as the host gives it.
    fn read(&self, path: &str, offset: u64, max: u32) -> Result<Vec<u8>, ErrorCode>;

    /// A page of the entries of a directory, sorted by name; see [`entries`] for all of them.
    ///
    /// # Errors
    /// [`ErrorCode`] as the host gives it.
    fn list(&self, path: &str, cursor: Option<u32>, details: bool) -> Result<Page, ErrorCode>;

    /// Replaces or creates a file in one step.
    ///
    /// # Errors
    /// [`ErrorCode`] as the host gives it: `Changed` when the expected digest does not match, `Exists` when the file was
    /// to be new, `ReadOnly` when the grant does not include writing.
    fn write(&self, path: &str, data: &[u8], options: &WriteOptions) -> Result<(), ErrorCode>;

    /// Creates a directory.
    ///
    /// # Errors
    /// [`ErrorCode`] as the host gives it.
    fn create_directory(&self, path: &str) -> Result<(), ErrorCode>;

    /// Removes a file or an empty directory.
    ///
    /// # Errors
    /// [`ErrorCode`] as the host gives it.
    fn remove(&self, path: &str) -> Result<(), ErrorCode>;

    /// The whole file, if it has at most `limit` bytes.
    ///
    /// # Errors
    /// [`ErrorCode::TooLarge`] for a larger file, else as [`Tree::read`].
    fn read_all(&self, path: &str, limit: usize) -> Result<Vec<u8>, ErrorCode> {
        let mut bytes = self.read(path, 0, PIECE)?;
        let mut last = bytes.len();
        // A short piece means the end of the file, so most files need one call.
        while last == PIECE as usize {
            if bytes.len() > limit {
                return Err(ErrorCode::TooLarge);
            }
            let piece = self.read(path, bytes.len() as u64, PIECE)?;
            last = piece.len();
            bytes.extend_from_slice(&piece);
        }
        if bytes.len() > limit {
            return Err(ErrorCode::TooLarge);
        }
        Ok(bytes)
    }
}

/// The size of one read when a whole file is read, in bytes.
const PIECE: u32 = 256 * 1024;

/// All entries of a directory, sorted by name, page after page.
///
/// # Errors
/// [`ErrorCode`] as [`Tree::list`].
pub fn entries<T: Tree + ?Sized>(
    tree: &T,
    path: &str,
    details: bool,
) -> Result<Vec<Entry>, ErrorCode> {
    let mut page = tree.list(path, None, details)?;
    let mut entries = page.entries;
    while let Some(cursor) = page.next {
        page = tree.list(path, Some(cursor), details)?;
        entries.append(&mut page.entries);
    }
    Ok(entries)
}

impl Tree for Directory {
    fn stat(&self, path: &str) -> Result<Stat, ErrorCode> {
        Directory::stat(self, path)
    }

    fn read(&self, path: &str, offset: u64, max: u32) -> Result<Vec<u8>, ErrorCode> {
        // Offsets are whole numbers far below 2^53: exact as f64.
        Directory::read(self, path, offset as f64, max)
    }

    fn list(&self, path: &str, cursor: Option<u32>, details: bool) -> Result<Page, ErrorCode> {
        Directory::list(self, path, cursor, details)
    }

    fn write(&self, path: &str, data: &[u8], options: &WriteOptions) -> Result<(), ErrorCode> {
        Directory::write(self, path, data, options)
    }

    fn create_directory(&self, path: &str) -> Result<(), ErrorCode> {
        Directory::create_directory(self, path)
    }

    fn remove(&self, path: &str) -> Result<(), ErrorCode> {
        Directory::remove(self, path)
    }
}
