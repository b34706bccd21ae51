//! Files that grow by whole lines, even if the disk is full.

#[cfg(unix)]
use std::fs::TryLockError;
use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use crate::regular::{self, Link};

/// Reads a text file of at most this many bytes.
///
/// # Errors
/// The error of the operating system; [`io::ErrorKind::FileTooLarge`] if it is longer, [`io::ErrorKind::InvalidData`]
/// if it is not UTF-8, [`io::ErrorKind::InvalidInput`] if it is not a regular file.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    regular::read_text(path, Link::Followed, most)
}

/// A file to which lines are appended. A partial write is undone; if that fails as well, the next line starts after a
/// line end, so that no line is ever joined to the rest of another. Other programs may append to the same file; their
/// complete lines are never removed.
#[derive(Debug)]
pub struct LineFile {
    file: File,
    /// The last line has no line end, because its writer was stopped.
    is_torn: bool,
}

impl LineFile {
    /// Opens a file, or creates it with access for its owner only.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(opened(path)?)
    }

    /// Like [`open`](Self::open), but locks the file until it is closed; `None` if another writer holds the lock. A
    /// partial line of JSON that a killed process left behind is removed. The lock is advisory. On file systems
    /// without locks, and on systems whose locks also exclude readers, nothing is locked.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn open_alone(path: &Path) -> io::Result<Option<Self>> {
        match made(path)? {
            // A new file has no partial line.
            Some(file) => Ok(alone(file)?.map(|file| Self {
                file,
                is_torn: false,
            })),
            None => locked(path)?.map(Self::of_only_writer).transpose(),
        }
    }

    /// Like [`open_alone`](Self::open_alone), for a caller that only keeps others out: the file is not changed before
    /// the first line is appended.
    pub(super) fn hold_alone(path: &Path) -> io::Result<Option<Self>> {
        locked(path)?.map(Self::of).transpose()
    }

    /// Opens a file that has no other writer, because another file is locked.
    ///
    /// # Errors
    /// The error of the operating system.
    pub(super) fn open_under_lock(path: &Path) -> io::Result<Self> {
        Self::of_only_writer(opened_itself(path)?)
    }

    /// Whoever wrote a line without its end no longer runs, so a partial line is removed.
    fn of_only_writer(mut file: File) -> io::Result<Self> {
        if ends_in_the_middle(&mut file)? {
            drop_torn_end(&mut file)?;
            return Self::of(file);
        }
        let is_torn = false;
        Ok(Self { file, is_torn })
    }

    fn of(mut file: File) -> io::Result<Self> {
        let is_torn = ends_in_the_middle(&mut file)?;
        Ok(Self { file, is_torn })
    }

    /// Like [`open`](Self::open), but empties the file.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut emptied = Self::open(path)?;
        // Something that cannot be truncated (a terminal, a pipe) has no content.
        if emptied.file.metadata()?.is_file() {
            emptied.file.set_len(0)?;
        }
        emptied.is_torn = false;
        Ok(emptied)
    }

    /// Appends lines, each with its line end: all of them by one write, or none.
    ///
    /// # Errors
    /// The error of the operating system. None of the lines counts as written then.
    pub fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let was_torn = self.is_torn;
        let sealed;
        let bytes = match was_torn {
            true => {
                sealed = [b"\n", lines].concat();
                &sealed
            }
            false => lines,
        };
        self.is_torn = true;
        let written = match write_counted(&mut self.file, bytes) {
            Ok(()) => {
                self.is_torn = false;
                return Ok(());
            }
            Err(stopped) => stopped,
        };
        let part = bytes.get(..written.bytes).unwrap_or_default();
        if matches!(take_back(&mut self.file, part), Ok(true)) {
            self.is_torn = was_torn;
        }
        Err(written.error)
    }

    /// Syncs the file to the disk, so that a power failure loses nothing.
    ///
    /// # Errors
    /// The error of the operating system.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Opens a file for reading and appending, accessible to its owner only. A person may name a pipe or a terminal here.
fn opened(path: &Path) -> io::Result<File> {
    to_be_added_to().open(path)
}

/// Like [`opened`], for a path that was not chosen for writing by a person: it must be a regular file, not a link to one.
fn opened_itself(path: &Path) -> io::Result<File> {
    regular::open_with(path, Link::Refused, &mut to_be_added_to())
}

/// Creates a new file; `None` if the path exists. A new file is regular and needs no checks.
fn made(path: &Path) -> io::Result<Option<File>> {
    match to_be_added_to().create_new(true).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

fn to_be_added_to() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Opens and locks a regular file; `None` if it is locked by another writer.
fn locked(path: &Path) -> io::Result<Option<File>> {
    alone(opened_itself(path)?)
}

/// Locks a file; `None` if it is locked by another writer.
fn alone(file: File) -> io::Result<Option<File>> {
    #[cfg(unix)]
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
            return Err(error);
        }
        _ => {}
    }
    Ok(Some(file))
}

/// Appends bytes to a file that is accessible to its owner only: all of them, or none if a partial write can be undone.
pub(super) fn extend(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = opened_itself(path)?;
    write_counted(&mut file, bytes).map_err(|stopped| {
        let part = bytes.get(..stopped.bytes).unwrap_or_default();
        // If it cannot be undone, the partial write stays, as after a crash.
        let _ = take_back(&mut file, part);
        stopped.error
    })
}

/// An incomplete write.
struct Stopped {
    bytes: usize,
    error: io::Error,
}

fn write_counted(file: &mut File, bytes: &[u8]) -> Result<(), Stopped> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match file.write(rest) {
            Ok(0) => {
                let error = io::ErrorKind::WriteZero.into();
                return Err(Stopped {
                    bytes: written,
                    error,
                });
            }
            Ok(more) => written += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(Stopped {
                    bytes: written,
                    error,
                });
            }
        }
    }
    Ok(())
}

/// Undoes the last partial write, and returns whether the file is as before. Leaves the file alone if it ends in
/// something else by now.
fn take_back(file: &mut File, part: &[u8]) -> io::Result<bool> {
    if part.is_empty() {
        return Ok(true);
    }
    let end = file.metadata()?.len();
    let Some(begin) = end.checked_sub(part.len() as u64) else {
        return Ok(false);
    };
    let mut last = vec![0; part.len()];
    file.seek(SeekFrom::Start(begin))?;
    file.read_exact(&mut last)?;
    let is_ours = last == part && file.metadata()?.len() == end;
    if is_ours {
        file.set_len(begin)?;
    }
    Ok(is_ours)
}

/// Removes a partial line at the end of the file; a complete line that only lacks its line end stays. Leaves the file
/// alone if the line cannot be ours, or if the file is growing.
fn drop_torn_end(file: &mut File) -> io::Result<()> {
    let end = file.metadata()?.len();
    let begin = begin_of_last_line(file, end)?;
    let mut last = Vec::new();
    file.seek(SeekFrom::Start(begin))?;
    (&*file).take(end - begin).read_to_end(&mut last)?;
    if is_begun(&last) && file.metadata()?.len() == end {
        file.set_len(begin)?;
    }
    Ok(())
}

/// Whether this is an incomplete JSON object: the rest of a line whose writer was stopped. Anything else belongs to
/// another program's file.
fn is_begun(line: &[u8]) -> bool {
    let breaks_off = |text: &[u8]| {
        let read = serde_json::from_slice::<serde::de::IgnoredAny>(text);
        read.is_err_and(|error| error.is_eof())
    };
    // The parser reports a number that ends where a digit must follow (`1.`) as invalid, not as incomplete.
    line.starts_with(b"{") && (breaks_off(line) || breaks_off(&[line, b"0"].concat()))
}

/// The offset of the last line.
fn begin_of_last_line(file: &mut File, end: u64) -> io::Result<u64> {
    let mut chunk = vec![0; 64 << 10];
    let mut behind = end;
    while behind > 0 {
        let length = behind.min(chunk.len() as u64);
        let part = &mut chunk[..length as usize];
        file.seek(SeekFrom::Start(behind - length))?;
        file.read_exact(part)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(behind - length + at as u64 + 1);
        }
        behind -= length;
    }
    Ok(0)
}

fn ends_in_the_middle(file: &mut File) -> io::Result<bool> {
    let meta = file.metadata()?;
    if meta.len() == 0 || !meta.is_file() {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_part_is_taken_back_only_where_it_is_the_end() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("lines");
        fs::write(&path, "first\nsec").unwrap();
        let mut lines = LineFile::open(&path).unwrap();
        assert!(take_back(&mut lines.file, b"sec").unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first\n");
        for other in [&b"third\n"[..], b"much longer than all that is there"] {
            assert!(!take_back(&mut lines.file, other).unwrap());
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "first\n");
    }

    #[test]
    fn only_the_beginning_of_a_json_object_is_cut_off() {
        let line = r#"{"a": ["\u00e9\\", 1.5e3, true, null], "ü": {}}"#;
        for end in 1..line.len() {
            assert!(is_begun(&line.as_bytes()[..end]), "{end}");
        }
        for other in [
            line, "", "\0\0\0", "text", "[1", "\"a", "{ key: 1", "{}}", " {",
        ] {
            assert!(!is_begun(other.as_bytes()), "{other}");
        }
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("lines");
        for (before, after) in [("{}\n{\"a", "{}\n"), ("{}\n-----KEY", "{}\n-----KEY")] {
            fs::write(&path, before).unwrap();
            LineFile::open_alone(&path).unwrap().unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), after);
        }
    }

    #[test]
    fn a_line_that_was_torn_is_sealed() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("lines");
        fs::write(&path, "first\nsec").unwrap();
        let mut lines = LineFile::open(&path).unwrap();
        lines.append(b"third\n").unwrap();
        lines.append(b"fourth\n").unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "first\nsec\nthird\nfourth\n"
        );
        let mut anew = LineFile::create(&path).unwrap();
        anew.append(b"one\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
    }

    /// Writes to a device that is always full.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_refused_is_told() {
        let mut lines = LineFile::create(Path::new("/dev/full")).unwrap();
        for _ in 0..2 {
            let error = lines.append(b"line\n").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }
}
