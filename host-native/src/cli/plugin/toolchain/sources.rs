//! A digest of all that a component is built from, by which a build that would change nothing is left out.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use sha2::{Digest as _, Sha256};

/// What is told of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Its content.
    Content,
    /// Its length and when it was changed: packages have more files than are read for each build.
    Metadata,
}

/// Folders of a plugin that nothing is built from.
const LEFT_OUT: [&str; 2] = ["components", ".git"];

/// What Python compiles, in any folder.
const COMPILED: &str = "__pycache__";

/// Folders that packages are installed into.
const PACKAGES: [&str; 2] = ["node_modules", ".venv"];

/// The most bytes of sources that are read, and the most files that are looked at, for a digest. Beyond, each build is made.
const MOST_BYTES: u64 = 64 << 20;
const MOST_FILES: u32 = 65_536;

/// A digest in the making.
pub(super) struct Sources {
    digest: Sha256,
    bytes: u64,
    files: u32,
    root: PathBuf,
}

impl Sources {
    /// That of the sources in a folder, which are built by this recipe.
    pub(super) fn in_folder(root: &Path, recipe: &str) -> io::Result<Self> {
        let mut digest = Sha256::new();
        // Another version of windlass calls the tools in another way.
        part(&mut digest, env!("CARGO_PKG_VERSION").as_bytes());
        part(&mut digest, recipe.as_bytes());
        Ok(Self {
            digest,
            bytes: 0,
            files: 0,
            root: fs::canonicalize(root)?,
        })
    }

    /// With all files below the folder but the tests of the plugin, which are no part of a component.
    pub(super) fn and_all(mut self) -> io::Result<Self> {
        let root = self.root.clone();
        self.folder(&root, Told::Content)?;
        Ok(self)
    }

    /// With all files below a folder in it.
    pub(super) fn and_below(mut self, folder: &Path) -> io::Result<Self> {
        self.folder(&fs::canonicalize(folder)?, Told::Content)?;
        Ok(self)
    }

    /// With the content of a file, whatever its path is.
    pub(super) fn and_content(mut self, file: &Path) -> io::Result<Self> {
        self.content(file)?;
        Ok(self)
    }

    /// With a program that was chosen or installed.
    pub(super) fn and_program(mut self, program: &Path) -> io::Result<Self> {
        let within = program.strip_prefix(&self.root).unwrap_or(program);
        part(&mut self.digest, within.as_os_str().as_encoded_bytes());
        self.metadata(program)?;
        Ok(self)
    }

    /// The digest, in hexadecimal digits.
    pub(super) fn digest(self) -> String {
        format!("{:x}", self.digest.finalize())
    }

    fn folder(&mut self, folder: &Path, told: Told) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder)? {
            entries.push(entry?.path());
        }
        entries.sort();
        for path in entries {
            let within = path.strip_prefix(&self.root).unwrap_or(&path);
            let name = path.file_name().unwrap_or_default();
            if is_left_out(within) {
                continue;
            }
            self.files += 1;
            if self.files > MOST_FILES {
                return Err(not_told());
            }
            part(&mut self.digest, within.as_os_str().as_encoded_bytes());
            let found = fs::metadata(&path)?;
            if found.is_file() {
                match told {
                    Told::Content => self.content(&path)?,
                    Told::Metadata => self.metadata(&path)?,
                }
            } else if !found.is_dir() {
                return Err(not_told());
            } else if fs::symlink_metadata(&path)?.is_symlink() {
                // What it leads to is looked at in its own place, if it is here.
                if !fs::canonicalize(&path)?.starts_with(&self.root) {
                    return Err(not_told());
                }
            } else {
                let is_of_packages = PACKAGES.iter().any(|packages| name == *packages);
                let told = if is_of_packages { Told::Metadata } else { told };
                self.folder(&path, told)?;
            }
        }
        Ok(())
    }

    fn content(&mut self, file: &Path) -> io::Result<()> {
        self.bytes = self.bytes.saturating_add(fs::metadata(file)?.len());
        if self.bytes > MOST_BYTES {
            return Err(not_told());
        }
        part(&mut self.digest, &fs::read(file)?);
        Ok(())
    }

    fn metadata(&mut self, file: &Path) -> io::Result<()> {
        let found = fs::metadata(file)?;
        let changed = found.modified()?.duration_since(UNIX_EPOCH);
        let changed = changed.map_err(|_| not_told())?;
        part(&mut self.digest, &found.len().to_le_bytes());
        part(&mut self.digest, &changed.as_nanos().to_le_bytes());
        Ok(())
    }
}

/// Whether a path in the folder of a plugin is no source: what was built, or one of the tests.
fn is_left_out(within: &Path) -> bool {
    let is_test = within.parent() == Some(Path::new("tests"))
        && within
            .extension()
            .is_some_and(|extension| extension == "json");
    let is_built = LEFT_OUT.iter().any(|folder| within == Path::new(folder));
    is_test || is_built || within.ends_with(COMPILED)
}

/// Adds a part that cannot be taken for the beginning of the next one.
fn part(digest: &mut Sha256, bytes: &[u8]) {
    digest.update((bytes.len() as u64).to_le_bytes());
    digest.update(bytes);
}

/// The digest would not tell all that counts.
fn not_told() -> io::Error {
    io::Error::other("its sources are too many, or lie elsewhere")
}
