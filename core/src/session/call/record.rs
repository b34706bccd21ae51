//! The state of a call, from the response that made it to its result.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{super::background::TaskWait, hook_state::CallHooks, subject::ReadSubject};
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
    /// The input, or the text that is not a valid one.
    pub(super) input: ToolCallInput,
    pub(super) state: CallState,
    pub(super) paths: Vec<PathFact>,
    /// An existing file that it would change without having read it, although its tool requires that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unread: Option<String>,
    /// What its input means for rules, once parsed.
    #[serde(skip)]
    pub(super) subject: Option<ReadSubject>,
    /// Whether it was approved on request: only a deny rule can still stop it.
    pub(super) approved: bool,
    /// Why it may run; recorded before it runs.
    pub(super) decision: Option<String>,
    /// Which part of its command may run, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<ApprovedCommand>,
    pub(super) started: Millis,
    /// When the next progress report is due.
    #[serde(default)]
    pub(super) progress_at: Option<Millis>,
    pub(super) attempt: u32,
    /// Whether its result is an error.
    #[serde(default)]
    pub(super) failed: bool,
    #[serde(default)]
    pub(super) hooks: CallHooks,
    /// The `tool_result` block, once there is one. Encoded once for both the message stream and the history.
    pub(super) answer: Option<RawJson>,
    /// The id of the message that delivered the result to the application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer_uuid: Option<Uuid>,
    /// The tool's structured output, until it is in the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) structured: Option<RawJson>,
    /// The number of the agent that the call starts, if any.
    #[serde(default)]
    pub(super) agent: Option<u32>,
    /// Whether it concerns the same agent as an earlier call, and has to wait for that call.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(super) shares_agent: bool,
    /// The tools that this agent brings along, as returned by the host; kept until the agent starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) own_tools: Option<Vec<ToolDefinition>>,
    /// Whether a subagent is working on the result.
    #[serde(default)]
    pub(super) agent_runs: bool,
    /// The background task that the call waits for.
    #[serde(default)]
    pub(super) waits_for_task: Option<TaskWait>,
}

/// The input as the model sent it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToolCallInput {
    Json(RawJson),
    /// Not a JSON object: cut off by the output limit, or malformed.
    Unusable(String),
}

/// The stage that a call has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallState {
    Waiting,
    /// Hooks examine it before the permission decision.
    Vetting,
    Resolving,
    /// Hooks decide whether they answer the permission request.
    Requesting,
    Asking,
    /// Hooks are asked to create the worktree that it needs.
    Preparing,
    Running,
    /// Hooks examine its result.
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

    /// The model's id of the call.
    pub(in crate::session) fn id(&self) -> &str {
        &self.id
    }

    /// The name of the tool it calls.
    pub(in crate::session) fn tool_name(&self) -> &str {
        &self.name
    }

    /// The input, if it is valid JSON.
    pub(in crate::session) fn json(&self) -> Option<&RawJson> {
        match &self.input {
            ToolCallInput::Json(input) => Some(input),
            ToolCallInput::Unusable(_) => None,
        }
    }

    /// The input for messages: always an object.
    pub(in crate::session) fn input_or_empty(&self) -> RawJson {
        match &self.input {
            ToolCallInput::Json(input) => input.clone(),
            ToolCallInput::Unusable(_) => RawJson::empty_object(),
        }
    }

    /// Why it may run, once decided.
    pub(in crate::session) fn decision(&self) -> Option<&String> {
        self.decision.as_ref()
    }

    /// When it started to run.
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

    /// Marks it as allowed for this reason, and running from now on.
    pub(in crate::session) fn let_run(&mut self, cause: String, now: Millis) {
        self.decision = Some(cause);
        self.state = CallState::Running;
        self.started = now;
    }

    /// Starts it again: its effects get new ids.
    pub(in crate::session) fn try_again(&mut self) {
        self.attempt += 1;
    }

    /// Takes the result that hooks were examining.
    pub(in crate::session) fn take_reviewed(&mut self) -> Option<ToolResult> {
        self.hooks.result.take()
    }

    /// The number of the agent that it starts, if any.
    pub(in crate::session) fn agent(&self) -> Option<u32> {
        self.agent
    }

    /// Sets the number of the agent that it starts.
    pub(in crate::session) fn start_agent(&mut self, number: u32) {
        self.agent = Some(number);
    }

    /// Sets whether it has to wait for an earlier call that concerns the same agent.
    pub(in crate::session) fn set_shares_agent(&mut self, shares: bool) {
        self.shares_agent = shares;
    }

    /// Whether the tools that its agent brings along are known.
    pub(in crate::session) fn has_own_tools(&self) -> bool {
        self.own_tools.is_some()
    }

    /// Stores the tools that its agent brings along until the agent starts.
    pub(in crate::session) fn keep_own_tools(&mut self, tools: Vec<ToolDefinition>) {
        self.own_tools = Some(tools);
    }

    /// Takes those tools for the agent that starts.
    pub(in crate::session) fn take_own_tools(&mut self) -> Option<Vec<ToolDefinition>> {
        self.own_tools.take()
    }

    /// The host is preparing what it needs: it counts as running.
    pub(in crate::session) fn make_ready(&mut self) {
        self.state = CallState::Running;
    }

    /// Its agent has started. `is_awaited`: the agent's end is the result.
    pub(in crate::session) fn agent_started(&mut self, is_awaited: bool) {
        self.agent_runs = is_awaited;
    }

    /// Whether a subagent is working on the result.
    pub(in crate::session) fn agent_runs(&self) -> bool {
        self.agent_runs
    }

    /// It waits for a background task to end before it reads it.
    pub(in crate::session) fn wait_for_task(&mut self, wait: TaskWait) {
        self.waits_for_task = Some(wait);
    }

    /// The background task that it waits for.
    pub(in crate::session) fn task_wait(&self) -> Option<&TaskWait> {
        self.waits_for_task.as_ref()
    }

    /// Stops waiting for that task.
    pub(in crate::session) fn take_task_wait(&mut self) -> Option<TaskWait> {
        self.waits_for_task.take()
    }
}
