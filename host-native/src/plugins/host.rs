//! The host interfaces (`windlass:host`) that a component can call during one call.

use std::{fmt, sync::Arc};

use windlass_core::tool::Access;

use super::{
    authority::Bound,
    bindings::windlass::{
        host::{filesystem, log, types},
        plugin,
    },
    limits::Meter,
    network::{Exchanges, Network},
    outcome::{Stopped, Watch},
    progress::Reports,
    resources::Tree,
    secret::SecretSource,
    wasi::state::Wasi,
};
use crate::files::{self, EntryKind, FsError, Reach};

/// The maximum number of directory handles per call. Each uses some host memory outside of linear memory.
const MAX_HANDLES: u32 = 100_000;

/// The level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For the developer of the component.
    Debug,
    /// Informational.
    Info,
    /// A possible problem.
    Warn,
    /// A failure.
    Error,
}

/// A log line of a call.
#[derive(Debug, Clone, Copy)]
pub struct LogLine<'a> {
    /// The component's name.
    pub component: &'a str,
    /// The level.
    pub level: LogLevel,
    /// The text; control characters come from the component and must be escaped for a terminal.
    pub message: &'a str,
    /// Whether the line comes from the host, for example a refusal, rather than from the component.
    pub from_host: bool,
}

/// Receives log lines; called on the thread of the call.
#[derive(Clone)]
pub struct LogSink(Arc<dyn Fn(LogLine<'_>) + Send + Sync>);

impl LogSink {
    /// A sink that calls a function for every line.
    pub fn new(take: impl Fn(LogLine<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    pub(super) fn write(&self, line: LogLine<'_>) {
        (self.0)(line);
    }
}

impl Default for LogSink {
    /// Drops all lines.
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for LogSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogSink")
    }
}

/// The store data of one call.
pub(super) struct CallState {
    pub(super) meter: Meter,
    pub(super) watch: Watch,
    pub(super) reach: Reach,
    pub(super) component: Arc<str>,
    pub(super) log: LogSink,
    /// The number of bytes of log messages that are still accepted.
    pub(super) log_left: usize,
    /// The bytes of the result.
    pub(super) output: usize,
    pub(super) handles: u32,
    pub(super) wasi: Wasi,
    /// The number of calls of the host so far, and how many there may be.
    pub(super) calls: u32,
    pub(super) most_calls: u32,
    /// The number of lines that the host itself may still write about the call.
    pub(super) notes_left: u32,
    pub(super) bound: Bound,
    pub(super) network: Arc<Network>,
    pub(super) exchanges: Exchanges,
    pub(super) secrets: SecretSource,
    pub(super) reports: Reports,
}

/// The most lines that the host writes about refusals of one call, beside those of files.
pub(super) const MAX_NOTES: u32 = 100;

type Handle = wasmtime::component::Resource<Tree>;
type Answer<T> = wasmtime::Result<Result<T, types::ErrorCode>>;

impl CallState {
    /// What every function of the host is linked with ([`Runtime`](super::engine::Runtime)): wasmtime gets the state of a call from
    /// here and nowhere else, so that none of them, and no end of a handle, is reached without having been counted.
    pub(super) fn entered(&mut self) -> &mut Self {
        self.calls = self.calls.saturating_add(1);
        self
    }

    /// Ends calls that have timed out, were cancelled, or have called the host too often. wasmtime asks this regularly; functions
    /// that take time or memory of the host begin with it, too.
    pub(super) fn may_go_on(&self) -> Result<(), Stopped> {
        self.watch.check()?;
        self.may_call()
    }

    /// Ends calls that have called the host too often.
    pub(super) fn may_call(&self) -> Result<(), Stopped> {
        match self.calls > self.most_calls {
            true => Err(Stopped::HostCalls),
            false => Ok(()),
        }
    }

    /// Writes a line of the host to the log: what a component is not told.
    pub(super) fn note(&mut self, message: &str) {
        let Some(left) = self.notes_left.checked_sub(1) else {
            return;
        };
        self.notes_left = left;
        self.log.write(LogLine {
            component: &self.component,
            level: LogLevel::Info,
            message,
            from_host: true,
        });
    }

    /// Performs a file operation on a tree.
    fn ask<T>(
        &mut self,
        directory: &Handle,
        question: impl FnOnce(&mut Reach, usize) -> Result<T, FsError>,
    ) -> Answer<T> {
        self.may_go_on()?;
        // An index that does not fit is not a tree.
        let tree = usize::try_from(directory.rep()).unwrap_or(usize::MAX);
        Ok(question(&mut self.reach, tree).map_err(types::ErrorCode::from))
    }

    /// Writes a message of the component to the log, as far as the call has not logged too much.
    pub(super) fn log_line(&mut self, level: LogLevel, message: &str) {
        let end = message.floor_char_boundary(self.log_left);
        self.log_left -= end;
        if end > 0 {
            self.log.write(LogLine {
                component: &self.component,
                level,
                message: &message[..end],
                from_host: false,
            });
        }
    }

    /// Writes the refusals of the call to the log.
    pub(super) fn report_refusals(&self) {
        for refusal in self.reach.refusals() {
            self.log.write(LogLine {
                component: &self.component,
                level: LogLevel::Info,
                message: &format!("refused {}: {}", refusal.path, refusal.reason),
                from_host: true,
            });
        }
    }
}

impl types::Host for CallState {}
impl plugin::types::Host for CallState {}

impl filesystem::Host for CallState {
    fn roots(&mut self) -> wasmtime::Result<Vec<filesystem::Root>> {
        self.may_go_on()?;
        let handles = &mut self.handles;
        self.reach
            .roots()
            .enumerate()
            .map(|(index, root)| {
                *handles += 1;
                if *handles > MAX_HANDLES {
                    return Err(Stopped::Handles.into());
                }
                Ok(filesystem::Root {
                    path: root.path,
                    access: match root.access {
                        Access::Read => filesystem::Access::Read,
                        Access::Write => filesystem::Access::Write,
                    },
                    // A larger number of roots would not fit into the grant.
                    directory: Handle::new_own(u32::try_from(index).unwrap_or(u32::MAX)),
                })
            })
            .collect()
    }

    fn working_directory(&mut self) -> wasmtime::Result<String> {
        self.may_go_on()?;
        Ok(self.reach.working_directory().to_owned())
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
