//! Shutdown: the end of a conversation (`/clear`), of an engine that has nothing left to do, or of an engine that is told to
//! stop.

use windlass_core::{
    Millis, Uuid,
    hook::{Occurrence, input::SessionEnd},
};

use super::{
    Engine, State, Topic,
    io::{Effect, Ending, Outcome, Output},
    log::Then,
    pending::Pending,
    state::Step,
};
use crate::protocol::frames::LocalCommand;

/// How long writing the last lines may take after the engine was told to stop, in milliseconds. It is shorter than the time
/// after which the caller ends the process by force.
const LAST_LINES_MS: u64 = 500;

/// A shutdown in progress.
#[derive(Debug)]
pub(super) struct Farewell {
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
    TellingWorktrees,
    /// The worktrees are removed.
    Removing,
    /// Hooks are told about the end of the session.
    TellingEnd,
    /// The transcript of the next conversation is opened.
    Reopening,
    /// MCP servers are shut down.
    ClosingServers,
}

impl Farewell {
    pub(super) fn deadline(&self) -> Option<Millis> {
        self.due
    }
}

impl Engine {
    /// Ends the conversation and begins another one.
    pub(super) fn clear(&mut self, prompt: Uuid) {
        self.step(Step::Clear);
        self.is_blocked = true;
        self.bid_farewell(Of::Conversation(prompt), Part::Listing);
    }

    /// Shuts the engine down in an orderly way.
    pub(super) fn close(&mut self) {
        if self.farewell.is_some() || self.state.is_over() {
            return;
        }
        self.step(Step::Close);
        self.has_ended |= self.drop_session().is_some();
        self.bid_farewell(Of::Engine, Part::Listing);
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
        self.last_mode = self.session.as_ref().map(|session| session.look().mode());
        self.has_ended |= self.drop_session().is_some();
        self.is_blocked = true;
        self.telling = None;
        match was_idle {
            true => self.bid_farewell(Of::Engine, Part::TellingEnd),
            // Everything said is already written; listings also need the end of the conversation.
            false => self.bid_farewell(Of::Engine, Part::Noting),
        }
    }

    fn bid_farewell(&mut self, of: Of, part: Part) {
        let hurries = self.state == State::Stopping;
        let due = match part {
            Part::Noting | Part::ClosingServers if hurries => {
                Some(self.now.mono.after(LAST_LINES_MS))
            }
            _ => None,
        };
        self.farewell = Some(Farewell { of, part, due });
        match part {
            Part::Noting => self.note_turn_end(None, Then::End),
            Part::Listing if self.prepared.is_none() => self.next_part(),
            Part::Listing => self.effect(Effect::ListWorktrees, Pending::End),
            Part::TellingWorktrees => {} // the host has said which
            Part::Removing => self.effect(Effect::RemoveWorktrees, Pending::End),
            Part::TellingEnd => self.tell_end(),
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
        let Some(Farewell { of, part, .. }) = self.farewell else {
            return;
        };
        let next = match (part, of) {
            (Part::Noting, _) | (Part::Removing, _) => Part::TellingEnd,
            // There are no worktrees to remove.
            (Part::Listing, _) => Part::TellingEnd,
            (Part::TellingWorktrees, _) => Part::Removing,
            (Part::TellingEnd, Of::Conversation(_)) => Part::Reopening,
            (Part::TellingEnd, Of::Engine) => Part::ClosingServers,
            (Part::Reopening, _) => return,
            (Part::ClosingServers, _) => return self.exit(),
        };
        self.bid_farewell(of, next);
    }

    /// Handles the host's answer to an effect of the shutdown.
    pub(super) fn farewell_goes_on(&mut self, outcome: Outcome) {
        let Some(Farewell { of, part, .. }) = self.farewell else {
            return;
        };
        match (part, outcome) {
            (Part::Listing, Outcome::Worktrees(going)) if !going.is_empty() => {
                self.bid_farewell(of, Part::TellingWorktrees);
                self.tell(&going);
            }
            (Part::Listing, Outcome::Worktrees(_))
            | (Part::Removing | Part::ClosingServers, Outcome::Finished) => self.next_part(),
            _ => {}
        }
    }

    /// All hooks have been told.
    pub(super) fn farewell_told(&mut self) {
        let part = self.farewell.as_ref().map(|it| it.part);
        if let Some(Part::TellingWorktrees | Part::TellingEnd) = part {
            self.next_part();
        }
    }

    /// The end of the conversation has been recorded, or could not be.
    pub(super) fn turn_end_noted(&mut self) {
        if (self.farewell.as_ref()).is_some_and(|it| it.part == Part::Noting) {
            self.next_part();
        }
    }

    /// Skips to the next part if the current one has exceeded its deadline.
    pub(super) fn farewell_tick(&mut self) {
        let due = self.farewell.as_ref().and_then(Farewell::deadline);
        if due.is_some_and(|due| due <= self.now.mono) {
            self.next_part();
        }
    }

    /// Tells hooks that the session ends, if a session has begun and they have not been told yet.
    fn tell_end(&mut self) {
        let of = self.farewell.as_ref().map(|it| it.of);
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
        self.tell(&[ended]);
    }

    /// Begins another conversation in place of the one that has ended.
    fn reopen(&mut self) {
        let Some(Farewell {
            of: Of::Conversation(_),
            ..
        }) = self.farewell
        else {
            return;
        };
        self.begin_anew();
        self.keep();
    }

    /// Completes `/clear`: the next conversation can begin.
    pub(super) fn cleared(&mut self) {
        let Some(Farewell {
            of: Of::Conversation(prompt),
            ..
        }) = self.farewell
        else {
            return;
        };
        self.farewell = None;
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
        self.farewell = None;
        self.outbox.push(Output::Exit(ending));
    }
}
