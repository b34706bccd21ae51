//! Compiled components on disk: compiling costs tens of milliseconds to seconds, loading a few.
//!
//! Their content is native code of this process, so nothing is loaded because of where it lies. Each file begins with a seal
//! (BLAKE3 with a key) over its name and its content. The key lies in another directory, for the user alone, and no grant reaches it.
//! What has no valid seal is compiled anew: whatever was copied or linked there, was damaged, or is of another component.
//!
//! This does not hold a program that may read *all* files of the user, such as a command that was allowed and is not confined:
//! it can read the key as windlass can. Neither does anything else: such a program can as well replace windlass itself.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use etcetera::BaseStrategy;
use wasmtime::{Engine, component::Component};

use super::{
    compiled::{self, CompiledCode},
    seal::{SEAL, Sealer},
};
use crate::regular::{self, Link};

/// Files not used for that long are removed when a new one is written.
const KEEP: Duration = Duration::from_hours(30 * 24);

/// Bytes of the largest compiled component that is read: four times the largest component.
const MAX_COMPILED: u64 = 512 << 20;

/// A directory of compiled components, and the key that their seals are checked with. Their content is native code: no grant may
/// reach either (give [`Cache::places`] to [`crate::files::Files::new`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    directory: PathBuf,
    key: PathBuf,
}

/// A cache that cannot be used. The component is compiled anew instead.
#[derive(Debug, thiserror::Error)]
#[error("the cache of compiled components in `{}` cannot be used: {source}", .directory.display())]
pub struct CacheError {
    /// Where the cache is.
    pub directory: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

impl Cache {
    /// A cache in a directory of its own, with the key in a file that lies in another, which only windlass uses. Both are created
    /// when they are first needed.
    #[must_use]
    pub fn at(directory: PathBuf, key: PathBuf) -> Self {
        Self { directory, key }
    }

    /// The cache in the user's cache directory (`$XDG_CACHE_HOME/windlass/components`, or below `~/.cache`), with the key in the
    /// user's data directory (`$XDG_DATA_HOME/windlass/components.key`, or below `~/.local/share`); none when the user has no
    /// home directory.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let base = etcetera::choose_base_strategy().ok()?;
        let directory = base.cache_dir().join("windlass").join("components");
        let key = base.data_dir().join("windlass").join("components.key");
        Some(Self::at(directory, key))
    }

    /// Where the compiled components are.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What must be closed to tools, and to commands where they are confined: the compiled components and the key.
    #[must_use]
    pub fn places(&self) -> [&Path; 2] {
        [&self.directory, &self.key]
    }

    /// The places, made if they are not there, so that they can be held from before the first command on: what is not there
    /// cannot be covered, and a command that is running when it comes would see it.
    pub(crate) fn places_made(&self) -> Vec<PathBuf> {
        // What this program cannot make here, a command that is confined cannot make either.
        let _ = self.prepare();
        let real = self.places().into_iter().map(fs::canonicalize);
        real.filter_map(Result::ok).collect()
    }

    /// The component with this key from the cache, or compiled and then kept; only then are its bytes read, whose digest the key is. A cache that cannot be used is told, and does not matter otherwise.
    pub(super) fn component<B: AsRef<[u8]>>(
        &self,
        engine: &Engine,
        key: &str,
        bytes: impl FnOnce() -> wasmtime::Result<B>,
        tell: impl Fn(&CacheError),
    ) -> wasmtime::Result<Component> {
        let name = file_name(engine, key);
        let sealer = self.prepare();
        if let Ok(sealer) = &sealer
            && let Some(component) = self.load(engine, &name, sealer)
        {
            return Ok(component);
        }
        let component = Component::from_binary(engine, bytes()?.as_ref())?;
        let kept = sealer.and_then(|sealer| {
            let compiled = component.serialize().map_err(io::Error::other)?;
            self.keep(&name, &compiled, &sealer.seal(&name, &compiled))
        });
        if let Err(source) = kept {
            tell(&CacheError {
                directory: self.directory.clone(),
                source,
            });
        }
        Ok(component)
    }

    fn prepare(&self) -> io::Result<Sealer> {
        crate::os::create_private_directory(&self.directory)?;
        Sealer::with_key_in(&self.key)
    }

    /// A compiled component that is there, is private, and was sealed here under this name.
    fn load(&self, engine: &Engine, name: &str, sealer: &Sealer) -> Option<Component> {
        let mut file = regular::open(&self.directory.join(name), Link::Refused).ok()?;
        let metadata = file.metadata().ok()?;
        if !crate::os::is_private(&metadata) || metadata.len() > MAX_COMPILED {
            return None;
        }
        let mut sealed_by = [0; SEAL];
        file.read_exact(&mut sealed_by).ok()?;
        let mut seal = sealer.begin(name);
        let copied = CompiledCode::copied(&mut Read::take(&file, MAX_COMPILED), |piece| {
            seal.add(piece);
        });
        let code = copied.ok().filter(|_| seal.is(sealed_by))?;
        let component = compiled::load(engine, &code).ok()?;
        // Marks it as used; a cache on a read-only disk works too.
        let _ = file.set_modified(SystemTime::now());
        Some(component)
    }

    /// Writes a file in one step and removes what nobody used for long.
    fn keep(&self, name: &str, compiled: &[u8], seal: &[u8]) -> io::Result<()> {
        let written = tempfile::Builder::new()
            .suffix(".tmp")
            .tempfile_in(&self.directory)
            .and_then(|mut file| {
                file.write_all(seal)?;
                file.write_all(compiled)?;
                Ok(file.persist(self.directory.join(name))?)
            });
        self.remove_unused();
        written.map(drop)
    }

    fn remove_unused(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else {
            return;
        };
        for entry in entries.flatten() {
            let modified = entry.metadata().and_then(|m| m.modified());
            let age = modified
                .ok()
                .and_then(|m| SystemTime::now().duration_since(m).ok());
            if age.is_some_and(|age| age > KEEP) {
                // A file that stays is no harm: it is found again the next time.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// A name that changes with the component, with wasmtime and with the engine's settings.
fn file_name(engine: &Engine, key: &str) -> String {
    let mut settings = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut settings);
    format!("{key}-{:016x}.cwasm", settings.finish())
}
