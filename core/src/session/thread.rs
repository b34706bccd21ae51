//! One conversation of a session: the main thread, or a subagent's.

use alloc::{
    borrow::ToOwned, boxed::Box, collections::BTreeSet, string::String, sync::Arc, vec::Vec,
};

use bytes::Bytes;

use super::{
    Phase, Shared,
    model_call::Incoming,
    run::{Outcome, Run},
    transition::{Event, next},
};
use crate::{
    content::Block,
    effect::{Answer, Effect, Entry, Prompt},
    history::{History, Role},
    id::{EffectId, Millis, Stage, Uuid},
    json::RawJson,
    message::{Init, Message, SystemMessage},
    spec::Spec,
};

/// A conversation and the run that answers its prompt. What it shares with the other threads is handed in with every step.
#[derive(Debug)]
pub(super) struct Thread {
    /// The agent's number in effect ids; 0 is the main thread.
    pub(super) number: u32,
    /// What this thread was told; the session's own for the main thread.
    pub(super) spec: Arc<Spec>,
    /// The call that this thread answers; none on the main thread.
    pub(super) parent_tool_use_id: Option<String>,
    /// The model chosen while it ran.
    pub(super) model: Option<String>,
    pub(super) history: History,
    /// Responses over the thread's life, and those that never came.
    pub(super) turn: u32,
    /// Something was done for a response that has not come: its number is not free any more.
    pub(super) turn_begun: bool,
    /// Ids of all tool calls.
    pub(super) call_ids: BTreeSet<String>,
    pub(super) last_entry: Option<Uuid>,
    /// The entry that the host is writing.
    pub(super) saving: Option<Entry>,
    pub(super) phase: Phase,
    pub(super) run: Run,
    /// The response that is arriving.
    pub(super) incoming: Option<Incoming>,
    /// The unchanging part of a request, for the model it was made for.
    pub(super) prefix: Option<(String, Bytes)>,
}

impl Thread {
    pub(super) fn new(number: u32, spec: Arc<Spec>) -> Self {
        Self {
            number,
            spec,
            parent_tool_use_id: None,
            model: None,
            history: History::default(),
            turn: 0,
            turn_begun: false,
            call_ids: BTreeSet::new(),
            last_entry: None,
            saving: None,
            phase: Phase::Idle,
            run: Run::default(),
            incoming: None,
            prefix: None,
        }
    }

    /// The model that the next request goes to.
    pub(super) fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(&self.spec.model)
    }

    /// When time itself is the next thing to happen to this thread.
    pub(super) fn deadline(&self) -> Option<Millis> {
        let lingering = self.incoming.as_ref().and_then(Incoming::linger_until);
        self.run.retry_at.into_iter().chain(lingering).min()
    }

    /// An answer to an effect of this thread.
    pub(super) fn answer(
        &mut self,
        shared: &mut Shared,
        id: EffectId,
        answer: Answer,
        was_cancelled: bool,
    ) {
        let last = answer.is_last();
        match id.stage {
            Stage::Model => self.model_answer(shared, id, answer),
            Stage::Resolve | Stage::Ask | Stage::Run => {
                self.call_answer(shared, id, answer, was_cancelled);
            }
            Stage::SavePrompt | Stage::SaveResponse | Stage::SaveResults => match answer {
                Answer::Persisted => self.after_save(shared),
                Answer::PersistFailed(reason) => self.transcript_failed(shared, &reason),
                // Nobody cancels writing: whoever says so did not do it.
                _ => self.transcript_failed(shared, "the host dropped the entries"),
            },
        }
        if last {
            self.drained_if_quiet(shared);
        }
    }

    /// A deadline may have passed.
    pub(super) fn tick(&mut self, shared: &mut Shared) {
        let now = shared.now.mono;
        if self.phase == Phase::Backoff && self.run.retry_at.is_some_and(|at| at <= now) {
            self.run.retry_at = None;
            self.transit(shared, Event::Due);
        }
        let lingering = self.incoming.as_ref().and_then(Incoming::linger_until);
        if lingering.is_some_and(|until| until <= now) {
            self.stop_lingering(shared);
        }
        self.drained_if_quiet(shared);
    }

    /// Takes a step of the table and does what the new phase begins with.
    pub(super) fn transit(&mut self, shared: &mut Shared, event: Event) {
        let Some(phase) = next(self.phase, event) else {
            // The table has no such step: the event came too late to matter (an answer after an
            // interrupt, for example).
            return;
        };
        self.phase = phase;
        match phase {
            Phase::Idle | Phase::SavingPrompt | Phase::Backoff => {}
            Phase::Calling => self.ask_model(shared),
            Phase::SavingResponse => self.save_response(shared),
            Phase::Tooling => self.schedule_calls(shared),
            Phase::SavingResults => self.save_results(shared),
            Phase::Stopping => self.drained_if_quiet(shared),
            Phase::SavingEnd => self.save_end(shared),
            Phase::Finishing => self.report(shared),
        }
    }

    /// Begins to answer a prompt.
    pub(super) fn start(&mut self, shared: &mut Shared, prompt: Prompt) {
        self.run = Run {
            started: shared.now.mono,
            ..Run::default()
        };
        self.phase = next(Phase::Idle, Event::Prompt).unwrap_or(Phase::SavingPrompt);
        let init = self.init(shared);
        shared.say(Message::System(SystemMessage::Init(Box::new(init))));
        // What the API would refuse must not enter: it would be refused again with every later prompt.
        let mut content = prompt.content;
        content.retain(|block| Block::from_raw(block.clone()).belongs_in_history());
        if content.is_empty() {
            self.run.outcome = Some(Outcome::Failed {
                class: None,
                message: "the prompt is empty: give it a text or another content block".to_owned(),
            });
            return self.transit(shared, Event::Stop);
        }
        self.history.push(Role::User, content.clone());
        self.save(shared, Stage::SavePrompt, entry(Role::User, content));
    }

    fn init(&self, shared: &mut Shared) -> Init {
        let environment = &self.spec.environment;
        Init {
            cwd: environment.cwd.clone(),
            session_id: shared.id,
            tools: self.spec.offered_tools().map(|t| t.name.clone()).collect(),
            mcp_servers: environment.mcp_servers.clone(),
            model: self.model().to_owned(),
            permission_mode: shared.mode,
            slash_commands: environment.slash_commands.clone(),
            api_key_source: environment.api_key_source.clone(),
            claude_code_version: environment.version.clone(),
            output_style: environment.output_style.clone(),
            agents: environment.agents.clone(),
            skills: environment.skills.clone(),
            plugins: environment.plugins.clone(),
            betas: self.spec.betas.clone(),
            uuid: shared.ids.uuid(),
        }
    }

    /// Hands an entry to the host; without a transcript it counts as written.
    pub(super) fn save(&mut self, shared: &mut Shared, stage: Stage, message: RawJson) {
        if !self.spec.persist || self.run.transcript_broken {
            self.after_save(shared);
            return;
        }
        let entry = Entry {
            uuid: shared.ids.uuid(),
            parent: self.last_entry,
            timestamp: shared.now.wall,
            message,
        };
        self.saving = Some(entry.clone());
        let id = self.effect_id(shared, 0, stage, 1);
        self.perform(shared, id, Effect::Persist(alloc::vec![entry]));
    }

    /// Everything handed over so far is written: go on from here.
    pub(super) fn after_save(&mut self, shared: &mut Shared) {
        if let Some(written) = self.saving.take() {
            self.last_entry = Some(written.uuid);
        }
        let event = match self.phase {
            Phase::SavingPrompt => self.may_ask(shared),
            Phase::SavingResponse => self.after_response(shared),
            Phase::SavingResults => self.after_results(shared),
            Phase::SavingEnd => Event::Saved,
            _ => return,
        };
        self.transit(shared, event);
    }

    /// The name of an effect of this thread.
    pub(super) fn effect_id(
        &self,
        shared: &Shared,
        call: u32,
        stage: Stage,
        attempt: u32,
    ) -> EffectId {
        EffectId {
            session: shared.id,
            agent: self.number,
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

    pub(super) fn perform(&mut self, shared: &mut Shared, id: EffectId, effect: Effect) {
        self.turn_begun |= id.turn > self.turn;
        shared.perform(id, effect);
    }

    /// Effects of this thread that are not answered to their end.
    pub(super) fn running<'s>(&self, shared: &'s Shared) -> impl Iterator<Item = EffectId> + 's {
        let number = self.number;
        let ids = shared.running.keys().copied();
        ids.filter(move |id| id.agent == number)
    }
}

/// A message as a transcript line carries it.
pub(super) fn entry(role: Role, content: Vec<RawJson>) -> RawJson {
    #[derive(serde::Serialize)]
    struct Line {
        role: Role,
        content: Vec<RawJson>,
    }
    // Strings and raw JSON only: encoding cannot fail.
    RawJson::encode(&Line { role, content }).unwrap_or_else(|_| RawJson::null())
}
