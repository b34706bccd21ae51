//! What frames tell of time, of cached input and of the agents of a session, beyond the session's own messages.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};
use windlass_core::{
    RawJson, SessionId, Uuid,
    message::{
        ApiMessage, AssistantMessage, DeferredToolUse, ModelUsage, PermissionDenial, ResultMessage,
        ResultSubtype, TaskEnd, TaskNotification, TaskStarted,
    },
    money::Usd,
    provider::{StopReason, Usage},
    sorted::SortedMap,
};

/// How long a turn has taken until something happened for the first time, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timing {
    /// Until the request was sent.
    pub request_ms: Option<u64>,
    /// Until something of the response arrived.
    pub first_byte_ms: Option<u64>,
    /// Until something of it was passed on.
    pub first_frame_ms: Option<u64>,
}

impl Timing {
    /// The fields of the result of a turn that was answered.
    pub(super) fn fields(self, more: &mut Map<String, Value>) {
        let mut set = |name: &str, ms: Option<u64>| {
            if let Some(ms) = ms {
                more.insert(name.to_owned(), ms.into());
            }
        };
        set("time_to_request_ms", self.request_ms);
        set("first_content_frame_ms", self.first_frame_ms);
        set("ttft_ms", self.first_frame_ms);
        set("ttft_stream_ms", self.first_byte_ms);
    }
}

/// How the tokens divide that were written to the cache.
#[derive(Debug, Serialize)]
struct CacheCreation {
    ephemeral_1h_input_tokens: u64,
    ephemeral_5m_input_tokens: u64,
}

/// Usage in the form of the Messages API.
#[derive(Debug, Serialize)]
struct FullUsage<'a> {
    #[serde(flatten)]
    usage: &'a Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_creation: Option<CacheCreation>,
}

impl<'a> FullUsage<'a> {
    /// `hour` tokens of those written to the cache are kept for an hour.
    fn new(usage: &'a Usage, hour: u64, always: bool) -> Self {
        let written = usage.cache_creation_input_tokens;
        let cache_creation = (always || written > 0).then(|| CacheCreation {
            ephemeral_1h_input_tokens: hour.min(written),
            ephemeral_5m_input_tokens: written.saturating_sub(hour),
        });
        Self {
            usage,
            cache_creation,
        }
    }
}

/// The tokens of a response that were written to the cache for an hour.
pub(super) fn kept_an_hour(message: &ApiMessage) -> u64 {
    message.usage.cache_creation.ephemeral_1h_input_tokens
}

/// An assistant message of one content block, as a frame.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "assistant")]
pub(super) struct AssistantFrame<'a> {
    message: FrameMessage<'a>,
    parent_tool_use_id: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    aborted: bool,
    uuid: Uuid,
    session_id: SessionId,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct FrameMessage<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    role: &'a str,
    model: &'a str,
    content: &'a [RawJson],
    stop_reason: &'a Option<StopReason>,
    stop_sequence: &'a Option<String>,
    usage: FullUsage<'a>,
}

impl<'a> AssistantFrame<'a> {
    /// `error` is the name of the error, if the message stands for a failed response.
    pub(super) fn new(
        frame: &'a AssistantMessage,
        error: Option<&'a str>,
        more: Map<String, Value>,
    ) -> Self {
        let message = &frame.message;
        let hour = kept_an_hour(message);
        Self {
            message: FrameMessage {
                id: &message.id,
                kind: &message.kind,
                role: &message.role,
                model: &message.model,
                content: &message.content,
                stop_reason: &message.stop_reason,
                stop_sequence: &message.stop_sequence,
                usage: FullUsage::new(&message.usage, hour, error.is_some()),
            },
            parent_tool_use_id: &frame.parent_tool_use_id,
            error,
            aborted: frame.aborted,
            uuid: frame.uuid,
            session_id: frame.session_id,
            more,
        }
    }
}

/// A result, as a frame.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "result")]
pub(super) struct ResultFrame<'a> {
    subtype: ResultSubtype,
    is_error: bool,
    duration_ms: u64,
    duration_api_ms: u64,
    num_turns: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_output: &'a Option<RawJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: &'a Option<Vec<String>>,
    stop_reason: &'a Option<StopReason>,
    total_cost_usd: Usd,
    usage: FullUsage<'a>,
    #[serde(rename = "modelUsage")]
    model_usage: &'a SortedMap<String, ModelUsage>,
    permission_denials: &'a [PermissionDenial],
    #[serde(skip_serializing_if = "Option::is_none")]
    deferred_tool_use: &'a Option<DeferredToolUse>,
    uuid: Uuid,
    session_id: SessionId,
    #[serde(flatten)]
    more: Map<String, Value>,
}

impl<'a> ResultFrame<'a> {
    /// Of the tokens that the turn has written to the cache, `hour` are kept for an hour.
    pub(super) fn new(result: &'a ResultMessage, hour: u64, more: Map<String, Value>) -> Self {
        Self {
            subtype: result.subtype,
            is_error: result.is_error,
            duration_ms: result.duration_ms,
            duration_api_ms: result.duration_api_ms,
            num_turns: result.num_turns,
            result: &result.result,
            structured_output: &result.structured_output,
            errors: &result.errors,
            stop_reason: &result.stop_reason,
            total_cost_usd: result.total_cost_usd,
            usage: FullUsage::new(&result.usage, hour, true),
            model_usage: &result.model_usage,
            permission_denials: &result.permission_denials,
            deferred_tool_use: &result.deferred_tool_use,
            uuid: result.uuid,
            session_id: result.session_id,
            more,
        }
    }
}

/// How many agents a session has started, how, and what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(super) struct SubagentStats {
    spawned: u32,
    requested: Requested,
    started_in_background: u32,
    max_depth: u32,
    spawned_by_subagents: u32,
    completed: u32,
    failed: u32,
    killed: Killed,
    refused: Refused,
    by_type: BTreeMap<String, u32>,
    /// The calls that ask for agents, and what they say of the background.
    #[serde(skip)]
    calls: BTreeMap<String, Option<bool>>,
    /// The agents that run.
    #[serde(skip)]
    running: BTreeSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Requested {
    background: u32,
    foreground: u32,
    unset: u32,
}

/// By whom agents were stopped. That is not told apart here: they count as stopped by the user.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Killed {
    parent: u32,
    user: u32,
    system: u32,
}

/// Agents that were not started. Calls beyond a limit are answered with an error here, and are not counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Refused {
    depth_limit: u32,
    concurrency_limit: u32,
    budget: u32,
}

impl SubagentStats {
    /// The model calls for an agent.
    pub(super) fn asked(&mut self, call: String, input: Option<&RawJson>) {
        #[derive(serde::Deserialize)]
        struct Input {
            #[serde(default)]
            run_in_background: Option<bool>,
        }
        let input = input.and_then(|input| input.decode::<Input>().ok());
        let background = input.and_then(|input| input.run_in_background);
        self.calls.insert(call, background);
    }

    pub(super) fn started(&mut self, task: &TaskStarted) {
        let Some(kind) = &task.subagent_type else {
            return;
        };
        if !self.running.insert(task.task_id.clone()) {
            return; // moved to the background
        }
        let call = task.tool_use_id.as_ref();
        let requested = match call.and_then(|call| self.calls.remove(call)).flatten() {
            Some(true) => &mut self.requested.background,
            Some(false) => &mut self.requested.foreground,
            None => &mut self.requested.unset,
        };
        *requested += 1;
        self.spawned += 1;
        self.started_in_background += u32::from(task.is_backgrounded != Some(false));
        // Agents start no agents.
        self.max_depth = 1;
        *self.by_type.entry(kind.clone()).or_default() += 1;
    }

    pub(super) fn ended(&mut self, task: &TaskNotification) {
        if !self.running.remove(&task.task_id) {
            return;
        }
        match task.status {
            TaskEnd::Completed => self.completed += 1,
            TaskEnd::Failed => self.failed += 1,
            TaskEnd::Stopped => self.killed.user += 1,
        }
    }
}
