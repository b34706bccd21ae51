//! The host interfaces (`windlass:host`) that a component can call during one call.

use windlass_core::tool::Access;

use super::{
    bindings::windlass::{
        host::{filesystem, log, types},
        plugin,
    },
    call_state::CallState,
    log_sink::LogLevel,
    resources::Tree,
};
use crate::files::{self, EntryKind, FsError, Reach};

type Handle = wasmtime::component::Resource<Tree>;
type Answer<T> = wasmtime::Result<Result<T, types::ErrorCode>>;

impl CallState {
    /// Performs a file operation on a tree.
    fn ask<T>(
        &mut self,
        directory: &Handle,
        question: impl FnOnce(&mut Reach, usize) -> Result<T, FsError>,
    ) -> Answer<T> {
        self.may_go_on()?;
        // An index that does not fit is not a tree.
        let index = usize::try_from(directory.rep()).unwrap_or(usize::MAX);
        let reach = &mut self.call.reach;
        let name = self.instance.trees.get(index);
        // What this call was not granted looks like what is not there.
        let Some(tree) = name.and_then(|name| reach.tree_of(name)) else {
            return Ok(Err(types::ErrorCode::NotFound));
        };
        Ok(question(reach, tree).map_err(types::ErrorCode::from))
    }
}

impl types::Host for CallState {}
impl plugin::types::Host for CallState {}

impl filesystem::Host for CallState {
    fn roots(&mut self) -> wasmtime::Result<Vec<filesystem::Root>> {
        self.may_go_on()?;
        let instance = &mut self.instance;
        let roots = self.call.reach.roots();
        roots
            .map(|root| {
                Ok(filesystem::Root {
                    access: match root.access {
                        Access::Read => filesystem::Access::Read,
                        Access::Write => filesystem::Access::Write,
                    },
                    directory: Handle::new_own(instance.hold_tree(&root.path)?),
                    path: root.path,
                })
            })
            .collect()
    }

    fn working_directory(&mut self) -> wasmtime::Result<String> {
        self.may_go_on()?;
        Ok(self.call.reach.working_directory().to_owned())
    }
}

impl filesystem::HostDirectory for CallState {
    fn stat(&mut self, directory: Handle, path: String) -> Answer<filesystem::Stat> {
        self.ask(&directory, |reach, tree| {
            let stat = reach.stat(tree, &path)?;
            Ok(filesystem::Stat {
                kind: stat.kind.into(),
                size: number(stat.size),
                modified: stat.modified,
            })
        })
    }

    fn read(&mut self, directory: Handle, path: String, offset: f64, max: u32) -> Answer<Vec<u8>> {
        self.ask(&directory, |reach, tree| {
            let offset = whole(offset).ok_or(FsError::Invalid)?;
            reach.read(tree, &path, offset, max)
        })
    }

    fn list(
        &mut self,
        directory: Handle,
        path: String,
        cursor: Option<u32>,
        details: bool,
    ) -> Answer<filesystem::Page> {
        self.ask(&directory, |reach, tree| {
            let page = reach.list(tree, &path, cursor, details)?;
            Ok(filesystem::Page {
                entries: page.entries.into_iter().map(entry).collect(),
                next: page.next,
            })
        })
    }

    fn write(
        &mut self,
        directory: Handle,
        path: String,
        data: Vec<u8>,
        options: filesystem::WriteOptions,
    ) -> Answer<()> {
        let options = files::WriteOptions {
            expected_digest: options.expected_digest,
            create_new: options.create_new,
            create_parents: options.create_parents,
        };
        self.ask(&directory, |reach, tree| {
            reach.write(tree, &path, &data, &options)
        })
    }

    fn create_directory(&mut self, directory: Handle, path: String) -> Answer<()> {
        self.ask(&directory, |reach, tree| {
            reach.create_directory(tree, &path)
        })
    }

    fn remove(&mut self, directory: Handle, path: String) -> Answer<()> {
        self.ask(&directory, |reach, tree| reach.remove(tree, &path))
    }

    fn drop(&mut self, _directory: Handle) -> wasmtime::Result<()> {
        self.instance.let_go();
        Ok(())
    }
}

impl log::Host for CallState {
    fn log(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.may_go_on()?;
        let level = match level {
            log::Level::Debug => LogLevel::Debug,
            log::Level::Info => LogLevel::Info,
            log::Level::Warn => LogLevel::Warn,
            log::Level::Error => LogLevel::Error,
        };
        self.log_line(level, &message);
        Ok(())
    }
}

impl From<FsError> for types::ErrorCode {
    fn from(error: FsError) -> Self {
        match error {
            FsError::NotFound => Self::NotFound,
            FsError::Exists => Self::Exists,
            FsError::NotDirectory => Self::NotDirectory,
            FsError::IsDirectory => Self::IsDirectory,
            FsError::ReadOnly => Self::ReadOnly,
            FsError::Invalid => Self::Invalid,
            FsError::TooLarge => Self::TooLarge,
            FsError::Changed => Self::Changed,
            FsError::Io => Self::Io,
        }
    }
}

impl From<EntryKind> for filesystem::EntryKind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::File => Self::File,
            EntryKind::Directory => Self::Directory,
            EntryKind::Symlink => Self::Symlink,
            EntryKind::Other => Self::Other,
        }
    }
}

fn entry(entry: files::Entry) -> filesystem::Entry {
    filesystem::Entry {
        name: entry.name,
        kind: entry.kind.into(),
        size: number(entry.size),
        modified: entry.modified,
    }
}

/// Converts a size to the interface's number type; exact up to 2^53, which no file reaches.
#[allow(clippy::cast_precision_loss)]
fn number(size: u64) -> f64 {
    size as f64
}

/// Converts an offset: an integer below 2^53.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(value: f64) -> Option<u64> {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    // In range and without fraction: the cast is exact.
    ((0.0..LIMIT).contains(&value) && value.fract() == 0.0).then_some(value as u64)
}
