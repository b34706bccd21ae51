//! Whether a compiled component is one that this user's windlass wrote: HMAC-SHA256 with a key that nothing else uses.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::Path,
};

use ring::hmac::{self, HMAC_SHA256, Key, Tag};

/// Bytes of a seal.
pub(super) const SEAL: usize = 32;

const KEY: usize = 32;

/// Seals contents and checks seals.
#[derive(Debug)]
pub(super) struct Sealer(Key);

impl Sealer {
    /// A sealer with the key in a file, which is made when it is not there.
    ///
    /// A key that others can read or write is none: another takes its place, and what was sealed with it counts no longer.
    ///
    /// # Errors
    /// What the system says; nothing that is sealed can be trusted then.
    pub(super) fn with_key_in(file: &Path) -> io::Result<Self> {
        let folder = file.parent().unwrap_or(Path::new(""));
        crate::os::create_private_directory(folder)?;
        if let Some(key) = read(file)? {
            return Ok(Self(Key::new(HMAC_SHA256, &key)));
        }
        let mut key = [0; KEY];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        // Whoever starts at the same time finds a whole key or none. Only the user can open temporary files.
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

    /// The seal of a content under a name.
    pub(super) fn seal(&self, name: &str, content: &[u8]) -> Tag {
        hmac::sign(&self.of(name), content)
    }

    /// Whether a seal is of this content under this name.
    pub(super) fn is_sealed(&self, name: &str, content: &[u8], seal: &[u8]) -> bool {
        hmac::verify(&self.of(name), content, seal).is_ok()
    }

    /// A key for one name, so that what was sealed under one counts under no other.
    fn of(&self, name: &str) -> Key {
        Key::new(HMAC_SHA256, hmac::sign(&self.0, name.as_bytes()).as_ref())
    }
}

/// The key in a file. None if there is none, or was none that can be trusted: it is removed then.
fn read(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let opened = match fs::symlink_metadata(file) {
        Ok(meta) if meta.is_file() => File::open(file),
        Ok(_) => return fs::remove_file(file).map(|()| None),
        Err(error) => Err(error),
    };
    let opened = match opened {
        Ok(opened) => opened,
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
