//! The state of the answer to a prompt.

mod attempts;
mod compacting;

pub(super) use self::compacting::Restart;

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use self::compacting::Compacting;
use super::{call::Call, output::OutputProgress, refused::Place};
use crate::{
    effect::Prompt,
    id::{Millis, Uuid},
    json::RawJson,
    message::{ApiMessage, DeferredToolUse, PermissionDenial},
    model::{ErrorClass, StopReason, Usage},
};

/// The answer to one prompt, in progress.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) started: Millis,
    pub(super) num_turns: u32,
    pub(super) tool_rounds: u32,
    pub(super) usage: Usage,
    pub(super) api_ms: u64,
    pub(super) denials: Vec<PermissionDenial>,
    pub(super) stop_reason: Option<StopReason>,
    /// The prompt while hooks run on it, before it enters the conversation.
    #[serde(default)]
    pub(super) submitted: Option<Prompt>,
    /// The text that hooks add to it.
    #[serde(default)]
    pub(super) prompt_context: Vec<RawJson>,
    /// The reason, if a hook ended the run.
    #[serde(default)]
    pub(super) hook_stop: Option<String>,
    /// The call that a hook deferred to whoever started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) deferred: Option<DeferredToolUse>,
    /// The response on whose results hooks have run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) batch_shown: Option<u32>,
    /// Whether the hooks for a failed model call have run.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(super) failure_told: bool,
    /// How many times hooks have kept the run going.
    #[serde(default)]
    pub(super) stop_blocks: u32,
    /// The text of the last response.
    pub(super) text: String,
    /// Whether the provider paused the last response, so that another request continues it.
    pub(super) paused: bool,
    /// The last response and its id, until it is in the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unsaved_response: Option<(Uuid, ApiMessage)>,
    /// The blocks of the last response, as older snapshots store it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unsaved: Vec<RawJson>,
    /// The attempt of the current model call, from 1.
    attempt: u32,
    /// When the current attempt was sent.
    asked_at: Millis,
    /// When the retry of a failed call is due.
    retry_at: Option<Millis>,
    /// The calls of the current response.
    pub(super) calls: Vec<Call>,
    /// How it ends; none while it is in progress.
    pub(super) outcome: Option<Outcome>,
    /// The prompt asks for no answer.
    #[serde(default)]
    pub(super) asks_nothing: bool,
    /// Whether the fallback model has taken over for this run.
    #[serde(default)]
    on_fallback: bool,
    /// How many attempts of the current call the first model had before the fallback.
    #[serde(default)]
    attempts_before: u32,
    /// The state of the structured output, if one is wanted.
    #[serde(default, skip_serializing_if = "OutputProgress::is_fresh")]
    pub(super) output: OutputProgress,
    /// The compaction in progress.
    #[serde(default)]
    compacting: Option<Compacting>,
    /// The number of summary requests in this run; part of their effect ids.
    #[serde(default)]
    summary_requests: u32,
    /// The number of summaries in this run.
    #[serde(default)]
    summaries: u32,
    /// Whether the last compaction was all that the prompt asked for.
    #[serde(default)]
    manual_compaction: bool,
    /// A compaction failed: no automatic one is tried again in this run.
    #[serde(default)]
    compaction_failed: bool,
    /// A compaction was started because the server found the request too long: allowed once per run.
    #[serde(default)]
    compacted_because: bool,
    /// The place in the conversation before the prompt.
    #[serde(default)]
    pub(super) before_prompt: Option<Place>,
    /// The place in the conversation before the results of the last round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) before_results: Option<Place>,
    /// The repaired results of the last round, after the server refused them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mended: Option<Vec<RawJson>>,
    /// The transcript cannot be written: do not try again in this run.
    pub(super) transcript_broken: bool,
    /// The number of tool calls in all responses.
    #[serde(default)]
    pub(super) tool_uses: u32,
    /// The tool that was called last.
    #[serde(default)]
    pub(super) last_tool: Option<String>,
}

impl Run {
    /// A run that begins now.
    pub(super) fn begun(now: Millis) -> Self {
        Self {
            started: now,
            ..Self::default()
        }
    }
}

/// The end of a run of a thread that reports to another one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) run: Run,
    pub(super) duration_ms: u64,
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Success,
    MaxTurns(u32),
    MaxBudget(String),
    Interrupted,
    /// No answer matched the schema.
    NoOutput {
        tries: u32,
        fault: String,
    },
    /// A hook ended it, with the reason.
    StoppedByHook(String),
    Failed {
        class: Option<ErrorClass>,
        message: String,
    },
}
