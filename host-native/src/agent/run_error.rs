//! The errors of a run: why it ended without a result, and why it cannot be controlled.

use windlass_core::HostError;

/// Why a run ended without a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The run was aborted through its [`AbortHandle`](super::AbortHandle).
    #[error("the run was aborted")]
    Aborted,
    /// The run was started outside of a tokio runtime.
    #[error("no tokio runtime is running here: call this from async code under tokio")]
    NoRuntime,
    /// The tokio runtime was shut down during the run.
    #[error("the tokio runtime was shut down before the run had ended")]
    RuntimeShutDown,
    /// The stream of user messages ended without a message.
    #[error("the stream of user messages ended without a message, so there was nothing to answer")]
    NoPrompt,
    /// The session to resume cannot be read, or another writer holds it.
    #[error("the session cannot go on: {reason}")]
    NotResumed {
        /// The error of the store.
        reason: String,
    },
    /// An MCP server of the session did not start, or did not respond properly.
    #[error("the MCP server `{server}` is not there: {reason}")]
    McpServer {
        /// The server.
        server: String,
        /// What went wrong.
        reason: String,
    },
    /// Code that the run was given (a provider, a transport, a callback, a stream of messages) panicked.
    #[error("code that the run was given panicked: {text}")]
    Panicked {
        /// The panic message.
        text: String,
    },
    /// The host broke the contract with the core; a fault of windlass or of a custom transport or tool.
    #[error("the host broke the contract with the core: {0}")]
    Host(HostError),
}

/// Why a run cannot be controlled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The run answers a single prompt.
    #[error(
        "this run answers a single prompt: start it with a stream of messages (`UserInput::stream`), or use a `Session`"
    )]
    SinglePrompt,
    /// The run has ended.
    #[error("the run has ended")]
    Ended,
    /// Bypassing permissions was not allowed when the agent was built.
    #[error(transparent)]
    BypassNotAllowed(BypassNotAllowed),
}

/// The agent was built without permission to use mode `bypassPermissions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "permission mode bypassPermissions is not open to this session: build the agent with `allow_dangerously_skip_permissions(true)`, and not as root"
)]
pub struct BypassNotAllowed;
