//! Where plugins are installed. What changes is written beside what is there, the lock file last and in one step: until then, and
//! if anything fails, the plugins are those of before.

use std::{
    collections::BTreeSet,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use etcetera::BaseStrategy;
use windlass_engine::plugin;

use super::{
    content::PluginContent,
    lockfile::{InstalledPlugin, LockedComponent, Lockfile, hex_of},
    tree::PluginTree,
};
use crate::{
    os,
    plugins::{code::read_component, inspect::Inspection, user_folder::plugins_of_user},
    regular::{self, Link},
};

/// Bytes of the largest lock file that is read.
const LARGEST: u64 = 64 << 20;

/// The bytes of a component's path in the folder of the store.
const LONGEST_PATH: usize = "/components/".len() + 64 + ".wasm".len();

/// The name of the lock file.
const LOCKFILE: &str = "installed.json";

/// Where plugins are installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginStore {
    root: PathBuf,
    folders: PathBuf,
}

/// Plugins cannot be read or installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// What the system says.
    #[error("the installed plugins, `{}`: {error}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The lock file is not of its form. Nothing of it holds.
    #[error("the installed plugins in `{}` cannot be read: {reason}. Mend the file, or remove it and install again", .path.display())]
    Form {
        /// The lock file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The lock file could have been written by somebody else.
    #[error("the installed plugins in `{}` are open to other users: if they are yours, run `chmod 600` on the file", .0.display())]
    Open(PathBuf),
    /// Nobody could read the lock file any more.
    #[error("`{}` would have {bytes} bytes, more than the {LARGEST} that are read, so what is installed is as it was: remove plugins that are not used (`windlass plugin remove`), or leave out the one whose texts are that long", .path.display())]
    TooLarge {
        /// The lock file.
        path: PathBuf,
        /// The bytes that it would have.
        bytes: usize,
    },
    /// Another command changes the plugins.
    #[error("another command is changing the installed plugins: try again when it has ended")]
    Busy,
    /// A name that no plugin can have.
    #[error(
        "`{0}` is no name of a plugin, which takes 1 to 64 small letters, digits and hyphens: its author has to change it"
    )]
    Name(String),
}

impl PluginStore {
    /// That of the user; none if there is no home directory.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let base = etcetera::choose_base_strategy().ok()?;
        let folders = base.data_dir().join("windlass").join("plugins");
        Some(Self::at(plugins_of_user()?, folders))
    }

    /// Another one: the folder of lock file and components, and the one of plugins that are folders.
    pub fn at(root: impl Into<PathBuf>, folders: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            folders: folders.into(),
        }
    }

    /// Reads the lock file, and nothing else.
    ///
    /// # Errors
    /// [`StoreError`]: there is one, and nothing of it can be relied on.
    pub fn read(&self) -> Result<Lockfile, StoreError> {
        match self.read_text()? {
            None => Ok(Lockfile::default()),
            Some(text) => Lockfile::parse(&text).map_err(|reason| self.unreadable(reason)),
        }
    }

    /// The lock file as text, if there is one.
    pub(super) fn read_text(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.root.join(LOCKFILE);
        let read = || {
            let metadata = match regular::is_there(&path, Link::Refused) {
                // The folder is that of another user, whose plugins and settings are not of this one.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
                other => other?,
            };
            let Some(metadata) = metadata else {
                return Ok(None);
            };
            let bytes = regular::read(&path, Link::Refused, LARGEST)?;
            Ok(Some((os::is_secret(&metadata), bytes)))
        };
        match read().map_err(|error| io_at(&path, error))? {
            None => Ok(None),
            Some((false, _)) => Err(StoreError::Open(path)),
            Some((true, text)) => Ok(Some(text)),
        }
    }

    /// What the lock file would hold, if it could be read again.
    fn text(&self, lockfile: &Lockfile) -> Result<Vec<u8>, StoreError> {
        let path = self.root.join(LOCKFILE);
        let mut text = serde_json::to_vec(lockfile).map_err(|error| io_at(&path, error.into()))?;
        text.push(b'\n');
        match text.len() as u64 > LARGEST {
            false => Ok(text),
            true => Err(StoreError::TooLarge {
                path,
                bytes: text.len(),
            }),
        }
    }

    /// The lock file is not of its form.
    pub(super) fn unreadable(&self, reason: String) -> StoreError {
        let path = self.root.join(LOCKFILE);
        StoreError::Form { path, reason }
    }

    /// The plugins, to change them. No other command does until the value is dropped.
    ///
    /// # Errors
    /// [`StoreError`]; [`StoreError::Busy`] if another command does.
    pub fn change(&self) -> Result<StoreChange<'_>, StoreError> {
        let at = |error| io_at(&self.root, error);
        os::create_private_directory(&self.root).map_err(at)?;
        let path = self.root.join("installed.lock");
        let mut options = fs::OpenOptions::new();
        options.create(true).truncate(false).write(true);
        let file = regular::open_with(&path, Link::Refused, &mut options);
        let file = file.map_err(|error| io_at(&path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Busy),
            Err(TryLockError::Error(error)) => return Err(io_at(&path, error)),
        }
        Ok(StoreChange {
            store: self,
            lockfile: self.read()?,
            _lock: file,
        })
    }

    /// Where a plugin lies: its component, or its folder.
    #[must_use]
    pub fn path(&self, name: &str, plugin: &InstalledPlugin) -> PathBuf {
        self.place(name, plugin.folder, &plugin.digest)
    }

    /// The same for the plugin of this digest.
    pub(super) fn place(&self, name: &str, is_folder: bool, digest: &str) -> PathBuf {
        match is_folder {
            true => self.folder(name, digest),
            false => self.component(digest),
        }
    }

    /// Where a component of a plugin lies.
    #[must_use]
    pub fn component_path(
        &self,
        name: &str,
        plugin: &InstalledPlugin,
        component: &LockedComponent,
    ) -> PathBuf {
        match plugin.folder {
            true => self.folder(name, &plugin.digest).join(&component.file),
            false => self.component(&component.digest),
        }
    }

    /// Whether the files of a plugin are those that were installed.
    #[must_use]
    pub fn is_intact(&self, name: &str, plugin: &InstalledPlugin) -> bool {
        let path = self.path(name, plugin);
        match plugin.folder {
            true => is_intact(&path, &plugin.digest),
            false => {
                read_component(&path).is_ok_and(|bytes| Inspection::digest(&bytes) == plugin.digest)
            }
        }
    }

    /// Where durable state of its plugins lies.
    pub(super) fn state(&self) -> PathBuf {
        self.root.join("state")
    }

    fn component(&self, digest: &str) -> PathBuf {
        let name = hex_of(digest).unwrap_or("none");
        // There may be thousands: the path is put together in place.
        let mut path = PathBuf::with_capacity(self.root.as_os_str().len() + LONGEST_PATH);
        path.push(&self.root);
        path.push("components");
        path.push(name);
        path.as_mut_os_string().push(".wasm");
        path
    }

    fn folder(&self, name: &str, digest: &str) -> PathBuf {
        (self.folders.join(hex_of(digest).unwrap_or("none"))).join(name)
    }
}

/// The plugins while they are changed.
#[derive(Debug)]
pub struct StoreChange<'a> {
    store: &'a PluginStore,
    lockfile: Lockfile,
    /// Held until the end.
    _lock: File,
}

impl StoreChange<'_> {
    /// Where they are.
    #[must_use]
    pub fn store(&self) -> &PluginStore {
        self.store
    }

    /// The plugins as they are.
    #[must_use]
    pub fn lockfile(&self) -> &Lockfile {
        &self.lockfile
    }

    /// Checks that the lock file could hold a plugin, in place of the one of its name, before anything is changed for it.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`].
    pub fn check(&self, name: &str, plugin: &InstalledPlugin) -> Result<(), StoreError> {
        let mut next = self.lockfile.clone();
        next.plugins.insert(name.to_owned(), plugin.clone());
        self.store.text(&next).map(drop)
    }

    /// Installs a plugin, in place of the one of its name.
    ///
    /// # Errors
    /// [`StoreError`]; the plugins are those of before then.
    pub fn install(
        &mut self,
        name: &str,
        plugin: InstalledPlugin,
        content: &PluginContent,
    ) -> Result<(), StoreError> {
        if !plugin::is_name(name) {
            return Err(StoreError::Name(name.to_owned()));
        }
        let path = self.store.path(name, &plugin);
        let written = match content {
            PluginContent::Component(bytes) => regular::replace_private(&path, bytes),
            PluginContent::Folder(tree) => write_folder(&path, tree),
        };
        let mut next = self.lockfile.clone();
        next.plugins.insert(name.to_owned(), plugin);
        written
            .map_err(|error| io_at(&path, error))
            .and_then(|()| self.replace(next))
            .inspect_err(|_| self.remove_unused())
    }

    /// Changes what is known of an installed plugin, and none of its files.
    ///
    /// # Errors
    /// [`StoreError`]; the plugins are those of before then. One that is gone, or is another version by now, is not changed.
    pub fn amend(&mut self, name: &str, plugin: InstalledPlugin) -> Result<(), StoreError> {
        let mut next = self.lockfile.clone();
        match next.plugins.get_mut(name) {
            Some(known) if known.digest == plugin.digest => *known = plugin,
            _ => return Err(StoreError::Busy),
        }
        self.replace(next)
    }

    /// Removes a plugin, and its files.
    ///
    /// # Errors
    /// [`StoreError`]; the plugins are those of before then.
    pub fn remove(&mut self, name: &str) -> Result<Option<InstalledPlugin>, StoreError> {
        let mut next = self.lockfile.clone();
        let Some(removed) = next.plugins.remove(name) else {
            return Ok(None);
        };
        self.replace(next)?;
        Ok(Some(removed))
    }

    /// Writes the lock file, then removes files that it does not name.
    fn replace(&mut self, next: Lockfile) -> Result<(), StoreError> {
        let path = self.store.root.join(LOCKFILE);
        let text = self.store.text(&next)?;
        regular::replace_private(&path, &text).map_err(|error| io_at(&path, error))?;
        self.lockfile = next;
        self.remove_unused();
        Ok(())
    }

    /// A file that cannot be removed is no harm: the lock file does not name it, and the next change tries again.
    fn remove_unused(&self) {
        let mut used: BTreeSet<PathBuf> = BTreeSet::new();
        for (name, plugin) in &self.lockfile.plugins {
            let path = self.store.path(name, plugin);
            if plugin.folder {
                // Folders lie in one that is called by the digest, together with those of the same content.
                used.insert(top_of(&path));
            }
            used.insert(path);
        }
        let by_digest = used.iter().map(|path| top_of(path));
        let by_digest: BTreeSet<PathBuf> = by_digest.filter(|top| used.contains(top)).collect();
        let places = [
            self.store.root.join("components"),
            self.store.folders.clone(),
        ];
        for folder in places.into_iter().chain(by_digest) {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let unused = entries.filter(|entry| !used.contains(&entry.path()));
            for entry in unused {
                let path = entry.path();
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let _ = match is_folder {
                    true => fs::remove_dir_all(path),
                    false => fs::remove_file(path),
                };
            }
        }
    }
}

/// Whether an installed folder has what was installed in it, and nothing else.
pub(super) fn is_intact(folder: &Path, digest: &str) -> bool {
    PluginTree::read_all(folder).is_ok_and(|tree| tree.digest() == digest)
}

fn top_of(folder: &Path) -> PathBuf {
    folder.parent().unwrap_or(folder).to_path_buf()
}

/// Writes a folder beside its place, and puts it there in one step. One that is there already is replaced: it has the same digest,
/// or was changed since.
fn write_folder(path: &Path, tree: &PluginTree) -> io::Result<()> {
    let by_digest = top_of(path);
    let folders = top_of(&by_digest);
    os::create_private_directory(&by_digest)?;
    let new = tempfile::tempdir_in(&folders)?;
    let name = path.file_name().unwrap_or_default();
    // A tree without files has none to make its folder for.
    os::create_private_directory(&new.path().join(name))?;
    tree.write(&new.path().join(name))?;
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::rename(new.path().join(name), path)
}

fn io_at(path: &Path, error: io::Error) -> StoreError {
    StoreError::Io {
        path: path.to_path_buf(),
        error,
    }
}
