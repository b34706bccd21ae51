//! Regular files, opened by names that others have a say in: a project, a session, an SDK.
//!
//! What such a name stands for can be a pipe, whose opening waits for a writer, or a device, which never ends. So nothing here
//! waits, what was opened is looked at by its handle before a byte is read, and there is a limit on what is read.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read as _},
    path::Path,
};

/// What a link in the place of the file is. Links on the way to it are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// It stands for the file that it leads to.
    Followed,
    /// It is no file: what it leads to belongs to somebody else.
    Refused,
}

/// Opens a regular file to read it.
///
/// # Errors
/// What the operating system says; [`io::ErrorKind::InvalidInput`] for what is no regular file.
pub(crate) fn open(path: &Path, link: Link) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    open_with(path, link, &mut options)
}

/// Opens a regular file in the way that the options say. Where they make files, what is made is one.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_with(path: &Path, link: Link, options: &mut OpenOptions) -> io::Result<File> {
    // Opening alone may do something to a device, and a link that is refused by the system has no words of its own.
    if let Some(found) = policy(path, link)? {
        checked(&found)?;
    }
    crate::os::open_at_once(options, link == Link::Refused);
    let file = options.open(path)?;
    // Somebody may have put something else there since.
    checked(&file.metadata()?)?;
    Ok(file)
}

/// What a regular file holds that may be so many bytes long.
///
/// # Errors
/// As [`open`]; [`io::ErrorKind::FileTooLarge`] for a longer one.
pub(crate) fn read(path: &Path, link: Link, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let file = open(path, link)?;
    file.take(most.saturating_add(1))
        .read_to_end(&mut content)?;
    match content.len() as u64 > most {
        true => Err(too_large(most)),
        false => Ok(content),
    }
}

/// The text of a regular file that may be so many bytes long.
///
/// # Errors
/// As [`read`]; [`io::ErrorKind::InvalidData`] for what is not UTF-8.
pub(crate) fn read_text(path: &Path, link: Link, most: u64) -> io::Result<String> {
    let text = String::from_utf8(read(path, link, most)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Whether a regular file stands at a path; whatever else does is an error.
///
/// # Errors
/// As [`open`].
pub(crate) fn is_there(path: &Path, link: Link) -> io::Result<Option<Metadata>> {
    let found = policy(path, link)?;
    found.as_ref().map_or(Ok(()), checked)?;
    Ok(found)
}

/// That a file is longer than is read.
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

    /// A folder with a file, a pipe, a folder, and links to them, to an endless device and to nothing.
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

    /// What was looked at by its name is another file by the time it is opened: the open itself refuses.
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
