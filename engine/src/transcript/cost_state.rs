//! The cost of a session, as a line of its transcript, from which a resumed session continues.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use windlass_core::{
    RawJson, SessionId, Spent,
    message::{ModelUsage, ResultMessage},
    money::Usd,
};

use super::scribe::encoded;

/// The accumulated cost and durations of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CostState {
    /// The cost of all models together, and of each model.
    pub spent: Spent,
    /// The duration of all turns, in milliseconds.
    pub duration_ms: u64,
    /// The part of it spent waiting for the model server, in milliseconds.
    pub duration_api_ms: u64,
}

const KIND: &str = "cost-state";

/// The line in the official engine's format. Amounts are floating-point numbers there, so the last digits are rounded.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    r#type: String,
    session_id: String,
    #[serde(rename = "totalCostUSD")]
    total_cost: f64,
    #[serde(rename = "totalAPIDuration", default)]
    api_duration: u64,
    #[serde(rename = "totalAPIDurationWithoutRetries", default)]
    api_duration_without_retries: u64,
    // Values that are not measured here are 0 instead of absent, so that other programs can add them up.
    #[serde(default)]
    total_tool_duration: u64,
    #[serde(default)]
    total_lines_added: u64,
    #[serde(default)]
    total_lines_removed: u64,
    #[serde(default)]
    total_duration: u64,
    #[serde(default)]
    model_usage: BTreeMap<String, ModelLine>,
    #[serde(default)]
    has_unknown_model_cost: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct ModelLine {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
    web_search_requests: u64,
    #[serde(rename = "costUSD")]
    cost: f64,
    context_window: u64,
    max_output_tokens: u64,
}

impl CostState {
    /// The state after a turn. The result contains session totals of money and tokens, but only this turn's durations.
    #[must_use]
    pub fn after(&self, turn: &ResultMessage) -> Self {
        Self {
            spent: Spent {
                cost: turn.total_cost_usd,
                model_usage: turn.model_usage.clone(),
            },
            duration_ms: self.duration_ms.saturating_add(turn.duration_ms),
            duration_api_ms: self.duration_api_ms.saturating_add(turn.duration_api_ms),
        }
    }

    /// The transcript line for a session.
    #[must_use]
    pub fn line(&self, session: SessionId) -> RawJson {
        let models = self.spent.model_usage.iter().map(|(model, usage)| {
            let line = ModelLine {
                input_tokens: usage.input_tokens,
                output_tokens: usage.output_tokens,
                cache_read_input_tokens: usage.cache_read_input_tokens,
                cache_creation_input_tokens: usage.cache_creation_input_tokens,
                web_search_requests: usage.web_search_requests,
                cost: number(usage.cost_usd),
                context_window: usage.context_window,
                max_output_tokens: usage.max_output_tokens,
            };
            (model.clone(), line)
        });
        encoded(&Line {
            r#type: KIND.to_owned(),
            session_id: session.to_string(),
            total_cost: number(self.spent.cost),
            api_duration: self.duration_api_ms,
            api_duration_without_retries: self.duration_api_ms,
            total_tool_duration: 0,
            total_lines_added: 0,
            total_lines_removed: 0,
            total_duration: self.duration_ms,
            model_usage: models.collect(),
            has_unknown_model_cost: false,
        })
    }

    /// Reads the last such line of a transcript; zero if there is no valid one.
    #[must_use]
    pub(super) fn read(text: &[u8]) -> Self {
        let lines = text.rsplit(|byte| *byte == b'\n');
        // Most lines are long and of other types, so they are filtered by their beginning.
        let beginning = |line: &&[u8]| {
            let head = &line[..line.len().min(64)];
            head.windows(KIND.len()).any(|part| part == KIND.as_bytes())
        };
        let mut read = lines
            .filter(beginning)
            .filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        let found = read.find(|line| line.r#type == KIND);
        found.map(Self::from).unwrap_or_default()
    }
}

impl From<Line> for CostState {
    fn from(line: Line) -> Self {
        let models = line.model_usage.into_iter().map(|(model, line)| {
            let usage = ModelUsage {
                input_tokens: line.input_tokens,
                output_tokens: line.output_tokens,
                cache_read_input_tokens: line.cache_read_input_tokens,
                cache_creation_input_tokens: line.cache_creation_input_tokens,
                web_search_requests: line.web_search_requests,
                cost_usd: amount(line.cost),
                context_window: line.context_window,
                max_output_tokens: line.max_output_tokens,
            };
            (model, usage)
        });
        Self {
            spent: Spent {
                cost: amount(line.total_cost),
                model_usage: models.collect(),
            },
            duration_ms: line.total_duration,
            duration_api_ms: line.api_duration,
        }
    }
}

/// Converts dollars to billionths of a dollar; invalid amounts become 0.
fn amount(dollars: f64) -> Usd {
    // The cast saturates: negative amounts and NaN become 0, amounts that are too large the maximum.
    Usd::from_nanos((dollars * 1e9).round() as u64)
}

fn number(amount: Usd) -> f64 {
    amount.nanos as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_core::uuid_v4;

    const OFFICIAL: &str = r#"{"type":"cost-state","sessionId":"c386656a-ccc9-4b07-b653-d1c6e514d61d","totalCostUSD":0.00035999999999999997,"totalAPIDuration":81,"totalToolDuration":18,"totalDuration":1107,"startTime":1795295100571,"modelUsage":{"m":{"inputTokens":20,"outputTokens":14,"thinkingTokens":0,"costUSD":3.6e-7}},"hasUnknownModelCost":false}"#;

    #[test]
    fn sess_1_the_books_are_read_as_the_official_engine_writes_them() {
        let text = format!("{{\"type\":\"user\"}}\n{OFFICIAL}\n{{\"type\":\"last-prompt\"}}\n");
        let state = CostState::read(text.as_bytes());
        assert_eq!(state.spent.cost, Usd::from_nanos(360_000));
        assert_eq!((state.duration_ms, state.duration_api_ms), (1107, 81));
        let usage = state.spent.model_usage.get("m").unwrap();
        assert_eq!((usage.input_tokens, usage.cost_usd.nanos), (20, 360));
    }

    #[test]
    fn sess_1_the_last_line_counts_and_is_read_as_it_was_written() {
        let mut state = CostState::read(OFFICIAL.as_bytes());
        state.spent.cost = Usd::from_nanos(1_234_567_891);
        let again = state.line(uuid_v4([7; 16]));
        let text = format!(
            "{OFFICIAL}\n{}\n{{\"type\":\"cost-state\", torn",
            again.get()
        );
        assert_eq!(CostState::read(text.as_bytes()), state);
    }

    #[test]
    fn without_books_nothing_was_spent() {
        let text = br#"{"type":"user","message":{"content":"cost-state"}}"#;
        assert_eq!(CostState::read(text), CostState::default());
        assert_eq!(CostState::read(b""), CostState::default());
    }
}
