//! What makes windlass an engine for the official Agent SDKs.
//!
//! - [`protocol`]: the lines that an SDK and its engine exchange, as a pure codec: no process, no pipe.
//! - [`transcript`]: conversations as lines, in the form that the SDKs' session functions read.
//! - [`store`]: where what lasts is kept: the seam, and memory.
//! - [`settings`]: settings files, where they are, how they are merged, how permissions are written to them.
//! - [`project`]: what a project brings along: agents, commands, skills, standing instructions.
//!
//! [`block_uuid()`] is what the first two agree on: the ids of a message's content blocks.
//!
//! Nothing here starts a process or opens a socket; `checkpoint`, `settings` and `project` read and write files.
#![forbid(unsafe_code)]

mod atomic;
mod block_uuid;
pub mod checkpoint;
pub mod config_dir;
mod line_file;
pub mod path;
pub mod project;
pub mod protocol;
pub mod settings;
pub mod store;
pub mod transcript;

pub use atomic::{Readers, replace};
pub use block_uuid::block_uuid;
pub use line_file::{LineFile, read_text};
pub use path::TextPath;
