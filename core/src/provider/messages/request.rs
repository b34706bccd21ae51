//! Encodes requests. The prefix is encoded once and the history is already encoded, so that a request is spliced together.

use alloc::{borrow::ToOwned, string::String, vec, vec::Vec};

use bytes::Bytes;
use serde::Serialize;

use super::push_str;
use crate::{
    content::Block,
    context::{Clearing, clearing},
    effect::HttpRequest,
    history::{HistoryView, USER_OPENING},
    json::{self, RawJson, RawObject},
    model::{Effort, Thinking, ThinkingDisplay},
    price::{self, Caching, ModelFacts, ThinkingForm},
    provider::{ModelRequest, Opening, Prefix},
};

const MARK_KEY: &str = r#","cache_control":"#;
const FIVE_MINUTES: &str = r#","cache_control":{"type":"ephemeral"}"#;
const HOUR: &str = r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#;
const END: &[u8] = b"]}";
const END_WITHOUT_TOOLS: &[u8] = br#"],"tool_choice":{"type":"none"}}"#;
/// The beta feature for deferred definitions. Servers that no longer need it still accept its name.
const DEFERRED_TOOLS_BETA: &str = "advanced-tool-use-2025-11-20";

/// The beta feature that `task_budget` requires.
const TASK_BUDGETS_BETA: &str = "task-budgets-2026-03-13";

/// The thinking budget if none was given.
const DEFAULT_THINKING_BUDGET: u64 = 10_000;

#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingParam>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_management: Option<RawJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<SystemBlock<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ThinkingParam {
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<ThinkingDisplay>,
    },
    Enabled {
        budget_tokens: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<ThinkingDisplay>,
    },
    Disabled,
}

#[derive(Serialize)]
struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<Effort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_budget: Option<TaskBudget>,
}

/// A budget in tokens (`task_budget` of `output_config`, Messages API).
#[derive(Serialize)]
#[serde(tag = "type", rename = "tokens")]
struct TaskBudget {
    total: u32,
}

#[derive(Serialize)]
struct SystemBlock<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<RawJson>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a RawJson,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    defer_loading: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<RawJson>,
}

/// What is added to a block up to which requests are cached; nothing where they are not.
fn mark(facts: Option<&ModelFacts>) -> &'static str {
    match facts.map_or(Caching::FiveMinutes, |facts| facts.caching) {
        Caching::FiveMinutes => FIVE_MINUTES,
        Caching::Hour => HOUR,
        Caching::Off => "",
    }
}

/// Everything before the first message, up to and including `"messages":[`. If memory files go in front of the conversation, also
/// the beginning of the first message.
pub(super) fn prefix(opening: &Opening<'_>) -> Prefix {
    let request = opening.request;
    let facts = request.facts;
    let max_tokens = price::output_limit(facts, request.max_tokens);
    let mark = mark(facts);
    let cache = || RawJson::parse(mark.strip_prefix(MARK_KEY)?).ok();
    let mut tools: Vec<Tool<'_>> = opening
        .tools
        .iter()
        .map(|offer| Tool {
            name: offer.name,
            description: &offer.description,
            input_schema: &offer.definition.input_schema,
            defer_loading: offer.deferred,
            cache_control: None,
        })
        .collect();
    let defers = tools.iter().any(|tool| tool.defer_loading);
    let mut system: Vec<SystemBlock<'_>> = opening
        .system
        .iter()
        .map(|text| SystemBlock {
            kind: "text",
            text,
            cache_control: None,
        })
        .collect();
    // Tools come before the system prompt in the cached prefix: one cache mark at its end covers both.
    if let Some(last) = system.last_mut() {
        last.cache_control = cache();
    } else if let Some(last) = tools.iter_mut().rfind(|tool| !tool.defer_loading) {
        // Deferred definitions are not part of the cached prefix, and the API refuses a cache mark on them.
        last.cache_control = cache();
    }
    let head = Head {
        model: facts
            .and_then(|facts| facts.sent_as.as_deref())
            .unwrap_or(request.model),
        max_tokens,
        stream: request.stream,
        thinking: thinking(request, max_tokens),
        output_config: output_config(request),
        context_management: request.clearing.map(Clearing::to_api),
        system,
        tools,
    };
    // Strings, numbers and raw JSON only: encoding cannot fail.
    let mut out = json::write::to_text(&head).into_bytes();
    out.pop();
    push_str(&mut out, ",\"messages\":[");
    if let Some(reminder) = opening.before_conversation {
        push_str(&mut out, USER_OPENING);
        // It gets its own cache mark, since it stays the same when a compaction restarts the conversation.
        push_str(&mut out, marked(reminder, cache()).get());
        out.push(b',');
    }
    let betas = [
        defers.then_some(DEFERRED_TOOLS_BETA),
        request.task_budget.map(|_| TASK_BUDGETS_BETA),
    ];
    let betas = betas.into_iter().flatten().map(ToOwned::to_owned);
    Prefix {
        bytes: out.into(),
        betas: betas.collect(),
    }
}

/// A text block with a cache mark, if there is one.
fn marked(text: &str, mark: Option<RawJson>) -> RawJson {
    let block = Block::text(text).to_raw();
    let (Ok(mut object), Some(mark)) = (RawObject::parse(block.get()), mark) else {
        return block;
    };
    object.set("cache_control", mark);
    object.to_raw()
}

fn output_config(request: &ModelRequest<'_>) -> Option<OutputConfig> {
    let effort = match request.facts {
        Some(facts) => facts.effort(request.effort),
        None => request.effort,
    };
    let task_budget = request.task_budget.map(|total| TaskBudget { total });
    (effort.is_some() || task_budget.is_some()).then_some(OutputConfig {
        effort,
        task_budget,
    })
}

fn thinking(request: &ModelRequest<'_>, max_tokens: u64) -> Option<ThinkingParam> {
    let display = request.thinking_display;
    // The API requires room for an answer besides the thinking.
    let most = max_tokens.saturating_sub(1).max(1);
    let enabled = |wanted: u64| ThinkingParam::Enabled {
        budget_tokens: wanted.min(most).max(1),
        display,
    };
    match (request.facts.map(|facts| facts.thinking), request.thinking) {
        (Some(ThinkingForm::None), _) => None,
        (Some(ThinkingForm::AlwaysAdaptive), _) => Some(ThinkingParam::Adaptive { display }),
        (_, Thinking::Disabled) => Some(ThinkingParam::Disabled),
        (_, Thinking::Enabled { budget_tokens }) => Some(enabled(
            budget_tokens.map_or(DEFAULT_THINKING_BUDGET, u64::from),
        )),
        (Some(ThinkingForm::Adaptive), _) => Some(ThinkingParam::Adaptive { display }),
        (Some(ThinkingForm::Budget), _) => Some(enabled(most)),
        (None | Some(ThinkingForm::Asked), _) => None,
    }
}

/// Builds a request: prefix, history with its breakpoints spliced in, end.
pub(super) fn request(
    request: &ModelRequest<'_>,
    prefix: &Prefix,
    history: HistoryView<'_>,
) -> HttpRequest {
    let mark = mark(request.facts).as_bytes();
    let mut body = vec![prefix.bytes.clone()];
    for (index, segment) in history.segments.iter().enumerate() {
        // The prefix ends inside the first message, or before it.
        let begun = index == 0
            && prefix.bytes.ends_with(b",")
            && segment.starts_with(USER_OPENING.as_bytes());
        let mut from = if begun { USER_OPENING.len() } else { 0 };
        for &(_, at) in history.breakpoints.iter().filter(|(s, _)| *s == index) {
            body.push(segment.slice(from..at));
            body.push(Bytes::from_static(mark));
            from = at;
        }
        body.push(segment.slice(from..));
    }
    body.push(Bytes::from_static(END));
    HttpRequest {
        method: "POST",
        path: "/v1/messages".to_owned(),
        headers: headers(request, prefix),
        body,
    }
}

/// Sets `tool_choice` to none. Left out if there are no tools, since the API refuses it then.
pub(super) fn forbid_tools(mut request: HttpRequest) -> HttpRequest {
    let offers = request
        .body
        .first()
        .is_some_and(|prefix| crate::json::find(prefix, b"\"tools\":[").is_some());
    if offers && request.body.pop_if(|last| *last == END).is_some() {
        request.body.push(Bytes::from_static(END_WITHOUT_TOOLS));
    }
    request
}

fn headers(request: &ModelRequest<'_>, prefix: &Prefix) -> Vec<(String, String)> {
    let accept = if request.stream {
        "text/event-stream"
    } else {
        "application/json"
    };
    let mut headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("accept".to_owned(), accept.to_owned()),
        ("anthropic-version".to_owned(), "2023-06-01".to_owned()),
    ];
    let needed = prefix.betas.iter().map(String::as_str);
    let clearing = request.clearing.map(|_| clearing::BETA);
    let of_model = request.facts.map(|facts| facts.betas.as_slice());
    let of_model = of_model.into_iter().flatten();
    let mut betas: Vec<&str> = Vec::new();
    let named = of_model.chain(request.betas).map(String::as_str);
    for beta in named.chain(needed).chain(clearing) {
        if !betas.contains(&beta) {
            betas.push(beta);
        }
    }
    if !betas.is_empty() {
        headers.push(("anthropic-beta".to_owned(), betas.join(",")));
    }
    headers
}
