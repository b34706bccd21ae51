//! What a plugin remembers between its calls: keys and bytes, in memory for a session, or in files.

use std::{
    collections::BTreeMap,
    fmt, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::user_folder::plugins_of_user;
use crate::regular::{self, Link};

/// Bytes of the longest key: twice as many hexadecimal digits fit into the name of a file.
const LONGEST_KEY: usize = 120;

/// Bytes of the largest value.
const LARGEST_VALUE: usize = 1 << 20;

/// Bytes of all keys and values of a plugin.
const MOST_BYTES: usize = 16 << 20;

/// Values of a plugin.
const MOST_VALUES: usize = 1_000;

/// What a plugin may remember between its calls.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum StateScope {
    /// Nothing.
    #[default]
    None,
    /// Until the session ends.
    Session,
    /// For good, in files.
    Durable,
}

impl fmt::Display for StateScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no",
            Self::Session => "session",
            Self::Durable => "durable",
        })
    }
}

/// Where durable state of the user's plugins lies: `windlass/plugins/state` in the user's configuration directory; none when the
/// user has no home directory.
pub(crate) fn state_of_user() -> Option<PathBuf> {
    plugins_of_user().map(|folder| folder.join("state"))
}

/// The longest id of durable state, in bytes.
const LONGEST_ID: usize = 64;

/// Whose durable state it is. No name that a component gives itself is part of it: another component could have the same.
#[derive(Debug, Clone, Copy)]
pub(super) enum StateIdentity<'a> {
    /// What the grant says, for whichever component it was given.
    Granted(&'a str),
    /// The component of this digest, under the name by which it was loaded.
    Component { name: &'a str, digest: &'a str },
}

impl StateIdentity<'_> {
    /// The folder, below the one for all.
    pub(super) fn folder(&self) -> PathBuf {
        match self {
            Self::Granted(id) => Path::new("granted").join(hex(id)),
            Self::Component { name, digest } => {
                // A name may be longer than that of a file.
                let both = format!("{digest} {name}");
                Path::new("components").join(format!("{:x}", Sha256::digest(both)))
            }
        }
    }
}

/// Whether an id of durable state is one: 1 to 64 letters, digits and hyphens.
pub(super) fn is_state_id(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// An id that nothing else has.
///
/// # Errors
/// The error of the operating system, which gives no random numbers.
pub(super) fn new_state_id() -> io::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Why a value cannot be read or kept.
#[derive(Debug)]
pub(super) enum StateFault {
    NotGranted,
    Invalid,
    Full,
    Io(io::Error),
}

impl From<io::Error> for StateFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The values of one plugin.
#[derive(Debug, Default)]
pub(crate) enum PluginState {
    #[default]
    None,
    Session(Mutex<BTreeMap<String, Vec<u8>>>),
    Durable(Files),
}

/// Values in a folder of their own: each in a file whose name is its key in hexadecimal digits.
#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
    /// Held while sizes are counted and a value is written.
    writing: Mutex<()>,
}

impl PluginState {
    /// Values in memory.
    pub(crate) fn of_session() -> Self {
        Self::Session(Mutex::default())
    }

    /// Values in files below this folder, in one that only this identity has.
    pub(super) fn in_folder(root: &Path, identity: &StateIdentity<'_>) -> Self {
        Self::Durable(Files {
            folder: root.join(identity.folder()),
            writing: Mutex::default(),
        })
    }

    pub(super) fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StateFault> {
        match self {
            Self::None => Err(StateFault::NotGranted),
            Self::Session(values) => {
                check(key)?;
                let values = values.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(values.get(key).cloned())
            }
            Self::Durable(files) => files.get(key),
        }
    }

    pub(super) fn set(&self, key: &str, value: &[u8]) -> Result<(), StateFault> {
        match self {
            Self::None => Err(StateFault::NotGranted),
            Self::Session(values) => {
                check(key)?;
                let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
                let others = values.iter().filter(|(other, _)| *other != key);
                fits(
                    key,
                    value,
                    others.map(|(key, value)| key.len() + value.len()),
                )?;
                values.insert(key.to_owned(), value.to_vec());
                Ok(())
            }
            Self::Durable(files) => files.set(key, value),
        }
    }

    pub(super) fn remove(&self, key: &str) -> Result<(), StateFault> {
        match self {
            Self::None => Err(StateFault::NotGranted),
            Self::Session(values) => {
                check(key)?;
                let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
                values.remove(key);
                Ok(())
            }
            Self::Durable(files) => files.remove(key),
        }
    }

    /// The keys that begin like this, sorted.
    pub(super) fn keys(&self, prefix: &str) -> Result<Vec<String>, StateFault> {
        let all: Vec<String> = match self {
            Self::None => return Err(StateFault::NotGranted),
            Self::Session(values) => {
                let values = values.lock().unwrap_or_else(PoisonError::into_inner);
                values.keys().cloned().collect()
            }
            Self::Durable(files) => files.sizes()?.into_keys().collect(),
        };
        Ok(all
            .into_iter()
            .filter(|key| key.starts_with(prefix))
            .collect())
    }
}

impl Files {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, StateFault> {
        check(key)?;
        match regular::read(&self.file(key), Link::Refused, LARGEST_VALUE as u64) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn set(&self, key: &str, value: &[u8]) -> Result<(), StateFault> {
        check(key)?;
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let sizes = self.sizes()?;
        let others = sizes.iter().filter(|(other, _)| *other != key);
        fits(key, value, others.map(|(_, size)| *size))?;
        crate::os::create_private_directory(&self.folder)?;
        // Readers see the old value or the new one, whatever happens in between.
        let mut file = tempfile::Builder::new()
            .prefix(".")
            .tempfile_in(&self.folder)?;
        file.write_all(value)?;
        file.as_file().sync_all()?;
        file.persist(self.file(key)).map_err(io::Error::from)?;
        Ok(())
    }

    fn remove(&self, key: &str) -> Result<(), StateFault> {
        check(key)?;
        match fs::remove_file(self.file(key)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The keys, with the bytes that they and their values take. What is not named by a key is not one's own.
    fn sizes(&self) -> Result<BTreeMap<String, usize>, StateFault> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error.into()),
        };
        let mut sizes = BTreeMap::new();
        for entry in entries {
            let entry = entry?;
            if let Some(key) = entry.file_name().to_str().and_then(key_of) {
                let bytes = usize::try_from(entry.metadata()?.len()).unwrap_or(usize::MAX);
                sizes.insert(key.clone(), bytes.saturating_add(key.len()));
            }
        }
        Ok(sizes)
    }

    fn file(&self, key: &str) -> PathBuf {
        self.folder.join(hex(key))
    }
}

fn check(key: &str) -> Result<(), StateFault> {
    let fits = (1..=LONGEST_KEY).contains(&key.len());
    match fits && !key.chars().any(char::is_control) {
        true => Ok(()),
        false => Err(StateFault::Invalid),
    }
}

/// Whether a value fits beside others of these sizes.
fn fits(key: &str, value: &[u8], others: impl Iterator<Item = usize>) -> Result<(), StateFault> {
    let (count, bytes) = others.fold((1, key.len() + value.len()), |(count, bytes), size| {
        (count + 1, size.saturating_add(bytes))
    });
    match value.len() > LARGEST_VALUE || count > MOST_VALUES || bytes > MOST_BYTES {
        true => Err(StateFault::Full),
        false => Ok(()),
    }
}

/// A name of a file for any text of limited length: hexadecimal digits lead nowhere, and no system takes two of them for one.
fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// The key of a file.
fn key_of(name: &str) -> Option<String> {
    let pairs = name.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> = pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    let key = String::from_utf8(bytes?).ok()?;
    (hex(&key) == name && check(&key).is_ok()).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Session and durable state of two plugins each.
    fn kinds(folder: &Path) -> [[PluginState; 2]; 2] {
        [
            [PluginState::of_session(), PluginState::of_session()],
            [
                PluginState::in_folder(folder, &StateIdentity::Granted("a")),
                PluginState::in_folder(folder, &StateIdentity::Granted("b")),
            ],
        ]
    }

    #[test]
    fn card_5_a_key_is_a_name_and_no_path() {
        let folder = tempfile::tempdir().unwrap();
        for [mine, other] in kinds(&folder.path().join("state")) {
            for key in [
                "../other",
                "/etc/passwd",
                "a/b",
                "..",
                ".",
                "ü",
                "CON",
                "A",
                "a",
            ] {
                mine.set(key, key.as_bytes()).unwrap();
                assert_eq!(mine.get(key).unwrap().unwrap(), key.as_bytes());
                assert!(other.get(key).unwrap().is_none(), "{key}");
            }
            assert_eq!(mine.keys("a").unwrap(), ["a", "a/b"]);
            assert!(other.keys("").unwrap().is_empty());
            for key in ["", "a\0b", "a\nb", &"k".repeat(LONGEST_KEY + 1)] {
                let refused = [
                    mine.get(key).map(drop),
                    mine.set(key, b""),
                    mine.remove(key),
                ];
                for refused in refused {
                    assert!(matches!(refused, Err(StateFault::Invalid)), "{key:?}");
                }
            }
            mine.remove("a").unwrap();
            mine.remove("a").unwrap();
            assert!(mine.get("a").unwrap().is_none());
        }
        // Nothing but the folder of the values was made.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn card_3_state_that_is_full_takes_no_more_and_keeps_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        for [mine, other] in kinds(folder.path()) {
            let full = |done| assert!(matches!(done, Err(StateFault::Full)));
            full(mine.set("k", &vec![0; LARGEST_VALUE + 1]));
            for number in 0..15 {
                mine.set(&number.to_string(), &vec![1; LARGEST_VALUE])
                    .unwrap();
            }
            full(mine.set("last", &vec![2; LARGEST_VALUE]));
            mine.set("0", b"new").unwrap();
            mine.set("last", &vec![2; LARGEST_VALUE]).unwrap();
            assert_eq!(mine.get("0").unwrap().unwrap(), b"new");
            for number in 0..MOST_VALUES {
                other.set(&number.to_string(), b"").unwrap();
            }
            full(other.set("one more", b""));
            other.set("0", b"x").unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn card_5_durable_state_follows_no_link_and_is_for_its_owner() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("secret"), "SECRET").unwrap();
        let state = PluginState::in_folder(&folder.path().join("s"), &StateIdentity::Granted("a"));
        state.set("k", b"v").unwrap();
        let values = folder.path().join("s/granted").join(hex("a"));
        let mode = fs::metadata(&values).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
        symlink(folder.path().join("secret"), values.join(hex("link"))).unwrap();
        assert!(state.get("link").is_err());
        state.set("link", b"mine").unwrap();
        assert_eq!(state.get("link").unwrap().unwrap(), b"mine");
        let secret = fs::read_to_string(folder.path().join("secret")).unwrap();
        assert_eq!(secret, "SECRET");
    }
}
