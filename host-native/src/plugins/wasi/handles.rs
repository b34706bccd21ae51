//! What the handles of a call stand for, and how many there may be.

use std::collections::VecDeque;

use wasmtime::component::{Resource, ResourceTable};

use super::printed::Printed;
use crate::{
    files::{Entry, FsError},
    plugins::outcome::Stopped,
};

/// How many handles a call holds at most at one time; each uses memory of the host.
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

/// Which open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(unreachable_pub)]
pub struct FileId(pub(super) u32);

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

/// A place in a granted directory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(unreachable_pub)]
pub struct Place {
    /// The index of the directory tree in the call's reach.
    pub(super) tree: usize,
    /// Relative to the tree; empty for the tree itself.
    pub(super) path: String,
}

/// An open file or directory.
#[derive(Debug, Clone)]
#[allow(unreachable_pub)]
pub enum Descriptor {
    /// A directory.
    Directory(Place),
    /// A file.
    File {
        /// Which.
        id: FileId,
        /// Whether it was opened for writing.
        writes: bool,
    },
}

/// The entries of a directory that are still to be told.
#[derive(Debug)]
#[allow(unreachable_pub)]
pub struct Listing {
    pub(super) place: Place,
    pub(super) entries: VecDeque<Entry>,
    /// Where the next page begins; none after the last one.
    pub(super) next: Option<u32>,
}

/// Nothing is a terminal.
#[derive(Debug)]
#[allow(unreachable_pub)]
pub enum NoTerminal {}

/// The handles of a call.
#[derive(Debug, Default)]
pub(super) struct Handles {
    table: ResourceTable,
    live: usize,
}

impl Handles {
    pub(super) fn add<T: Send + 'static>(&mut self, value: T) -> wasmtime::Result<Resource<T>> {
        self.add_as(1, value)
    }

    /// A listing, which counts as many handles.
    pub(super) fn add_listing(&mut self, listing: Listing) -> wasmtime::Result<Resource<Listing>> {
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

    pub(super) fn remove_listing(&mut self, handle: Resource<Listing>) -> wasmtime::Result<()> {
        self.table.delete(handle)?;
        self.live = self.live.saturating_sub(LISTING);
        Ok(())
    }
}
