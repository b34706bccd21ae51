//! The hooks of one occurrence, under way.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::super::{Phase, Shared, Thread};
use crate::{
    effect::{Answer, Effect, EffectId, Stage},
    hook::{
        FailurePolicy, HookAnswer, HookCall, HookEvent, HookInput, HookKind, Merged, Occurrence,
        Opinion, Voice, concerned, merge,
    },
    json::RawJson,
    message::HookOutcome,
};

/// The hooks of one occurrence, in the order of their registration.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct HookRound {
    pub(in crate::session) occurrence: Occurrence,
    /// Of their effects.
    turn: u32,
    /// The call's number from 1; 0 for what belongs to no call.
    pub(in crate::session) call: u32,
    attempt: u32,
    asked: Vec<AskedHook>,
}

/// A hook that was asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct AskedHook {
    pub(super) hook: String,
    kind: HookKind,
    on_failure: FailurePolicy,
    timeout_ms: u64,
    /// None while it runs.
    answer: Option<HookAnswer>,
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

    fn merged(&self) -> Merged {
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

impl Thread {
    /// Runs the hooks that an occurrence concerns, all beside each other. `call` is the index of the tool call it belongs to.
    ///
    /// False if there are none: nothing will be heard, go on at once. Otherwise
    /// [`hooks_settled`](Self::hooks_settled) is called when the last of them is done.
    pub(in crate::session) fn fire(
        &mut self,
        shared: &mut Shared,
        occurrence: Occurrence,
        call: Option<usize>,
    ) -> bool {
        self.fire_as(shared, occurrence, call, 1)
    }

    /// The same for what may occur several times in a turn.
    pub(in crate::session) fn fire_anew(&mut self, shared: &mut Shared, occurrence: Occurrence) {
        // 1 is for what occurs once.
        self.occurred = self.occurred.saturating_add(1);
        let attempt = self.occurred.saturating_add(1);
        self.fire_as(shared, occurrence, None, attempt);
    }

    /// The same for what nothing waits for and what leaves no trace where no hook is there to be told.
    pub(in crate::session) fn tell_hooks(&mut self, shared: &mut Shared, occurrence: Occurrence) {
        if !concerned(&self.spec.policy.hooks, &occurrence).is_empty() {
            self.fire_anew(shared, occurrence);
        }
    }

    fn fire_as(
        &mut self,
        shared: &mut Shared,
        occurrence: Occurrence,
        call: Option<usize>,
        attempt: u32,
    ) -> bool {
        let spec = self.spec.clone();
        let asked: Vec<AskedHook> = concerned(&spec.policy.hooks, &occurrence)
            .into_iter()
            .map(|(matcher, hook)| AskedHook {
                hook: hook.to_owned(),
                kind: matcher.kind,
                on_failure: matcher.failure_policy(),
                timeout_ms: matcher.timeout_ms,
                answer: None,
            })
            .collect();
        if asked.is_empty() {
            return false;
        }
        let call = call.map_or(0, |index| u32::try_from(index + 1).unwrap_or(u32::MAX));
        let stage = Stage::Hook(occurrence.event(), 1);
        let round = HookRound {
            turn: self.effect_id(shared, call, stage, attempt).turn,
            occurrence,
            call,
            attempt,
            asked,
        };
        for number in 0..round.asked.len() {
            self.run_hook(shared, &round, number, true);
        }
        self.hook_rounds.push(round);
        true
    }

    fn run_hook(&mut self, shared: &mut Shared, round: &HookRound, number: usize, announce: bool) {
        let Some(asked) = round.asked.get(number) else {
            return;
        };
        let event = round.event();
        let nth = u32::try_from(number + 1).unwrap_or(u32::MAX);
        let id = EffectId {
            turn: round.turn,
            ..self.effect_id(shared, round.call, Stage::Hook(event, nth), round.attempt)
        };
        let input = self.hook_input(shared, round.occurrence.clone());
        let call = HookCall {
            hook: asked.hook.clone(),
            event,
            // Strings, booleans and raw JSON only: encoding cannot fail.
            input: RawJson::encode(&input).unwrap_or_else(|_| RawJson::empty_object()),
            tool_use_id: round.occurrence.tool_use_id().map(ToOwned::to_owned),
            timeout_ms: asked.timeout_ms,
            kind: asked.kind,
        };
        if announce {
            self.emit_hook_started(shared, id, &round.occurrence);
        }
        // Whoever interrupts does not wait a minute for hooks that watch the end.
        let timeout = match self.phase {
            Phase::Stopping => asked.timeout_ms.min(shared.spec.policy.cancel_grace_ms),
            _ => asked.timeout_ms,
        };
        let deadline = shared.now.mono.after(timeout);
        self.perform(shared, id, Effect::RunHook(call));
        shared.set_deadline(id, deadline);
    }

    fn hook_input(&self, shared: &Shared, occurrence: Occurrence) -> HookInput {
        let event = occurrence.event();
        let names_its_own = matches!(event, HookEvent::SubagentStart | HookEvent::SubagentStop);
        HookInput {
            session_id: shared.id,
            transcript_path: shared.spec.environment.transcript_of(shared.id),
            cwd: self.command_directory().to_owned(),
            permission_mode: Some(shared.permissions.mode()),
            agent: self.agent.clone().filter(|_| !names_its_own),
            event: occurrence,
        }
    }

    /// An answer to a hook. `was_cancelled`: its time was over, or the run is being interrupted.
    pub(in crate::session) fn hook_answer(
        &mut self,
        shared: &mut Shared,
        id: EffectId,
        answer: Answer,
        was_cancelled: bool,
    ) {
        match answer {
            Answer::HookProgress { stdout, stderr } => {
                self.emit_hook_progress(shared, id, stdout, stderr);
            }
            Answer::Hook(answer) if !was_cancelled => {
                self.hook_ended(shared, id, answer, HookOutcome::Success);
            }
            _ if was_cancelled => self.hook_without_answer(shared, id),
            _ => {
                let answer = HookAnswer::Failed("the host dropped it".to_owned());
                self.hook_ended(shared, id, answer, HookOutcome::Error);
            }
        }
    }

    /// A hook was cancelled or given up: whatever it says now is too late.
    pub(in crate::session) fn hook_without_answer(&mut self, shared: &mut Shared, id: EffectId) {
        let asked = self.asked_hook(id).map(|(_, asked)| asked.timeout_ms);
        let Some(timeout_ms) = asked else {
            return;
        };
        let reason = match self.phase {
            Phase::Stopping => "the run was interrupted".to_owned(),
            _ => format!("it gave no answer within {timeout_ms} ms"),
        };
        let answer = HookAnswer::Failed(reason);
        self.hook_ended(shared, id, answer, HookOutcome::Cancelled);
    }

    /// A hook was lost in a crash: it is run again under its name, which serves as idempotency key.
    pub(in crate::session) fn hook_lost(&mut self, shared: &mut Shared, id: EffectId) {
        let Stage::Hook(_, nth) = id.stage else {
            return;
        };
        let round = self.hook_rounds.iter().find(|round| round.is(id)).cloned();
        if let Some(round) = round {
            self.run_hook(shared, &round, nth.saturating_sub(1) as usize, false);
        }
    }

    /// Stops the hooks of this thread.
    pub(in crate::session) fn cancel_hooks(&mut self, shared: &mut Shared) {
        let hooks: Vec<EffectId> = self
            .running(shared)
            .filter(|id| matches!(id.stage, Stage::Hook(..)))
            .collect();
        for id in hooks {
            shared.cancel(id);
        }
    }

    pub(super) fn asked_hook(&self, id: EffectId) -> Option<(&HookRound, &AskedHook)> {
        let Stage::Hook(_, nth) = id.stage else {
            return None;
        };
        let round = self.hook_rounds.iter().find(|round| round.is(id))?;
        let asked = round.asked.get(nth.saturating_sub(1) as usize)?;
        Some((round, asked))
    }

    fn hook_ended(
        &mut self,
        shared: &mut Shared,
        id: EffectId,
        answer: HookAnswer,
        mut outcome: HookOutcome,
    ) {
        let Some((round, asked)) = self.asked_hook(id) else {
            return;
        };
        let opinion = answer.opinion(round.event(), asked.kind);
        if outcome == HookOutcome::Success && matches!(opinion, Opinion::Failed(_)) {
            // It says so itself, or what it says is nonsense.
            outcome = HookOutcome::Error;
        }
        self.emit_hook_response(shared, id, &answer, &opinion, outcome);
        let Some(place) = self.hook_rounds.iter().position(|round| round.is(id)) else {
            return;
        };
        if let Stage::Hook(_, nth) = id.stage
            && let Some(asked) = self.hook_rounds[place]
                .asked
                .get_mut(nth.saturating_sub(1) as usize)
        {
            asked.answer = Some(answer);
        }
        let done = self.hook_rounds[place]
            .asked
            .iter()
            .all(|asked| asked.answer.is_some());
        if done {
            let round = self.hook_rounds.remove(place);
            let merged = round.merged();
            self.hooks_settled(shared, &round, merged);
        }
    }
}
