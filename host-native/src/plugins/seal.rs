//! Seals compiled components with HMAC-SHA256 and a dedicated key, to recognize those written by this user's windlass.

use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
};

use ring::hmac::{self, HMAC_SHA256, Key, Tag};

use crate::regular::{self, Link};

/// The size of a seal, in bytes.
pub(super) const SEAL: usize = 32;

const KEY: usize = 32;

/// Creates and checks seals.
#[derive(Debug)]
pub(super) struct Sealer(Key);

impl Sealer {
    /// Uses the key in a file, which is created if missing.
    ///
    /// A key that others can read or write is replaced by a new one, and everything sealed with it becomes invalid.
    ///
    /// # Errors
    /// The error of the operating system; no sealed content can be trusted then.
    pub(super) fn with_key_in(file: &Path) -> io::Result<Self> {
        let folder = file.parent().unwrap_or(Path::new(""));
        crate::os::create_private_directory(folder)?;
        if let Some(key) = read(file)? {
            return Ok(Self(Key::new(HMAC_SHA256, &key)));
        }
        let mut key = [0; KEY];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        // A process that starts at the same time finds a complete key or none. Only the user can open temporary files.
        let mut made = tempfile::NamedTempFile::new_in(folder)?;
        made.write_all(&key)?;
        match made.persist_noclobber(file) {
            Ok(_) => Ok(Self(Key::new(HMAC_SHA256, &key))),
            Err(failed) => match read(file)? {
                Some(key) => Ok(Self(Key::new(HMAC_SHA256, &key))),
                None => Err(failed.error),
            },
        }
    }

    /// The seal of a content with a name.
    pub(super) fn seal(&self, name: &str, content: &[u8]) -> Tag {
        hmac::sign(&self.of(name), content)
    }

    /// Whether a seal is valid for this content and name.
    pub(super) fn is_sealed(&self, name: &str, content: &[u8], seal: &[u8]) -> bool {
        hmac::verify(&self.of(name), content, seal).is_ok()
    }

    /// The key for one name, so that a seal is valid for no other name.
    fn of(&self, name: &str) -> Key {
        Key::new(HMAC_SHA256, hmac::sign(&self.0, name.as_bytes()).as_ref())
    }
}

/// Reads the key. `None` if there is none, or if it cannot be trusted: it is removed then.
fn read(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let opened = match regular::open(file, Link::Refused) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            return fs::remove_file(file).map(|()| None);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_secret = crate::os::is_secret(&opened.metadata()?);
    let mut key = Vec::with_capacity(KEY);
    opened.take(KEY as u64 + 1).read_to_end(&mut key)?;
    if is_secret && key.len() == KEY {
        return Ok(Some(key));
    }
    fs::remove_file(file).map(|()| None)
}
