//! Pending effects of the engine, and what follows from their outcomes.

use serde_json::Value;
use windlass_core::{EffectId, Uuid, effect::PermissionResponse};

use super::{
    Engine,
    flag_settings::FlagSettings,
    io::{ConnectionId, EffectNumber, LineGroup, Outcome, Output},
    variant,
};
use crate::protocol::initialize::Initialize;

/// The purpose of a pending effect.
#[derive(Debug)]
pub(super) enum Pending {
    /// Load the session to be resumed.
    Load,
    /// Acquire the lease for the session's transcript.
    Lease,
    /// Open the session's checkpoints.
    OpenCheckpoints,
    /// Read the configuration for the first time.
    Prepare(Box<Initialize>, PreparedFor),
    /// Read the configuration again.
    Reconfigure(Box<Initialize>, Reread),
    /// Write lines or a document.
    Write(Written, Then),
    /// Create a checkpoint for a prompt.
    BeginCheckpoint,
    /// Create the output file of a background command; holds the id of the call that started it.
    OutputFile(String),
    /// Keep the files that this call is about to change.
    BeforeCall(EffectId),
    /// Rewind files for the request of this id; the flag is set for a dry run.
    Rewind(String, bool),
    /// Write the permission updates of an answer.
    Permissions(EffectId, Box<PermissionResponse>),
    /// Write settings for the request of this id; the flag says whether they are read again afterwards.
    Settings(String, bool),
    /// Look at files for the request of this id.
    Look(String, Looking),
    /// Connect to an MCP server.
    Connect(ConnectionId),
    /// Send a request to an MCP server for the control request of this id.
    Ask(String),
    /// Ask the server of this name about its resources, for this call of the model.
    Resources(EffectId, String),
    /// Ask a server for the part of this number that a prompt of the queue takes from it.
    Prompt(Uuid, usize),
    /// Hand an answer to the server that asked for it.
    Elicited,
    /// An effect of the shutdown.
    End,
}

/// Why the configuration is prepared: what gets its answer when it is ready.
#[derive(Debug)]
pub(super) enum PreparedFor {
    /// The `initialize` request of this id; the flag is set for the first one.
    Request(String, bool),
    /// A prompt that arrived without `initialize`.
    Prompt,
}

/// The purpose of a look at files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Looking {
    /// The result is the reply.
    Reply,
    /// The folder is added to the workspace; holds the name that the request gives it.
    RepoRoot(String),
    /// The file is recorded as read by the model.
    Read,
}

/// What to do after settings and project files have been read again. Each variant holds the id of the request.
#[derive(Debug)]
pub(super) enum Reread {
    /// Apply settings that came as if on the command line.
    FlagSettings(String, Box<FlagSettings>),
    /// Confirm that the written settings are in force.
    Written(String),
    /// Reply with the skills; the second field is the list before the change.
    Skills(String, Vec<Value>),
    /// Reply with the output styles.
    OutputStyles(String),
    /// Reply with the commands, agents and MCP servers.
    Plugins(String),
}

impl Reread {
    /// The id of the request.
    pub(super) fn request(&self) -> &str {
        match self {
            Self::FlagSettings(id, _)
            | Self::Written(id)
            | Self::Skills(id, _)
            | Self::OutputStyles(id)
            | Self::Plugins(id) => id,
        }
    }
}

/// A step that is being written.
#[derive(Debug)]
pub(super) enum Written {
    Lines(Vec<LineGroup>),
    Document(Vec<u8>),
}

/// What to do when a step has been written or has failed.
#[derive(Debug)]
pub(super) enum Then {
    /// Nothing: at worst a listing is incomplete.
    Nothing,
    /// Tell the session that its entries are stored.
    Persisted(EffectId),
    /// Send the held message.
    Message,
    /// Reply to the request of this id that the title is stored.
    Reply(String),
    /// Warn the user if the title is not stored.
    Warn,
    /// Run the call whose files were kept.
    Call(EffectId),
    /// Run the hook that is told the transcript's place.
    Hook(EffectId),
    /// Ask the person: the state of the session is stored.
    Ask(Vec<EffectId>),
    /// Continue the shutdown.
    End,
}

impl Engine {
    /// Dispatches the outcome of an effect by its purpose.
    pub(super) fn done(&mut self, number: EffectNumber, outcome: Outcome) {
        let Some(pending) = self.pending.remove(&number) else {
            return; // nobody waits for it any more
        };
        // During shutdown only writes and effects of the shutdown itself have consequences.
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
            (Pending::Connect(connection), Outcome::NeedsAuth(reason)) => {
                self.needs_auth(connection, reason);
            }
            (Pending::Ask(id), Outcome::Asked(answer)) => self.asked(&id, answer),
            (Pending::Resources(id, server), Outcome::Asked(answer)) => {
                self.resources_answered(id, &server, answer);
            }
            (Pending::Prompt(prompt, number), Outcome::Asked(answer)) => {
                self.prompt_part_given(prompt, number, answer);
            }
            // A server that is gone needs no answer.
            (Pending::Elicited, Outcome::Asked(_)) => {}
            (Pending::End, outcome) => self.shutdown_effect_done(outcome),
            // An outcome of the wrong kind counts as no answer.
            (pending, _) => self.pending_lost(pending),
        }
    }

    /// Recovers from a violation of the host's contract, so that nothing waits for ever.
    fn pending_lost(&mut self, pending: Pending) {
        self.warn(&format!(
            "the host answered an effect with something else: {}",
            variant(&pending)
        ));
        self.unblock();
    }

    /// Releases a lease that arrived after it was needed.
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
