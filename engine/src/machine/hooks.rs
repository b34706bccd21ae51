//! Hooks that are told about the end of a session. The session's loop no longer runs then, so the engine runs them.

use std::collections::BTreeMap;

use windlass_core::{
    EffectId, Millis, RawJson,
    effect::{Answer, Effect as SessionEffect, Stage},
    hook::{HookCall, HookInput, HookKind, Occurrence, concerned},
};

use super::{Engine, io::Output, questions::Purpose};

/// Hooks that are running, each with its deadline.
#[derive(Debug)]
pub(super) struct EndHooks {
    waiting: BTreeMap<EffectId, Millis>,
}

impl EndHooks {
    pub(super) fn deadline(&self) -> Option<Millis> {
        self.waiting.values().min().copied()
    }
}

impl Engine {
    /// Runs the hooks for these occurrences: those of the host always, callbacks as long as they can answer. Each hook has the timeout
    /// with which it was registered, and a common limit applies to all; a hook that exceeds either is stopped. The shutdown
    /// continues when all are done.
    pub(super) fn run_end_hooks(&mut self, occurrences: &[Occurrence]) {
        let mut end_hooks = EndHooks {
            waiting: BTreeMap::new(),
        };
        let mut calls = Vec::new();
        for (number, occurrence) in (1..).zip(occurrences) {
            calls.extend(self.calls(number, occurrence));
        }
        let limit = self.now.mono.after(self.launch.last_hooks_ms);
        for (id, call) in &calls {
            let own = self.now.mono.after(call.timeout_ms);
            end_hooks.waiting.insert(*id, own.min(limit));
        }
        self.end_hooks = Some(end_hooks);
        let in_lines = self.asks_in_lines();
        for (id, call) in calls {
            match self.prepared.as_ref() {
                Some(prepared)
                    if !in_lines || prepared.config.hooks_of_host.contains(&call.hook) =>
                {
                    let number = prepared.config.number;
                    let effect = SessionEffect::RunHook(call);
                    self.outbox.push(Output::Session(number, id, effect));
                }
                _ => self.ask_hook(Purpose::hook(id, &call), call),
            }
        }
        self.end_hooks_if_done();
    }

    /// The hook calls for an occurrence.
    fn calls(&self, number: u32, occurrence: &Occurrence) -> Vec<(EffectId, HookCall)> {
        let Some(prepared) = &self.prepared else {
            return Vec::new();
        };
        let spec = prepared.spec();
        let input = HookInput {
            session_id: self.session_id,
            transcript_path: spec.environment.transcript_of(self.session_id),
            cwd: spec.environment.cwd.clone(),
            permission_mode: Some(self.mode()),
            agent: None,
            event: occurrence.clone(),
        };
        let Ok(input) = RawJson::encode(&input) else {
            return Vec::new(); // texts under names, which always can be encoded
        };
        let denied = self.denied_to_components(spec);
        // Callbacks cannot answer once the input has ended or the reader is gone.
        let asks_sdk = !self.asks_in_lines() || !self.input_ended && !self.is_unread;
        let concerned = concerned(&spec.policy.hooks, occurrence);
        let mut calls = Vec::new();
        for (hook, (matcher, name)) in (1..).zip(concerned) {
            if !asks_sdk && !prepared.config.hooks_of_host.contains(name) {
                continue;
            }
            let id = EffectId {
                session: self.session_id,
                agent: 0,
                turn: 0,
                call: number,
                stage: Stage::Hook(occurrence.event(), hook),
                attempt: 1,
            };
            let call = HookCall {
                hook: name.to_owned(),
                event: occurrence.event(),
                input: input.clone(),
                tool_use_id: None,
                timeout_ms: matcher.timeout_ms,
                kind: matcher.kind,
                deny: match matcher.kind {
                    HookKind::Narrowing => denied.clone(),
                    HookKind::Trusted => Vec::new(),
                },
            };
            calls.push((id, call));
        }
        calls
    }

    /// Handles the answer of such a hook; its content has no effect. Returns false if the id belongs to none of them.
    pub(super) fn end_hook_answered(&mut self, id: EffectId, answer: &Answer) -> bool {
        let Some(end_hooks) = &mut self.end_hooks else {
            return false;
        };
        if !end_hooks.waiting.contains_key(&id) {
            return false;
        }
        if answer.is_last() {
            end_hooks.waiting.remove(&id);
            self.end_hooks_if_done();
        }
        true
    }

    /// Stops hooks whose deadline has passed.
    pub(super) fn end_hooks_tick(&mut self) {
        let Some(end_hooks) = &mut self.end_hooks else {
            return;
        };
        let due = end_hooks.waiting.iter();
        let due: Vec<EffectId> = due
            .filter(|(_, by)| **by <= self.now.mono)
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            if let Some(end_hooks) = &mut self.end_hooks {
                end_hooks.waiting.remove(&id);
            }
            if self.withdraw_question_of(id).is_none() {
                self.outbox.push(Output::Abandon(id));
            }
        }
        self.end_hooks_if_done();
    }

    fn end_hooks_if_done(&mut self) {
        if (self.end_hooks.as_ref()).is_some_and(|end_hooks| end_hooks.waiting.is_empty()) {
            self.end_hooks = None;
            self.shutdown_hooks_done();
        }
    }
}
