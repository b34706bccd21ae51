//! Files that grow by whole lines, also where the disk is full.

#[cfg(unix)]
use std::fs::TryLockError;
use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use crate::regular::{self, Link};

/// Reads a text that may be so many bytes long.
///
/// # Errors
/// What the operating system says; [`io::ErrorKind::FileTooLarge`] for a longer one, [`io::ErrorKind::InvalidData`] for what is
/// not UTF-8, [`io::ErrorKind::InvalidInput`] for what is no file.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    regular::read_text(path, Link::Followed, most)
}

/// A file that lines are added to at its end. What could not be written whole is taken back, and where even that fails, the
/// next line begins behind a line end: no line is ever joined to the rest of another. Other programs may append to the same
/// file; nothing of theirs is taken away once it is whole.
#[derive(Debug)]
pub struct LineFile {
    file: File,
    /// The last line has no end: whatever wrote it was stopped.
    is_torn: bool,
}

impl LineFile {
    /// Opens a file for its owner's eyes only, and makes it if it is not there.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(opened(path)?)
    }

    /// Opens a file in the same way for this writer alone, until it is closed; none when another one has it. The part of a line of
    /// JSON that a process left behind which was ended in the middle is taken away. Only writers that ask are kept out. A file system that knows no locks, and a system whose locks keep readers out too, give it to everybody.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn open_alone(path: &Path) -> io::Result<Option<Self>> {
        match made(path)? {
            // There is nothing in it that could be torn.
            Some(file) => Ok(alone(file)?.map(|file| Self {
                file,
                is_torn: false,
            })),
            None => locked(path)?.map(Self::of_only_writer).transpose(),
        }
    }

    /// The same for whoever only keeps others out: nothing of the file is changed before the first line is added.
    pub(super) fn hold_alone(path: &Path) -> io::Result<Option<Self>> {
        locked(path)?.map(Self::of).transpose()
    }

    /// Opens a file that nobody else writes to because of a lock on another one.
    ///
    /// # Errors
    /// What the operating system says.
    pub(super) fn open_under_lock(path: &Path) -> io::Result<Self> {
        Self::of_only_writer(opened_itself(path)?)
    }

    /// Whoever wrote a line that has no end is not there any more: what was never whole is taken away.
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

    /// The same with nothing in it: what was there is gone.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut emptied = Self::open(path)?;
        // What cannot be emptied (a terminal, a pipe) has nothing in it.
        if emptied.file.metadata()?.is_file() {
            emptied.file.set_len(0)?;
        }
        emptied.is_torn = false;
        Ok(emptied)
    }

    /// Adds lines, each with its end: all of them by one write, or none.
    ///
    /// # Errors
    /// What the operating system says. Nothing of the lines counts as written then.
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

    /// Forces everything to the disk: a power failure takes nothing of it any more.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// A file for its owner's eyes only, to be read and added to. A person may name a pipe or a terminal here.
fn opened(path: &Path) -> io::Result<File> {
    to_be_added_to().open(path)
}

/// The same for a file whose name nobody chose to write to: what stands there must be a regular file, and no link to one.
fn opened_itself(path: &Path) -> io::Result<File> {
    regular::open_with(path, Link::Refused, &mut to_be_added_to())
}

/// The same where nothing stands yet; none where something does. What is made is a file, so nothing about it needs to be looked at.
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

/// A regular file that nobody else has locked, locked; none when somebody has.
fn locked(path: &Path) -> io::Result<Option<File>> {
    alone(opened_itself(path)?)
}

/// A file for this writer alone; none when another one has it.
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

/// Adds bytes to the end of a file for its owner's eyes only: all of them, or none where the part that was written can be taken back.
pub(super) fn extend(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = opened_itself(path)?;
    write_counted(&mut file, bytes).map_err(|stopped| {
        let part = bytes.get(..stopped.bytes).unwrap_or_default();
        // What cannot be taken back stays, as after the end of a process.
        let _ = take_back(&mut file, part);
        stopped.error
    })
}

/// A write that came only so far.
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

/// Takes the part of a write back that came last; whether the file is as it was before. It is left alone where it ends in
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

/// Takes the part of a line away that stands at the end; a line that only lacks its end stays. So does what no process of ours
/// can have left behind, and everything where somebody is writing now.
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

/// Whether this is the beginning of a JSON object, and not all of it: what is left of a line whose writer was stopped. Anything
/// else is of another file that somebody put there.
fn is_begun(line: &[u8]) -> bool {
    let breaks_off = |text: &[u8]| {
        let read = serde_json::from_slice::<serde::de::IgnoredAny>(text);
        read.is_err_and(|error| error.is_eof())
    };
    // A number that stops where a digit must follow (`1.`) is told as one that is wrong.
    line.starts_with(b"{") && (breaks_off(line) || breaks_off(&[line, b"0"].concat()))
}

/// Where the line begins that is the last one.
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

    /// A device that is always full.
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
