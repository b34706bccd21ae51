//! Walks a directory tree in the order of names, skipping what the rules exclude.

use windlass_plugin::{Entry, EntryKind, ErrorCode, Tree, entries};

use crate::filter::Filter;
use crate::rules::{Rules, Sources};

/// A walk over the files below a directory. Links are not followed.
///
/// It needs one listing for each directory and a read for each rule file, but no operation for other files.
pub(crate) struct Walk<'a, T> {
    tree: &'a T,
    filter: &'a Filter,
    rules: Rules,
    /// Whether listings carry modification times.
    details: bool,
    /// The current path, with a slash in front.
    path: String,
    levels: Vec<Level>,
    /// The number of directories that could not be listed.
    unlisted: usize,
}

/// A directory that is being visited.
struct Level {
    entries: std::vec::IntoIter<Entry>,
    /// The length of the directory's path within the current path.
    path_length: usize,
    added_rules: bool,
}

/// A file found by the walk.
pub(crate) struct Found<'a> {
    /// Relative to the tree.
    pub(crate) path: &'a str,
    /// Milliseconds since 1970, if the walk asks for details.
    pub(crate) modified: f64,
}

impl<'a, T: Tree> Walk<'a, T> {
    /// Starts in the directory `base`.
    ///
    /// # Errors
    /// As listing the directory.
    pub(crate) fn new(
        tree: &'a T,
        base: &str,
        filter: &'a Filter,
        details: bool,
    ) -> Result<Self, ErrorCode> {
        let listed = entries(tree, base, details)?;
        let mut walk = Self {
            tree,
            filter,
            rules: Rules::above(tree, base),
            details,
            path: match base {
                "" => String::new(),
                base => format!("/{base}"),
            },
            levels: Vec::new(),
            unlisted: 0,
        };
        walk.enter(listed);
        Ok(walk)
    }

    /// The next file.
    pub(crate) fn next(&mut self) -> Option<Found<'_>> {
        loop {
            let level = self.levels.last_mut()?;
            self.path.truncate(level.path_length);
            let Some(entry) = level.entries.next() else {
                self.leave();
                continue;
            };
            let is_directory = match entry.kind {
                EntryKind::File => false,
                EntryKind::Directory => true,
                EntryKind::Symlink | EntryKind::Other => continue,
            };
            self.path.push('/');
            self.path.push_str(&entry.name);
            if self.filter.exclude(&self.path, is_directory)
                || self.rules.exclude(&entry.name, &self.path, is_directory)
            {
                continue;
            }
            if !is_directory {
                return Some(Found {
                    path: &self.path[1..],
                    modified: entry.modified,
                });
            }
            match entries(self.tree, &self.path[1..], self.details) {
                Ok(listed) => self.enter(listed),
                // It was removed, or never existed for this call.
                Err(ErrorCode::NotFound) => {}
                Err(_) => self.unlisted += 1,
            }
        }
    }

    /// A note about directories that could not be listed.
    pub(crate) fn note(&self) -> String {
        match self.unlisted {
            0 => String::new(),
            1 => "\n[1 directory could not be listed and was left out.]".to_owned(),
            several => format!("\n[{several} directories could not be listed and were left out.]"),
        }
    }

    /// Enters the directory at the current path.
    fn enter(&mut self, listed: Vec<Entry>) {
        let mut sources = Sources::default();
        for entry in &listed {
            sources.note(&entry.name, entry.kind);
        }
        let directory = self.path.strip_prefix('/').unwrap_or("");
        let added_rules = self.rules.enter(self.tree, directory, &sources);
        self.levels.push(Level {
            entries: listed.into_iter(),
            path_length: self.path.len(),
            added_rules,
        });
    }

    fn leave(&mut self) {
        if self.levels.pop().is_some_and(|level| level.added_rules) {
            self.rules.leave();
        }
    }
}
