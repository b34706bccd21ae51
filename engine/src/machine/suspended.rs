//! Turns that outlive the engine: while a person is asked, or anything else is waited for, the state of the session is stored beside
//! its transcript, and another engine goes on from it in the middle of the turn.

use std::sync::Arc;

use windlass_core::{EffectId, Input as SessionInput, Session, Spec, effect::Effect};

use super::{Engine, opening::ResumedSession, pending::Then, running::Parked};

impl Engine {
    /// Stores the state of the session if it has changed and something is waited for that is to outlive the engine. Questions are asked when that is done, so that an
    /// answer always finds what it belongs to, and results are shown: what was shown is not done once more.
    pub(super) fn keep_questions(&mut self) {
        let Some(session) = self
            .session
            .as_mut()
            .filter(|_| self.launch.keeps_questions || self.launch.keeps_turns)
        else {
            return;
        };
        if let Some(snapshot) = session.changed_while_waiting(self.launch.keeps_turns) {
            let asked = session.parked_questions();
            self.outbox.state_write_begun();
            self.store_snapshot(snapshot, Then::Ask(asked));
        }
    }

    /// The state is stored, or cannot be: the person is asked in either case.
    pub(super) fn ask_kept(&mut self, questions: Vec<EffectId>) {
        self.outbox.write_ended();
        for id in questions {
            // It may have been cancelled, or asked after an earlier write.
            if let Some(Parked::Question(request)) = self.unpark(id) {
                self.perform(id, Effect::AskPermission(*request));
            }
        }
    }

    /// The program asks to go on with the turn in which its session was stored.
    pub(super) fn go_on_with_turn(&mut self, resumed: SessionInput) {
        if self.session.is_none() {
            self.before.insert(0, resumed);
            self.begin_session();
        }
    }
}

/// The session as it was stored.
///
/// # Errors
/// What there is to go on with, for the program: nothing, or something that cannot be read.
pub(super) fn restored(
    spec: Arc<Spec>,
    resumed: Option<&ResumedSession>,
) -> Result<Session, String> {
    let snapshot = resumed
        .filter(|resumed| !resumed.is_fork)
        .and_then(|resumed| resumed.saved.snapshot());
    let snapshot = snapshot.ok_or(
        "no turn of this session is unfinished that could go on: what was said is in its transcript, and a prompt goes on from there",
    )?;
    Session::restore(spec, snapshot).map_err(|error| {
        format!("the session cannot go on in the middle of its turn: {error}; a prompt goes on from its transcript")
    })
}
