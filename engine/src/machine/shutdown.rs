//! Shutdown: the end of a conversation (`/clear`), of an engine that has nothing left to do, or of an engine that is told to
//! stop.

use windlass_core::{
    Millis, Uuid,
    hook::{Occurrence, input::SessionEnd},
};

use super::{
    Engine, State, Topic,
    io::{Effect, Ending, Outcome, Output},
    pending::{Pending, Then},
    state::Step,
};
use crate::protocol::frames::LocalCommand;

/// How long writing the last lines may take after the engine was told to stop, in milliseconds. It is shorter than the time
/// after which the caller ends the process by force.
const LAST_LINES_MS: u64 = 500;

/// A shutdown in progress.
#[derive(Debug)]
pub(super) struct Shutdown {
    of: Of,
    part: Part,
    /// The deadline of this part, if it has one.
    due: Option<Millis>,
}

/// What ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The conversation, ended by this prompt.
    Conversation(Uuid),
    /// The engine.
    Engine,
}

/// The parts of a shutdown, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A running engine was told to stop: the end of the conversation is recorded for listings.
    Noting,
    /// The host lists the worktrees to be removed.
    Listing,
    /// Hooks are told about these worktrees.
    WorktreeHooks,
    /// The worktrees are removed.
    Removing,
    /// Hooks are told about the end of the session.
    EndHooks,
    /// The transcript of the next conversation is opened.
    Reopening,
    /// MCP servers are shut down.
    ClosingServers,
}

impl Shutdown {
    pub(super) fn deadline(&self) -> Option<Millis> {
        self.due
    }
}

impl Engine {
    /// Ends the conversation and begins another one.
    pub(super) fn clear(&mut self, prompt: Uuid) {
        self.step(Step::Clear);
        self.is_blocked = true;
        self.begin_shutdown_part(Of::Conversation(prompt), Part::Listing);
    }

    /// Shuts the engine down in an orderly way.
    pub(super) fn close(&mut self) {
        if self.shutdown.is_some() || self.state.is_over() {
            return;
        }
        self.step(Step::Close);
        self.has_ended |= self.drop_session().is_some();
        self.begin_shutdown_part(Of::Engine, Part::Listing);
    }

    /// Stops the engine, aborting whatever runs. Everything that was started is ended, and hooks are told as at any other
    /// end.
    pub(super) fn stop(&mut self) {
        if matches!(self.state, State::Stopping | State::Ended) {
            return;
        }
        let was_refused = self.state == State::Refused;
        self.step(Step::Stop);
        if was_refused {
            return self.outbox.push(Output::Exit(Ending::Stopped));
        }
        let was_idle = self.is_session_idle();
        self.last_mode = self
            .session
            .as_ref()
            .map(|session| session.core_session().mode());
        self.has_ended |= self.drop_session().is_some();
        self.is_blocked = true;
        self.end_hooks = None;
        match was_idle {
            true => self.begin_shutdown_part(Of::Engine, Part::EndHooks),
            // Everything said is already written; listings also need the end of the conversation.
            false => self.begin_shutdown_part(Of::Engine, Part::Noting),
        }
    }

    fn begin_shutdown_part(&mut self, of: Of, part: Part) {
        let hurries = self.state == State::Stopping;
        let due = match part {
            Part::Noting | Part::ClosingServers if hurries => {
                Some(self.now.mono.after(LAST_LINES_MS))
            }
            _ => None,
        };
        self.shutdown = Some(Shutdown { of, part, due });
        match part {
            Part::Noting => self.note_turn_end(None, Then::End),
            Part::Listing if self.prepared.is_none() => self.next_part(),
            Part::Listing => self.effect(Effect::ListWorktrees, Pending::End),
            Part::WorktreeHooks => {} // the host has said which
            Part::Removing => self.effect(Effect::RemoveWorktrees, Pending::End),
            Part::EndHooks => self.run_session_end_hooks(),
            Part::Reopening => self.reopen(),
            Part::ClosingServers => {
                // Release the transcript now: another process that resumes the session need not wait for programs to end.
                self.close_log_if_written();
                let open = std::mem::take(&mut self.servers).into_open();
                match open.is_empty() {
                    true => self.next_part(),
                    false => self.effect(Effect::CloseServers(open), Pending::End),
                }
            }
        }
    }

    /// Starts the next part of the shutdown.
    fn next_part(&mut self) {
        let Some(Shutdown { of, part, .. }) = self.shutdown else {
            return;
        };
        let next = match (part, of) {
            (Part::Noting, _) | (Part::Removing, _) => Part::EndHooks,
            // There are no worktrees to remove.
            (Part::Listing, _) => Part::EndHooks,
            (Part::WorktreeHooks, _) => Part::Removing,
            (Part::EndHooks, Of::Conversation(_)) => Part::Reopening,
            (Part::EndHooks, Of::Engine) => Part::ClosingServers,
            (Part::Reopening, _) => return,
            (Part::ClosingServers, _) => return self.exit(),
        };
        self.begin_shutdown_part(of, next);
    }

    /// Handles the host's answer to an effect of the shutdown.
    pub(super) fn shutdown_effect_done(&mut self, outcome: Outcome) {
        let Some(Shutdown { of, part, .. }) = self.shutdown else {
            return;
        };
        match (part, outcome) {
            (Part::Listing, Outcome::Worktrees(going)) if !going.is_empty() => {
                self.begin_shutdown_part(of, Part::WorktreeHooks);
                self.run_end_hooks(&going);
            }
            (Part::Listing, Outcome::Worktrees(_))
            | (Part::Removing | Part::ClosingServers, Outcome::Finished) => self.next_part(),
            _ => {}
        }
    }

    /// All hooks have been told.
    pub(super) fn shutdown_hooks_done(&mut self) {
        let part = self.shutdown.as_ref().map(|it| it.part);
        if let Some(Part::WorktreeHooks | Part::EndHooks) = part {
            self.next_part();
        }
    }

    /// The end of the conversation has been recorded, or could not be.
    pub(super) fn turn_end_noted(&mut self) {
        if (self.shutdown.as_ref()).is_some_and(|it| it.part == Part::Noting) {
            self.next_part();
        }
    }

    /// Skips to the next part if the current one has exceeded its deadline.
    pub(super) fn shutdown_tick(&mut self) {
        let due = self.shutdown.as_ref().and_then(Shutdown::deadline);
        if due.is_some_and(|due| due <= self.now.mono) {
            self.next_part();
        }
    }

    /// Tells hooks that the session ends, if a session has begun and they have not been told yet.
    fn run_session_end_hooks(&mut self) {
        let of = self.shutdown.as_ref().map(|it| it.of);
        let has_begun = self.session.is_some() || self.has_ended;
        let reason = match of {
            Some(Of::Conversation(_)) => "clear",
            _ if std::mem::replace(&mut self.has_told_the_end, true) => return self.next_part(),
            _ => "other",
        };
        if !has_begun {
            return self.next_part();
        }
        let ended = Occurrence::SessionEnd(SessionEnd {
            reason: reason.to_owned(),
        });
        self.run_end_hooks(&[ended]);
    }

    /// Begins another conversation in place of the one that has ended.
    fn reopen(&mut self) {
        let Some(Shutdown {
            of: Of::Conversation(_),
            ..
        }) = self.shutdown
        else {
            return;
        };
        self.begin_anew();
        self.keep();
    }

    /// Completes `/clear`: the next conversation can begin.
    pub(super) fn cleared(&mut self) {
        let Some(Shutdown {
            of: Of::Conversation(prompt),
            ..
        }) = self.shutdown
        else {
            return;
        };
        self.shutdown = None;
        self.step(Step::Cleared);
        self.unblock();
        let new = self.session_id;
        self.outbox.say(|frames| frames.reset(new, prompt));
        self.answer_command(LocalCommand::Clear, prompt, "");
    }

    fn exit(&mut self) {
        self.close_log();
        let failed = self.outbox.frames.has_failed();
        let ending = match self.state {
            State::Stopping => Ending::Stopped,
            _ => Ending::Done { failed },
        };
        if let Ending::Done { failed } = ending {
            self.note(Topic::Engine, || format!("ends, failed: {failed}"));
        }
        self.step(Step::End);
        self.shutdown = None;
        self.outbox.push(Output::Exit(ending));
    }
}
