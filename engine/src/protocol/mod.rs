//! The lines that an SDK and its engine exchange, as values: no processes, no pipes, no clock.
//!
//! ```text
//! bytes ─▶ LineReader ─▶ Inbound ─▶ (the host acts) ─▶ Reply, SdkRequest, Frames ─▶ to_line ─▶ bytes
//! ```
//!
//! - [`mod@line`]: splits the input into lines, and writes lines that both SDKs can read.
//! - [`inbound`]: the input of an SDK: control requests, answers, cancellations, user messages.
//! - [`request`]: the control requests of an SDK, each with its fields.
//! - [`initialize`]: the first of them, and how it changes a [`Spec`](windlass_core::Spec).
//! - [`reply`]: the replies to control requests.
//! - [`sdk_request`]: the engine's requests to the SDK: permissions, hooks, in-process MCP servers.
//! - [`frames`]: the messages of a session as an SDK reads them.
//! - [`frame_limit`]: shortens frames that are longer than an SDK can read.
//! - [`flags`]: the command line with which the SDKs start an engine.
//!
//! The fields and their order are those of the official engine in version [`PROTOCOL_VERSION`].

pub mod flags;
pub mod frame_limit;
pub mod frames;
pub mod inbound;
pub mod initialize;
pub mod line;
pub mod reply;
pub mod request;
pub mod sdk_request;

/// The version of the official engine whose protocol is implemented. It is the value of `--version` and
/// `claude_code_version`, because SDKs and related tools parse it as `N.N.N` and derive the available features from it.
pub const PROTOCOL_VERSION: &str = "2.1.330";

/// The capabilities that this engine announces, by the names that the SDKs look for.
pub const CAPABILITIES: [&str; 2] = ["interrupt_receipt_v1", "interrupt_cancel_queued_v1"];
