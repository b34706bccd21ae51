//! File checkpoints: files are kept before they are changed, and restored when the SDK asks for it.

use serde_json::{Value, json};
use windlass_core::{EffectId, UnixMillis, Uuid, effect::Answer, tool::ToolCall};

use super::{
    Engine,
    io::{Checkpoint, Checkpointed, Effect},
    pending::{Pending, Then},
    running::Parked,
};
use crate::protocol::reply::{Reply, ReplyError};

/// The files that a call is about to change: the values of these fields of its input.
pub(super) fn before(call: &ToolCall, fields: &[String], at: UnixMillis) -> Checkpoint {
    let input: Value = call.input.decode().unwrap_or_default();
    let named = fields.iter().filter_map(|field| input[field].as_str());
    Checkpoint::Before {
        cwd: call.grant.cwd.clone(),
        paths: named.map(ToOwned::to_owned).collect(),
        at,
    }
}

impl Engine {
    /// Creates a checkpoint for a prompt that is being taken up. The held message is sent once the checkpoint exists.
    pub(super) fn begin_checkpoint(&mut self, prompt: Uuid) {
        let at = self.now.wall;
        let begin = Checkpoint::Begin { prompt, at };
        self.effect(Effect::Checkpoint(begin), Pending::BeginCheckpoint);
    }

    pub(super) fn checkpoint_begun(&mut self, kept: Result<Checkpointed, String>) {
        match kept {
            Ok(Checkpointed::Line(Some(line))) if self.log.is_some() => {
                self.append_line(line, Then::Message);
            }
            Ok(_) => self.emit_held(),
            Err(reason) => {
                let word = format!("files cannot be taken back to this prompt: {reason}");
                self.outbox
                    .say(|frames| vec![frames.informational("warning", &word)]);
                self.emit_held();
            }
        }
    }

    /// Handles the result of keeping the files that a call is about to change.
    pub(super) fn files_kept(&mut self, id: EffectId, kept: Result<Checkpointed, String>) {
        match kept {
            Ok(Checkpointed::Line(Some(line))) if self.log.is_some() => {
                self.append_line(line, Then::Call(id));
            }
            kept => self.checkpoint_kept(id, kept.map(drop)),
        }
    }

    /// Runs the parked call. If its files could not be kept, the call is refused, because its changes could not be undone.
    pub(super) fn checkpoint_kept(&mut self, id: EffectId, kept: Result<(), String>) {
        let Some(Parked::Checkpoint(call, is_cancelled)) = self.unpark(id) else {
            return; // it was dropped meanwhile
        };
        match kept {
            Err(reason) => self.refuse_call(id, format!("Nothing was changed, because {reason}.")),
            Ok(()) if is_cancelled => self.answer_session(id, Answer::Cancelled),
            Ok(()) => self.run_tool(id, *call),
        }
    }

    /// Rewinds files to their state when a prompt arrived; with `dry_run`, only reports what would change.
    pub(super) fn rewind(&mut self, id: String, message: String, dry_run: bool) {
        if !self.keeps_files {
            let reply = refused("File rewinding is not enabled.", dry_run);
            return self.reply(&id, &reply);
        }
        let rewind = Checkpoint::Rewind { message, dry_run };
        self.blocking_effect(Effect::Checkpoint(rewind), Pending::Rewind(id, dry_run));
    }

    pub(super) fn rewound(
        &mut self,
        id: &str,
        dry_run: bool,
        rewound: Result<Checkpointed, String>,
    ) {
        let reply = match rewound {
            Ok(Checkpointed::Rewound(told)) => Reply::with(told),
            Ok(Checkpointed::Line(_)) => refused("nothing was taken back", dry_run),
            Err(reason) => refused(&reason, dry_run),
        };
        self.reply(id, &reply);
        self.unblock();
    }
}

/// A dry run is a query, so its reply is a success that says no; a rewind that did not happen is an error.
fn refused(reason: &str, dry_run: bool) -> Reply {
    match dry_run {
        true => Reply::with(json!({"canRewind": false, "error": reason})),
        false => ReplyError::new(reason).into(),
    }
}
