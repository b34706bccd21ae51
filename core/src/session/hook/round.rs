//! Running the hooks of an event, and handling their answers.

use alloc::{borrow::ToOwned, format, vec::Vec};

use super::{
    super::{Event, Phase, Shared, Thread},
    rounds::{AskedHook, HookRound},
};
use crate::{
    effect::{Answer, Effect, EffectId, Stage},
    hook::{
        HookAnswer, HookCall, HookEvent, HookInput, HookKind, InterpretedAnswer, Occurrence,
        concerned,
    },
    json::RawJson,
    message::HookOutcome,
    permission::denied_to_components,
};

impl Thread {
    /// Runs the hooks that an event concerns, concurrently. `call` is the index of the tool call it belongs to.
    ///
    /// False if there are none: no answer will come, so the caller continues at once. Otherwise
    /// [`hooks_settled`](Self::hooks_settled) is called when the last of them is done.
    pub(in crate::session) fn fire(
        &mut self,
        shared: &mut Shared,
        occurrence: Occurrence,
        call: Option<usize>,
    ) -> bool {
        self.fire_as(shared, occurrence, call, 1)
    }

    /// Like [`fire`](Self::fire), for events that may occur several times in a turn.
    pub(in crate::session) fn fire_anew(&mut self, shared: &mut Shared, occurrence: Occurrence) {
        let attempt = self.hooks.next_attempt();
        self.fire_as(shared, occurrence, None, attempt);
    }

    /// Like [`fire`](Self::fire), for events that nothing waits for. Leaves no trace if no hook is registered.
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
        self.hooks.begin(round);
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
            deny: match asked.kind {
                HookKind::Narrowing => denied_to_components(&self.policy(shared)),
                HookKind::Trusted => Vec::new(),
            },
        };
        if announce {
            self.emit_hook_started(shared, id, &round.occurrence);
        }
        // An interrupt does not wait long for hooks that observe the end.
        let timeout = match self.phase() {
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
            agent: self.agent().cloned().filter(|_| !names_its_own),
            event: occurrence,
        }
    }

    /// Handles an answer of a hook. `was_cancelled`: it timed out, or the run is being interrupted.
    pub(in crate::session) fn hook_answer(
        &mut self,
        shared: &mut Shared,
        id: EffectId,
        answer: Answer,
        was_cancelled: bool,
    ) -> Option<Event> {
        match answer {
            Answer::HookProgress { stdout, stderr } => {
                self.emit_hook_progress(shared, id, stdout, stderr);
                None
            }
            Answer::Hook(answer) if !was_cancelled => {
                self.hook_ended(shared, id, answer, HookOutcome::Success)
            }
            _ if was_cancelled => self.hook_without_answer(shared, id),
            _ => {
                let answer = HookAnswer::Failed("the host dropped it".to_owned());
                self.hook_ended(shared, id, answer, HookOutcome::Error)
            }
        }
    }

    /// A hook was abandoned: the run continues without its answer.
    pub(in crate::session) fn hook_given_up(&mut self, shared: &mut Shared, id: EffectId) {
        let event = self.hook_without_answer(shared, id);
        self.go_on(shared, event);
    }

    /// A hook was cancelled or abandoned: later answers are ignored.
    fn hook_without_answer(&mut self, shared: &mut Shared, id: EffectId) -> Option<Event> {
        let timeout_ms = self.hooks.asked(id)?.1.timeout_ms;
        let reason = match self.phase() {
            Phase::Stopping => "the run was interrupted".to_owned(),
            _ => format!("it gave no answer within {timeout_ms} ms"),
        };
        let answer = HookAnswer::Failed(reason);
        self.hook_ended(shared, id, answer, HookOutcome::Cancelled)
    }

    /// A hook was lost in a crash: it is run again under the same effect id, which serves as idempotency key.
    pub(in crate::session) fn hook_lost(&mut self, shared: &mut Shared, id: EffectId) {
        let Stage::Hook(_, nth) = id.stage else {
            return;
        };
        if let Some(round) = self.hooks.round(id).cloned() {
            self.run_hook(shared, &round, nth.saturating_sub(1) as usize, false);
        }
    }

    /// Cancels the hooks of this thread.
    pub(in crate::session) fn cancel_hooks(&mut self, shared: &mut Shared) {
        let hooks: Vec<EffectId> = self
            .running(shared)
            .filter(|id| matches!(id.stage, Stage::Hook(..)))
            .collect();
        for id in hooks {
            shared.cancel(id);
        }
    }

    fn hook_ended(
        &mut self,
        shared: &mut Shared,
        id: EffectId,
        answer: HookAnswer,
        mut outcome: HookOutcome,
    ) -> Option<Event> {
        let (round, asked) = self.hooks.asked(id)?;
        let interpreted = answer.interpret(round.event(), asked.kind);
        if outcome == HookOutcome::Success && matches!(interpreted, InterpretedAnswer::Failed(_)) {
            // It reports a failure, or its output is invalid.
            outcome = HookOutcome::Error;
        }
        self.emit_hook_response(shared, id, &answer, &interpreted, outcome);
        let round = self.hooks.answered(id, answer)?;
        let merged = round.merged();
        self.hooks_settled(shared, &round, merged)
    }
}
