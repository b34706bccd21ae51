//! The windlass engine: the part of windlass that the official Agent SDKs talk to.
//!
//! - [`machine`]: the engine itself, without IO. Input is lines, answers and time; output is lines and effects.
//! - [`protocol`]: the lines that an SDK and its engine exchange, as a pure codec without processes or pipes.
//! - [`transcript`]: conversations as lines, in the format that the SDKs' session functions read.
//! - [`store`]: the storage interface for persistent data, and an in-memory implementation.
//! - [`settings`]: parsing and merging settings files, and writing permissions into them.
//! - [`models`]: the models that are known by name, and the variables that choose among them.
//! - [`project`]: files of a project: agents, commands, skills, standing instructions.
//! - [`frontmatter`]: the fields at the head of their Markdown files.
//! - [`project_config`]: combines settings and project files into a session's spec, according to how far they are trusted.
//! - [`checkpoint`]: which file a session has changed after which message.
//!
//! [`block_uuid()`] derives the ids of a message's content blocks, which the first two modules share.
//!
//! The crate does no IO and is independent of the operating system: its input and output are texts, and paths are texts as
//! well ([`path`]). Hosts open files, start programs and provide the time. `cargo xtask test` builds the crate for wasm32 and
//! checks that it uses nothing else.
#![forbid(unsafe_code)]

mod block_uuid;
pub mod checkpoint;
pub mod frontmatter;
pub mod machine;
pub mod mcp;
pub mod models;
pub mod path;
pub mod plugin;
pub mod project;
pub mod project_config;
pub mod project_key;
pub mod protocol;
pub mod settings;
pub mod store;
pub mod transcript;

pub use block_uuid::block_uuid;
pub use path::TextPath;
