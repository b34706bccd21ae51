//! Encoding requests. The prefix is made once; the history is already encoded; the rest is splicing.

use alloc::{borrow::ToOwned, string::String, vec, vec::Vec};

use bytes::Bytes;
use serde::Serialize;

use super::push_str;
use crate::{
    effect::HttpRequest,
    json::RawJson,
    provider::HistoryView,
    spec::{Effort, Spec, Thinking},
};

const CACHE_CONTROL: &str = r#"{"type":"ephemeral"}"#;
const BREAKPOINT: &[u8] = br#","cache_control":{"type":"ephemeral"}"#;
const END: &[u8] = b"]}";

/// Used where neither the spec nor the catalogue says how much a model may write.
const DEFAULT_MAX_TOKENS: u64 = 16_384;
/// Thinking with a budget of its own, when none was given.
const DEFAULT_THINKING_BUDGET: u64 = 10_000;

#[derive(Serialize)]
struct Prefix<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingParam>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<SystemBlock<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum ThinkingParam {
    Adaptive,
    Enabled { budget_tokens: u64 },
    Disabled,
}

#[derive(Serialize)]
struct OutputConfig {
    effort: Effort,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<RawJson>,
}

/// Everything before the first message, up to and including `"messages":[`.
pub(super) fn prefix(spec: &Spec, model: &str) -> Bytes {
    let facts = spec.catalogue.get(model);
    let limit = facts.map_or(0, |m| m.max_output_tokens);
    let max_tokens = match (spec.max_tokens, limit) {
        (Some(wanted), 0) => u64::from(wanted),
        (Some(wanted), limit) => u64::from(wanted).min(limit),
        (None, 0) => DEFAULT_MAX_TOKENS,
        (None, limit) => limit.min(2 * DEFAULT_MAX_TOKENS),
    };
    let cache = || RawJson::parse(CACHE_CONTROL).ok();
    let mut tools: Vec<Tool<'_>> = spec
        .offered_tools()
        .map(|tool| Tool {
            name: &tool.name,
            description: &tool.description,
            input_schema: &tool.input_schema,
            cache_control: None,
        })
        .collect();
    let mut system: Vec<SystemBlock<'_>> = spec
        .system
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| SystemBlock {
            kind: "text",
            text,
            cache_control: None,
        })
        .collect();
    // Tools come before the system prompt in the cached prefix: one mark at its end covers both.
    if let Some(last) = system.last_mut() {
        last.cache_control = cache();
    } else if let Some(last) = tools.last_mut() {
        last.cache_control = cache();
    }
    let head = Prefix {
        model,
        max_tokens,
        stream: spec.stream,
        thinking: thinking(spec, model, max_tokens),
        output_config: spec
            .effort
            .filter(|_| facts.is_none_or(|m| m.effort))
            .map(|effort| OutputConfig { effort }),
        system,
        tools,
    };
    // Strings, numbers and raw JSON only: encoding cannot fail.
    let mut out = serde_json::to_vec(&head).unwrap_or_default();
    out.pop();
    push_str(&mut out, ",\"messages\":[");
    out.into()
}

fn thinking(spec: &Spec, model: &str, max_tokens: u64) -> Option<ThinkingParam> {
    let adaptive = spec
        .catalogue
        .get(model)
        .is_some_and(|m| m.adaptive_thinking);
    match spec.thinking {
        Thinking::Default | Thinking::Adaptive if adaptive => Some(ThinkingParam::Adaptive),
        Thinking::Default | Thinking::Adaptive => None,
        Thinking::Disabled => Some(ThinkingParam::Disabled),
        Thinking::Enabled { budget_tokens } => {
            let wanted = budget_tokens.map_or(DEFAULT_THINKING_BUDGET, u64::from);
            Some(ThinkingParam::Enabled {
                // The API wants room for an answer beside the thinking.
                budget_tokens: wanted.min(max_tokens.saturating_sub(1)).max(1),
            })
        }
    }
}

/// A request: prefix, history with its breakpoints spliced in, end.
pub(super) fn request(spec: &Spec, prefix: &Bytes, history: HistoryView<'_>) -> HttpRequest {
    let mut body = vec![prefix.clone()];
    for (index, segment) in history.segments.iter().enumerate() {
        let mut from = 0;
        for &(_, at) in history.breakpoints.iter().filter(|(s, _)| *s == index) {
            body.push(segment.slice(from..at));
            body.push(Bytes::from_static(BREAKPOINT));
            from = at;
        }
        body.push(segment.slice(from..));
    }
    body.push(Bytes::from_static(END));
    HttpRequest {
        method: "POST",
        path: "/v1/messages".to_owned(),
        headers: headers(spec),
        body,
    }
}

fn headers(spec: &Spec) -> Vec<(String, String)> {
    let accept = if spec.stream {
        "text/event-stream"
    } else {
        "application/json"
    };
    let mut headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("accept".to_owned(), accept.to_owned()),
        ("anthropic-version".to_owned(), "2023-06-01".to_owned()),
    ];
    if !spec.betas.is_empty() {
        headers.push(("anthropic-beta".to_owned(), spec.betas.join(",")));
    }
    headers
}
