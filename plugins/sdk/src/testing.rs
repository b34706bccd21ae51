//! A directory tree in memory, for native tests of tools.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::{Access, Entry, EntryKind, ErrorCode, Page, Root, Stat, Tree, Workspace, WriteOptions};

/// A directory tree in memory that answers as a host does: parents appear with their files, entries are sorted by name
/// and handed out in pages.
///
/// Every write advances a clock by one second, so that modification times tell the order of writes.
#[derive(Debug)]
pub struct MemoryTree {
    files: RefCell<BTreeMap<String, File>>,
    directories: RefCell<BTreeMap<String, f64>>,
    clock: RefCell<f64>,
    page: usize,
    digest: fn(&[u8]) -> String,
}

#[derive(Debug, Clone)]
struct File {
    data: Vec<u8>,
    modified: f64,
}

impl Default for MemoryTree {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryTree {
    /// An empty tree.
    #[must_use]
    pub fn new() -> Self {
        Self {
            files: RefCell::default(),
            directories: RefCell::default(),
            clock: RefCell::new(0.0),
            page: 1000,
            digest: |_| String::new(),
        }
    }

    /// Hands out at most this many entries a page.
    #[must_use]
    pub fn with_page(mut self, entries: usize) -> Self {
        self.page = entries;
        self
    }

    /// Sets how `expected-digest` of a write is checked; by default every check fails.
    #[must_use]
    pub fn with_digest(mut self, digest: fn(&[u8]) -> String) -> Self {
        self.digest = digest;
        self
    }

    /// Adds a file, replacing any existing one.
    #[must_use]
    pub fn with_file(self, path: &str, data: impl AsRef<[u8]>) -> Self {
        self.put(path, data);
        self
    }

    /// Adds a file, replacing any existing one.
    pub fn put(&self, path: &str, data: impl AsRef<[u8]>) {
        let modified = self.tick();
        self.add_parents(path, modified);
        let file = File {
            data: data.as_ref().to_vec(),
            modified,
        };
        self.files.borrow_mut().insert(path.to_owned(), file);
    }

    /// The content of a file.
    #[must_use]
    pub fn content(&self, path: &str) -> Option<Vec<u8>> {
        self.files.borrow().get(path).map(|file| file.data.clone())
    }

    /// A workspace of this tree alone, writable, at `/work`, which is the working directory too.
    #[must_use]
    pub fn into_workspace(self) -> Workspace<Self> {
        let root = Root {
            path: "/work".to_owned(),
            access: Access::Write,
            tree: self,
        };
        Workspace::new(vec![root], "/work")
    }

    fn tick(&self) -> f64 {
        let mut clock = self.clock.borrow_mut();
        *clock += 1000.0;
        *clock
    }

    fn add_parents(&self, path: &str, modified: f64) {
        let mut directories = self.directories.borrow_mut();
        for (end, _) in path.match_indices('/') {
            directories
                .entry(path[..end].to_owned())
                .or_insert(modified);
        }
    }

    fn is_directory(&self, path: &str) -> bool {
        path.is_empty() || self.directories.borrow().contains_key(path)
    }

    /// The error for a path that is not a file: a directory, a path below a file, or one that does not exist.
    fn absent(&self, path: &str) -> ErrorCode {
        if self.is_directory(path) {
            return ErrorCode::IsDirectory;
        }
        let files = self.files.borrow();
        let below_a_file = path
            .match_indices('/')
            .any(|(end, _)| files.contains_key(&path[..end]));
        if below_a_file {
            ErrorCode::NotDirectory
        } else {
            ErrorCode::NotFound
        }
    }
}

impl Tree for MemoryTree {
    fn stat(&self, path: &str) -> Result<Stat, ErrorCode> {
        if let Some(file) = self.files.borrow().get(path) {
            return Ok(Stat {
                kind: EntryKind::File,
                size: file.data.len() as f64,
                modified: file.modified,
            });
        }
        match self.absent(path) {
            ErrorCode::IsDirectory => Ok(Stat {
                kind: EntryKind::Directory,
                size: 0.0,
                modified: self
                    .directories
                    .borrow()
                    .get(path)
                    .copied()
                    .unwrap_or_default(),
            }),
            code => Err(code),
        }
    }

    fn read(&self, path: &str, offset: u64, max: u32) -> Result<Vec<u8>, ErrorCode> {
        let files = self.files.borrow();
        let Some(file) = files.get(path) else {
            return Err(self.absent(path));
        };
        let start = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(file.data.len());
        let end = start.saturating_add(max as usize).min(file.data.len());
        Ok(file.data[start..end].to_vec())
    }

    fn list(&self, path: &str, cursor: Option<u32>, details: bool) -> Result<Page, ErrorCode> {
        if !self.is_directory(path) {
            return Err(match self.files.borrow().contains_key(path) {
                true => ErrorCode::NotDirectory,
                false => self.absent(path),
            });
        }
        let prefix = if path.is_empty() {
            String::new()
        } else {
            format!("{path}/")
        };
        let child = |full: &str| {
            let name = full.strip_prefix(&prefix)?;
            (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
        };
        let mut all = Vec::new();
        for full in self.directories.borrow().keys() {
            if let Some(name) = child(full) {
                all.push(Entry {
                    name,
                    kind: EntryKind::Directory,
                    size: 0.0,
                    modified: 0.0,
                });
            }
        }
        for (full, file) in self.files.borrow().iter() {
            if let Some(name) = child(full) {
                all.push(Entry {
                    name,
                    kind: EntryKind::File,
                    size: if details { file.data.len() as f64 } else { 0.0 },
                    modified: if details { file.modified } else { 0.0 },
                });
            }
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        let start = cursor.unwrap_or(0) as usize;
        let end = (start + self.page).min(all.len());
        let next = (end < all.len()).then_some(end as u32);
        Ok(Page {
            entries: all.drain(start.min(end)..end).collect(),
            next,
        })
    }

    fn write(&self, path: &str, data: &[u8], options: &WriteOptions) -> Result<(), ErrorCode> {
        let existing = self.content(path);
        if existing.is_none() {
            let absent = self.absent(path);
            if absent != ErrorCode::NotFound {
                return Err(absent);
            }
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            if !options.create_parents && !self.is_directory(parent) {
                return Err(ErrorCode::NotFound);
            }
        }
        if options.create_new && existing.is_some() {
            return Err(ErrorCode::Exists);
        }
        if let Some(expected) = &options.expected_digest {
            let actual = existing.map(|data| (self.digest)(&data));
            if actual.as_ref() != Some(expected) {
                return Err(ErrorCode::Changed);
            }
        }
        self.put(path, data);
        Ok(())
    }

    fn create_directory(&self, path: &str) -> Result<(), ErrorCode> {
        match self.stat(path) {
            Ok(_) => Err(ErrorCode::Exists),
            Err(ErrorCode::NotFound) => {
                let modified = self.tick();
                self.directories
                    .borrow_mut()
                    .insert(path.to_owned(), modified);
                Ok(())
            }
            Err(code) => Err(code),
        }
    }

    fn remove(&self, path: &str) -> Result<(), ErrorCode> {
        if self.files.borrow_mut().remove(path).is_some() {
            return Ok(());
        }
        if !self.is_directory(path) {
            return Err(self.absent(path));
        }
        if path.is_empty() || !self.list(path, None, false)?.entries.is_empty() {
            return Err(ErrorCode::Invalid);
        }
        self.directories.borrow_mut().remove(path);
        Ok(())
    }
}
