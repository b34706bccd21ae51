//! Which hooks are under way in a thread, and what they have to say to its model.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    effect::{EffectId, Stage},
    hook::{FailurePolicy, HookAnswer, HookEvent, HookKind, Merged, Occurrence, Voice, merge},
    json::RawJson,
};

/// The hooks of a thread.
#[derive(Debug)]
pub(in crate::session) struct Hooks {
    /// Those under way.
    rounds: Vec<HookRound>,
    /// What hooks add for the model with the next user message.
    context: Vec<RawJson>,
    /// Occurrences that may come several times in a turn, so far.
    occurred: u32,
    /// No prompt has come yet: hooks are still to be told of the start.
    is_new: bool,
}

/// The hooks of one occurrence, in the order of their registration.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct HookRound {
    pub(in crate::session) occurrence: Occurrence,
    /// Of their effects.
    pub(super) turn: u32,
    /// The call's number from 1; 0 for what belongs to no call.
    pub(in crate::session) call: u32,
    pub(super) attempt: u32,
    pub(super) asked: Vec<AskedHook>,
}

/// A hook that was asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct AskedHook {
    pub(super) hook: String,
    pub(super) kind: HookKind,
    pub(super) on_failure: FailurePolicy,
    pub(super) timeout_ms: u64,
    /// None while it runs.
    pub(super) answer: Option<HookAnswer>,
}

impl Hooks {
    pub(in crate::session) fn new() -> Self {
        Self::restored(Vec::new(), Vec::new(), 0, true)
    }

    /// Whether none is under way.
    pub(in crate::session) fn are_quiet(&self) -> bool {
        self.rounds.is_empty()
    }

    /// Whether any looks at one of these events at this moment.
    pub(in crate::session) fn look_at(&self, events: &[HookEvent]) -> bool {
        let mut rounds = self.rounds.iter();
        rounds.any(|round| events.contains(&round.event()))
    }

    /// Whether they are still to be told that the session starts; from now on they are.
    pub(super) fn take_start(&mut self) -> bool {
        core::mem::take(&mut self.is_new)
    }

    /// The attempt under which the next occurrence of a kind that may come several times in a turn is named: 1 is for what
    /// occurs once.
    pub(super) fn next_attempt(&mut self) -> u32 {
        self.occurred = self.occurred.saturating_add(1);
        self.occurred.saturating_add(1)
    }

    /// The hooks of an occurrence run.
    pub(super) fn begin(&mut self, round: HookRound) {
        self.rounds.push(round);
    }

    /// The occurrence that an effect belongs to.
    pub(super) fn round(&self, id: EffectId) -> Option<&HookRound> {
        self.rounds.iter().find(|round| round.is(id))
    }

    /// The hook that an effect runs.
    pub(super) fn asked(&self, id: EffectId) -> Option<(&HookRound, &AskedHook)> {
        let round = self.round(id)?;
        Some((round, round.asked.get(nth(id)?)?))
    }

    /// Takes a hook's answer; with the last one the occurrence is settled, and not under way any more.
    pub(super) fn answered(&mut self, id: EffectId, answer: HookAnswer) -> Option<HookRound> {
        let place = self.rounds.iter().position(|round| round.is(id))?;
        let asked = &mut self.rounds[place].asked;
        if let Some(asked) = nth(id).and_then(|nth| asked.get_mut(nth)) {
            asked.answer = Some(answer);
        }
        let is_settled = asked.iter().all(|asked| asked.answer.is_some());
        is_settled.then(|| self.rounds.remove(place))
    }

    /// Keeps text for the model until the next user message.
    pub(super) fn add_context(&mut self, block: Option<RawJson>) {
        self.context.extend(block);
    }

    /// What they add to the user message that is being made.
    pub(in crate::session) fn take_context(&mut self) -> Vec<RawJson> {
        core::mem::take(&mut self.context)
    }

    /// What snapshots keep, in this order.
    pub(in crate::session) fn state(&self) -> (Vec<HookRound>, Vec<RawJson>, u32, bool) {
        let Self {
            rounds,
            context,
            occurred,
            is_new,
        } = self;
        (rounds.clone(), context.clone(), *occurred, *is_new)
    }

    /// The same again.
    pub(in crate::session) fn restored(
        rounds: Vec<HookRound>,
        context: Vec<RawJson>,
        occurred: u32,
        is_new: bool,
    ) -> Self {
        Self {
            rounds,
            context,
            occurred,
            is_new,
        }
    }
}

/// The place of the hook that an effect runs among those of its occurrence.
fn nth(id: EffectId) -> Option<usize> {
    match id.stage {
        Stage::Hook(_, nth) => Some(nth.saturating_sub(1) as usize),
        _ => None,
    }
}

impl HookRound {
    pub(in crate::session) fn event(&self) -> HookEvent {
        self.occurrence.event()
    }

    fn is(&self, id: EffectId) -> bool {
        let Stage::Hook(event, _) = id.stage else {
            return false;
        };
        (self.event(), self.turn, self.call, self.attempt) == (event, id.turn, id.call, id.attempt)
    }

    /// What all of them say together.
    pub(super) fn merged(&self) -> Merged {
        let event = self.event();
        let voice = |asked: &AskedHook| {
            // Whoever has not answered has no opinion; a round is merged when all have.
            let answer = asked.answer.as_ref()?;
            Some(Voice {
                hook: asked.hook.clone(),
                on_failure: asked.on_failure,
                opinion: answer.opinion(event, asked.kind),
            })
        };
        let voices: Vec<Voice> = self.asked.iter().filter_map(voice).collect();
        merge(event, &voices)
    }
}
