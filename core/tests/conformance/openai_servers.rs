//! Chat completions as servers speak them: the standard, and what each makes of it.

use serde_json::{Value, json};
use windlass_core::{
    content::Block,
    message::ErrorClass,
    provider::{Provider as _, Response, StopReason, WireError, openai::ChatCompletions},
};

use super::content;

const STREAM: &str = "text/event-stream";

fn decode(kind: &str, body: &str) -> Result<Response, WireError> {
    super::decode(&ChatCompletions::default(), kind, &[body.as_bytes()])
}

/// A stream of chunks with these choices, and `[DONE]`.
fn stream(choices: &[Value]) -> String {
    let chunks = choices.iter().map(|choice| {
        let chunk = json!({"id": "c-1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]});
        format!("data: {chunk}\n\n")
    });
    chunks.collect::<String>() + "data: [DONE]\n\n"
}

/// The response to deltas and a finish reason.
fn after(deltas: &[Value], finish: &str) -> Response {
    let mut choices: Vec<Value> = (deltas.iter())
        .map(|delta| json!({"index": 0, "delta": delta, "finish_reason": null}))
        .collect();
    choices.push(json!({"index": 0, "delta": {}, "finish_reason": finish}));
    decode(STREAM, &stream(&choices)).unwrap()
}

/// The response to one delta with these tool calls, or to one delta each.
fn calls(pieces: &[Value], together: bool) -> Vec<(String, String, Value)> {
    let deltas: Vec<Value> = match together {
        true => vec![json!({"tool_calls": pieces})],
        false => pieces
            .iter()
            .map(|piece| json!({"tool_calls": [piece]}))
            .collect(),
    };
    let response = after(&deltas, "tool_calls");
    assert_eq!(response.stop_reason, Some(StopReason::ToolUse));
    let call = |block: &Block| match block {
        Block::ToolUse(call) => {
            let input = call.input.as_ref().unwrap_or_else(|e| panic!("{e}"));
            let input = serde_json::from_str(input.get()).unwrap();
            (call.id.clone(), call.name.clone(), input)
        }
        other => panic!("{other:?}"),
    };
    response.content.iter().map(call).collect()
}

fn full(index: impl Into<Option<u32>>, id: &str, name: &str, arguments: &str) -> Value {
    let mut piece =
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    if let Some(index) = index.into() {
        piece["index"] = index.into();
    }
    if id.is_empty() {
        piece.as_object_mut().unwrap().remove("id");
    }
    piece
}

fn more(index: u32, arguments: &str) -> Value {
    json!({"index": index, "function": {"arguments": arguments}})
}

fn call(id: &str, name: &str, input: Value) -> (String, String, Value) {
    (id.into(), name.into(), input)
}

#[test]
fn calls_are_put_together_by_their_index() {
    let pieces = [
        full(0, "a", "Read", ""),
        more(0, "{\"p\""),
        full(1, "b", "List", ""),
        more(1, "{}"),
        more(0, ":1}"),
        full(2, "c", "Now", ""),
    ];
    let expected = [
        call("a", "Read", json!({"p": 1})),
        call("b", "List", json!({})),
        call("c", "Now", json!({})),
    ];
    for together in [true, false] {
        assert_eq!(calls(&pieces, together), expected);
    }
}

#[test]
fn ollama_gives_every_call_the_index_0_or_none() {
    for index in [Some(0), None] {
        let pieces = [
            full(index, "call_x", "Read", "{\"p\":1}"),
            full(index, "call_y", "Read", "{\"p\":2}"),
            full(index, "call_z", "Now", "{}"),
        ];
        for together in [true, false] {
            let expected = [
                call("call_x", "Read", json!({"p": 1})),
                call("call_y", "Read", json!({"p": 2})),
                call("call_z", "Now", json!({})),
            ];
            assert_eq!(calls(&pieces, together), expected);
        }
    }
}

#[test]
fn calls_without_ids_are_told_apart_by_their_names_and_their_ends() {
    for index in [Some(0), None] {
        let pieces = [
            full(index, "", "Read", "{\"p\":1}"),
            full(index, "", "Read", "{\"p\":2}"),
            full(index, "", "Now", ""),
            full(index, "", "Later", ""),
        ];
        for together in [true, false] {
            let expected = [
                call("", "Read", json!({"p": 1})),
                call("", "Read", json!({"p": 2})),
                call("", "Now", json!({})),
                call("", "Later", json!({})),
            ];
            assert_eq!(calls(&pieces, together), expected);
        }
    }
}

#[test]
fn a_server_that_repeats_id_and_name_with_every_piece_makes_one_call() {
    let pieces = [
        full(0, "a", "Read", ""),
        full(0, "a", "Read", "{\"p\":"),
        full(0, "a", "Read", "{}}"),
        full(0, "a", "Read", ""),
    ];
    assert_eq!(calls(&pieces, false), [call("a", "Read", json!({"p": {}}))]);
}

#[test]
fn two_calls_with_one_id_are_two_calls() {
    let pieces = [
        full(0, "same", "Read", "{\"p\":1}"),
        full(1, "same", "Read", "{\"p\":2}"),
    ];
    assert_eq!(calls(&pieces, true).len(), 2);
    let pieces = [
        full(0, "same", "Read", "{\"p\":1}"),
        full(0, "same", "Read", "{\"p\":2}"),
    ];
    assert_eq!(calls(&pieces, false).len(), 2);
}

#[test]
fn arguments_may_be_json_itself_or_null() {
    let object =
        json!({"index": 0, "id": "a", "function": {"name": "Read", "arguments": {"p": [1, "x"]}}});
    let null = json!({"index": 1, "id": "b", "function": {"name": "Now", "arguments": null}});
    let word = full(2, "c", "Then", "null");
    let expected = [
        call("a", "Read", json!({"p": [1, "x"]})),
        call("b", "Now", json!({})),
        call("c", "Then", json!({})),
    ];
    assert_eq!(calls(&[object, null, word], true), expected);
}

#[test]
fn the_older_form_of_a_call_is_understood() {
    let response = after(
        &[
            json!({"content": null, "function_call": {"name": "Read", "arguments": ""}}),
            json!({"function_call": {"arguments": "{\"p\""}}),
            json!({"function_call": {"arguments": ": 1}"}}),
        ],
        "function_call",
    );
    let expected = json!([{"type": "tool_use", "id": "", "name": "Read", "input": {"p": 1}}]);
    assert_eq!(content(&response), expected);
    assert_eq!(response.stop_reason, Some(StopReason::ToolUse));
}

#[test]
fn thinking_is_shown_by_either_name_and_not_signed() {
    for field in ["reasoning_content", "reasoning"] {
        let response = after(
            &[
                json!({"role": "assistant", "content": null, field: "So "}),
                json!({field: "it is."}),
                json!({"content": "Yes."}),
            ],
            "stop",
        );
        let thinking = Block::Thinking {
            thinking: "So it is.".into(),
            signature: String::new(),
        };
        assert_eq!(response.content, [thinking, Block::text("Yes.")]);
        assert!(!response.content[0].belongs_in_history());
    }
    let both = json!({"reasoning": "once", "reasoning_content": "once"});
    let response = after(&[both, json!({"content": "Yes."})], "stop");
    let expected =
        json!([{"type": "thinking", "thinking": "once"}, {"type": "text", "text": "Yes."}]);
    assert_eq!(content(&response), expected);
}

#[test]
fn finish_reasons_are_those_of_the_messages_api() {
    let text = json!({"content": "x"});
    let call = json!({"tool_calls": [full(0, "a", "Read", "{}")]});
    for (delta, finish, reason) in [
        (&text, "stop", StopReason::EndTurn),
        (&text, "length", StopReason::MaxTokens),
        (&text, "content_filter", StopReason::Refusal),
        (&text, "tool_calls", StopReason::EndTurn),
        (&text, "abort", StopReason::Other("abort".into())),
        (&call, "tool_calls", StopReason::ToolUse),
        (&call, "function_call", StopReason::ToolUse),
        // Several servers stop like this although tools are called.
        (&call, "stop", StopReason::ToolUse),
        (&call, "length", StopReason::MaxTokens),
    ] {
        let response = after(std::slice::from_ref(delta), finish);
        assert_eq!(response.stop_reason, Some(reason), "{finish}");
    }
}

#[test]
fn a_refusal_of_a_whole_completion_is_one() {
    let body = json!({"id": "c", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {
        "role": "assistant", "content": null, "refusal": "I will not."
    }}]});
    let response = decode("application/json", &body.to_string()).unwrap();
    assert_eq!(response.stop_reason, Some(StopReason::Refusal));
    assert_eq!(response.content, [Block::text("I will not.")]);
}

#[test]
fn what_servers_leave_out_is_not_missed() {
    // No ids, no model, no role, no usage, no `[DONE]`, other fields of unexpected kinds.
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\",\"tool_calls\":null,\"refusal\":7,\"reasoning\":{\"a\":[1]}}}],\"usage\":\"none\",\"id\":7}\n\n\
                data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\",\"logprobs\":null}]}\n\n";
    let response = decode(STREAM, body).unwrap();
    assert_eq!(response.content, [Block::text("Hi")]);
    assert_eq!(response.usage, windlass_core::provider::Usage::default());
    // `[DONE]` without a finish reason.
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n";
    let response = decode(STREAM, body).unwrap();
    assert_eq!(response.stop_reason, Some(StopReason::EndTurn));
    // `[DONE]` and nothing else is no answer.
    assert_eq!(decode(STREAM, "data: [DONE]\n\n"), Err(WireError::Cut));
}

#[test]
fn content_in_parts_is_joined() {
    let parts = json!({"content": [{"type": "text", "text": "Hel"}, {"type": "x"}, {"type": "text", "text": "lo"}]});
    assert_eq!(after(&[parts], "stop").content, [Block::text("Hello")]);
}

#[test]
fn of_several_choices_the_first_is_taken() {
    let body = stream(&[
        json!({"index": 1, "delta": {"content": "no"}}),
        json!({"index": 0, "delta": {"content": "yes"}}),
        json!({"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}),
        json!({"index": 0, "delta": {}, "finish_reason": "stop"}),
    ]);
    assert_eq!(decode(STREAM, &body).unwrap().content, [Block::text("yes")]);
}

#[test]
fn tokens_are_counted_by_every_name() {
    for (usage, input, cached, output) in [
        (
            json!({"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}),
            6,
            4,
            3,
        ),
        (
            json!({"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": null}),
            10,
            0,
            3,
        ),
        (
            json!({"prompt_tokens": 10, "prompt_cache_hit_tokens": 8}),
            2,
            8,
            0,
        ),
        (
            json!({"prompt_tokens": 1, "completion_tokens": null, "prompt_tokens_details": {"cached_tokens": 4}}),
            0,
            1,
            0,
        ),
    ] {
        let finish =
            json!({"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]});
        let last = json!({"choices": [], "usage": usage});
        let body = format!("data: {finish}\n\ndata: {last}\n\ndata: [DONE]\n\n");
        let counts = decode(STREAM, &body).unwrap().usage;
        let found = (
            counts.input_tokens,
            counts.cache_read_input_tokens,
            counts.output_tokens,
        );
        assert_eq!(found, (input, cached, output), "{usage}");
    }
}

#[test]
fn errors_are_read_in_every_form() {
    use ErrorClass::*;
    let said = "the reason";
    for (status, body, class, retryable) in [
        (
            400,
            json!({"error": {"message": said, "type": "invalid_request_error", "param": "x", "code": "context_length_exceeded"}}),
            InvalidRequest,
            false,
        ),
        (
            401,
            json!({"error": {"message": said, "type": "invalid_request_error", "code": "invalid_api_key"}}),
            AuthenticationFailed,
            false,
        ),
        (
            429,
            json!({"error": {"message": said, "type": "requests", "code": "rate_limit_exceeded"}}),
            RateLimit,
            true,
        ),
        // No waiting fills an account.
        (
            429,
            json!({"error": {"message": said, "type": "insufficient_quota", "code": "insufficient_quota"}}),
            BillingError,
            false,
        ),
        (404, json!({"error": said}), InvalidRequest, false),
        (422, json!({"detail": said}), InvalidRequest, false),
        (
            422,
            json!({"detail": [{"loc": ["body"], "msg": said}]}),
            InvalidRequest,
            false,
        ),
        (
            400,
            json!({"object": "error", "message": said, "type": "BadRequestError", "param": null, "code": 400}),
            InvalidRequest,
            false,
        ),
        (
            503,
            json!({"error": {"code": 503, "message": said, "type": "unavailable_error"}}),
            ServerError,
            true,
        ),
        (
            400,
            json!([{"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}]),
            InvalidRequest,
            false,
        ),
    ] {
        let error = ChatCompletions::default().error(status, body.to_string().as_bytes());
        assert_eq!((error.class, error.retryable), (class, retryable), "{body}");
        assert_eq!(error.status, Some(status));
        assert!(error.message.contains(said), "{}", error.message);
    }
}

#[test]
fn errors_inside_a_response_are_errors() {
    use ErrorClass::*;
    for (error, class, retryable) in [
        (
            json!({"message": "m", "type": "server_error"}),
            ServerError,
            true,
        ),
        (json!({"message": "m", "code": 502}), ServerError, true),
        (json!({"message": "m", "code": "429"}), RateLimit, true),
        (
            json!({"message": "m", "type": "BadRequestError", "code": 400}),
            InvalidRequest,
            false,
        ),
        (
            json!({"message": "m", "code": "insufficient_quota"}),
            BillingError,
            false,
        ),
        (json!("m"), Unknown, true),
    ] {
        let chunk = json!({"id": "x", "choices": [{"index": 0, "delta": {"content": "half"}}], "error": error});
        let streamed = decode(STREAM, &format!("data: {chunk}\n\ndata: [DONE]\n\n"));
        let whole = decode("application/json", &json!({"error": error}).to_string());
        for outcome in [streamed, whole] {
            let found = outcome.unwrap_err().into_api_error();
            assert_eq!(
                (found.class, found.retryable),
                (class, retryable),
                "{error}"
            );
            assert!(found.message.contains('m'));
        }
    }
    let body = stream(&[json!({"index": 0, "delta": {"content": "x"}, "finish_reason": "error"})]);
    assert!(
        decode(STREAM, &body)
            .unwrap_err()
            .into_api_error()
            .retryable
    );
}
