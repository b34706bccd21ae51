//! Open effects and their planned answers.

use alloc::{collections::VecDeque, format, vec::Vec};

use windlass_core::{
    effect::{Answer, Effect, EffectId, HttpFailureKind, Input, PermissionResponse, Stage},
    hook::{HookAnswer, HookEvent},
    id::Seeded,
    journal::Digest,
    json::RawJson,
    tool::ToolResult,
};

use super::{
    super::{
        FaultKind, Faults,
        exchange::{failed, happens, in_place, over_the_line, pick},
        world::Asked,
    },
    IncidentKind, Pace, Running, seed_bytes,
};
use crate::oracle::Check;

/// An effect without its last answer.
pub(super) struct Plan {
    pub(super) effect: Effect,
    /// How often an effect of this name was issued before.
    pub(super) issue: u64,
    /// The number of effects issued before it.
    pub(super) place: u64,
    /// Its answers, generated when the first one is due.
    pub(super) answers: Option<VecDeque<Answer>>,
    pub(super) cancelled: bool,
    /// Whether the server has begun to answer.
    pub(super) begun: bool,
}

impl Plan {
    /// Whether it has more answers to give by itself.
    pub(super) fn has_more(&self) -> bool {
        self.cancelled
            || self
                .answers
                .as_ref()
                .is_none_or(|answers| !answers.is_empty())
    }
}

impl Running<'_> {
    /// Gives one of the effects its next answer.
    pub(super) fn answer_one(&mut self) -> Check {
        let may_wait = !self.plainly && matches!(self.pace, Pace::Eventful { .. });
        // Silent ones are selected only when no other has anything left to say.
        let talking: Vec<EffectId> = (self.plans.iter())
            .filter(|(_, plan)| may_wait || plan.has_more())
            .map(|(id, _)| *id)
            .collect();
        let ids = match talking.is_empty() {
            true => self.plans.keys().copied().collect(),
            false => talking,
        };
        let id = ids[pick(&mut self.dice, ids.len() as u64)];
        let Some(plan) = self.plans.get_mut(&id) else {
            return Ok(());
        };
        let answer = if plan.cancelled && (!may_wait || self.dice.below(2) == 0) {
            Some(Answer::Cancelled)
        } else {
            if plan.answers.is_none() {
                let (effect, issue) = (plan.effect.clone(), plan.issue);
                let answers = self.answers(id, &effect, issue);
                if let Some(plan) = self.plans.get_mut(&id) {
                    plan.answers = Some(answers.into());
                }
            }
            let plan = self.plans.get_mut(&id);
            plan.and_then(|plan| plan.answers.as_mut()?.pop_front())
        };
        let answer = match answer {
            Some(answer) => answer,
            // It has nothing more to say: only a cancellation or a timeout ends it.
            None if may_wait => return Ok(()),
            None if matches!(id.stage, Stage::Model | Stage::Summary) => {
                failed(HttpFailureKind::Interrupted)
            }
            None => Answer::Cancelled,
        };
        self.note_answer(id, &answer);
        self.take(Input::Answer(id, answer))
    }

    /// The answers to an effect: those of the world, or a fault in their place.
    fn answers(&mut self, id: EffectId, effect: &Effect, issue: u64) -> Vec<Answer> {
        let none = Faults::none();
        let faults = match self.plainly {
            true => &none,
            false => self.faults,
        };
        let mut dice = Seeded::new(seed_bytes(&[self.seed, name_of(id), issue]));
        let mut of_world = dice.clone();
        let in_any_order = matches!(self.pace, Pace::Calm { .. });
        let asked = Asked {
            id,
            dice: &mut of_world,
            plainly: self.plainly,
            in_any_order,
        };
        let dice = &mut dice;
        match effect {
            Effect::Http(request) => {
                let (wrong, answers) = match in_place(dice, faults) {
                    Some((wrong, answers)) => (vec![wrong], answers),
                    None => over_the_line(dice, faults, self.world.model(asked, request)),
                };
                wrong.into_iter().for_each(|kind| self.out.went_wrong(kind));
                answers
            }
            Effect::Resolve(_) if happens(dice, faults.resolve) => {
                self.out.went_wrong(FaultKind::WrongPath);
                vec![match dice.below(4) {
                    0 => Answer::Resolved(vec![]),
                    1 => Answer::Resolved(vec![Err("no such disk".into())]),
                    2 => Answer::Resolved(vec![Ok(windlass_core::permission::ResolvedPath::at(
                        "/work/../etc",
                    ))]),
                    _ => Answer::Cancelled,
                }]
            }
            Effect::Resolve(paths) => {
                let cwd = self.spec.environment.cwd.clone();
                let real = paths.iter().map(|path| {
                    let asked = Asked {
                        id,
                        dice: &mut of_world,
                        plainly: self.plainly,
                        in_any_order,
                    };
                    self.world.resolve(asked, path, &cwd)
                });
                vec![Answer::Resolved(real.collect())]
            }
            Effect::CallTool(_) if happens(dice, faults.tool) => {
                let (kind, answer) = match dice.below(3) {
                    0 => (
                        FaultKind::FailedTool,
                        Answer::Tool(ToolResult::error("it broke")),
                    ),
                    1 => (FaultKind::FailedTool, Answer::Tool(ToolResult::default())),
                    _ => (FaultKind::DroppedTool, Answer::Cancelled),
                };
                self.out.went_wrong(kind);
                vec![answer]
            }
            Effect::CallTool(call) => self.world.tool(asked, call),
            Effect::ProbeTool(_) if happens(dice, faults.tool) => vec![Answer::Cancelled],
            Effect::ProbeTool(probe) => vec![Answer::Probed(self.world.probe(asked, probe))],
            Effect::AskPermission(_) if happens(dice, faults.permission) => {
                let (kind, answer) = match dice.below(2) {
                    0 if !in_any_order => {
                        let stop = PermissionResponse::Deny {
                            message: "stop it".into(),
                            interrupt: true,
                        };
                        (FaultKind::StoppedByPerson, Answer::Permission(stop))
                    }
                    _ => (FaultKind::Unanswered, Answer::Cancelled),
                };
                self.out.went_wrong(kind);
                vec![answer]
            }
            Effect::AskPermission(request) => {
                let mut response = self.world.permission(asked, request);
                // It would apply to later calls, and which these are depends on the order.
                if let (
                    true,
                    PermissionResponse::Allow {
                        updated_permissions,
                        ..
                    },
                ) = (in_any_order, &mut response)
                {
                    updated_permissions.clear();
                }
                vec![Answer::Permission(response)]
            }
            Effect::RunHook(_) if happens(dice, faults.hook) => {
                let (kind, answers) = failing_hook(dice, in_any_order);
                self.out.went_wrong(kind);
                answers
            }
            // These hooks are not waited for: the order determines where their context is inserted.
            Effect::RunHook(call) if in_any_order && call.event == HookEvent::Notification => {
                vec![Answer::Hook(HookAnswer::Output(RawJson::empty_object()))]
            }
            Effect::RunHook(call) => self.world.hook(asked, call),
            Effect::Persist(_) if happens(dice, faults.persist) => {
                let (kind, answer) = match dice.below(2) {
                    0 => {
                        let full = Answer::PersistFailed("the disk is full".into());
                        (FaultKind::FailedWrite, full)
                    }
                    _ => (FaultKind::DroppedWrite, Answer::Cancelled),
                };
                self.out.went_wrong(kind);
                vec![answer]
            }
            Effect::Persist(_) => vec![Answer::Persisted],
            new => unreachable!("a new kind of effect is answered here: {new:?}"),
        }
    }

    /// Records the consequences of an answer for the open effects.
    fn note_answer(&mut self, id: EffectId, answer: &Answer) {
        let Some(plan) = self.plans.get_mut(&id) else {
            return;
        };
        plan.begun |= matches!(answer, Answer::HttpHead { .. });
        if !answer.is_last() {
            return;
        }
        let (begun, place) = (plan.begun, plan.place);
        if begun && matches!(answer, Answer::HttpFailed(_)) {
            self.happened(IncidentKind::Cut, Some(id));
        }
        self.plans.remove(&id);
        if self.plans.values().any(|other| other.place < place) {
            self.out.went_wrong(FaultKind::Overtaken);
            self.happened(IncidentKind::Overtaken, Some(id));
        }
    }
}

/// The answers of a failing hook.
fn failing_hook(dice: &mut Seeded, in_any_order: bool) -> (FaultKind, Vec<Answer>) {
    let output = |json: &str| match RawJson::parse(json) {
        Ok(json) => HookAnswer::Output(json),
        Err(error) => HookAnswer::Failed(error.reason),
    };
    let failed = |answer| (FaultKind::FailedHook, vec![answer]);
    match dice.below(7) {
        0 => failed(Answer::Hook(HookAnswer::Failed("it crashed".into()))),
        1 => failed(Answer::Hook(output(r#"{"decison": "block"}"#))),
        2 => failed(Answer::Hook(HookAnswer::Exited {
            code: Some(1),
            stdout: "{".into(),
            stderr: "oh no".into(),
        })),
        3 if !in_any_order => {
            let stop = output(r#"{"continue": false, "stopReason": "enough"}"#);
            (FaultKind::StoppedByHook, vec![Answer::Hook(stop)])
        }
        3 | 4 => failed(Answer::Cancelled),
        // It hangs until its timeout.
        _ => (FaultKind::HangingHook, Vec::new()),
    }
}

/// A number that identifies an effect within its session.
fn name_of(id: EffectId) -> u64 {
    let mut digest = Digest::default();
    for number in [id.agent, id.turn, id.call, id.attempt] {
        digest.add(&number.to_le_bytes());
    }
    digest.add(format!("{:?}", id.stage).as_bytes());
    digest.value()
}
