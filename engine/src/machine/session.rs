//! Inputs to the session, and the dispatch of its outputs.

use windlass_core::{
    EffectId, Input as SessionInput, Message, Output as SessionOutput,
    effect::{Answer, Effect as SessionEffect, HttpFailure, HttpFailureKind, Stage},
    hook::HookCall,
    message::{SystemMessage, TaskKind, TaskStarted},
    tool::{ToolCall, ToolResult},
};

use super::{
    Engine, State, Topic,
    io::{Effect, Fault, Output, ServerTool},
    pending::{Pending, Then},
    questions::Purpose,
    routes::Route,
    running::{Parked, Running},
    state::Step,
    variant,
};
use crate::protocol::frames::{Facts, Frames};

impl Engine {
    /// Sends an input to the running session.
    pub(super) fn send(&mut self, input: SessionInput) {
        if let Some(session) = &mut self.session {
            session.send(input);
        }
    }

    /// Passes an answer to an effect to the session, whatever its origin.
    pub(super) fn answer_session(&mut self, id: EffectId, answer: Answer) {
        if let Some(session) = &mut self.session {
            // A late answer is ignored.
            session.answered(id, answer);
        }
    }

    /// Handles the host's answer to an effect of the session, or of a hook that runs at its end.
    pub(super) fn session_answered(&mut self, id: EffectId, answer: Answer) {
        if self.end_hook_answered(id, &answer) {
            return;
        }
        self.answer_session(id, answer);
    }

    /// A deadline of the session may have passed.
    pub(super) fn session_tick(&mut self) {
        let due = self.session.as_ref().and_then(Running::deadline);
        if due.is_some_and(|due| due <= self.now.mono) {
            self.send(SessionInput::Tick);
        }
    }

    /// Runs the session: passes inputs to it and dispatches its outputs.
    pub(super) fn turn_session(&mut self) {
        loop {
            let Some(session) = self.session.as_mut().filter(|it| !it.is_held()) else {
                return;
            };
            match session.poll() {
                Ok(Some(output)) => self.session_output(output),
                Ok(None) if self.hear_next() => {}
                Ok(None) => return,
                Err(fault) => self.session_failed(fault),
            }
            self.take_journal();
        }
    }

    /// Passes the next input to the session. Returns false if there is none.
    fn hear_next(&mut self) -> bool {
        let is_finishing = self.state == State::Draining;
        let Some(session) = &mut self.session else {
            return false;
        };
        let Some(input) = session.next_input(is_finishing) else {
            return false;
        };
        if let SessionInput::Answer(id, answer) = &input {
            self.responses.heard(*id, answer, self.now.mono);
        }
        if let Err(fault) = session.handle(self.now, input) {
            self.session_failed(fault);
            return true;
        }
        for call in session.core_session().approved_calls().to_vec() {
            self.note(Topic::Permissions, || call.to_string());
            self.outbox.push(Output::Allowed(call));
        }
        true
    }

    fn take_journal(&mut self) {
        let id = self.session_id;
        let lines = self.session.iter().flat_map(|session| session.journal());
        for line in lines {
            self.outbox.push(Output::Journal(id, line));
        }
    }

    /// Handles a fault that has ended the session.
    fn session_failed(&mut self, fault: Fault) {
        self.drop_session();
        self.has_ended = true;
        self.outbox.queue.clear_all();
        let problem = format!("the session has ended because of a fault of the engine: {fault}");
        self.outbox.fail(&problem, fault);
        self.outbox.say(Frames::idle);
        if self.state.after(Step::SessionEnded).is_some() {
            self.step(Step::SessionEnded);
        }
    }

    /// Drops the session and abandons all its open effects.
    pub(super) fn drop_session(&mut self) -> Option<Running> {
        self.take_journal();
        let session = self.session.take()?;
        for id in session.effects() {
            self.withdraw_question_of(id);
            self.outbox.push(Output::Abandon(id));
        }
        Some(session)
    }

    /// Dispatches an output of the session.
    fn session_output(&mut self, output: SessionOutput) {
        match output {
            SessionOutput::Message(message) => self.session_says(message),
            SessionOutput::Effect(id, effect) => self.session_effect(id, effect),
            SessionOutput::Cancel(id) => self.session_cancels(id),
            SessionOutput::Abandon(id) => {
                self.withdraw_question_of(id);
                if let Some(session) = &mut self.session {
                    session.forget(id);
                }
                self.outbox.push(Output::Abandon(id));
            }
            // A rejected change has no further consequence.
            _ => {}
        }
    }

    fn session_effect(&mut self, id: EffectId, effect: SessionEffect) {
        if let Some(session) = &mut self.session {
            session.begin_effect(id);
        }
        match effect {
            SessionEffect::Persist(entries) => self.persist(id, &entries),
            SessionEffect::AskPermission(request) if self.asks_in_lines() => {
                self.ask_permission(id, request);
            }
            SessionEffect::AskPermission(request)
                if self.launch.keeps_questions || self.launch.keeps_turns =>
            {
                self.park(id, Parked::Question(Box::new(request)));
            }
            SessionEffect::RunHook(call) if self.has_transcript() => self.run_hook(id, call),
            SessionEffect::RunHook(call) => {
                self.park(id, Parked::Hook(Box::new(call), false));
                self.make_transcript(id);
            }
            SessionEffect::CallTool(call) => self.call_tool(id, call),
            SessionEffect::Http(_) if id.stage == Stage::Suggestion && !self.may_suggest() => {
                let failure = HttpFailure::new(HttpFailureKind::Refused, "no suggestion is due");
                self.answer_session(id, Answer::HttpFailed(failure));
            }
            effect => {
                if matches!(effect, SessionEffect::Http(_)) {
                    self.responses.asked(id, self.now.mono);
                    self.outbox.say(Frames::begun);
                }
                self.perform(id, effect);
            }
        }
    }

    /// Whether the model may be asked what the user says next. A program that embeds the engine asks for every answer.
    fn may_suggest(&self) -> bool {
        let is_due = self.session.as_ref().is_some_and(Running::may_suggest);
        !self.asks_in_lines() || is_due && self.launch.suggests
    }

    /// Runs a hook: callbacks are requests to the SDK, all other hooks are performed by the host.
    fn run_hook(&mut self, id: EffectId, call: HookCall) {
        if self.asks_in_lines() && !self.is_of_host(&call.hook) {
            self.ask_hook(Purpose::hook(id, &call), call);
        } else {
            self.perform(id, SessionEffect::RunHook(call));
        }
    }

    /// Runs the hook that waited for the transcript, whether or not the transcript could be created.
    pub(super) fn transcript_made(&mut self, id: EffectId) {
        match self.unpark(id) {
            Some(Parked::Hook(_, true)) => self.answer_session(id, Answer::Cancelled),
            Some(Parked::Hook(call, false)) => self.run_hook(id, *call),
            _ => {}
        }
    }

    /// Has the host perform an effect of the session, with the tools and hooks of its configuration.
    pub(super) fn perform(&mut self, id: EffectId, effect: SessionEffect) {
        if let Some(session) = &self.session {
            let number = session.prepared.config.number;
            self.outbox.push(Output::Session(number, id, effect));
        }
    }

    /// Whether permission questions and callbacks are sent as lines instead of being performed by the host.
    pub(super) fn asks_in_lines(&self) -> bool {
        self.launch.face.has_lines()
    }

    /// Whether a hook is one of the host, and not a callback of the SDK.
    fn is_of_host(&self, hook: &str) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.prepared.config.hooks_of_host.contains(hook))
    }

    fn call_tool(&mut self, id: EffectId, call: ToolCall) {
        if id.stage == Stage::Provision {
            return self.provision(id, &call);
        }
        let Some(session) = &self.session else { return };
        let fields = session.changed_fields.get(&call.name);
        match fields.filter(|_| self.keeps_files) {
            Some(fields) => {
                let before = super::checkpoints::before(&call, fields, self.now.wall);
                self.park(id, Parked::Checkpoint(Box::new(call), false));
                self.effect(Effect::Checkpoint(before), Pending::BeforeCall(id));
            }
            None => self.run_tool(id, call),
        }
    }

    pub(super) fn park(&mut self, id: EffectId, parked: Parked) {
        if let Some(session) = &mut self.session {
            session.park(id, parked);
        }
    }

    pub(super) fn unpark(&mut self, id: EffectId) -> Option<Parked> {
        self.session.as_mut()?.unpark(id)
    }

    /// Runs a call. Tools of the agent's own servers take precedence over the session's, and these over the host's.
    pub(super) fn run_tool(&mut self, id: EffectId, call: ToolCall) {
        let Some(session) = &self.session else { return };
        let of_agent = (call.agent.as_ref())
            .and_then(|agent| session.agents_routes.get(agent)?.get(&call.name));
        let route = of_agent.or_else(|| session.routes.get(&call.name)).cloned();
        match route {
            None => {
                let call = self.with_closed_files(call);
                self.perform(id, SessionEffect::CallTool(call));
            }
            Some(Route::Program { connection, tool }) => {
                let call = ServerTool {
                    connection,
                    tool,
                    call,
                };
                self.outbox.push(Output::ServerTool(id, call));
            }
            Some(Route::Sdk { server, tool }) => self.call_sdk_tool(id, &server, &tool, &call),
            Some(Route::Resources(tool)) => self.call_resources(id, tool, &call),
        }
    }

    fn session_cancels(&mut self, id: EffectId) {
        if self.cancel_question_of(id) || self.cancel_resources(id) {
            return;
        }
        let parked = self.session.as_mut().and_then(|it| it.parked(id));
        match parked {
            Some(Parked::Provision(_) | Parked::Question(_)) => {
                self.unpark(id);
                self.answer_session(id, Answer::Cancelled);
            }
            Some(Parked::Checkpoint(_, is_cancelled) | Parked::Hook(_, is_cancelled)) => {
                *is_cancelled = true;
            }
            None => self.outbox.push(Output::Cancel(id)),
        }
    }

    /// Answers a parked call with an error instead of running it.
    pub(super) fn refuse_call(&mut self, id: EffectId, text: String) {
        self.answer_session(id, Answer::Tool(ToolResult::error(text)));
    }

    /// Sends a message of the session: immediately, or after what belongs to it has been written.
    fn session_says(&mut self, mut message: Message) {
        if let Message::System(SystemMessage::TaskNotification(task)) = &mut message
            && let Some(call) = &task.tool_use_id
            && let Some(file) = self.output_files.remove(call)
        {
            task.output_file = file;
        }
        match &message {
            Message::User(prompt) if prompt.is_replay && self.keeps_files => {
                let uuid = prompt.uuid;
                self.hold(message);
                self.begin_checkpoint(uuid);
            }
            Message::Result(result) => {
                if let Some(session) = &mut self.session {
                    session.turn_ended();
                }
                let before = self.outbox.frames.cost_state();
                let after = before.after(result);
                let spent = Some(&after).filter(|after| after.spent != before.spent);
                self.hold(message);
                self.note_turn_end(spent, Then::Message);
            }
            Message::System(SystemMessage::TaskStarted(task)) => {
                let task = task.clone();
                self.hold(message);
                match (&task.tool_use_id, &self.log) {
                    (Some(call), Some(log)) if is_command(&task) => {
                        let keep = Effect::KeepOutput(log.lease(), call.clone());
                        self.effect(keep, Pending::OutputFile(call.clone()));
                    }
                    _ => self.note_agent(&task, Then::Message),
                }
            }
            _ => self.say(message),
        }
    }

    /// Records the output file of a background command. If there is none, its messages are sent all the same.
    pub(super) fn output_begun(&mut self, call: String, file: Result<String, String>) {
        match file {
            Ok(file) => {
                self.output_files.insert(call, file);
            }
            Err(reason) => self.note(Topic::Tools, || format!("the output of {call}: {reason}")),
        }
    }

    /// Holds back a message, and the session with it, until what belongs to it has been written.
    fn hold(&mut self, message: Message) {
        if let Some(session) = &mut self.session {
            session.hold(message);
        }
    }

    /// Sends the held message.
    pub(super) fn emit_held(&mut self) {
        let held = self.session.as_mut().and_then(Running::take_held);
        if let Some(message) = held {
            self.say(message);
        }
    }

    fn say(&mut self, message: Message) {
        if !matches!(message, Message::StreamEvent(_)) {
            self.note(Topic::Session, || noted(&message));
        }
        match &message {
            Message::System(SystemMessage::Init(_)) => self.responses.turn_begins(self.now.mono),
            Message::Assistant(_) | Message::StreamEvent(_) => self.responses.shown(self.now.mono),
            _ => {}
        }
        let facts = Facts {
            http_status: self.responses.status(),
            request_id: match &message {
                Message::Assistant(_) => self.responses.request_id().map(str::to_owned),
                _ => None,
            },
            timing: self.responses.timing(),
            at: Some(self.now.wall),
            queued: 0,
        };
        self.outbox.message(message, facts);
    }
}

fn is_command(task: &TaskStarted) -> bool {
    task.task_type == Some(TaskKind::LocalBash)
}

/// A short description of a message, without its content.
fn noted(message: &Message) -> String {
    match message {
        Message::System(SystemMessage::ApiRetry(retry)) => format!(
            "attempt {} of {} follows in {} ms, after status {:?}",
            retry.attempt, retry.max_retries, retry.retry_delay_ms, retry.error_status
        ),
        Message::System(system) => format!("system {}", variant(system)),
        Message::Result(result) => format!(
            "result {:?}, {} turns, {} ms, ${} so far",
            result.subtype, result.num_turns, result.duration_ms, result.total_cost_usd
        ),
        message => variant(message),
    }
}
