//! The lines that an SDK and its engine exchange, as values: no process, no pipe, no clock.
//!
//! ```text
//! bytes ─▶ LineReader ─▶ Inbound ─▶ (the host acts) ─▶ Reply, SdkRequest, Frames ─▶ to_line ─▶ bytes
//! ```
//!
//! - [`mod@line`]: cutting what arrives into lines, and writing lines that both SDKs read.
//! - [`inbound`]: what an SDK sends: control requests, answers, cancellations, user messages.
//! - [`request`]: the control requests an SDK makes of the engine, each with its fields.
//! - [`initialize`]: the first of them, and what it changes of a [`Spec`](windlass_core::Spec).
//! - [`reply`]: the answers to them.
//! - [`sdk_request`]: what the engine asks of the SDK: permissions, hooks, in-process MCP servers.
//! - [`frames`]: the messages of a session as an SDK reads them.
//! - [`frame_limit`]: what is done about frames that are longer than an SDK reads.
//! - [`flags`]: the command line with which the SDKs start an engine.
//!
//! Field sets and order are those of the official engine of version [`PROTOCOL_VERSION`].

pub mod flags;
pub mod frame_limit;
pub mod frames;
pub mod inbound;
pub mod initialize;
pub mod line;
pub mod reply;
pub mod request;
pub mod sdk_request;

/// The version of the official engine whose protocol this is: what `--version` and `claude_code_version` say, because
/// SDKs and the tools around them read it as `N.N.N` and tell from it what they may use.
pub const PROTOCOL_VERSION: &str = "2.1.330";
