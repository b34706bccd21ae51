use anstream::adapter::strip_str;
use serde_json::{Value, json};
use windlass_core::{Message, message::SystemMessage};

use super::Screen;

const ID: &str = "00000000-0000-4000-8000-000000000001";

/// A message from JSON, with the common fields added. It is parsed by its own type, since raw JSON does not work with
/// the tagged enum.
fn message(mut fields: Value) -> Message {
    fields["uuid"] = json!(ID);
    fields["session_id"] = json!(ID);
    fields["parent_tool_use_id"] = Value::Null;
    let json = fields.to_string();
    match fields["type"].as_str().unwrap() {
        "stream_event" => Message::StreamEvent(serde_json::from_str(&json).unwrap()),
        "assistant" => Message::Assistant(serde_json::from_str(&json).unwrap()),
        "user" => Message::User(serde_json::from_str(&json).unwrap()),
        "result" => Message::Result(serde_json::from_str(&json).unwrap()),
        _ => Message::System(SystemMessage::ApiRetry(
            serde_json::from_str(&json).unwrap(),
        )),
    }
}

fn event(event: Value) -> Message {
    message(json!({"type": "stream_event", "event": event}))
}

fn delta(index: u64, text: &str) -> Message {
    event(
        json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}),
    )
}

fn block(index: u64, kind: &str) -> Message {
    event(
        json!({"type": "content_block_start", "index": index, "content_block": {"type": kind, "text": ""}}),
    )
}

fn block_stop(index: u64) -> Message {
    event(json!({"type": "content_block_stop", "index": index}))
}

fn response(content: Value) -> Message {
    message(json!({"type": "assistant", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "content": content,
        "stop_reason": "tool_use", "stop_sequence": null, "usage": {},
    }}))
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn tool_result(id: &str, text: &str, is_error: bool, output: Value) -> Message {
    message(
        json!({"type": "user", "tool_use_result": output, "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error},
        ]}}),
    )
}

fn result(fields: Value) -> Message {
    let mut all = json!({
        "type": "result", "subtype": "success", "is_error": false, "duration_ms": 4210, "duration_api_ms": 3000,
        "num_turns": 6, "result": "All 10 tests pass.", "stop_reason": "end_turn", "total_cost_usd": 0.04114,
        "usage": {"input_tokens": 28, "output_tokens": 1016, "cache_read_input_tokens": 17725,
                  "cache_creation_input_tokens": 4948},
        "modelUsage": {}, "permission_denials": [],
    });
    for (name, value) in fields.as_object().unwrap() {
        all[name] = value.clone();
    }
    message(all)
}

/// A screen 60 columns wide, for a session in `/work`.
fn screen() -> Screen {
    let mut screen = Screen::new(Some(60), false);
    "/work".clone_into(&mut screen.cwd);
    screen
}

/// The output, 60 columns wide, for messages 100 ms apart.
fn shown(messages: &[Message]) -> String {
    let mut screen = screen();
    (0..)
        .step_by(100)
        .zip(messages)
        .map(|(at, message)| screen.show(message, at))
        .collect()
}

/// The same without styles.
fn plain(messages: &[Message]) -> String {
    strip_str(&shown(messages)).to_string()
}

#[test]
fn a_run_reads_like_a_story() {
    let text = "I'll look.";
    let messages = [
        block(0, "text"),
        delta(0, "I'll "),
        delta(0, "look."),
        block_stop(0),
        response(json!([
            {"type": "text", "text": text},
            call("a", "Read", json!({"file_path": "/work/shop/cart.py"})),
            call("b", "Bash", json!({"command": "python3 -m unittest -q"})),
            call("c", "Edit", json!({"file_path": "/work/a.py", "old_string": "x", "new_string": "y"})),
        ])),
        tool_result(
            "a",
            "1\tx",
            false,
            json!({"type": "text", "file": {"numLines": 42}}),
        ),
        tool_result(
            "b",
            "Exit code 1",
            true,
            json!({"stdout": "", "stderr": "F\n\nFAILED (failures=2)\n"}),
        ),
        tool_result(
            "c",
            "Changed",
            false,
            json!({"structuredPatch": [{"lines": ["-x", "+y"]}]}),
        ),
        block(0, "text"),
        delta(0, "Done."),
        block_stop(0),
        response(json!([{"type": "text", "text": "Done."}])),
        result(json!({})),
    ];
    insta::assert_snapshot!(plain(&messages), @r"
    I'll look.
      ✓ Read shop/cart.py · 42 lines · 100 ms
      ✗ Bash python3 -m unittest -q · 100 ms
        FAILED (failures=2)
      ✓ Edit a.py · -1 +1 · 100 ms

    Done.

    ✓ done
      6 turns · 4,976 in · 1,016 out · 17,725 cached · $0.0411 · 4.2 s
    ");
}

#[test]
fn styles_are_in_the_text_and_only_there() {
    let messages = [
        response(json!([call("a", "Glob", json!({"pattern": "*.py"}))])),
        tool_result("a", "", false, json!({"numFiles": 1})),
    ];
    assert_eq!(
        shown(&messages),
        "  \x1b[32m✓\x1b[0m \x1b[1mGlob\x1b[0m *.py\x1b[2m · 1 file · 100 ms\x1b[0m\n"
    );
}

#[test]
fn text_is_broken_into_lines_between_words() {
    let words = "word ".repeat(20);
    let messages = [response(json!([{"type": "text", "text": words}]))];
    let shown = plain(&messages);
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(shown.lines().all(|line| line.len() <= 60), "{shown}");
}

#[test]
fn text_that_was_not_streamed_is_shown_when_it_is_whole() {
    let messages = [response(json!([{"type": "text", "text": "In one piece."}]))];
    assert_eq!(plain(&messages), "In one piece.\n");
}

#[test]
fn text_that_was_streamed_is_shown_once_behind_a_block_of_thinking() {
    let messages = [
        block(0, "thinking"),
        block_stop(0),
        block(1, "text"),
        delta(1, "Said."),
        block_stop(1),
        response(json!([{"type": "thinking", "thinking": "Hm.", "signature": ""}])),
        response(json!([{"type": "text", "text": "Said."}])),
    ];
    assert_eq!(plain(&messages), "Said.\n");
}

#[test]
fn paragraphs_stay_apart_wherever_the_pieces_are_cut() {
    let messages = [
        block(0, "text"),
        delta(0, "\n"),
        delta(0, "One.\n"),
        delta(0, "\nTwo.\n"),
        block_stop(0),
        block(1, "text"),
        delta(1, "\nThree."),
        block_stop(1),
    ];
    assert_eq!(plain(&messages), "One.\n\nTwo.\nThree.\n");
}

#[test]
fn blocks_that_stream_at_once_are_shown_one_after_the_other() {
    let messages = [
        block(0, "text"),
        block(1, "text"),
        delta(0, "first "),
        delta(1, "second "),
        delta(0, "block"),
        delta(1, "block"),
        block_stop(0),
        delta(1, "!"),
        block_stop(1),
        response(
            json!([{"type": "text", "text": "first block"}, {"type": "text", "text": "second block!"}]),
        ),
    ];
    assert_eq!(plain(&messages), "first block\nsecond block!\n");
}

#[test]
fn long_inputs_are_cut_to_the_width_of_the_terminal() {
    let command = "echo ".to_owned() + &"x".repeat(200);
    let messages = [
        response(json!([call("a", "Bash", json!({"command": command}))])),
        tool_result(
            "a",
            "",
            false,
            json!({"stdout": "y".repeat(200), "stderr": ""}),
        ),
    ];
    let shown = plain(&messages);
    assert_eq!(shown.lines().count(), 1);
    assert_eq!(shown.trim_end().chars().count(), 60, "{shown}");
    assert!(shown.contains("x… · yyy"), "{shown}");
}

#[test]
fn nothing_from_outside_reaches_the_terminal_as_a_command() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\r\u{9b}31m";
    let messages = [
        block(0, "text"),
        delta(0, evil),
        block_stop(0),
        response(json!([
            call("a", evil, json!({"x": evil})),
            call("b", "Bash", json!({"command": evil}))
        ])),
        tool_result("a", evil, true, json!({"stderr": evil})),
        tool_result("b", evil, true, json!({"stderr": evil})),
        message(
            json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 2, "retry_delay_ms": 1,
                       "error_status": null, "error": "server_error", "message": evil}),
        ),
        result(json!({"subtype": "error_during_execution", "is_error": true, "errors": [evil]})),
    ];
    let shown = plain(&messages);
    let acts = |c: char| c.is_control() && c != '\n';
    assert!(!shown.contains(acts), "{shown:?}");
    assert!(shown.contains("␛[2J"), "{shown}");
}

#[test]
fn a_retry_is_announced_and_disowns_the_partial_answer() {
    let retry = json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "retry_delay_ms": 2400,
                       "error_status": null, "error": "server_error", "message": "the stream was cut."});
    let messages = [
        block(0, "text"),
        delta(0, "Half an ans"),
        message(retry.clone()),
        message(retry),
    ];
    insta::assert_snapshot!(plain(&messages), @r"
    Half an ans
      ↻ the stream was cut; the partial answer does not count. Asking again in 2.4 s (1 of 10).
      ↻ the stream was cut. Asking again in 2.4 s (1 of 10).
    ");
}

#[test]
fn a_failure_is_told_once() {
    let mut failed = response(json!([{"type": "text", "text": "API error 401"}]));
    if let Message::Assistant(response) = &mut failed {
        response.error = Some(windlass_core::message::ErrorClass::AuthenticationFailed);
    }
    let end = result(
        json!({"subtype": "error_during_execution", "is_error": true, "result": null,
                            "errors": ["API error 401"], "num_turns": 1, "total_cost_usd": 0,
                            "usage": {}, "duration_ms": 12}),
    );
    insta::assert_snapshot!(plain(&[failed, end]), @r"
    ✗ API error 401
      1 turn · 0 in · 0 out · 0 cached · $0.0000 · 12 ms
    ");
}

#[test]
fn a_model_without_a_price_is_not_for_free() {
    let shown = plain(&[result(json!({"total_cost_usd": 0}))]);
    assert!(shown.contains("cost unknown"), "{shown}");
}

#[test]
fn a_call_counts_from_when_it_runs() {
    let mut screen = screen();
    let calls = json!([
        call("a", "Read", json!({})),
        call("b", "Read", json!({})),
        call("c", "Bash", json!({})),
        call("d", "Bash", json!({})),
    ]);
    let mut shown = screen.show(&response(calls), 0);
    shown += &screen.show(&tool_result("b", "", false, Value::Null), 10);
    shown += &screen.show(&tool_result("a", "", false, Value::Null), 20);
    shown += &screen.show(&tool_result("c", "", false, Value::Null), 50);
    // A person was asked about this call and took a while.
    screen.answered("d", 9_000);
    shown += &screen.show(&tool_result("d", "", false, Value::Null), 9_040);
    insta::assert_snapshot!(strip_str(&shown).to_string(), @r"
    ✓ Read · 10 ms
    ✓ Read · 20 ms
    ✓ Bash · 30 ms
    ✓ Bash · 40 ms
    ");
}

#[test]
fn the_passing_line_says_what_is_going_on() {
    let mut screen = screen();
    let status = |screen: &Screen, at| screen.status(at).map(|line| strip_str(&line).to_string());
    assert_eq!(status(&screen, 0), None);
    let calls = json!([
        call("a", "Read", json!({"file_path": "/work/a"})),
        call("b", "Glob", json!({"pattern": "*"}))
    ]);
    screen.show(&response(calls), 1_000);
    assert_eq!(
        status(&screen, 3_100).unwrap(),
        "  ⠙ Read a and 1 more · 2 s"
    );
    screen.show(&tool_result("a", "", false, Value::Null), 3_200);
    assert_eq!(status(&screen, 3_200).unwrap(), "  ⠹ Glob * · 2 s");
    screen.show(&tool_result("b", "", false, Value::Null), 4_000);
    assert_eq!(
        status(&screen, 5_000).unwrap(),
        "  ⠋ waiting for the model · 1 s"
    );
    screen.show(&block(0, "text"), 5_000);
    screen.show(&delta(0, "Now"), 5_000);
    assert_eq!(status(&screen, 5_000), None, "text is coming in");
}
