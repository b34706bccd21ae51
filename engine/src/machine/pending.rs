//! What the engine waits for, and what follows.

use windlass_core::{EffectId, effect::PermissionResponse};

use super::{
    changes::Reread,
    io::ConnectionId,
    log::{Then, Written},
};
use crate::protocol::initialize::Initialize;

/// What an effect of the engine is for.
#[derive(Debug)]
pub(super) enum Pending {
    /// The session that is to go on.
    Load,
    /// The transcript of the session.
    Lease,
    /// The checkpoints of the session.
    OpenCheckpoints,
    /// What sessions are made of, for the first time.
    Prepare(Box<Initialize>, Prepare),
    /// The same again.
    Reconfigure(Box<Initialize>, Reread),
    /// Lines or a document.
    Write(Written, Then),
    /// A prompt becomes a place to go back to.
    BeginCheckpoint,
    /// There is a file for what a command puts out; the call that started it.
    OutputFile(String),
    /// What a call is about to change is kept.
    BeforeCall(EffectId),
    /// Files go back; the request that wants it, and whether only to say what would change.
    Rewind(String, bool),
    /// What the answer to a question changes is written.
    Permissions(EffectId, Box<PermissionResponse>),
    /// Settings are written; the request, and whether they are read again then.
    Settings(String, bool),
    /// A look at files for a request.
    Look(String, Looking),
    /// An MCP server is connected.
    Connect(ConnectionId),
    /// An MCP server is asked past the model, for a request.
    Ask(String),
    /// The end, or that of a conversation, goes on.
    End,
}

/// Who wants to know that the engine is prepared.
#[derive(Debug)]
pub(super) enum Prepare {
    /// `initialize`, a request of this id; whether it is the first.
    Request(String, bool),
    /// A prompt that came without it.
    Prompt,
}

/// What a look at files is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Looking {
    /// It is the reply.
    Reply,
    /// A folder becomes part of the workspace, by the name that the request gives it.
    RepoRoot(String),
    /// The model has seen a file.
    Read,
}
