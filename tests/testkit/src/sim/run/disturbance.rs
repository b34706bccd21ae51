//! External events at any step: changes of settings, crashes, a host that violates the contract.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use windlass_core::{
    Phase, Session,
    effect::{Answer, EffectId, Input, PermissionResponse, Stage},
    hook::{Occurrence, input::Notification},
    id::Uuid,
    model::{Effort, Thinking},
    permission::Mode,
    tool::ToolResult,
};

use super::{
    super::{FaultKind, exchange::pick},
    IncidentKind, Running,
};
use crate::oracle::{Check, Violation};

impl Running<'_> {
    /// Changes a setting of the session, or reports an occurrence.
    pub(super) fn change_settings(&mut self) -> Check {
        self.out.went_wrong(FaultKind::Settings);
        let models = [None, Some("nobody-knows-1"), Some("claude-haiku-4-5")];
        // Between runs, messages of hooks would be outside of a run.
        let idle = self.session.phase() == Phase::Idle;
        let ways = if idle { 4 } else { 7 };
        let input = match self.dice.below(ways) {
            // Background tasks also run while the session is idle.
            0 if idle && !self.tasks.is_empty() => self.stop_a_task(),
            5 => Input::Background(None),
            6 => self.stop_a_task(),
            4 => Input::Occurred(Occurrence::Notification(Notification {
                message: "look here".into(),
                title: None,
                notification_type: "idle_prompt".into(),
            })),
            0 => Input::SetThinking(Some(Thinking::Disabled).filter(|_| self.dice.below(2) == 0)),
            1 => Input::SetEffort(Some(Effort::Low).filter(|_| self.dice.below(2) == 0)),
            2 => Input::SetModel(models[pick(&mut self.dice, 3)].map(ToString::to_string)),
            // The last mode requires a permission that not every spec gives.
            _ => Input::SetMode(Mode::ALL[pick(&mut self.dice, 4)]),
        };
        self.take(input)
    }

    fn stop_a_task(&mut self) -> Input {
        let at = pick(&mut self.dice, self.tasks.len() as u64);
        match self.tasks.keys().nth(at) {
            Some(task) => Input::StopTask(task.clone()),
            None => Input::End,
        }
    }

    /// Saves and restores the session, losing some of its effects.
    pub(super) fn crash(&mut self) -> Check {
        self.out.went_wrong(FaultKind::Crash);
        let all = self.faults.crash_loses_calls;
        let before = self.plans.len();
        let dice = &mut self.dice;
        self.plans.retain(|id, _| {
            let calls = matches!(
                id.stage,
                Stage::Resolve | Stage::Ask | Stage::Run | Stage::Probe | Stage::Provision
            );
            dice.below(2) == 0 || (calls && !all)
        });
        for _ in self.plans.len()..before {
            self.out.went_wrong(FaultKind::LostEffect);
        }
        self.reopen()
    }

    /// Saves and restores the session.
    pub(super) fn reopen(&mut self) -> Check {
        self.happened(IncidentKind::Restored, None);
        let refused = |what: String| Violation::Contract {
            input: "putting the session away".to_string(),
            what,
        };
        let snapshot = self
            .session
            .snapshot()
            .map_err(|e| refused(e.to_string()))?;
        self.session =
            Session::restore(self.spec.clone(), &snapshot).map_err(|e| refused(e.to_string()))?;
        self.twin.forget();
        let live: Vec<EffectId> = self.plans.keys().copied().collect();
        self.oracles.restored(&live);
        self.take(Input::Resumed { live })
    }

    /// Passes an answer that violates the contract: it must be rejected without any change.
    pub(super) fn breach(&mut self) -> Check {
        self.out.went_wrong(FaultKind::Breach);
        let before = format!("{:?}", self.session);
        let running = self.plans.keys().next().copied();
        let input = match (self.dice.below(2), running) {
            (0, Some(id)) => {
                let answer = match id.stage {
                    Stage::Ask => Answer::HttpEnd,
                    _ => Answer::Permission(PermissionResponse::allow()),
                };
                Input::Answer(id, answer)
            }
            _ => {
                let id = EffectId {
                    session: Uuid::from_u128(9),
                    agent: 9,
                    turn: 1,
                    call: 1,
                    stage: Stage::Run,
                    attempt: 1,
                };
                Input::Answer(id, Answer::Tool(ToolResult::text("late")))
            }
        };
        let described = format!("{input:?}");
        let accepted = self.session.handle(self.now, input).is_ok();
        let what = match accepted {
            true => "accepted",
            false if format!("{:?}", self.session) != before => "refused, but it changed something",
            false => return Ok(()),
        };
        Err(Violation::Contract {
            input: described,
            what: what.to_string(),
        })
    }
}
