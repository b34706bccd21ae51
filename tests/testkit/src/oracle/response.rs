//! Parses responses as sent by a server, independently of the decoders under test.

use alloc::string::{String, ToString};

use serde_json::Value;
use windlass_core::model::Usage;

/// The facts of a response.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// Its id; empty when it has none.
    pub(super) id: String,
    /// The model, as named by the server.
    pub(super) model: String,
    /// Its tokens.
    pub(super) usage: Usage,
    /// Whether the end mark was received. If not, there is a stop reason: some servers omit the mark after it.
    pub(super) ended: bool,
}

impl Told {
    /// Parses a body in either format, streamed or plain. `None` if it is not a response, contains an error or is invalid, or
    /// is incomplete.
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        // Bytes that are not text are not JSON either; after the end mark they do no harm.
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}');
        let mut told = Self::default();
        if text.trim_start().starts_with('{') {
            told.ended = told.plain(&value(text)?);
            return told.ended.then_some(told);
        }
        let mut has_reason = false;
        for event in events(text) {
            if event == "[DONE]" {
                told.ended = true;
            } else {
                has_reason |= told.event(&value(&event)?)?;
            }
            if told.ended {
                break;
            }
        }
        (told.ended || has_reason).then_some(told)
    }

    /// Parses a plain answer; returns whether it is one.
    fn plain(&mut self, answer: &Value) -> bool {
        self.named(answer);
        match answer["type"] == "message" {
            true => self.messages_usage(&answer["usage"]),
            false => self.chat_usage(&answer["usage"]),
        }
        answer["type"] == "message" || answer["choices"].is_array()
    }

    /// Parses an event; returns whether it contains the stop reason. `None` for an error.
    fn event(&mut self, event: &Value) -> Option<bool> {
        if event["type"] == "error" || !event["error"].is_null() {
            return None;
        }
        match event["type"].as_str() {
            Some("message_start") => {
                self.named(&event["message"]);
                self.messages_usage(&event["message"]["usage"]);
            }
            Some("message_delta") => {
                self.messages_usage(&event["usage"]);
                return Some(event["delta"]["stop_reason"].is_string());
            }
            Some("message_stop") => self.ended = true,
            Some(_) => {}
            None => {
                self.named(event);
                self.chat_usage(&event["usage"]);
                return Some(event["choices"][0]["finish_reason"].is_string());
            }
        }
        Some(false)
    }

    fn named(&mut self, of: &Value) {
        let set = |field: &mut String, value: &Value| {
            if let Some(text) = value.as_str() {
                *field = text.to_string();
            }
        };
        set(&mut self.id, &of["id"]);
        set(&mut self.model, &of["model"]);
    }

    /// Token counts of the Messages API: later ones replace earlier ones.
    fn messages_usage(&mut self, counts: &Value) {
        let usage = &mut self.usage;
        let searches = &mut usage.server_tool_use;
        for (field, slot) in [
            (&counts["input_tokens"], &mut usage.input_tokens),
            (&counts["output_tokens"], &mut usage.output_tokens),
            (
                &counts["cache_read_input_tokens"],
                &mut usage.cache_read_input_tokens,
            ),
            (
                &counts["cache_creation_input_tokens"],
                &mut usage.cache_creation_input_tokens,
            ),
            (
                &counts["server_tool_use"]["web_search_requests"],
                &mut searches.web_search_requests,
            ),
            (
                &counts["server_tool_use"]["web_fetch_requests"],
                &mut searches.web_fetch_requests,
            ),
        ] {
            *slot = field.as_u64().unwrap_or(*slot);
        }
    }

    /// Token counts of chat completions: the prompt's count includes tokens read from the cache.
    fn chat_usage(&mut self, counts: &Value) {
        if !counts.is_object() {
            return;
        }
        let prompt = counts["prompt_tokens"].as_u64().unwrap_or(0);
        let cached = &counts["prompt_tokens_details"]["cached_tokens"];
        let cached = cached.as_u64().unwrap_or(0).min(prompt);
        self.usage = Usage {
            input_tokens: prompt - cached,
            cache_read_input_tokens: cached,
            output_tokens: counts["completion_tokens"].as_u64().unwrap_or(0),
            ..Usage::default()
        };
    }
}

fn value(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// The data of events that are terminated by an empty line.
fn events(text: &str) -> impl Iterator<Item = String> {
    let mut lines = text.split_inclusive('\n');
    core::iter::from_fn(move || {
        let mut data = String::new();
        loop {
            let line = lines.next()?;
            let complete = line.strip_suffix('\n')?;
            let line = complete.strip_suffix('\r').unwrap_or(complete);
            if let Some(more) = line.strip_prefix("data:") {
                data.push_str(more.strip_prefix(' ').unwrap_or(more));
            } else if line.is_empty() && !data.is_empty() {
                return Some(data);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_tells_its_tokens_once_it_has_ended() {
        let stream = concat!(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"a\",",
            "\"usage\":{\"input_tokens\":3,\"cache_read_input_tokens\":null,\"output_tokens\":1}}}\n\n",
            "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":7}}\n\n",
            "data: {\"type\":\"message_stop\"}\n\n"
        );
        let told = Told::read(stream.as_bytes()).unwrap();
        assert_eq!((told.id.as_str(), told.model.as_str()), ("m", "a"));
        assert_eq!((told.usage.input_tokens, told.usage.output_tokens), (3, 7));
        assert!(told.ended);
        for cut in 0..stream.len() {
            assert_eq!(Told::read(&stream.as_bytes()[..cut]), None, "{cut}");
        }
        let with_reason = stream.replace(
            "\"usage\":{\"output_tokens\":7}",
            "\"delta\":{\"stop_reason\":\"end_turn\"}",
        );
        let end = with_reason.find("data: {\"type\":\"message_stop").unwrap();
        let told = Told::read(&with_reason.as_bytes()[..end]).unwrap();
        assert!(!told.ended);
    }

    #[test]
    fn what_was_read_from_the_cache_is_no_input_of_chat_completions() {
        let body = br#"{"id":"c","model":"b","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,
            "prompt_tokens_details":{"cached_tokens":4}}}"#;
        let usage = Told::read(body).unwrap().usage;
        assert_eq!((usage.input_tokens, usage.cache_read_input_tokens), (6, 4));
    }
}
