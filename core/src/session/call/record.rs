//! What is known of a call, from the response that made it to its result.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{super::background::TaskWait, hooked::CallHooks, subject::ReadSubject};
use crate::{
    content::ToolUse,
    id::{Millis, Uuid},
    json::RawJson,
    permission::PathFact,
    tool::{ApprovedCommand, ToolDefinition, ToolResult},
};

/// A tool call of the current response.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    /// The input, or the text that was not one.
    pub(super) input: ToolCallInput,
    pub(super) state: CallState,
    pub(super) paths: Vec<PathFact>,
    /// A file that it would change and that it must have read first: it is there, and no call has seen it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unread: Option<String>,
    /// What its input says for rules, once that was read.
    #[serde(skip)]
    pub(super) subject: Option<ReadSubject>,
    /// Somebody allowed it: only a deny rule can still stop it.
    pub(super) approved: bool,
    /// Why it may run: recorded before it does.
    pub(super) decision: Option<String>,
    /// What of its command may run, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<ApprovedCommand>,
    pub(super) started: Millis,
    /// When it is next said that the call is still running.
    #[serde(default)]
    pub(super) progress_at: Option<Millis>,
    pub(super) attempt: u32,
    /// Its result is an error.
    #[serde(default)]
    pub(super) failed: bool,
    #[serde(default)]
    pub(super) hooks: CallHooks,
    /// The `tool_result` block, once there is one: encoded for the message stream and the history alike.
    pub(super) answer: Option<RawJson>,
    /// The id of the message that showed it to the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer_uuid: Option<Uuid>,
    /// The tool's structured output, until it is in the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) structured: Option<RawJson>,
    /// The number of the agent that the call starts, if it starts one.
    #[serde(default)]
    pub(super) agent: Option<u32>,
    /// It is about an agent that a call before it is about, too: it waits for that one.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(super) shares_agent: bool,
    /// The tools that this agent brings along, once the host has said which: until it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) own_tools: Option<Vec<ToolDefinition>>,
    /// An agent is working on the answer.
    #[serde(default)]
    pub(super) agent_runs: bool,
    /// A background task is waited for.
    #[serde(default)]
    pub(super) waits_for_task: Option<TaskWait>,
}

/// What the model gave as input.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolCallInput {
    Json(RawJson),
    /// Not a JSON object: cut by the output limit, or simply wrong.
    Unusable(String),
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallState {
    Waiting,
    /// Hooks look at it before it is judged.
    Vetting,
    Resolving,
    /// Hooks look whether they can answer the question.
    Requesting,
    Asking,
    /// Hooks that make worktrees are asked for the one that it needs.
    Preparing,
    Running,
    /// Hooks look at its result.
    Reviewing,
    Done,
}

impl Call {
    pub(in crate::session) fn new(tool_use: ToolUse) -> Self {
        Self {
            id: tool_use.id,
            name: tool_use.name,
            input: match tool_use.input {
                Ok(input) => ToolCallInput::Json(input),
                Err(text) => ToolCallInput::Unusable(text),
            },
            state: CallState::Waiting,
            paths: Vec::new(),
            subject: None,
            approved: false,
            unread: None,
            decision: None,
            command: None,
            started: Millis(0),
            progress_at: None,
            attempt: 1,
            failed: false,
            hooks: CallHooks::default(),
            answer: None,
            answer_uuid: None,
            structured: None,
            agent: None,
            shares_agent: false,
            own_tools: None,
            agent_runs: false,
            waits_for_task: None,
        }
    }

    /// The model's id of it.
    pub(in crate::session) fn id(&self) -> &str {
        &self.id
    }

    /// The tool that it calls.
    pub(in crate::session) fn tool_name(&self) -> &str {
        &self.name
    }

    /// The input, where it is one.
    pub(in crate::session) fn json(&self) -> Option<&RawJson> {
        match &self.input {
            ToolCallInput::Json(input) => Some(input),
            ToolCallInput::Unusable(_) => None,
        }
    }

    /// The input for messages: an object always.
    pub(in crate::session) fn input_or_empty(&self) -> RawJson {
        match &self.input {
            ToolCallInput::Json(input) => input.clone(),
            ToolCallInput::Unusable(_) => RawJson::empty_object(),
        }
    }

    /// Why it may run, once that was decided.
    pub(in crate::session) fn decision(&self) -> Option<&String> {
        self.decision.as_ref()
    }

    /// When it began to run.
    pub(in crate::session) fn started(&self) -> Millis {
        self.started
    }

    /// Whether it has its result.
    pub(in crate::session) fn is_done(&self) -> bool {
        self.state == CallState::Done
    }

    pub(in crate::session) fn is_running(&self) -> bool {
        self.state == CallState::Running
    }

    /// It was let run, for this reason: it does from now on.
    pub(in crate::session) fn let_run(&mut self, cause: String, now: Millis) {
        self.decision = Some(cause);
        self.state = CallState::Running;
        self.started = now;
    }

    /// It is begun once more: its effects get other names.
    pub(in crate::session) fn try_again(&mut self) {
        self.attempt += 1;
    }

    /// The result that hooks are looking at.
    pub(in crate::session) fn take_reviewed(&mut self) -> Option<ToolResult> {
        self.hooks.result.take()
    }

    /// The number of the agent that it starts, if it starts one.
    pub(in crate::session) fn agent(&self) -> Option<u32> {
        self.agent
    }

    /// It starts the agent of this number.
    pub(in crate::session) fn start_agent(&mut self, number: u32) {
        self.agent = Some(number);
    }

    /// Whether it has to wait for a call before it that is about the same agent.
    pub(in crate::session) fn set_shares_agent(&mut self, shares: bool) {
        self.shares_agent = shares;
    }

    /// Whether the tools that its agent brings along are known.
    pub(in crate::session) fn has_own_tools(&self) -> bool {
        self.own_tools.is_some()
    }

    /// Keeps the tools that its agent brings along until it starts.
    pub(in crate::session) fn keep_own_tools(&mut self, tools: Vec<ToolDefinition>) {
        self.own_tools = Some(tools);
    }

    /// Those tools, for the agent that starts.
    pub(in crate::session) fn take_own_tools(&mut self) -> Option<Vec<ToolDefinition>> {
        self.own_tools.take()
    }

    /// The host makes ready what it needs: it counts as running.
    pub(in crate::session) fn make_ready(&mut self) {
        self.state = CallState::Running;
    }

    /// Its agent has started. `is_awaited`: its end is the result.
    pub(in crate::session) fn agent_started(&mut self, is_awaited: bool) {
        self.agent_runs = is_awaited;
    }

    /// Whether an agent is working on the answer.
    pub(in crate::session) fn agent_runs(&self) -> bool {
        self.agent_runs
    }

    /// It reads a background task once that has ended.
    pub(in crate::session) fn wait_for_task(&mut self, wait: TaskWait) {
        self.waits_for_task = Some(wait);
    }

    /// The background task that it waits for.
    pub(in crate::session) fn task_wait(&self) -> Option<&TaskWait> {
        self.waits_for_task.as_ref()
    }

    /// It does not wait for that task any more.
    pub(in crate::session) fn take_task_wait(&mut self) -> Option<TaskWait> {
        self.waits_for_task.take()
    }
}
