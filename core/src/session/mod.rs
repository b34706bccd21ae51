//! The machine.

mod ending;
mod model_call;
mod resume;
mod run;
mod snapshot;
mod tool_round;
mod transition;

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    collections::{BTreeMap, BTreeSet, VecDeque},
    string::String,
    sync::Arc,
    vec::Vec,
};

use bytes::Bytes;

use self::{
    model_call::Incoming,
    run::{Outcome, Run},
    transition::{Event, next},
};
use crate::{
    content::Block,
    effect::{Answer, Effect, Entry, Input, Output, Prompt},
    history::{History, Role},
    id::{EffectId, Millis, Now, Seeded, SessionId, Stage, Uuid},
    json::RawJson,
    message::{Init, Message, ModelUsage, SystemMessage},
    money::Usd,
    permission::{Mode, Rule},
    spec::Spec,
    tool::Observation,
};

pub use snapshot::{SNAPSHOT_VERSION, SnapshotError};
pub use transition::{Phase, diagram};

/// One conversation with one agent, as a value.
///
/// Its methods are of four kinds:
/// - A, looking: [`id`](Self::id), [`phase`](Self::phase), [`mode`](Self::mode), [`history`](Self::history);
/// - B, the world speaks: [`handle`](Self::handle);
/// - C, time: [`deadline`](Self::deadline), the moment at which [`Input::Tick`] is wanted;
/// - D, the machine speaks: [`poll`](Self::poll).
///
/// Between two inputs it can be put away and taken up again: [`snapshot`](Self::snapshot), [`restore`](Self::restore).
///
/// The contract has one rule: after every `handle`, call `poll` until it returns nothing, then look
/// at `deadline`, then wait for whatever comes first. There are no locks, callbacks or channels
/// because there is only ever one mutation at a time.
///
/// ```
/// # extern crate alloc;
/// use windlass_core::{Input, Now, Output, Prompt, Seeded, Session, Spec, effect::Effect};
///
/// let mut ids = Seeded::new([7; 32]);
/// let mut session = Session::new(alloc::sync::Arc::new(Spec::default()), ids.uuid(), [7; 32]);
/// session.handle(Now::default(), Input::Prompt(Prompt::text("hello")))?;
/// let mut request = None;
/// while let Some(output) = session.poll() {
///     if let Output::Effect(id, Effect::Http(http)) = output {
///         request = Some((id, http)); // send it; answer with `Input::Answer(id, …)`
///     }
/// }
/// assert_eq!(request.unwrap().1.path, "/v1/messages");
/// # Ok::<(), windlass_core::HostError>(())
/// ```
#[derive(Debug)]
pub struct Session {
    spec: Arc<Spec>,
    id: SessionId,
    ids: Seeded,
    mode: Mode,
    model: Option<String>,
    session_allow: Vec<Rule>,
    history: History,
    observed: BTreeMap<String, Observation>,
    /// Responses over the session's life, and those that never came.
    turn: u32,
    /// Something was done for a response that has not come: its number is not free any more.
    turn_begun: bool,
    /// Ids of all tool calls.
    call_ids: BTreeSet<String>,
    cost: Usd,
    model_usage: BTreeMap<String, ModelUsage>,
    last_entry: Option<Uuid>,
    /// The entry that the host is writing.
    saving: Option<Entry>,
    phase: Phase,
    run: Run,
    waiting: VecDeque<Prompt>,
    /// Effects that are not answered to their end.
    running: BTreeMap<EffectId, Running>,
    out: VecDeque<Output>,
    /// The response that is arriving.
    incoming: Option<Incoming>,
    /// The unchanging part of a request, for the model it was made for.
    prefix: Option<(String, Bytes)>,
    /// Just restored: what the host still holds must be said first.
    awaits_resumed: bool,
}

/// An effect under way.
#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
struct Running {
    cancelled_at: Option<Millis>,
}

impl Session {
    /// A fresh session. Ids come from `seed`: the same seed and inputs give the same outputs.
    #[must_use]
    pub fn new(spec: Arc<Spec>, id: SessionId, seed: [u8; 32]) -> Self {
        Self {
            mode: spec.permissions.mode,
            spec,
            id,
            ids: Seeded::new(seed),
            model: None,
            session_allow: Vec::new(),
            history: History::default(),
            observed: BTreeMap::new(),
            turn: 0,
            turn_begun: false,
            call_ids: BTreeSet::new(),
            cost: Usd::default(),
            model_usage: BTreeMap::new(),
            last_entry: None,
            saving: None,
            phase: Phase::Idle,
            run: Run::default(),
            waiting: VecDeque::new(),
            running: BTreeMap::new(),
            out: VecDeque::new(),
            incoming: None,
            prefix: None,
            awaits_resumed: false,
        }
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Where it is.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The permission mode in force.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The model that the next request goes to.
    #[must_use]
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(&self.spec.model)
    }

    /// The conversation so far.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Whether nothing runs and no prompt waits.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle && self.waiting.is_empty()
    }

    /// The world speaks.
    ///
    /// # Errors
    /// [`HostError`] when the host broke the contract; the state is as before.
    pub fn handle(&mut self, now: Now, input: Input) -> Result<(), HostError> {
        if self.awaits_resumed && !matches!(input, Input::Resumed { .. }) {
            return Err(HostError::NotResumed);
        }
        match input {
            Input::Prompt(prompt) => self.waiting.push_back(prompt),
            Input::Interrupt => self.interrupt(now, Outcome::Interrupted),
            Input::SetMode(mode) => {
                let refused =
                    mode == Mode::BypassPermissions && !self.spec.permissions.allow_bypass;
                if refused {
                    return Err(HostError::BypassNotAllowed);
                }
                self.mode = mode;
            }
            Input::SetModel(model) => self.model = model,
            Input::Resumed { live } => {
                if core::mem::take(&mut self.awaits_resumed) {
                    self.resume(now, &live);
                }
            }
            Input::Tick => self.tick(now),
            Input::Answer(id, answer) => self.answer(now, id, answer)?,
        }
        // A run may end as soon as it begins; the prompts behind it are no deeper on the stack for that.
        while self.phase == Phase::Idle && !self.waiting.is_empty() {
            self.start_next_prompt(now);
        }
        Ok(())
    }

    /// The next thing to do or to tell; none when the machine waits.
    pub fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    /// When [`Input::Tick`] is wanted, if nothing else comes before.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        let grace = self.spec.cancel_grace_ms;
        let cancelled = self
            .running
            .values()
            .filter_map(|running| running.cancelled_at)
            .map(|at| at.after(grace));
        let lingering = self.incoming.as_ref().and_then(Incoming::linger_until);
        cancelled.chain(self.run.retry_at).chain(lingering).min()
    }

    fn answer(&mut self, now: Now, id: EffectId, answer: Answer) -> Result<(), HostError> {
        let Some(running) = self.running.get(&id).copied() else {
            return Err(HostError::UnknownEffect(id));
        };
        if !fits(id.stage, &answer) {
            return Err(HostError::WrongAnswer(id));
        }
        let last = answer.is_last();
        if last {
            self.running.remove(&id);
        }
        match id.stage {
            Stage::Model => self.model_answer(now, id, answer),
            Stage::Resolve | Stage::Ask | Stage::Run => {
                self.call_answer(now, id, answer, running.cancelled_at.is_some());
            }
            Stage::SavePrompt | Stage::SaveResponse | Stage::SaveResults => match answer {
                Answer::Persisted => self.after_save(now),
                Answer::PersistFailed(reason) => self.transcript_failed(now, &reason),
                // Nobody cancels writing: whoever says so did not do it.
                _ => self.transcript_failed(now, "the host dropped the entries"),
            },
        }
        if last {
            self.drained_if_quiet(now);
        }
        Ok(())
    }

    fn tick(&mut self, now: Now) {
        if self.phase == Phase::Backoff && self.run.retry_at.is_some_and(|at| at <= now.mono) {
            self.run.retry_at = None;
            self.transit(now, Event::Due);
        }
        if let Some(until) = self.incoming.as_ref().and_then(Incoming::linger_until)
            && until <= now.mono
        {
            self.stop_lingering(now);
        }
        let grace = self.spec.cancel_grace_ms;
        let overdue: Vec<EffectId> = self
            .running
            .iter()
            .filter(|(_, r)| r.cancelled_at.is_some_and(|at| at.after(grace) <= now.mono))
            .map(|(id, _)| *id)
            .collect();
        for id in overdue {
            self.running.remove(&id);
            self.out.push_back(Output::Abandon(id));
        }
        self.drained_if_quiet(now);
    }

    /// Takes a step of the table and does what the new phase begins with.
    fn transit(&mut self, now: Now, event: Event) {
        let Some(phase) = next(self.phase, event) else {
            // The table has no such step: the event came too late to matter (an answer after an
            // interrupt, for example).
            return;
        };
        self.phase = phase;
        match phase {
            Phase::Idle | Phase::SavingPrompt | Phase::Backoff => {}
            Phase::Calling => self.ask_model(now),
            Phase::SavingResponse => self.save_response(now),
            Phase::Tooling => self.schedule_calls(now),
            Phase::SavingResults => self.save_results(now),
            Phase::Stopping => self.drained_if_quiet(now),
            Phase::SavingEnd => self.save_end(now),
            Phase::Finishing => self.report(now),
        }
    }

    fn start_next_prompt(&mut self, now: Now) {
        let Some(prompt) = self.waiting.pop_front() else {
            return;
        };
        self.run = Run {
            started: now.mono,
            ..Run::default()
        };
        self.phase = next(Phase::Idle, Event::Prompt).unwrap_or(Phase::SavingPrompt);
        let init = self.init();
        self.say(Message::System(SystemMessage::Init(Box::new(init))));
        // What the API would refuse must not enter: it would be refused again with every later prompt.
        let mut content = prompt.content;
        content.retain(|block| Block::from_raw(block.clone()).belongs_in_history());
        if content.is_empty() {
            self.run.outcome = Some(Outcome::Failed {
                class: None,
                message: "the prompt is empty: give it a text or another content block".to_owned(),
            });
            return self.transit(now, Event::Stop);
        }
        self.history.push(Role::User, content.clone());
        self.save(now, Stage::SavePrompt, entry(Role::User, content));
    }

    fn init(&mut self) -> Init {
        let environment = &self.spec.environment;
        Init {
            cwd: environment.cwd.clone(),
            session_id: self.id,
            tools: self.spec.offered_tools().map(|t| t.name.clone()).collect(),
            mcp_servers: environment.mcp_servers.clone(),
            model: self.model().to_owned(),
            permission_mode: self.mode,
            slash_commands: environment.slash_commands.clone(),
            api_key_source: environment.api_key_source.clone(),
            claude_code_version: environment.version.clone(),
            output_style: environment.output_style.clone(),
            agents: environment.agents.clone(),
            skills: environment.skills.clone(),
            plugins: environment.plugins.clone(),
            betas: self.spec.betas.clone(),
            uuid: self.ids.uuid(),
        }
    }

    /// Hands an entry to the host; without a transcript it counts as written.
    fn save(&mut self, now: Now, stage: Stage, message: RawJson) {
        if !self.spec.persist || self.run.transcript_broken {
            self.after_save(now);
            return;
        }
        let entry = Entry {
            uuid: self.ids.uuid(),
            parent: self.last_entry,
            timestamp: now.wall,
            message,
        };
        self.saving = Some(entry.clone());
        let id = self.effect_id(0, stage, 1);
        self.perform(id, Effect::Persist(alloc::vec![entry]));
    }

    /// Everything handed over so far is written: go on from here.
    fn after_save(&mut self, now: Now) {
        if let Some(written) = self.saving.take() {
            self.last_entry = Some(written.uuid);
        }
        let event = match self.phase {
            Phase::SavingPrompt => self.may_ask(),
            Phase::SavingResponse => self.after_response(),
            Phase::SavingResults => self.after_results(),
            Phase::SavingEnd => Event::Saved,
            _ => return,
        };
        self.transit(now, event);
    }

    fn effect_id(&self, call: u32, stage: Stage, attempt: u32) -> EffectId {
        EffectId {
            session: self.id,
            agent: 0,
            turn: match stage {
                // These serve the response that is still to come.
                Stage::Model | Stage::SavePrompt => self.turn.saturating_add(1),
                _ => self.turn,
            },
            call,
            stage,
            attempt,
        }
    }

    fn perform(&mut self, id: EffectId, effect: Effect) {
        self.turn_begun |= id.turn > self.turn;
        self.running.insert(id, Running::default());
        self.out.push_back(Output::Effect(id, effect));
    }

    fn cancel(&mut self, now: Now, id: EffectId) {
        if let Some(running) = self.running.get_mut(&id)
            && running.cancelled_at.is_none()
        {
            running.cancelled_at = Some(now.mono);
            self.out.push_back(Output::Cancel(id));
        }
    }

    fn say(&mut self, message: Message) {
        self.out.push_back(Output::Message(message));
    }
}

/// Whether an answer is of the kind that an effect of this stage takes.
fn fits(stage: Stage, answer: &Answer) -> bool {
    match answer {
        Answer::HttpHead { .. } | Answer::HttpBody(_) | Answer::HttpEnd | Answer::HttpFailed(_) => {
            stage == Stage::Model
        }
        Answer::Resolved(_) => stage == Stage::Resolve,
        Answer::Progress(_) | Answer::Tool(_) => stage == Stage::Run,
        Answer::Permission(_) => stage == Stage::Ask,
        Answer::Persisted | Answer::PersistFailed(_) => stage.saves(),
        Answer::Cancelled => true,
    }
}

/// A message as a transcript line carries it.
fn entry(role: Role, content: Vec<RawJson>) -> RawJson {
    #[derive(serde::Serialize)]
    struct Line {
        role: Role,
        content: Vec<RawJson>,
    }
    // Strings and raw JSON only: encoding cannot fail.
    RawJson::encode(&Line { role, content }).unwrap_or_else(|_| RawJson::null())
}

/// The host broke the contract. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// An answer to an effect that is not running: never issued, or already answered to its end.
    #[error("no effect {0} is running: answer every effect to its end exactly once")]
    UnknownEffect(EffectId),
    /// An answer of a kind that the effect does not take.
    #[error("that is not an answer to {0}: see `Effect` for what each effect takes")]
    WrongAnswer(EffectId),
    /// Another input before [`Input::Resumed`] after a restore.
    #[error(
        "a restored session must first be told which effects are still running (`Input::Resumed`)"
    )]
    NotResumed,
    /// A switch to bypassPermissions that nobody allowed beforehand.
    #[error(
        "permission mode bypassPermissions must be allowed when the session is made (`PermissionPolicy::allow_bypass`)"
    )]
    BypassNotAllowed,
}
