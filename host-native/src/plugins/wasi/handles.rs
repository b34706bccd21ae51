//! What the handles of an instance stand for, and how many there may be. None of them holds a file or a directory: they are names and
//! numbers, which are looked up in what the call at hand has.

use std::sync::Arc;

use wasmtime::component::{Resource, ResourceTable};

use super::printed::Printed;
use crate::{files::FsError, plugins::outcome::Stopped};

/// How many handles an instance holds at most at one time; each uses memory of the host.
const MAX_LIVE: usize = 1024;

/// How many of them a listing counts as: it holds the names of up to a page of entries.
const LISTING: usize = 64;

/// Why a stream failed.
#[derive(Debug)]
#[allow(unreachable_pub)] // The generated code re-exports it, as all below.
pub struct Failure(pub(super) FsError);

/// Something to wait for: everything here is there at once.
#[derive(Debug)]
#[allow(unreachable_pub)]
pub struct Pollable;

/// Which open file of which call: no two have the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(unreachable_pub)]
pub struct FileId(pub(super) u64);

/// Where bytes come from.
#[derive(Debug)]
#[allow(unreachable_pub)]
pub enum Input {
    /// Standard input.
    Empty,
    /// A file, from a position on.
    File {
        /// Which.
        id: FileId,
        /// Of the next byte.
        at: u64,
    },
}

/// Where bytes go.
#[derive(Debug)]
#[allow(unreachable_pub)]
pub enum Output {
    /// Standard output or standard error: the log, line by line.
    Log(Printed),
    /// A file.
    File {
        /// Which.
        id: FileId,
        /// Of the next byte; the end of the file without one.
        at: Option<u64>,
    },
}

/// A directory, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(unreachable_pub)]
pub struct Directory {
    /// The absolute path of the directory tree.
    pub(super) tree: Arc<str>,
    /// Relative to the tree; empty for the tree itself.
    pub(super) path: String,
}

/// An open file or directory.
#[derive(Debug, Clone)]
#[allow(unreachable_pub)]
pub enum Descriptor {
    /// A directory.
    Directory(Directory),
    /// A file.
    File {
        /// Which.
        id: FileId,
        /// Whether it was opened for writing.
        writes: bool,
    },
}

/// Which listing of which call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(unreachable_pub)]
pub struct ListingId(pub(super) u64);

/// Nothing is a terminal.
#[derive(Debug)]
#[allow(unreachable_pub)]
pub enum NoTerminal {}

/// The handles of an instance.
#[derive(Debug, Default)]
pub(in crate::plugins) struct Handles {
    table: ResourceTable,
    live: usize,
}

impl Handles {
    pub(super) fn add<T: Send + 'static>(&mut self, value: T) -> wasmtime::Result<Resource<T>> {
        self.add_as(1, value)
    }

    /// A listing, which counts as many handles.
    pub(super) fn add_listing(
        &mut self,
        listing: ListingId,
    ) -> wasmtime::Result<Resource<ListingId>> {
        self.add_as(LISTING, listing)
    }

    fn add_as<T: Send + 'static>(
        &mut self,
        count: usize,
        value: T,
    ) -> wasmtime::Result<Resource<T>> {
        if self.live + count > MAX_LIVE {
            return Err(Stopped::Handles.into());
        }
        self.live += count;
        Ok(self.table.push(value)?)
    }

    pub(super) fn get<T: Send + 'static>(&self, handle: &Resource<T>) -> wasmtime::Result<&T> {
        Ok(self.table.get(handle)?)
    }

    pub(super) fn get_mut<T: Send + 'static>(
        &mut self,
        handle: &Resource<T>,
    ) -> wasmtime::Result<&mut T> {
        Ok(self.table.get_mut(handle)?)
    }

    pub(super) fn remove<T: Send + 'static>(&mut self, handle: Resource<T>) -> wasmtime::Result<T> {
        self.live = self.live.saturating_sub(1);
        Ok(self.table.delete(handle)?)
    }

    pub(super) fn remove_listing(
        &mut self,
        handle: Resource<ListingId>,
    ) -> wasmtime::Result<ListingId> {
        let listing = self.table.delete(handle)?;
        self.live = self.live.saturating_sub(LISTING);
        Ok(listing)
    }
}
