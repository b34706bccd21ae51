//! The hooks in progress in a thread, and their text for the model.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    effect::{EffectId, Stage},
    hook::{
        AnsweredHook, FailurePolicy, HookAnswer, HookEvent, HookKind, Merged, Occurrence, merge,
    },
    json::RawJson,
};

/// The hooks of a thread.
#[derive(Debug)]
pub(in crate::session) struct Hooks {
    /// Those in progress.
    rounds: Vec<HookRound>,
    /// Text of hooks for the next user message.
    context: Vec<RawJson>,
    /// How many events that may repeat in a turn have occurred so far.
    occurred: u32,
    /// Whether no prompt has come yet, so that the hooks for the session start have yet to run.
    is_new: bool,
}

/// The hooks of one event, in the order of registration.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct HookRound {
    pub(in crate::session) occurrence: Occurrence,
    /// The turn in their effect ids.
    pub(super) turn: u32,
    /// The number of the call, from 1; 0 if the event belongs to no call.
    pub(in crate::session) call: u32,
    pub(super) attempt: u32,
    pub(super) asked: Vec<AskedHook>,
}

/// A hook that is part of a round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct AskedHook {
    pub(super) hook: String,
    pub(super) kind: HookKind,
    pub(super) on_failure: FailurePolicy,
    pub(super) timeout_ms: u64,
    /// Its answer; none while it runs.
    pub(super) answer: Option<HookAnswer>,
}

impl Hooks {
    pub(in crate::session) fn new() -> Self {
        Self::restored(Vec::new(), Vec::new(), 0, true)
    }

    /// Whether no hook is in progress.
    pub(in crate::session) fn are_quiet(&self) -> bool {
        self.rounds.is_empty()
    }

    /// Whether a hook for one of these events is in progress.
    pub(in crate::session) fn look_at(&self, events: &[HookEvent]) -> bool {
        let mut rounds = self.rounds.iter();
        rounds.any(|round| events.contains(&round.event()))
    }

    /// Whether the hooks for the session start have yet to run; clears the flag.
    pub(super) fn take_start(&mut self) -> bool {
        core::mem::take(&mut self.is_new)
    }

    /// The attempt number for the next event that may repeat in a turn. 1 is reserved for events that occur once.
    pub(super) fn next_attempt(&mut self) -> u32 {
        self.occurred = self.occurred.saturating_add(1);
        self.occurred.saturating_add(1)
    }

    /// Adds a round of hooks in progress.
    pub(super) fn begin(&mut self, round: HookRound) {
        self.rounds.push(round);
    }

    /// The round that an effect belongs to.
    pub(super) fn round(&self, id: EffectId) -> Option<&HookRound> {
        self.rounds.iter().find(|round| round.is(id))
    }

    /// The hook that an effect runs.
    pub(super) fn asked(&self, id: EffectId) -> Option<(&HookRound, &AskedHook)> {
        let round = self.round(id)?;
        Some((round, round.asked.get(nth(id)?)?))
    }

    /// Stores a hook's answer. If it is the last one, removes and returns the round.
    pub(super) fn answered(&mut self, id: EffectId, answer: HookAnswer) -> Option<HookRound> {
        let place = self.rounds.iter().position(|round| round.is(id))?;
        let asked = &mut self.rounds[place].asked;
        if let Some(asked) = nth(id).and_then(|nth| asked.get_mut(nth)) {
            asked.answer = Some(answer);
        }
        let is_settled = asked.iter().all(|asked| asked.answer.is_some());
        is_settled.then(|| self.rounds.remove(place))
    }

    /// Stores text for the model until the next user message.
    pub(super) fn add_context(&mut self, block: Option<RawJson>) {
        self.context.extend(block);
    }

    /// Takes the text for the user message that is being built.
    pub(in crate::session) fn take_context(&mut self) -> Vec<RawJson> {
        core::mem::take(&mut self.context)
    }

    /// The state for snapshots, in this order.
    pub(in crate::session) fn state(&self) -> (Vec<HookRound>, Vec<RawJson>, u32, bool) {
        let Self {
            rounds,
            context,
            occurred,
            is_new,
        } = self;
        (rounds.clone(), context.clone(), *occurred, *is_new)
    }

    /// Restores it from that state.
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

/// The index, within its round, of the hook that an effect runs.
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

    /// The merged answers.
    pub(super) fn merged(&self) -> Merged {
        let event = self.event();
        let answered_hook = |asked: &AskedHook| {
            // A hook without an answer is left out; rounds are merged when all have answered.
            let answer = asked.answer.as_ref()?;
            Some(AnsweredHook {
                hook: asked.hook.clone(),
                on_failure: asked.on_failure,
                answer: answer.interpret(event, asked.kind),
            })
        };
        let answered: Vec<AnsweredHook> = self.asked.iter().filter_map(answered_hook).collect();
        merge(event, &answered)
    }
}
