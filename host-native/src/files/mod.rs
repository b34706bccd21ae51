//! The only way to a file for a sandboxed tool: directories that were handed to one call.
//!
//! Three parts. [`resolve()`] makes the paths of a call absolute and real before it is judged.
//! [`Files`] turns the grant that the core computed into a [`Reach`]: the trees one call may touch.
//! [`Reach`] answers every question of the component, and enforces the grant on each of them.
//!
//! # How a path is opened
//!
//! A path is walked one component at a time from a directory handle, and no component is ever
//! followed by the kernel: a link is read, and its target is walked in the same way. So the real
//! path of whatever is opened is known by construction, deny patterns are checked against that
//! path, and nothing can be swapped between the check and the use.

mod arriving;
mod carried;
mod entries;
mod error;
mod exact;
mod grant;
mod guest_path;
mod links;
mod other_names;
mod reach;
mod resolve;
mod tree;
mod walk;
mod write;

#[cfg(unix)]
pub(crate) use arriving::{Arrival, arrives, has_links};
pub(crate) use carried::{Below, below};
pub(crate) use grant::slashed;
#[cfg(unix)]
pub(crate) use grant::with_followed;
#[cfg(unix)]
pub(crate) use links::Lost;
pub(crate) use links::followed;
pub(crate) use resolve::normalised;
pub(crate) use write::{digest_of, replace_in};

pub use error::FsError;
pub use grant::{Files, GrantError};
pub use reach::{Entry, EntryKind, Page, Reach, Refusal, Root, Stat, WriteOptions};
pub use resolve::{ResolveError, resolve};

/// Bytes that one read hands out at most; a larger one is refused, not shortened, because a short
/// read means the end of the file.
pub const MAX_READ: u32 = 16 << 20;

/// Entries in one page of a listing.
pub const PAGE_ENTRIES: usize = 1000;

/// Entries of a directory that can be listed at all; larger ones are refused.
pub const MAX_ENTRIES: usize = 200_000;

/// Bytes of a path and of one name in it, as Linux limits them; longer ones cannot exist.
const MAX_PATH: usize = 4096;
const MAX_NAME: usize = 255;

/// Names in one path. Each folder on the way is held open, and a process can hold about a thousand.
const MAX_DEPTH: usize = 256;

/// Links followed while walking one path, as the Linux kernel counts them.
const MAX_LINKS: usize = 40;
