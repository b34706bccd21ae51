//! The end: of a conversation (`/clear`), of an engine that has nothing more to do, of one that is told to stop.

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

/// How long the last lines may take to be written once the engine was told to stop, in milliseconds: less than whoever told
/// it waits before ending it by force.
const LAST_LINES_MS: u64 = 500;

/// An end, as far as it has come.
#[derive(Debug)]
pub(super) struct Farewell {
    of: Of,
    part: Part,
    /// When this part has taken too long.
    due: Option<Millis>,
}

/// What ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// A conversation, because of this prompt.
    Conversation(Uuid),
    /// The engine.
    Engine,
}

/// The parts of an end, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Somebody wants the engine to end: where the conversation stands is noted, for listings.
    Noting,
    /// Which worktrees are to go.
    Listing,
    /// Hooks hear of them.
    TellingWorktrees,
    /// They go.
    Removing,
    /// Hooks hear of the end.
    TellingEnd,
    /// The transcript of the next conversation is opened.
    Reopening,
    /// Servers end.
    ClosingServers,
}

impl Farewell {
    pub(super) fn deadline(&self) -> Option<Millis> {
        self.due
    }
}

impl Engine {
    /// Ends the conversation; another one begins.
    pub(super) fn clear(&mut self, prompt: Uuid) {
        self.step(Step::Clear);
        self.is_blocked = true;
        self.bid_farewell(Of::Conversation(prompt), Part::Listing);
    }

    /// Ends the engine in good order.
    pub(super) fn close(&mut self) {
        if self.farewell.is_some() || self.state.is_over() {
            return;
        }
        self.step(Step::Close);
        self.has_ended |= self.drop_session().is_some();
        self.bid_farewell(Of::Engine, Part::Listing);
    }

    /// Ends the engine in the middle of whatever runs: nothing of it is left behind, and hooks hear of it as of any other end.
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
            // What was said is written; listings also want to know where it ends.
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
                // Whoever wants to go on with the session need not wait for programs to end.
                self.close_log_if_written();
                let open = std::mem::take(&mut self.servers).into_open();
                match open.is_empty() {
                    true => self.next_part(),
                    false => self.effect(Effect::CloseServers(open), Pending::End),
                }
            }
        }
    }

    /// Goes on with what follows in an end.
    fn next_part(&mut self) {
        let Some(Farewell { of, part, .. }) = self.farewell else {
            return;
        };
        let next = match (part, of) {
            (Part::Noting, _) | (Part::Removing, _) => Part::TellingEnd,
            // There is nothing to remove.
            (Part::Listing, _) => Part::TellingEnd,
            (Part::TellingWorktrees, _) => Part::Removing,
            (Part::TellingEnd, Of::Conversation(_)) => Part::Reopening,
            (Part::TellingEnd, Of::Engine) => Part::ClosingServers,
            (Part::Reopening, _) => return,
            (Part::ClosingServers, _) => return self.exit(),
        };
        self.bid_farewell(of, next);
    }

    /// The host has answered.
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

    /// Hooks have been told.
    pub(super) fn farewell_told(&mut self) {
        let part = self.farewell.as_ref().map(|it| it.part);
        if let Some(Part::TellingWorktrees | Part::TellingEnd) = part {
            self.next_part();
        }
    }

    /// Where the conversation stands is noted, or cannot be.
    pub(super) fn turn_end_noted(&mut self) {
        if (self.farewell.as_ref()).is_some_and(|it| it.part == Part::Noting) {
            self.next_part();
        }
    }

    /// A part has taken too long: the next one follows.
    pub(super) fn farewell_tick(&mut self) {
        let due = self.farewell.as_ref().and_then(Farewell::deadline);
        if due.is_some_and(|due| due <= self.now.mono) {
            self.next_part();
        }
    }

    /// Tells hooks that the session ends, if one has begun and they were not told yet.
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

    /// Another conversation begins in the place of the one that has ended.
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

    /// The next conversation can begin.
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
