//! Files for output that is too long to be shown.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::random::fresh_uuid;

/// The most bytes of one output that are saved, so that endless output does not fill the disk.
const LONGEST: u64 = 64 << 20;

/// A directory for output, of which nobody else knows the name. It is created with the first file, and removed with the last
/// clone.
#[derive(Debug, Clone)]
pub(crate) struct OutputDirectory(Arc<Directory>);

#[derive(Debug)]
struct Directory {
    path: PathBuf,
    /// Whether it could be created, once that was tried.
    is_there: OnceLock<bool>,
    files: AtomicU64,
}

impl OutputDirectory {
    /// Chooses a name in the directory for temporary files. Creates nothing.
    pub(crate) fn new() -> Self {
        let base = std::env::temp_dir();
        let base = fs::canonicalize(&base).unwrap_or(base);
        Self(Arc::new(Directory {
            path: base.join(format!("windlass-output-{}", fresh_uuid())),
            is_there: OnceLock::new(),
            files: AtomicU64::new(0),
        }))
    }

    /// Its path, without links.
    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    /// Creates the next file.
    fn file(&self) -> io::Result<(PathBuf, File)> {
        let create = || create_private(&self.0.path).is_ok();
        if !self.0.is_there.get_or_init(create) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let number = self.0.files.fetch_add(1, Ordering::Relaxed);
        let path = self.0.path.join(format!("{}.txt", number + 1));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        Ok((path, file))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if self.is_there.get() == Some(&true) {
            // It may be gone already.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Creates a directory that is closed to others. One that exists is an error: it is somebody else's.
fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// The file of one output.
#[derive(Debug)]
pub(super) struct SavedOutput {
    path: PathBuf,
    file: File,
    size: u64,
}

impl SavedOutput {
    /// Begins a file; none if that is not possible, in which case the output is cut and nothing is said of a file.
    pub(super) fn begin(directory: &OutputDirectory) -> Option<Self> {
        let (path, file) = directory.file().ok()?;
        Some(Self {
            path,
            file,
            size: 0,
        })
    }

    /// Appends to it, up to the limit. False if that failed.
    pub(super) fn append(&mut self, bytes: &[u8]) -> bool {
        let room = usize::try_from(LONGEST - self.size).unwrap_or(usize::MAX);
        let taken = &bytes[..bytes.len().min(room)];
        self.size += taken.len() as u64;
        self.file.write_all(taken).is_ok()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes in it.
    pub(super) fn size(&self) -> u64 {
        self.size
    }
}
