//! What a program is promised that has the engine in its own process.

use windlass_core::{
    Input, Message, Prompt, SessionId, Uuid,
    message::{ResultSubtype, SystemMessage},
};
use windlass_engine::machine::State;

/// What a program has said, and what has become of it.
#[derive(Debug, Default)]
pub(super) struct Program {
    /// It reads the prompts that begin turns, too.
    pub(super) repeats: bool,
    /// Its prompts, in their order.
    asked: Vec<(Uuid, Asked)>,
    /// Prompts that its turn answers; none between turns.
    turn: Option<Vec<Uuid>>,
}

/// What has become of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Waits,
    /// It was to be taken back, or a turn ended before it took a prompt in: this one, perhaps.
    MayBeDropped,
    TakenIn,
}

impl Program {
    /// It says something to the model.
    pub(super) fn prompts(&mut self, prompt: &Prompt) {
        self.asked
            .extend(prompt.uuid.map(|uuid| (uuid, Asked::Waits)));
    }

    /// It tells its session something else.
    pub(super) fn tells(&mut self, input: &Input) {
        if let Input::Withdraw(uuid) = input {
            self.may_be_dropped(|known| known == *uuid);
        }
    }

    fn may_be_dropped(&mut self, is_it: impl Fn(Uuid) -> bool) {
        let mut waiting = self.asked.iter_mut();
        let found = waiting.find(|(uuid, asked)| *asked == Asked::Waits && is_it(*uuid));
        if let Some((_, asked)) = found {
            *asked = Asked::MayBeDropped;
        }
    }

    /// It hears a message: the prompts that had a result with it, and in which session.
    pub(super) fn heard(&mut self, message: &Message) -> Result<Vec<(String, SessionId)>, String> {
        match message {
            Message::System(SystemMessage::Init(_)) => {
                let before = self.turn.replace(Vec::new());
                before.map_or(Ok(()), |_| Err("a turn begins in another"))?;
            }
            Message::User(user) => self.takes_in(user.uuid)?,
            Message::Result(result) => {
                let turn = self.turn.take().ok_or("a result of no turn")?;
                if turn.is_empty() {
                    self.may_be_dropped(|_| true);
                }
                if result.subtype == ResultSubtype::Success && !result.is_error {
                    let session = result.session_id;
                    let answered = turn.into_iter().map(|uuid| (uuid.to_string(), session));
                    return Ok(answered.collect());
                }
            }
            _ => {}
        }
        Ok(Vec::new())
    }

    fn takes_in(&mut self, message: Uuid) -> Result<(), String> {
        let mut asked = self.asked.iter_mut();
        let Some((uuid, asked)) = asked.find(|(uuid, _)| *uuid == message) else {
            return Ok(()); // the session says it itself
        };
        let turn = self
            .turn
            .as_mut()
            .ok_or("a prompt is taken in by no turn")?;
        turn.push(*uuid);
        match std::mem::replace(asked, Asked::TakenIn) {
            Asked::TakenIn => Err(format!("{uuid} is taken in twice")),
            _ => Ok(()),
        }
    }

    /// Everybody has answered, and nothing waits for the time.
    pub(super) fn is_owed_nothing(&self, state: State) -> Result<(), String> {
        let mut asked = self.asked.iter();
        let waits = asked.find(|(_, asked)| *asked == Asked::Waits);
        match waits.filter(|_| self.repeats) {
            Some((uuid, _)) => Err(format!("{uuid} was not taken in ({state:?})")),
            None if self.turn.is_some() => Err(format!("a turn has no result ({state:?})")),
            None => Ok(()),
        }
    }
}
