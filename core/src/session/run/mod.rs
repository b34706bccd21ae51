//! What a session remembers of the prompt it is answering.

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

/// The answer to one prompt, under way.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) started: Millis,
    pub(super) num_turns: u32,
    pub(super) tool_rounds: u32,
    pub(super) usage: Usage,
    pub(super) api_ms: u64,
    pub(super) denials: Vec<PermissionDenial>,
    pub(super) stop_reason: Option<StopReason>,
    /// The prompt while hooks look at it: it has not entered yet.
    #[serde(default)]
    pub(super) submitted: Option<Prompt>,
    /// What hooks add to it.
    #[serde(default)]
    pub(super) prompt_context: Vec<RawJson>,
    /// A hook ended the run; why.
    #[serde(default)]
    pub(super) hook_stop: Option<String>,
    /// A call that a hook left to whoever started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) deferred: Option<DeferredToolUse>,
    /// The response whose results hooks have been shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) batch_shown: Option<u32>,
    /// Hooks know that the model could not be asked.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(super) failure_told: bool,
    /// How often hooks have kept the run from ending.
    #[serde(default)]
    pub(super) stop_blocks: u32,
    /// The text of the last response.
    pub(super) text: String,
    /// The provider paused the last response and wants to be asked again.
    pub(super) paused: bool,
    /// The last response and its id, while it is not in the transcript yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unsaved_response: Option<(Uuid, ApiMessage)>,
    /// The same as older snapshots have it: its blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unsaved: Vec<RawJson>,
    /// The attempt of the current model call, from 1.
    attempt: u32,
    /// When the current attempt was sent.
    asked_at: Millis,
    /// When a failed call is asked again.
    retry_at: Option<Millis>,
    /// The calls of the current response.
    pub(super) calls: Vec<Call>,
    /// How it ends; none while it goes on.
    pub(super) outcome: Option<Outcome>,
    /// The prompt wants no answer.
    #[serde(default)]
    pub(super) asks_nothing: bool,
    /// The fallback model has taken over for this run.
    #[serde(default)]
    on_fallback: bool,
    /// Attempts of the current call that the model before the fallback had.
    #[serde(default)]
    attempts_before: u32,
    /// How far the model is with its answer, where that is to be a value.
    #[serde(default, skip_serializing_if = "OutputProgress::is_fresh")]
    pub(super) output: OutputProgress,
    /// A compaction under way.
    #[serde(default)]
    compacting: Option<Compacting>,
    /// Requests for summaries in this run: they name their effects.
    #[serde(default)]
    summary_requests: u32,
    /// Summaries in this run.
    #[serde(default)]
    summaries: u32,
    /// The last compaction was all that the prompt asked for.
    #[serde(default)]
    manual_compaction: bool,
    /// A compaction failed: it is not tried again by itself.
    #[serde(default)]
    compaction_failed: bool,
    /// A compaction was begun because the server found the request too long: once is enough.
    #[serde(default)]
    compacted_because: bool,
    /// Where the prompt begins.
    #[serde(default)]
    pub(super) before_prompt: Option<Place>,
    /// Where the results of the last round begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) before_results: Option<Place>,
    /// The results of the last round, as they were made acceptable after the server had refused them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mended: Option<Vec<RawJson>>,
    /// The transcript cannot be written: do not try again in this run.
    pub(super) transcript_broken: bool,
    /// Calls of all responses.
    #[serde(default)]
    pub(super) tool_uses: u32,
    /// The tool that was called last.
    #[serde(default)]
    pub(super) last_tool: Option<String>,
}

impl Run {
    /// A run that begins at this moment.
    pub(super) fn begun(now: Millis) -> Self {
        Self {
            started: now,
            ..Self::default()
        }
    }
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Success,
    MaxTurns(u32),
    MaxBudget(String),
    Interrupted,
    /// No answer fitted its schema.
    NoOutput {
        tries: u32,
        fault: String,
    },
    /// A hook ended it; why.
    StoppedByHook(String),
    Failed {
        class: Option<ErrorClass>,
        message: String,
    },
}
