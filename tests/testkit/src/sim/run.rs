//! One run of a simulation: what happens at each step, and the checks after it.

mod disturbance;
mod plan;
mod record;

use alloc::{boxed::Box, collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};

use windlass_core::{
    Session,
    effect::{Answer, Effect, EffectId, Input, Output, PermissionResponse, Stage},
    id::{Millis, Now, Seeded, UnixMillis},
    message::{Message, SystemMessage, TaskKind},
    spec::Spec,
    tool::CoreTool,
};

use self::plan::Plan;
pub use self::record::{Incident, IncidentKind, PhaseChange, Scene, SimRun};
use super::{
    FaultKind, Faults,
    exchange::happens,
    twin::{self, Twin},
    world::World,
};
use crate::oracle::{Check, Oracles, Violation};

/// The maximum number of steps in which a run must end once no more faults are injected.
const SETTLES_WITHIN: u32 = 5_000;

/// Deadlines further away than this many milliseconds are reached only when nothing else happens.
const LONG: u64 = 60_000;

/// The probability of a save and restore in a step of a calm run, in parts per thousand.
const REOPENED_IN_CALM: u16 = 30;

/// The kind of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Anything may happen at any step.
    Eventful {
        seed: u64,
        /// The step after which the session is saved and restored, regardless of the faults.
        crash_at: Option<u64>,
    },
    /// Prompts follow one another, and time advances only if nothing else can happen. Only the order of answers is random,
    /// and the steps at which the session is saved and restored without a loss.
    Calm { order: u64 },
}

/// A run in which a promise was broken.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) violation: Violation,
    pub(super) step: u64,
    pub(super) trace: Vec<String>,
}

/// A run in progress.
pub(super) struct Running<'a> {
    seed: u64,
    pace: Pace,
    world: &'a mut dyn World,
    faults: &'a Faults,
    /// Whether no more faults are injected.
    plainly: bool,
    /// Decides what happens next.
    dice: Seeded,
    spec: Arc<Spec>,
    session: Session,
    oracles: Oracles,
    now: Now,
    plans: BTreeMap<EffectId, Plan>,
    issued: BTreeMap<EffectId, u64>,
    issues: u64,
    /// The running background tasks, by id.
    tasks: BTreeMap<String, Option<TaskKind>>,
    twin: Twin,
    out: SimRun,
    trace: Option<Vec<String>>,
}

impl<'a> Running<'a> {
    pub(super) fn new(
        seed: u64,
        world: &'a mut dyn World,
        faults: &'a Faults,
        pace: Pace,
        traced: bool,
    ) -> Self {
        let calm = matches!(pace, Pace::Calm { .. });
        let foreground = calm && world.keeps_to_the_foreground();
        let mut spec = world.spec();
        if calm {
            leave_nothing_to_the_order(&mut spec, foreground);
        }
        let spec = Arc::new(spec);
        let order = match pace {
            Pace::Eventful { seed, .. } => seed,
            Pace::Calm { order } => order,
        };
        let id = Seeded::new(seed_bytes(&[seed, 1])).uuid();
        Self {
            seed,
            pace,
            oracles: world.oracles(),
            world,
            faults,
            plainly: false,
            dice: Seeded::new(seed_bytes(&[order, 2])),
            session: Session::new(spec.clone(), id, seed_bytes(&[seed])),
            spec,
            now: Now {
                mono: Millis(5),
                wall: UnixMillis(1_700_000_000_000),
            },
            plans: BTreeMap::new(),
            issued: BTreeMap::new(),
            issues: 0,
            tasks: BTreeMap::new(),
            twin: Twin::default(),
            out: SimRun::new(seed),
            trace: traced.then(Vec::new),
        }
    }

    /// Runs until no prompt is left and nothing runs.
    pub(super) fn finish(self) -> Result<SimRun, Box<Failed>> {
        self.finish_traced().map(|(run, _)| run)
    }

    /// The same; also returns the trace of inputs and outputs, if it is kept.
    pub(super) fn finish_traced(mut self) -> Result<(SimRun, Vec<String>), Box<Failed>> {
        let done = match self.pace {
            Pace::Eventful { .. } => self.eventfully(),
            Pace::Calm { .. } => Ok(()),
        };
        let done = done
            .and_then(|()| self.settle())
            .and_then(|()| self.oracles.end(&self.session, &self.spec));
        if let Err(violation) = done {
            return Err(Box::new(Failed {
                violation,
                step: self.out.steps,
                trace: self.trace.unwrap_or_default(),
            }));
        }
        let lines = self.session.history().lines();
        self.out.met = self.world.met();
        self.out.restores = self.twin.restores;
        self.out.history = lines
            .map(|line| String::from_utf8_lossy(&line).into_owned())
            .collect();
        Ok((self.out, self.trace.unwrap_or_default()))
    }

    fn eventfully(&mut self) -> Check {
        for _ in 0..self.faults.steps {
            let quiet = self.session.is_idle() && self.plans.is_empty();
            if quiet && !self.prompt()? {
                break; // nothing is left to say
            }
            self.step()?;
        }
        Ok(())
    }

    /// Performs one step.
    fn step(&mut self) -> Check {
        let faults = self.faults;
        if happens(&mut self.dice, faults.interrupt) {
            self.out.went_wrong(FaultKind::Interrupt);
            self.happened(IncidentKind::Interrupted, None);
            return self.take(Input::Interrupt);
        }
        if happens(&mut self.dice, faults.crash) {
            return self.crash();
        }
        if happens(&mut self.dice, faults.settings) {
            return self.change_settings();
        }
        if happens(&mut self.dice, faults.breach) {
            return self.breach();
        }
        match self.dice.below(10) {
            0 => self.time_passes(),
            1 => self.prompt().map(drop),
            _ if self.plans.is_empty() => self.time_passes(),
            _ => self.answer_one(),
        }
    }

    /// Answers effects until nothing is left to do. A calm run consists of this alone.
    fn settle(&mut self) -> Check {
        let calm = matches!(self.pace, Pace::Calm { .. });
        self.plainly = !calm;
        for _ in 0..SETTLES_WITHIN {
            if self.session.is_idle() && self.plans.is_empty() {
                if calm {
                    self.between_prompts()?;
                }
                if self.prompt()? {
                    continue;
                }
                return Ok(());
            }
            let responds = |id: &EffectId| twin::is_exchange(*id);
            if calm && !self.plans.keys().any(responds) && happens(&mut self.dice, REOPENED_IN_CALM)
            {
                self.reopen()?;
            }
            if self.plans.values().any(Plan::has_more) || !self.tick_if_due()? {
                if self.plans.is_empty() {
                    return Err(self.stuck("nothing runs and nothing is due"));
                }
                self.answer_one()?;
            }
        }
        Err(self.stuck("it does not come to its end"))
    }

    /// In a calm run, the events that other runs have at any step happen between prompts, at the same point in every order.
    fn between_prompts(&mut self) -> Check {
        let of_prompt = Seeded::new(seed_bytes(&[self.seed, 5, self.out.prompts as u64]));
        let of_order = core::mem::replace(&mut self.dice, of_prompt);
        let done = match self.dice.below(4) {
            0 => self.change_settings(),
            1 => self.crash(),
            2 => self.take(Input::Interrupt),
            _ => Ok(()),
        };
        self.dice = of_order;
        done
    }

    fn stuck(&self, what: &'static str) -> Violation {
        Violation::Stuck {
            phase: format!("{:?}", self.session.phase()),
            what,
        }
    }

    /// Sends the next prompt, if there is one.
    fn prompt(&mut self) -> Result<bool, Violation> {
        let idle = self.session.is_idle();
        let Some(prompt) = self.world.prompt(self.out.prompts, idle) else {
            return Ok(false);
        };
        self.out.prompts += 1;
        self.take(Input::Prompt(prompt))?;
        Ok(true)
    }

    fn time_passes(&mut self) -> Check {
        let due = self.session.deadline();
        let ms = match (due.map(|at| at.since(self.now.mono)), self.dice.below(3)) {
            // A silent server that will be given up counts as one that has nothing more to send.
            (Some(ms), 0) if ms < LONG => ms,
            (_, 1) => self.dice.below(20_000),
            _ => self.dice.below(300),
        };
        self.wait(ms)
    }

    /// Advances to the next deadline; returns whether there is one.
    fn tick_if_due(&mut self) -> Result<bool, Violation> {
        match self.session.deadline() {
            None => Ok(false),
            Some(deadline) => {
                self.wait(deadline.since(self.now.mono))?;
                Ok(true)
            }
        }
    }

    fn wait(&mut self, ms: u64) -> Check {
        self.now.mono = self.now.mono.after(ms);
        self.now.wall = UnixMillis(self.now.wall.0.saturating_add(ms));
        self.take(Input::Tick)
    }

    /// Passes an input that must be accepted, and checks the outputs.
    fn take(&mut self, input: Input) -> Check {
        self.out.steps += 1;
        if let Some(trace) = &mut self.trace {
            trace.push(format!("> {} {input:?}", self.now.mono.0));
        }
        self.oracles.input(&self.session, &self.spec, &input)?;
        let from = self.session.phase();
        let stopped = stops(&input);
        let ticks = matches!(input, Input::Tick);
        let described = |error| Violation::Contract {
            input: format!("{input:?}"),
            what: format!("refused: {error}"),
        };
        self.session
            .handle(self.now, input.clone())
            .map_err(described)?;
        let outputs = self.drain()?;
        if ticks {
            self.note_late_hooks(&outputs);
        }
        let to = self.session.phase();
        let change = PhaseChange { from, to, stopped };
        if from != to && !self.out.phases.contains(&change) {
            self.out.phases.push(change);
        }
        self.hold_against_twin(&input, &outputs)?;
        let now = Some(self.out.steps);
        if matches!(self.pace, Pace::Eventful { crash_at, .. } if crash_at == now) {
            return self.crash();
        }
        Ok(())
    }

    /// Saves and restores the session at this point and checks that it behaves identically.
    fn hold_against_twin(&mut self, input: &Input, outputs: &[Output]) -> Check {
        let to_follow = happens(&mut self.dice, self.faults.restore);
        let running = self.plans.iter().map(|(id, plan)| (*id, &plan.effect));
        let stopping = |(id, plan): (&EffectId, &Plan)| twin::is_exchange(*id) && plan.cancelled;
        let scene = twin::Scene {
            stopping: self.plans.iter().any(stopping),
            spec: &self.spec,
            now: self.now,
            running: running.collect(),
            to_follow,
            every_step: self.faults.restore_bytes,
        };
        self.twin.after_step(&self.session, input, outputs, &scene)
    }

    /// Polls until no output is left.
    fn drain(&mut self) -> Result<Vec<Output>, Violation> {
        let mut outputs = Vec::new();
        while let Some(output) = self.session.poll() {
            if let Some(trace) = &mut self.trace {
                trace.push(match &output {
                    Output::Message(message) => format!("< {}", message.to_line()),
                    Output::Effect(id, Effect::Http(_)) => format!("< {id} a request"),
                    other => format!("< {other:?}"),
                });
            }
            self.out.digest.add_output(&output);
            self.oracles.output(&self.session, &self.spec, &output)?;
            self.note(&output);
            outputs.push(output);
        }
        self.oracles.quiet(&self.session, &self.spec)?;
        Ok(outputs)
    }

    fn note(&mut self, output: &Output) {
        match output {
            Output::Effect(id, effect) => {
                let issue = self.issued.entry(*id).or_insert(0);
                *issue += 1;
                self.out.effects.insert(*id);
                if let Effect::CallTool(call) = effect {
                    self.out.calls.push(call.clone());
                }
                self.issues += 1;
                let plan = Plan {
                    effect: effect.clone(),
                    issue: *issue,
                    place: self.issues,
                    answers: None,
                    cancelled: false,
                    begun: false,
                };
                self.plans.insert(*id, plan);
            }
            Output::Cancel(id) => {
                if let Some(plan) = self.plans.get_mut(id) {
                    plan.cancelled = true;
                }
            }
            Output::Abandon(id) => drop(self.plans.remove(id)),
            Output::Message(message) => {
                match message {
                    Message::System(SystemMessage::TaskStarted(task)) => {
                        self.tasks.insert(task.task_id.clone(), task.task_type);
                    }
                    Message::System(SystemMessage::TaskNotification(task)) => {
                        self.tasks.remove(&task.task_id);
                    }
                    _ => {}
                }
                self.out.messages.push(message.clone());
            }
            Output::Refused(_) => {}
            new => unreachable!("a new kind of output has a rule here: {new:?}"),
        }
    }

    /// Records an incident and its scenes: that of an effect, or all that are active.
    fn happened(&mut self, kind: IncidentKind, to: Option<EffectId>) {
        let is_agent = |kind: &Option<TaskKind>| *kind == Some(TaskKind::LocalAgent);
        let background_agent = self.tasks.values().any(is_agent);
        let background_call = self.tasks.values().any(|kind| !is_agent(kind));
        let agent = match to {
            Some(id) => id.agent > 0,
            None => self.plans.keys().any(|id| id.agent > 0),
        };
        let scenes = [
            (Scene::Conversation, to.is_none_or(|id| id.agent == 0)),
            // Foreground and background agents cannot be told apart from outside, so each counts only if it is alone.
            (Scene::Agent, agent && !background_agent),
            (Scene::BackgroundAgent, agent && background_agent),
            (Scene::BackgroundCall, background_call),
        ];
        let here = scenes.into_iter().filter(|(_, here)| *here);
        let incidents = here.map(|(scene, _)| Incident { kind, scene });
        self.out.incidents.extend(incidents);
    }

    fn note_late_hooks(&mut self, outputs: &[Output]) {
        for output in outputs {
            if let Output::Cancel(id) = output
                && matches!(id.stage, Stage::Hook(..))
            {
                self.out.went_wrong(FaultKind::TimedOutHook);
                self.happened(IncidentKind::HookTimedOut, Some(*id));
            }
        }
    }
}

/// Removes from a spec everything for which the order of answers matters: see [`Sim::permuted`](super::Sim::permuted).
fn leave_nothing_to_the_order(spec: &mut Spec, foreground: bool) {
    if !foreground {
        spec.tools.tasks.wake = false;
        spec.prompt.context.compaction.threshold_tokens = None;
    }
    if spec.tool(CoreTool::Task.name()).is_some() {
        spec.policy.limits.max_budget = None;
    }
}

/// Whether an input stops the run.
fn stops(input: &Input) -> bool {
    match input {
        Input::Interrupt | Input::Answer(_, Answer::PersistFailed(_)) => true,
        Input::Answer(_, Answer::Permission(PermissionResponse::Deny { interrupt, .. })) => {
            *interrupt
        }
        _ => false,
    }
}

/// A seed derived from numbers.
pub(super) fn seed_bytes(numbers: &[u64]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}
