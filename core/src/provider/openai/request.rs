//! Encodes requests: everything except the conversation is encoded once.

use alloc::{borrow::ToOwned, string::String, vec, vec::Vec};

use bytes::Bytes;
use serde::Serialize;

use super::{ChatCompletions, OutputLimit, SystemRole};
use crate::{
    effect::HttpRequest,
    history::HistoryView,
    json::{RawJson, RawObject},
    model::Effort,
    provider::{ModelRequest, Opening},
};

const END: &[u8] = b"]}";

#[derive(Serialize)]
struct SystemMessage<'a> {
    role: SystemRole,
    content: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawJson,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// Everything before the first message of the history: the list `messages` is open and begins with the system prompt.
pub(super) fn prefix(api: &ChatCompletions, opening: &Opening<'_>) -> Bytes {
    let request = opening.request;
    let mut body = RawObject::default();
    let mut set = |key: &str, value: Result<RawJson, _>| {
        // Strings, numbers and raw JSON only: encoding cannot fail.
        let value: Result<RawJson, crate::json::JsonError> = value;
        if let Ok(value) = value {
            body.set(key, value);
        }
    };
    let facts = request.facts;
    set("model", RawJson::encode(request.model));
    set("stream", RawJson::encode(&request.stream));
    if request.stream && api.stream_usage {
        let include_usage = true;
        let options = StreamOptions { include_usage };
        set("stream_options", RawJson::encode(&options));
    }
    if let Some(wanted) = request.max_tokens.map(u64::from) {
        let limit = facts.map_or(0, |m| m.max_output_tokens);
        let most = if limit == 0 {
            wanted
        } else {
            wanted.min(limit)
        };
        let field = match api.output_limit {
            OutputLimit::MaxTokens => "max_tokens",
            OutputLimit::MaxCompletionTokens => "max_completion_tokens",
        };
        set(field, RawJson::encode(&most));
    }
    if let Some(effort) = request
        .effort
        .filter(|_| facts.is_none_or(|m| !m.efforts.is_empty()))
    {
        set("reasoning_effort", RawJson::encode(effort_name(effort)));
    }
    let tools: Vec<Tool<'_>> = (opening.tools.iter())
        .map(|offer| Tool {
            kind: "function",
            function: Function {
                name: offer.name,
                description: &offer.description,
                parameters: &offer.definition.input_schema,
            },
        })
        .collect();
    if !tools.is_empty() {
        set("tools", RawJson::encode(&tools));
    }
    for (field, value) in api.extra.iter().filter(|(field, _)| *field != "messages") {
        set(field, Ok(value.clone()));
    }
    // A single message: chat templates of models support only one. Memory files are part of it.
    let system = opening.system.iter().map(String::as_str);
    let texts: Vec<&str> = system.chain(opening.before_conversation).collect();
    let content = texts.join("\n\n");
    let system: Vec<SystemMessage<'_>> = (!content.is_empty())
        .then_some(SystemMessage {
            role: api.system_role,
            content: &content,
        })
        .into_iter()
        .collect();
    set("messages", RawJson::encode(&system));
    let mut out = body.to_raw().get().as_bytes().to_vec();
    // `messages` is the last field, and its list stays open.
    out.truncate(out.len().saturating_sub(END.len()));
    out.into()
}

/// The effort levels that all servers with this field support; higher ones map to the highest of them.
fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::Xhigh | Effort::Max => "high",
    }
}

/// Builds a request: prefix, translated history, end.
pub(super) fn request(
    api: &ChatCompletions,
    request: &ModelRequest<'_>,
    prefix: &Bytes,
    history: HistoryView<'_>,
) -> HttpRequest {
    let mut body = vec![prefix.clone()];
    let begun = !prefix.ends_with(b"[");
    if begun && history.segments.iter().any(|piece| !piece.is_empty()) {
        body.push(Bytes::from_static(b","));
    }
    body.extend(history.segments.iter().cloned());
    body.push(Bytes::from_static(END));
    let accept = if request.stream {
        "text/event-stream"
    } else {
        "application/json"
    };
    HttpRequest {
        method: "POST",
        path: api.path.clone(),
        headers: vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("accept".to_owned(), accept.to_owned()),
        ],
        body,
    }
}
