//! Compiled components on disk: compiling costs tens of milliseconds to seconds, loading a tenth of one.

use std::{
    fs::{self, File},
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, SystemTime},
};

use etcetera::BaseStrategy;
use sha2::{Digest, Sha256};
use wasmtime::{Engine, component::Component};

use super::compiled;

/// Files not used for that long are removed when a new one is written.
const KEEP: Duration = Duration::from_hours(30 * 24);

/// A directory of compiled components. Its content is native code: only this user may write to it, and no
/// grant may reach it (give [`Cache::directory`] to [`crate::files::Files::new`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    directory: PathBuf,
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
    /// A cache in a directory of its own, which is created when it is first needed.
    #[must_use]
    pub fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The cache in the user's cache directory (`$XDG_CACHE_HOME/windlass/components`, or below
    /// `~/.cache`); none when the user has no home directory.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let base = etcetera::choose_base_strategy().ok()?.cache_dir();
        Some(Self::at(base.join("windlass").join("components")))
    }

    /// Where the compiled components are.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The component from the cache, or compiled and then kept. A cache that cannot be used is told, and
    /// does not matter otherwise.
    pub(super) fn component(
        &self,
        engine: &Engine,
        bytes: &[u8],
        tell: impl Fn(&CacheError),
    ) -> wasmtime::Result<Component> {
        let file = self.directory.join(file_name(engine, bytes));
        let usable = self.prepare();
        if usable.is_ok()
            && let Some(component) = load(engine, &file)
        {
            return Ok(component);
        }
        let component = Component::from_binary(engine, bytes)?;
        let kept = usable.and_then(|()| {
            let compiled = component.serialize().map_err(io::Error::other)?;
            self.keep(&file, &compiled)
        });
        if let Err(source) = kept {
            tell(&CacheError {
                directory: self.directory.clone(),
                source,
            });
        }
        Ok(component)
    }

    fn prepare(&self) -> io::Result<()> {
        crate::os::create_private_directory(&self.directory)
    }

    /// Writes a file in one step and removes what nobody used for long.
    fn keep(&self, file: &Path, compiled: &[u8]) -> io::Result<()> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        let beside = file.with_extension(format!("{}-{count}.tmp", std::process::id()));
        let written = File::create_new(&beside)
            .and_then(|mut f| f.write_all(compiled))
            .and_then(|()| fs::rename(&beside, file));
        if written.is_err() {
            // The write's failure is the one to report.
            let _ = fs::remove_file(&beside);
        }
        self.remove_unused();
        written
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

/// A compiled component that is there, ours, and of this engine.
fn load(engine: &Engine, file: &Path) -> Option<Component> {
    let metadata = fs::symlink_metadata(file).ok()?;
    if !metadata.is_file() || !crate::os::is_private(&metadata) {
        return None;
    }
    let component = compiled::load(engine, file).ok()?;
    // Marks it as used; a cache on a read-only disk works too.
    let _ = File::open(file).and_then(|f| f.set_modified(SystemTime::now()));
    Some(component)
}

/// A name that changes with the component, with wasmtime and with the engine's settings.
fn file_name(engine: &Engine, bytes: &[u8]) -> String {
    let mut settings = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut settings);
    format!(
        "{:x}-{:016x}.cwasm",
        Sha256::digest(bytes),
        settings.finish()
    )
}
