//! File access for sandboxed tools: only through directories granted to one call.
//!
//! There are three parts. [`resolve()`] makes the paths of a call absolute and real before permissions are checked.
//! [`Files`] turns the grant computed by the core into a [`Reach`]: the directory trees that one call may access.
//! [`Reach`] performs every file operation of the component and enforces the grant on each of them.
//!
//! # How a path is opened
//!
//! A path is walked one component at a time from a directory handle, and the kernel never follows a link: links are
//! read, and their targets are walked in the same way. So the real path of the opened file is known by construction,
//! deny patterns are checked against that path, and nothing can be exchanged between check and use.

mod arriving;
mod carried;
mod entries;
mod error;
mod exact;
mod grant;
mod grant_cache;
mod guest_path;
mod handled;
mod links;
mod metadata;
mod operations;
mod other_names;
mod path_text;
mod reach;
mod resolve;
mod scope;
mod tree;
mod walk;
mod write;

#[cfg(unix)]
pub(crate) use arriving::{Arrival, arrives, has_links};
pub(crate) use carried::{Below, below};
#[cfg(unix)]
pub(crate) use grant::with_followed;
#[cfg(unix)]
pub(crate) use links::Lost;
pub(crate) use links::followed;
pub(crate) use path_text::slashed;
pub(crate) use resolve::{normalised, real_path};
pub(crate) use write::{digest_of, replace_in};

pub use error::FsError;
pub use grant::GrantError;
pub use grant_cache::Files;
pub use metadata::{Entry, EntryKind, Page, Stat};
pub use reach::{Reach, Root};
pub use resolve::{ResolveError, resolve};
pub use scope::Refusal;
pub use write::WriteOptions;

/// The maximum number of bytes of one read. A larger read is refused, not shortened, because a short read means the
/// end of the file.
pub const MAX_READ: u32 = 16 << 20;

/// The number of entries in one page of a listing.
pub const PAGE_ENTRIES: usize = 1000;

/// The maximum number of entries of a directory that can be listed; larger ones are refused.
pub const MAX_ENTRIES: usize = 200_000;

/// The maximum length in bytes of a path and of a component, as in Linux; longer ones cannot exist.
pub(crate) const MAX_PATH: usize = 4096;
const MAX_NAME: usize = 255;

/// The maximum number of components in a path. Each folder on the path is held open, and a process can have about a
/// thousand open files.
const MAX_DEPTH: usize = 256;

/// The maximum number of links followed in one path, as in the Linux kernel.
const MAX_LINKS: usize = 40;
