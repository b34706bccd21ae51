//! The end of a turn.

use serde_json::{Map, Value, json};
use windlass_core::{
    message::{ResultMessage, ResultSubtype},
    provider::StopReason,
};

use super::{
    Facts, Frames,
    measured::{ResultFrame, Timing},
    turn::QueuedPrompt,
};
use crate::{protocol::line::to_line, transcript::CostState};

/// The error with which a session reports an interrupt.
const INTERRUPTED: &str = "interrupted";

/// Facts for a result frame that the session's own result does not contain.
#[derive(Debug, Default)]
pub(super) struct Ending {
    pub(super) prompts: Vec<QueuedPrompt>,
    pub(super) terminal_reason: Option<&'static str>,
    pub(super) local_command: Option<&'static str>,
    pub(super) api_error_status: Option<Value>,
    pub(super) is_wake: bool,
    pub(super) was_cut: bool,
    pub(super) timing: Timing,
    /// The tokens that were written to the cache for an hour.
    pub(super) kept_an_hour: u64,
    /// The number of prompts that wait behind it.
    pub(super) queued: usize,
}

impl Frames {
    pub(super) fn result(&mut self, mut result: ResultMessage, facts: Facts) -> Vec<String> {
        let mut lines = Vec::new();
        let mut turn = std::mem::take(&mut self.turn);
        let mut ending = Ending {
            is_wake: turn.is_wake,
            queued: facts.queued,
            timing: facts.timing,
            kept_an_hour: turn.kept_an_hour,
            ..Ending::default()
        };
        let interrupted = result.subtype == ResultSubtype::ErrorDuringExecution
            && result
                .errors
                .as_deref()
                .is_some_and(|errors| errors == [INTERRUPTED]);
        if interrupted {
            self.turn.stream = std::mem::take(&mut turn.stream);
            lines.extend(self.close_stream());
            ending.was_cut = true;
            let undecided = std::mem::take(&mut turn.undecided).into_iter();
            let denials = &mut result.permission_denials;
            for denial in undecided {
                let is_new = (denials.iter()).all(|it| it.tool_use_id != denial.tool_use_id);
                denials.extend(is_new.then_some(denial));
            }
            ending.terminal_reason = Some(match turn.cut_in_calls {
                true => "aborted_tools",
                false => "aborted_streaming",
            });
        } else if let Some(words) = turn.api_error.take() {
            // An answer that never came is, in this protocol, an answer with an error.
            result.subtype = ResultSubtype::Success;
            result.result = Some(words);
            result.errors = None;
            result.stop_reason = Some(StopReason::StopSequence);
            ending.terminal_reason = Some("api_error");
            ending.api_error_status = Some(json!(facts.http_status));
        } else {
            ending.terminal_reason = reason_of(&result);
        }
        let nothing_was_done = !ending.was_cut && !turn.has_answered;
        result.num_turns = match nothing_was_done {
            true => 0,
            false => turn.user_frames.saturating_add(1),
        };
        if nothing_was_done && !result.is_error {
            ending.terminal_reason = None;
            ending.local_command = turn.was_compacted.then_some("compact");
        }
        ending.prompts = turn.prompts;
        self.total = self.total.after(&result);
        lines.extend(self.ended(result, ending));
        lines
    }

    /// Sets what a resumed session had spent before; totals continue from there.
    pub fn counting_on(&mut self, before: &CostState) {
        self.total = before.clone();
    }

    /// What the session has spent so far.
    #[must_use]
    pub fn cost_state(&self) -> &CostState {
        &self.total
    }

    /// The cost of the session, as text.
    #[must_use]
    pub fn cost_in_words(&self) -> String {
        let mut words = format!("Total cost: ${}\n", self.total.spent.cost);
        for (model, usage) in &self.total.spent.model_usage {
            words.push_str(&format!(
                "- {model}: {} in, {} out, {} cache read, {} cache write (${})\n",
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_input_tokens,
                usage.cache_creation_input_tokens,
                usage.cost_usd
            ));
        }
        words
    }

    /// The usage of the session, as JSON.
    #[must_use]
    pub fn usage(&self) -> Value {
        json!({
            "session": {
                "total_cost_usd": self.total.spent.cost, "total_api_duration_ms": self.total.duration_api_ms,
                "total_duration_ms": self.total.duration_ms, "model_usage": self.total.spent.model_usage,
            },
            "subscription_type": null, "rate_limits_available": false, "rate_limits": null,
        })
    }

    /// The result frame, and the final lifecycle frames of the prompts that it answers.
    pub(super) fn ended(&mut self, result: ResultMessage, ending: Ending) -> Vec<String> {
        self.failed = result.is_error;
        let mut more = Map::new();
        let mut set = |name: &str, value: Value| {
            more.insert(name.to_owned(), value);
        };
        if let Some(reason) = ending.terminal_reason {
            set("terminal_reason", reason.into());
        }
        if let Some(command) = ending.local_command {
            set("local_command", command.into());
        }
        if result.subtype == ResultSubtype::Success && ending.local_command.is_none() {
            set(
                "api_error_status",
                ending.api_error_status.unwrap_or_default(),
            );
        }
        set("subagent_stats", json!(self.subagents));
        set("result_index", self.results.into());
        set("queued_turn_count", ending.queued.into());
        self.results = self.results.saturating_add(1);
        let given: Vec<&str> = ending
            .prompts
            .iter()
            .filter_map(|prompt| prompt.given.as_deref())
            .collect();
        if let Some(first) = given.first() {
            set("user_message_uuid", (*first).into());
            set("user_message_uuids", json!(given));
        }
        let human = ending
            .prompts
            .iter()
            .find_map(|prompt| prompt.origin.as_ref());
        if let Some(origin) = human {
            set("origin", origin.decode().unwrap_or_default());
        } else if ending.is_wake {
            set("origin", json!({"kind": "task-notification"}));
        }
        if result.subtype == ResultSubtype::Success && !result.is_error {
            ending.timing.fields(&mut more);
        }
        let result = to_line(&ResultFrame::new(&result, ending.kept_an_hour, more));
        let state = if ending.was_cut {
            "cancelled"
        } else {
            "completed"
        };
        // Only a state frame may follow an error result, so these come before the result.
        let mut lines = self.begun();
        for prompt in &ending.prompts {
            lines.extend(self.lifecycle(prompt, state));
        }
        lines.push(result);
        lines
    }
}

/// The reason why a turn ended, if the result alone determines it.
fn reason_of(result: &ResultMessage) -> Option<&'static str> {
    match result.subtype {
        ResultSubtype::Success if result.deferred_tool_use.is_some() => Some("tool_deferred"),
        ResultSubtype::Success => {
            let stopped = result.stop_reason == Some(StopReason::ToolUse)
                && result.structured_output.is_none();
            Some(if stopped { "hook_stopped" } else { "completed" })
        }
        ResultSubtype::ErrorMaxTurns => Some("max_turns"),
        ResultSubtype::ErrorMaxBudgetUsd => Some("budget_exhausted"),
        _ => None,
    }
}
