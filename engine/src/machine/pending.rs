//! What the engine waits for, and what follows.

use windlass_core::{EffectId, effect::PermissionResponse};

use super::{
    Engine,
    changes::Reread,
    io::{ConnectionId, EffectNumber, Outcome, Output},
    log::{Then, Written},
    variant,
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

impl Engine {
    /// What came of an effect of the engine goes to who waits for it.
    pub(super) fn done(&mut self, number: EffectNumber, outcome: Outcome) {
        let Some(pending) = self.pending.remove(&number) else {
            return; // nobody waits for it any more
        };
        // What an end needs is written and told; nothing else follows from anything any more.
        if self.state.is_over() && !matches!(pending, Pending::Write(..) | Pending::End) {
            return self.give_back(outcome);
        }
        match (pending, outcome) {
            (Pending::Load, Outcome::Loaded(loaded)) => self.loaded(loaded),
            (Pending::Lease, Outcome::Leased(lease)) => self.leased(lease),
            (Pending::OpenCheckpoints, Outcome::Checkpointed(opened)) => {
                self.checkpoints_opened(opened.map(drop));
            }
            (Pending::Prepare(initialize, who), Outcome::Configured(config)) => {
                self.configured(*initialize, who, config.map(|config| *config));
            }
            (Pending::Reconfigure(initialize, reread), Outcome::Configured(config)) => {
                self.reconfigured(*initialize, reread, config.map(|config| *config));
            }
            (Pending::Write(written, then), outcome) => self.written(written, then, outcome),
            (Pending::BeginCheckpoint, Outcome::Checkpointed(kept)) => self.checkpoint_begun(kept),
            (Pending::OutputFile(call), Outcome::OutputFile(file)) => {
                self.output_begun(call, file);
                self.emit_held();
            }
            (Pending::BeforeCall(id), Outcome::Checkpointed(kept)) => self.files_kept(id, kept),
            (Pending::Rewind(id, dry_run), Outcome::Checkpointed(rewound)) => {
                self.rewound(&id, dry_run, rewound);
            }
            (Pending::Permissions(id, response), Outcome::Written(written)) => {
                self.permissions_written(id, *response, written);
            }
            (Pending::Settings(id, rereads), Outcome::Written(written)) => {
                self.settings_written(id, rereads, written);
            }
            (Pending::Look(id, looking), Outcome::Looked(seen)) => self.looked(&id, looking, seen),
            (Pending::Connect(connection), Outcome::Connected(offer)) => {
                self.connected(connection, offer);
            }
            (Pending::Ask(id), Outcome::Asked(answer)) => self.asked(&id, answer),
            (Pending::End, outcome) => self.farewell_goes_on(outcome),
            // A host that answers with something else has answered nothing.
            (pending, _) => self.pending_lost(pending),
        }
    }

    /// A host has broken its contract: whoever waits must not wait for ever.
    fn pending_lost(&mut self, pending: Pending) {
        self.warn(&format!(
            "the host answered an effect with something else: {}",
            variant(&pending)
        ));
        self.unblock();
    }

    /// The right to write to a session that nobody uses any more.
    fn give_back(&mut self, outcome: Outcome) {
        let lease = match outcome {
            Outcome::Leased(Ok(lease)) => Some(lease),
            Outcome::Loaded(Ok(Some(loaded))) => loaded.lease,
            _ => None,
        };
        let release = lease.map(Output::Release);
        release.into_iter().for_each(|it| self.outbox.push(it));
    }
}
