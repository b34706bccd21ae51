//! Chat completions: chunks that end with `[DONE]`, or one completion.

use alloc::{format, string::String, vec::Vec};

use bytes::Bytes;
use windlass_core::json::RawJson;

use super::{Context, Paced, call_id, pieces, usage};
use crate::script::{BlockScript, ErrorScript, MessageScript};

/// The response as a list of events.
pub(super) fn events(script: &MessageScript, context: &Context<'_>) -> Vec<Bytes> {
    let answer = Answer::new(script, context);
    // Servers of this format send a comment as keep-alive, but not by default.
    let ping = Bytes::from_static(b": ping\n\n");
    let mut out = Paced::new(script.stream.ping_every, ping, false);
    out.push(answer.chunk(r#"{"role":"assistant","content":""}"#, "null"));
    for delta in answer.deltas() {
        out.push(answer.chunk(&delta, "null"));
    }
    out.push(answer.chunk("{}", RawJson::string(&answer.finish_reason).get()));
    if context.include_usage {
        let counts = answer.usage();
        out.push(event(&answer.object(
            "chat.completion.chunk",
            "",
            Some(&counts),
        )));
    }
    out.push(event("[DONE]"));
    out.events
}

/// The response as one JSON object.
pub(super) fn json(script: &MessageScript, context: &Context<'_>) -> Bytes {
    let answer = Answer::new(script, context);
    let choice = format!(
        r#"{{"index":0,"message":{},"finish_reason":{}}}"#,
        answer.whole_message(),
        RawJson::string(&answer.finish_reason),
    );
    let counts = answer.usage();
    answer
        .object("chat.completion", &choice, Some(&counts))
        .into()
}

/// The body of an error response, and the content of an error within a stream.
pub(super) fn error_object(error: &ErrorScript) -> String {
    format!(
        r#"{{"error":{{"message":{},"type":{},"param":null,"code":null}}}}"#,
        RawJson::string(&error.message),
        RawJson::string(&error.kind),
    )
}

/// An event with its SSE framing.
pub(super) fn event(data: &str) -> Bytes {
    format!("data: {data}\n\n").into()
}

/// A model response with all values set.
struct Answer<'a> {
    script: &'a MessageScript,
    context: &'a Context<'a>,
    id: RawJson,
    model: RawJson,
    finish_reason: String,
    /// The model refuses: its texts are refusals.
    refuses: bool,
}

impl<'a> Answer<'a> {
    fn new(script: &'a MessageScript, context: &'a Context<'a>) -> Self {
        let id = script.id.clone();
        let calls = |block: &BlockScript| matches!(block, BlockScript::ToolUse { .. });
        let finish_reason = match script.stop_reason.as_deref() {
            None if script.content.iter().any(calls) => "tool_calls",
            None | Some("end_turn" | "refusal" | "stop_sequence") => "stop",
            Some("tool_use") => "tool_calls",
            Some("max_tokens") => "length",
            Some(other) => other,
        };
        Self {
            script,
            context,
            id: RawJson::string(&id.unwrap_or_else(|| format!("chatcmpl_{}", context.key))),
            model: RawJson::string(script.model.as_deref().unwrap_or(context.model)),
            finish_reason: finish_reason.into(),
            refuses: script.stop_reason.as_deref() == Some("refusal"),
        }
    }

    fn object(&self, kind: &str, choices: &str, usage: Option<&str>) -> String {
        format!(
            r#"{{"id":{},"object":"{kind}","created":0,"model":{},"choices":[{choices}],"usage":{}}}"#,
            self.id,
            self.model,
            usage.unwrap_or("null"),
        )
    }

    fn chunk(&self, delta: &str, finish_reason: &str) -> Bytes {
        let choice = format!(r#"{{"index":0,"delta":{delta},"finish_reason":{finish_reason}}}"#);
        event(&self.object("chat.completion.chunk", &choice, None))
    }

    fn usage(&self) -> String {
        let counts = usage(self.script, self.context);
        // There is no field for tokens written to the cache; the whole input counts as prompt tokens.
        let prompt = counts.input + counts.cache_read + counts.cache_creation;
        format!(
            r#"{{"prompt_tokens":{prompt},"completion_tokens":{},"total_tokens":{},"prompt_tokens_details":{{"cached_tokens":{}}}}}"#,
            counts.output,
            prompt + counts.output,
            counts.cache_read,
        )
    }

    fn text_field(&self) -> &'static str {
        match self.refuses {
            true => "refusal",
            false => "content",
        }
    }

    /// The deltas of all blocks, one block after another or in turns.
    fn deltas(&self) -> Vec<String> {
        let mut calls = 0;
        let blocks: Vec<Vec<String>> = (self.script.content.iter().enumerate())
            .map(|(at, block)| {
                let deltas = self.block_deltas(at, block, calls);
                calls += usize::from(matches!(block, BlockScript::ToolUse { .. }));
                deltas
            })
            .collect();
        if !self.script.stream.interleave {
            return blocks.into_iter().flatten().collect();
        }
        let longest = blocks.iter().map(Vec::len).max().unwrap_or(0);
        (0..longest)
            .flat_map(|round| blocks.iter().filter_map(move |block| block.get(round)))
            .cloned()
            .collect()
    }

    fn block_deltas(&self, at: usize, block: &BlockScript, call: usize) -> Vec<String> {
        let size = self.script.stream.delta_chars;
        let field = |name: &str, piece: &str| format!(r#"{{"{name}":{}}}"#, RawJson::string(piece));
        match block {
            BlockScript::Text(text) => pieces(text, size)
                .map(|piece| field(self.text_field(), piece))
                .collect(),
            BlockScript::Thinking { thinking, .. } => pieces(thinking, size)
                .map(|piece| field("reasoning_content", piece))
                .collect(),
            BlockScript::ToolUse { id, name, input } => {
                let id = call_id(self.context.key, at, id.as_deref());
                let start = format!(
                    r#"{{"tool_calls":[{{"index":{call},"id":{},"type":"function","function":{{"name":{},"arguments":""}}}}]}}"#,
                    RawJson::string(&id),
                    RawJson::string(name),
                );
                let more = pieces(input.as_str(), size).map(|piece| {
                    format!(
                        r#"{{"tool_calls":[{{"index":{call},"function":{{"arguments":{}}}}}]}}"#,
                        RawJson::string(piece)
                    )
                });
                core::iter::once(start).chain(more).collect()
            }
            BlockScript::Raw { deltas, .. } => {
                deltas.iter().map(|delta| delta.get().into()).collect()
            }
        }
    }

    fn whole_message(&self) -> String {
        let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
        for (at, block) in self.script.content.iter().enumerate() {
            match block {
                BlockScript::Text(more) => text.push_str(more),
                BlockScript::Thinking { thinking, .. } => reasoning.push_str(thinking),
                BlockScript::ToolUse { id, name, input } => calls.push(format!(
                    r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}}"#,
                    RawJson::string(&call_id(self.context.key, at, id.as_deref())),
                    RawJson::string(name),
                    RawJson::string(input.as_str()),
                )),
                // A raw block of the Messages API does not exist in this format.
                BlockScript::Raw { .. } => {}
            }
        }
        let some = |text: &str| match text {
            "" => RawJson::null(),
            text => RawJson::string(text),
        };
        let (content, refusal) = match self.refuses {
            true => (RawJson::null(), some(&text)),
            false => (some(&text), RawJson::null()),
        };
        let mut message =
            format!(r#"{{"role":"assistant","content":{content},"refusal":{refusal}"#);
        if !reasoning.is_empty() {
            message.push_str(&format!(r#","reasoning_content":{}"#, some(&reasoning)));
        }
        if !calls.is_empty() {
            message.push_str(&format!(r#","tool_calls":[{}]"#, calls.join(",")));
        }
        message.push('}');
        message
    }
}
