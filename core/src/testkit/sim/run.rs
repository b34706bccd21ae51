//! One run of a simulation: what happens when, and what is checked then.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet, VecDeque},
    format,
    string::{String, ToString},
    sync::Arc,
    vec,
    vec::Vec,
};

use super::{
    Digest, Faults,
    exchange::{failed, happens, in_place, over_the_line, pick},
    twin::Twin,
    world::{Asked, World},
};
use crate::{
    effect::{Answer, Effect, HttpFailureKind, Input, Output, PermissionResponse},
    hook::{HookAnswer, Occurrence, input::Notification},
    id::{EffectId, Millis, Now, Seeded, Stage, UnixMillis, Uuid},
    json::RawJson,
    message::Message,
    permission::Mode,
    session::{Phase, Session},
    spec::{Effort, Spec, Thinking},
    testkit::{
        oracle::{Check, Oracles, Violation},
        render,
    },
    tool::{ToolCall, ToolResult},
};

/// More steps than any run takes to come to its end when nothing goes wrong any more.
const SETTLES_WITHIN: u32 = 5_000;

/// How things follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// Anything may happen at any step.
    Eventful { seed: u64 },
    /// Prompts come one after another, time passes when nothing else can happen, and only the order of
    /// answers is up to the dice.
    Calm { order: u64 },
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SimRun {
    /// Its seed.
    pub seed: u64,
    /// Inputs that were handed in.
    pub steps: u64,
    /// Prompts among them.
    pub prompts: usize,
    /// A number for everything that came out: equal runs have equal numbers.
    pub digest: Digest,
    /// The names of all effects.
    pub effects: BTreeSet<EffectId>,
    /// Every message.
    pub messages: Vec<Message>,
    /// Every tool call, in the order they were issued.
    pub calls: Vec<ToolCall>,
    /// The ways between phases that were taken.
    pub phases: Vec<PhaseChange>,
    /// The conversation at the end, one message of the API a line.
    pub history: Vec<String>,
}

impl SimRun {
    /// The messages as text ([`render()`]).
    #[must_use]
    pub fn transcript(&self) -> String {
        render(&self.messages)
    }
}

/// The phases before and after an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseChange {
    /// Before.
    pub from: Phase,
    /// After; there may have been others between, in which there was nothing to wait for.
    pub to: Phase,
    /// Whether the input was one that stops the run.
    pub stopped: bool,
}

/// A run that broke a promise.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) violation: Violation,
    pub(super) step: u64,
    pub(super) trace: Vec<String>,
}

/// An effect that is not answered to its end.
struct Plan {
    effect: Effect,
    /// How often an effect of this name was issued before.
    issue: u64,
    /// Its answers; made when the first is due.
    answers: Option<VecDeque<Answer>>,
    cancelled: bool,
}

/// A run under way.
pub(super) struct Running<'a> {
    seed: u64,
    pace: Pace,
    world: &'a mut dyn World,
    faults: &'a Faults,
    /// Nothing goes wrong any more.
    plainly: bool,
    /// Decides what happens next.
    dice: Seeded,
    spec: Arc<Spec>,
    session: Session,
    oracles: Oracles,
    now: Now,
    plans: BTreeMap<EffectId, Plan>,
    issued: BTreeMap<EffectId, u64>,
    twin: Option<Twin>,
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
        let spec = Arc::new(world.spec());
        let order = match pace {
            Pace::Eventful { seed } => seed,
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
            twin: None,
            out: SimRun {
                seed,
                steps: 0,
                prompts: 0,
                digest: Digest::default(),
                effects: BTreeSet::new(),
                messages: Vec::new(),
                calls: Vec::new(),
                phases: Vec::new(),
                history: Vec::new(),
            },
            trace: traced.then(Vec::new),
        }
    }

    /// Runs until nothing is left to say or to do.
    pub(super) fn finish(mut self) -> Result<SimRun, Box<Failed>> {
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
        self.out.history = lines
            .map(|line| String::from_utf8_lossy(&line).into_owned())
            .collect();
        Ok(self.out)
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

    /// One thing happens.
    fn step(&mut self) -> Check {
        let faults = self.faults;
        if happens(&mut self.dice, faults.interrupt) {
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

    /// Answers all there is until nothing is left to do. In a calm run this is all of it.
    fn settle(&mut self) -> Check {
        let calm = matches!(self.pace, Pace::Calm { .. });
        self.plainly = !calm;
        for _ in 0..SETTLES_WITHIN {
            if self.session.is_idle() && self.plans.is_empty() {
                if self.prompt()? {
                    continue;
                }
                return Ok(());
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

    fn stuck(&self, what: &'static str) -> Violation {
        Violation::Stuck {
            phase: format!("{:?}", self.session.phase()),
            what,
        }
    }

    /// Gives the next prompt, if there is one.
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
        let ms = match (self.session.deadline(), self.dice.below(3)) {
            (Some(deadline), 0) => deadline.since(self.now.mono),
            (_, 1) => self.dice.below(20_000),
            _ => self.dice.below(300),
        };
        self.wait(ms)
    }

    /// Goes to the next deadline; whether there is one.
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

    fn change_settings(&mut self) -> Check {
        let models = [None, Some("nobody-knows-1"), Some("claude-haiku-4-5")];
        // Between runs hooks would speak outside of them.
        let ways = if self.session.phase() == Phase::Idle {
            4
        } else {
            5
        };
        let input = match self.dice.below(ways) {
            4 => Input::Occurred(Occurrence::Notification(Notification {
                message: "look here".into(),
                title: None,
                notification_type: "idle_prompt".into(),
            })),
            0 => Input::SetThinking(Some(Thinking::Disabled).filter(|_| self.dice.below(2) == 0)),
            1 => Input::SetEffort(Some(Effort::Low).filter(|_| self.dice.below(2) == 0)),
            2 => Input::SetModel(models[pick(&mut self.dice, 3)].map(ToString::to_string)),
            // The last one needs leave, which not every spec gives.
            _ => Input::SetMode(Mode::ALL[pick(&mut self.dice, 4)]),
        };
        self.take(input)
    }

    /// Hands in an input that must be accepted, and checks what comes of it.
    fn take(&mut self, input: Input) -> Check {
        self.out.steps += 1;
        if let Some(trace) = &mut self.trace {
            trace.push(format!("> {} {input:?}", self.now.mono.0));
        }
        self.oracles.input(&self.session, &self.spec, &input)?;
        let from = self.session.phase();
        let stopped = stops(&input);
        let followed = self.twin.is_some().then(|| input.clone());
        let described = |error| Violation::Contract {
            input: format!("{input:?}"),
            what: format!("refused: {error}"),
        };
        self.session
            .handle(self.now, input.clone())
            .map_err(described)?;
        let outputs = self.drain()?;
        let to = self.session.phase();
        let change = PhaseChange { from, to, stopped };
        if from != to && !self.out.phases.contains(&change) {
            self.out.phases.push(change);
        }
        self.compare_with_twin(followed, &outputs)
    }

    fn compare_with_twin(&mut self, input: Option<Input>, outputs: &[Output]) -> Check {
        if let (Some(twin), Some(input)) = (&mut self.twin, input) {
            let needed = twin.follow(self.now, &input, outputs)?;
            self.twin = self.twin.take().filter(|_| needed);
        } else if happens(&mut self.dice, self.faults.restore) {
            let running: Vec<EffectId> = self.plans.keys().copied().collect();
            self.twin = Twin::of(&self.session, &self.spec, self.now, &running)?;
        }
        Ok(())
    }

    /// Polls until nothing is left.
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
                let plan = Plan {
                    effect: effect.clone(),
                    issue: *issue,
                    answers: None,
                    cancelled: false,
                };
                self.plans.insert(*id, plan);
            }
            Output::Cancel(id) => {
                if let Some(plan) = self.plans.get_mut(id) {
                    plan.cancelled = true;
                }
            }
            Output::Abandon(id) => drop(self.plans.remove(id)),
            Output::Message(message) => self.out.messages.push(message.clone()),
            Output::Refused(_) => {}
        }
    }

    /// One of the effects gets its next answer.
    fn answer_one(&mut self) -> Check {
        let may_wait = !self.plainly && matches!(self.pace, Pace::Eventful { .. });
        // Who stays silent is asked only when the others have said what they have to say.
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
            // It says nothing more: only a cancellation or the clock ends it.
            None if may_wait => return Ok(()),
            None if matches!(id.stage, Stage::Model | Stage::Summary) => {
                failed(HttpFailureKind::Interrupted)
            }
            None => Answer::Cancelled,
        };
        if answer.is_last() {
            self.plans.remove(&id);
        }
        self.take(Input::Answer(id, answer))
    }

    /// The answers to an effect: of the world, or what goes wrong in their place.
    fn answers(&mut self, id: EffectId, effect: &Effect, issue: u64) -> Vec<Answer> {
        let none = Faults::none();
        let faults = match self.plainly {
            true => &none,
            false => self.faults,
        };
        let mut dice = Seeded::new(seed_bytes(&[self.seed, name_of(id), issue]));
        let mut of_world = dice.clone();
        let asked = Asked {
            id,
            dice: &mut of_world,
            plainly: self.plainly,
        };
        let dice = &mut dice;
        match effect {
            Effect::Http(request) => match in_place(dice, faults) {
                Some(answers) => answers,
                None => over_the_line(dice, faults, self.world.model(asked, request)),
            },
            Effect::Resolve(_) if happens(dice, faults.resolve) => vec![match dice.below(4) {
                0 => Answer::Resolved(vec![]),
                1 => Answer::Resolved(vec![Err("no such disk".into())]),
                2 => Answer::Resolved(vec![Ok(crate::effect::ResolvedPath {
                    path: "/work/../etc".into(),
                })]),
                _ => Answer::Cancelled,
            }],
            Effect::Resolve(paths) => {
                let cwd = self.spec.environment.cwd.clone();
                let real = paths.iter().map(|path| {
                    let asked = Asked {
                        id,
                        dice: &mut of_world,
                        plainly: self.plainly,
                    };
                    self.world.resolve(asked, path, &cwd)
                });
                vec![Answer::Resolved(real.collect())]
            }
            Effect::CallTool(_) if happens(dice, faults.tool) => vec![match dice.below(3) {
                0 => Answer::Tool(ToolResult::error("it broke")),
                1 => Answer::Tool(ToolResult::default()),
                _ => Answer::Cancelled,
            }],
            Effect::CallTool(call) => self.world.tool(asked, call),
            Effect::AskPermission(_) if happens(dice, faults.permission) => {
                vec![match dice.below(2) {
                    0 => Answer::Permission(PermissionResponse::Deny {
                        message: "stop it".into(),
                        interrupt: true,
                    }),
                    _ => Answer::Cancelled,
                }]
            }
            Effect::AskPermission(request) => {
                vec![Answer::Permission(self.world.permission(asked, request))]
            }
            Effect::RunHook(_) if happens(dice, faults.hook) => failing_hook(dice),
            Effect::RunHook(call) => self.world.hook(asked, call),
            Effect::Persist(_) if happens(dice, faults.persist) => vec![match dice.below(2) {
                0 => Answer::PersistFailed("the disk is full".into()),
                _ => Answer::Cancelled,
            }],
            Effect::Persist(_) => vec![Answer::Persisted],
        }
    }

    /// The session is put away and taken up again; some of its effects are lost.
    fn crash(&mut self) -> Check {
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
        let all = self.faults.crash_loses_calls;
        let dice = &mut self.dice;
        self.plans.retain(|id, _| {
            let calls = matches!(id.stage, Stage::Resolve | Stage::Ask | Stage::Run);
            dice.below(2) == 0 || (calls && !all)
        });
        self.twin = None;
        let live: Vec<EffectId> = self.plans.keys().copied().collect();
        self.oracles.restored(&live);
        self.take(Input::Resumed { live })
    }

    /// An answer that the contract forbids is refused, and nothing has changed.
    fn breach(&mut self) -> Check {
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
                    session: Uuid(9),
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

impl Plan {
    /// Whether it will say something of its own accord.
    fn has_more(&self) -> bool {
        self.cancelled
            || self
                .answers
                .as_ref()
                .is_none_or(|answers| !answers.is_empty())
    }
}

/// A hook that does not do what it should.
fn failing_hook(dice: &mut Seeded) -> Vec<Answer> {
    let output = |json: &str| match RawJson::parse(json) {
        Ok(json) => HookAnswer::Output(json),
        Err(error) => HookAnswer::Failed(error.reason),
    };
    vec![match dice.below(7) {
        0 => Answer::Hook(HookAnswer::Failed("it crashed".into())),
        1 => Answer::Hook(output(r#"{"decison": "block"}"#)),
        2 => Answer::Hook(HookAnswer::Exited {
            code: Some(1),
            stdout: "{".into(),
            stderr: "oh no".into(),
        }),
        3 => Answer::Hook(output(r#"{"continue": false, "stopReason": "enough"}"#)),
        4 => Answer::Cancelled,
        // It hangs until its time is over.
        _ => return Vec::new(),
    }]
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

/// A seed for dice, from numbers.
pub(super) fn seed_bytes(numbers: &[u64]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// A number for the name of an effect within its session.
fn name_of(id: EffectId) -> u64 {
    let mut digest = Digest::default();
    for number in [id.agent, id.turn, id.call, id.attempt] {
        digest.add(&number.to_le_bytes());
    }
    digest.add(format!("{:?}", id.stage).as_bytes());
    digest.value()
}
