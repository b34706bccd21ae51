//! What makes windlass an engine for the official Agent SDKs.
//!
//! - [`machine`]: the engine itself, without IO: lines, answers and time go in, lines and effects come out.
//! - [`protocol`]: the lines that an SDK and its engine exchange, as a pure codec: no process, no pipe.
//! - [`transcript`]: conversations as lines, in the form that the SDKs' session functions read.
//! - [`store`]: where what lasts is kept: the seam, and memory.
//! - [`settings`]: what settings files say, how they are merged, how permissions are written into them.
//! - [`project`]: what a project brings along: agents, commands, skills, standing instructions.
//! - [`frontmatter`]: the fields at the head of their Markdown files.
//! - [`project_config`]: what settings and project files make of a session's spec, and how far they are trusted.
//! - [`checkpoint`]: which file a session has changed after which message.
//!
//! [`block_uuid()`] is what the first two agree on: the ids of a message's content blocks.
//!
//! It does no IO and knows no system: it reads texts and makes texts, paths are texts ([`path`]), and hosts open files, start
//! programs and know what time it is. `cargo xtask test` builds it for wasm32 and looks for anything else.
#![forbid(unsafe_code)]

mod block_uuid;
pub mod checkpoint;
pub mod frontmatter;
pub mod machine;
pub mod mcp;
pub mod path;
pub mod project;
pub mod project_config;
pub mod project_key;
pub mod protocol;
pub mod settings;
pub mod store;
pub mod transcript;

pub use block_uuid::block_uuid;
pub use path::TextPath;
