//! Clearing of old tool results: the calls stay, but their results are no longer part of requests.
//!
//! The Messages API can do this by itself (`clear_tool_uses_20250919`, beta `context-management-2025-06-27`); the request then
//! contains the settings. For other providers the core does the same in a second encoding. In both cases the history itself keeps
//! everything.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    history::{History, Role, size},
    json::{RawJson, RawObject},
};

/// The beta feature that clearing by the API requires.
pub const BETA: &str = "context-management-2025-06-27";

/// Replaces the content of a cleared result.
const PLACEHOLDER: &str =
    "[This result was removed to make room. If it is needed again, make the call again.]";

/// When old tool results are cleared, and which ones. Defaults are those of the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clearing {
    /// The size of the context in tokens beyond which results are cleared.
    pub trigger_tokens: u64,
    /// How many of the newest results are kept.
    pub keep: u32,
    /// Clear only if this frees at least so many tokens. Each clearing ends the cached prefix at its first result, which costs
    /// more than a small clearing saves.
    pub clear_at_least: u64,
    /// Tools whose results are never cleared.
    pub exclude_tools: Vec<String>,
    /// Whether the inputs of the calls are cleared too.
    pub clear_inputs: bool,
    /// Whether the provider or the core clears.
    pub by: ClearedBy,
    /// The tool with which the model can save what it will need. If it is offered and the core clears, the model is warned once
    /// before each clearing, and nothing is cleared without a warning. (The API sends its own warning.)
    pub memory_tool: String,
    /// How many tokens before the trigger the model is warned.
    pub warn_before: u64,
}

/// Whether the provider or the core clears old tool results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClearedBy {
    /// The provider if it can, otherwise the core.
    #[default]
    ProviderIfItCan,
    /// The core, even if the provider can: for gateways that do not support the beta.
    Core,
}

impl Default for Clearing {
    fn default() -> Self {
        Self {
            trigger_tokens: 100_000,
            keep: 3,
            clear_at_least: 0,
            exclude_tools: Vec::new(),
            clear_inputs: false,
            by: ClearedBy::default(),
            memory_tool: "memory".into(),
            warn_before: 10_000,
        }
    }
}

impl Clearing {
    /// The settings in the form of the request field `context_management`.
    #[must_use]
    pub fn to_api(&self) -> RawJson {
        #[derive(Serialize)]
        struct ContextManagement<'a> {
            edits: [Edit<'a>; 1],
        }
        #[derive(Serialize)]
        struct Edit<'a> {
            #[serde(rename = "type")]
            kind: &'static str,
            trigger: Amount,
            keep: Amount,
            #[serde(skip_serializing_if = "Option::is_none")]
            clear_at_least: Option<Amount>,
            #[serde(skip_serializing_if = "<[String]>::is_empty")]
            exclude_tools: &'a [String],
            clear_tool_inputs: bool,
        }
        #[derive(Serialize)]
        struct Amount {
            #[serde(rename = "type")]
            kind: &'static str,
            value: u64,
        }
        let tokens = |value| Amount {
            kind: "input_tokens",
            value,
        };
        let edit = Edit {
            kind: "clear_tool_uses_20250919",
            trigger: tokens(self.trigger_tokens),
            keep: Amount {
                kind: "tool_uses",
                value: self.keep.into(),
            },
            clear_at_least: (self.clear_at_least > 0).then(|| tokens(self.clear_at_least)),
            exclude_tools: &self.exclude_tools,
            clear_tool_inputs: self.clear_inputs,
        };
        // Strings and numbers only: encoding cannot fail.
        RawJson::encode(&ContextManagement { edits: [edit] })
            .unwrap_or_else(|_| RawJson::empty_object())
    }

    /// The size of the context in tokens from which the model is warned.
    #[must_use]
    pub fn warn_at(&self) -> u64 {
        self.trigger_tokens.saturating_sub(self.warn_before)
    }

    /// The text of the warning.
    #[must_use]
    pub fn warning(&self) -> String {
        format!(
            "<system-reminder>\nThis conversation is getting long. Soon the older tool results will be removed from it. \
             Whatever you will still need of them, save it now with the tool {}. Do not mention this to the user.\n</system-reminder>",
            self.memory_tool
        )
    }

    /// How far clearing should go, if it has already gone so far (`cleared`, a number of results from the beginning). None if it
    /// is not worthwhile.
    ///
    /// Results in the newest message are kept: the model has not seen them yet.
    #[must_use]
    pub fn plan(&self, history: &History, cleared: u32) -> Option<Plan> {
        let results = self.results(history);
        let last_message = history.message_count().checked_sub(1)?;
        let unseen = results
            .iter()
            .rev()
            .take_while(|r| r.message == last_message)
            .count();
        let keep = unseen.max(usize::try_from(self.keep).unwrap_or(usize::MAX));
        let until = results.len().checked_sub(keep)?;
        let from = usize::try_from(cleared).ok()?;
        let clearable = results.get(from..until)?.iter().filter(|r| !r.excluded);
        let placeholder = u64::from(size::text(PLACEHOLDER.len()));
        let freed: u64 = clearable
            .map(|r| u64::from(r.tokens).saturating_sub(placeholder))
            .sum();
        let worth_it = freed > 0 && freed >= self.clear_at_least;
        worth_it.then(|| Plan {
            results: u32::try_from(until).unwrap_or(u32::MAX),
            tokens: freed,
        })
    }

    /// The history as the model is shown it: the first `cleared` results are cleared, except those of excluded tools.
    #[must_use]
    pub fn apply(&self, history: &History, cleared: u32) -> History {
        let results = self.results(history);
        let count = usize::try_from(cleared).unwrap_or(usize::MAX);
        let mut ids = BTreeSet::new();
        ids.extend(
            (results.into_iter().take(count))
                .filter(|r| !r.excluded)
                .map(|r| r.id),
        );
        history.edited(|role, block| {
            match role {
                Role::User => emptied(&block, "tool_result", "tool_use_id", &ids, || {
                    ("content", RawJson::string(PLACEHOLDER))
                }),
                Role::Assistant if self.clear_inputs => {
                    emptied(&block, "tool_use", "id", &ids, || {
                        ("input", RawJson::empty_object())
                    })
                }
                Role::Assistant => None,
            }
            .unwrap_or(block)
        })
    }

    fn results(&self, history: &History) -> Vec<ResultPlace> {
        // Ids of calls of excluded tools.
        let mut excluded: BTreeSet<String> = BTreeSet::new();
        let mut results = Vec::new();
        for message in 0..history.message_count() {
            for block in history.blocks(message) {
                let Ok(object) = RawObject::parse(block.get()) else {
                    continue;
                };
                match object.get_string("type").as_deref() {
                    Some("tool_use") => {
                        let id = object.get_string("id").unwrap_or_default();
                        let tool = object.get_string("name").unwrap_or_default();
                        if self.exclude_tools.contains(&tool) {
                            excluded.insert(id);
                        } else {
                            excluded.remove(&id);
                        }
                    }
                    Some("tool_result") => {
                        let id = object.get_string("tool_use_id").unwrap_or_default();
                        results.push(ResultPlace {
                            message,
                            tokens: size::block(&block),
                            excluded: excluded.contains(&id),
                            id,
                        });
                    }
                    _ => {}
                }
            }
        }
        results
    }
}

/// A clearing that is worthwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The number of results to clear, counted from the beginning. Those of excluded tools are counted, but not cleared.
    pub results: u32,
    /// Tokens that are freed, without those of results cleared earlier.
    pub tokens: u64,
}

/// A tool result in a history.
struct ResultPlace {
    id: String,
    message: usize,
    tokens: u32,
    excluded: bool,
}

/// The block with one field replaced, if it is of this kind and has one of these ids.
fn emptied(
    block: &RawJson,
    kind: &str,
    id_field: &str,
    ids: &BTreeSet<String>,
    replacement: impl Fn() -> (&'static str, RawJson),
) -> Option<RawJson> {
    let mut object = RawObject::parse(block.get()).ok()?;
    let is_kind = object.get_string("type").as_deref() == Some(kind);
    let id = object.get_string(id_field)?;
    if !is_kind || !ids.contains(id.as_str()) {
        return None;
    }
    let (field, value) = replacement();
    object.set(field, value);
    Some(object.to_raw())
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec};

    use super::*;
    use crate::content::{Block, ResultBlock, tool_result};

    /// A prompt, then calls with results of 1,000 tokens each; every third is of the tool `memory`.
    fn conversation(calls: usize) -> History {
        let mut history = History::default();
        history.push(Role::User, vec![Block::text("go").to_raw()]);
        for n in 0..calls {
            let tool = if n % 3 == 2 { "memory" } else { "Read" };
            let call =
                format!(r#"{{"type":"tool_use","id":"{n}","name":"{tool}","input":{{"n":{n}}}}}"#);
            history.push(Role::Assistant, vec![RawJson::parse(call).unwrap()]);
            let output = ResultBlock::Text {
                text: "r".repeat(4_000),
            };
            history.push(
                Role::User,
                vec![tool_result(&n.to_string(), &[output], false)],
            );
        }
        history.seal_for_request();
        history
    }

    fn lines(history: &History) -> Vec<String> {
        let utf8 = |line: bytes::Bytes| String::from_utf8(line.to_vec()).unwrap();
        history.lines().map(utf8).collect()
    }

    #[test]
    fn the_api_form_has_what_was_set() {
        assert_eq!(
            Clearing::default().to_api().get(),
            r#"{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":100000},"keep":{"type":"tool_uses","value":3},"clear_tool_inputs":false}]}"#
        );
        let set = Clearing {
            trigger_tokens: 30_000,
            keep: 5,
            clear_at_least: 2_000,
            exclude_tools: vec!["memory".to_string()],
            clear_inputs: true,
            ..Clearing::default()
        };
        assert_eq!(
            set.to_api().get(),
            r#"{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":30000},"keep":{"type":"tool_uses","value":5},"clear_at_least":{"type":"input_tokens","value":2000},"exclude_tools":["memory"],"clear_tool_inputs":true}]}"#
        );
    }

    #[test]
    fn the_newest_stay_and_what_would_free_too_little_is_left() {
        let history = conversation(10);
        let until = |c: &Clearing, h: &History, cleared| c.plan(h, cleared).map(|p| p.results);
        let policy = Clearing::default();
        assert_eq!(until(&policy, &history, 0), Some(7));
        assert_eq!(until(&policy, &history, 7), None);
        assert_eq!(until(&policy, &conversation(3), 0), None);
        assert_eq!(until(&policy, &History::default(), 0), None);
        let much = Clearing {
            clear_at_least: 6_000,
            ..Clearing::default()
        };
        assert_eq!(until(&much, &history, 0), Some(7));
        assert_eq!(until(&much, &history, 2), None);
        // What the model has not seen is kept, whatever the setting.
        let none = Clearing {
            keep: 0,
            ..Clearing::default()
        };
        assert_eq!(until(&none, &history, 0), Some(9));
    }

    #[test]
    fn results_of_excluded_tools_stay_and_calls_keep_their_form() {
        let history = conversation(6);
        let policy = Clearing {
            exclude_tools: vec!["memory".to_string()],
            clear_inputs: true,
            ..Clearing::default()
        };
        let shown = lines(&policy.apply(&history, 4));
        let kept = lines(&history);
        assert_eq!(shown.len(), kept.len());
        let cleared: Vec<bool> = shown
            .iter()
            .map(|line| line.contains("was removed"))
            .collect();
        // Results are at 2, 4, 6 (memory), 8, 10 and 12 (memory).
        let at: Vec<usize> = (0..cleared.len()).filter(|i| cleared[*i]).collect();
        assert_eq!(at, [2, 4, 8]);
        assert!(shown[1].contains(r#""input":{}"#) && shown[5].contains(r#""input":{"n":2}"#));
        assert!(shown[2].contains(r#""tool_use_id":"0""#));
        assert_eq!(shown[9..], kept[9..]);
        assert!(!kept.iter().any(|line| line.contains("was removed")));
    }
}
