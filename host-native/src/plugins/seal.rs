//! Seals compiled components with BLAKE3 in its keyed mode and a dedicated key, to recognize those written by this user's
//! windlass. They are megabytes, which are checked before the first call: that is why it is this function.

use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
};

use blake3::{Hash, Hasher};

use crate::regular::{self, Link};

/// The size of a seal, in bytes.
pub(super) const SEAL: usize = 32;

const KEY: usize = 32;

/// Creates and checks seals.
#[derive(Debug)]
pub(super) struct Sealer([u8; KEY]);

/// The seal of a content that comes in pieces.
#[derive(Debug)]
pub(super) struct Seal(Hasher);

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
            return Ok(Self(key));
        }
        let mut key = [0; KEY];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        // A process that starts at the same time finds a complete key or none. Only the user can open temporary files.
        let mut made = tempfile::NamedTempFile::new_in(folder)?;
        made.write_all(&key)?;
        match made.persist_noclobber(file) {
            Ok(_) => Ok(Self(key)),
            Err(failed) => match read(file)? {
                Some(key) => Ok(Self(key)),
                None => Err(failed.error),
            },
        }
    }

    /// Begins the seal of a content with a name, which is valid for no other name.
    pub(super) fn begin(&self, name: &str) -> Seal {
        let key = blake3::keyed_hash(&self.0, name.as_bytes());
        Seal(Hasher::new_keyed(key.as_bytes()))
    }

    /// The seal of a content with a name.
    pub(super) fn seal(&self, name: &str, content: &[u8]) -> [u8; SEAL] {
        let mut seal = self.begin(name);
        seal.add(content);
        *seal.0.finalize().as_bytes()
    }
}

impl Seal {
    /// Adds the next piece of the content.
    pub(super) fn add(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Whether this is the seal of the pieces. Takes the same time for every answer.
    pub(super) fn is(&self, seal: [u8; SEAL]) -> bool {
        self.0.finalize() == Hash::from_bytes(seal)
    }
}

/// Reads the key. `None` if there is none, or if it cannot be trusted: it is removed then.
fn read(file: &Path) -> io::Result<Option<[u8; KEY]>> {
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
    match <[u8; KEY]>::try_from(key) {
        Ok(key) if is_secret => Ok(Some(key)),
        _ => fs::remove_file(file).map(|()| None),
    }
}
