//! Opens regular files under paths that a project, a session or an SDK can influence.
//!
//! Such a path can name a pipe, whose opening blocks until there is a writer, or a device, which never ends. So
//! nothing here blocks, the opened file is checked by its handle before a byte is read, and the number of bytes is
//! limited.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read as _, Write as _},
    path::Path,
};

/// How a symbolic link at the path itself is treated. Links in its parent folders are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// The link is followed.
    Followed,
    /// The link is refused, since its target may belong to someone else.
    Refused,
}

/// Opens a regular file for reading.
///
/// # Errors
/// The error of the operating system; [`io::ErrorKind::InvalidInput`] if it is not a regular file.
pub(crate) fn open(path: &Path, link: Link) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    open_with(path, link, &mut options)
}

/// Opens a regular file with these options. If they create a file, it is a regular one.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_with(path: &Path, link: Link, options: &mut OpenOptions) -> io::Result<File> {
    // Checked before opening, because opening alone may affect a device, and because the system's error for a refused
    // link is unclear.
    if let Some(found) = policy(path, link)? {
        checked(&found)?;
    }
    crate::os::open_at_once(options, link == Link::Refused);
    let file = options.open(path)?;
    // The file may have been replaced since the check.
    checked(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most this many bytes.
///
/// # Errors
/// As [`open`]; [`io::ErrorKind::FileTooLarge`] if it is longer.
pub(crate) fn read(path: &Path, link: Link, most: u64) -> io::Result<Vec<u8>> {
    read_opened(open(path, link)?, most)
}

/// Writes a file that only the user can read, in one step: what is there is the old content or the new one. Its folder is made if it
/// is missing, and private then, too.
///
/// # Errors
/// The error of the operating system; the file is as it was then.
pub(crate) fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    crate::os::create_private_directory(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map(drop).map_err(io::Error::from)
}

/// Reads a file that was opened here, of at most this many bytes.
///
/// # Errors
/// The error of the operating system; [`io::ErrorKind::FileTooLarge`] if it is longer.
pub(crate) fn read_opened(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(most.saturating_add(1))
        .read_to_end(&mut content)?;
    match content.len() as u64 > most {
        true => Err(too_large(most)),
        false => Ok(content),
    }
}

/// Reads the text of a regular file of at most this many bytes.
///
/// # Errors
/// As [`read`]; [`io::ErrorKind::InvalidData`] if it is not UTF-8.
pub(crate) fn read_text(path: &Path, link: Link, most: u64) -> io::Result<String> {
    let text = String::from_utf8(read(path, link, most)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// The metadata of a regular file, if the path exists; anything but a regular file is an error.
///
/// # Errors
/// As [`open`].
pub(crate) fn is_there(path: &Path, link: Link) -> io::Result<Option<Metadata>> {
    let found = policy(path, link)?;
    found.as_ref().map_or(Ok(()), checked)?;
    Ok(found)
}

/// The error for a file that is longer than the limit.
pub(crate) fn too_large(most: u64) -> io::Error {
    let words = format!("it is larger than {most} bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, words)
}

fn policy(path: &Path, link: Link) -> io::Result<Option<Metadata>> {
    let found = match link {
        Link::Followed => fs::metadata(path),
        Link::Refused => fs::symlink_metadata(path),
    };
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn checked(found: &Metadata) -> io::Result<()> {
    let words = match found.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_symlink() => {
            "it is a link, which is not followed here: put the file itself in its place, or take the link away"
        }
        kind if kind.is_dir() => "it is no file but a folder",
        _ => "it is no file but a pipe, a socket or a device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, words))
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{os::unix::fs::symlink, path::PathBuf};

    use super::*;

    /// A folder with a file, a pipe, a folder, and links to these, to an endless device and to a missing file.
    fn stage() -> (tempfile::TempDir, impl Fn(&str) -> PathBuf) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().to_path_buf();
        let at = move |name: &str| folder.join(name);
        fs::write(at("file"), "text").unwrap();
        fs::create_dir(at("folder")).unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, at("pipe"), FileType::Fifo, mode, 0).unwrap();
        for (link, target) in [
            ("to-file", "file"),
            ("to-pipe", "pipe"),
            ("to-device", "/dev/zero"),
            ("to-nothing", "none"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        (root, at)
    }

    #[test]
    fn only_regular_files_are_read_and_nothing_is_waited_for() {
        let (_root, at) = stage();
        for (name, link, text) in [
            ("file", Link::Followed, Some("text")),
            ("file", Link::Refused, Some("text")),
            ("to-file", Link::Followed, Some("text")),
            ("to-file", Link::Refused, None),
            ("pipe", Link::Followed, None),
            ("pipe", Link::Refused, None),
            ("to-pipe", Link::Followed, None),
            ("to-device", Link::Followed, None),
            ("to-device", Link::Refused, None),
            ("folder", Link::Followed, None),
        ] {
            let read = read_text(&at(name), link, 4);
            let read = read.map_err(|error| assert_eq!(error.kind(), io::ErrorKind::InvalidInput));
            assert_eq!(read.ok().as_deref(), text, "{name}, {link:?}");
        }
        let error = read(&at("file"), Link::Followed, 3).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn nothing_is_made_behind_a_link() {
        let (_root, at) = stage();
        let make = |name: &str, link| {
            let mut options = OpenOptions::new();
            open_with(&at(name), link, options.create(true).append(true))
        };
        assert!(make("to-nothing", Link::Refused).is_err());
        assert!(!at("none").exists());
        assert!(make("new", Link::Refused).is_ok());
        for name in ["pipe", "to-file", "folder"] {
            assert!(make(name, Link::Refused).is_err(), "{name}");
        }
    }

    /// A path may be replaced between the check and the open: then the open itself refuses.
    #[test]
    fn what_is_put_there_meanwhile_is_not_waited_for_either() {
        let (_root, at) = stage();
        let mut options = OpenOptions::new();
        crate::os::open_at_once(options.read(true), true);
        assert!(options.open(at("to-file")).is_err());
        let opened = options.open(at("pipe")).unwrap();
        assert!(checked(&opened.metadata().unwrap()).is_err());
    }
}
