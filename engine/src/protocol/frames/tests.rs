//! Conversations, tested as data.

use serde_json::{Value, json};
use windlass_core::{Message, Uuid, hook::HookEvent};

use crate::{block_uuid, protocol::inbound::UserFrame};

use super::*;

const SESSION: &str = "11111111-1111-4111-8111-111111111111";
const PROMPT: &str = "22222222-2222-4222-8222-222222222222";

fn uuid(text: &str) -> Uuid {
    Uuid::try_parse(text).unwrap()
}

fn frames(settings: FrameSettings) -> Frames {
    Frames::new(uuid(SESSION), settings, [7; 32])
}

fn read(lines: Vec<String>) -> Vec<Value> {
    lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A message of the session.
fn message(mut json: Value) -> Message {
    json["uuid"] = json
        .get("uuid")
        .cloned()
        .unwrap_or_else(|| json!("33333333-3333-4333-8333-333333333333"));
    json["session_id"] = SESSION.into();
    serde_json::from_value(json).unwrap()
}

fn init() -> Message {
    message(
        json!({"type": "system", "subtype": "init", "cwd": "/w", "tools": [], "mcp_servers": [], "model": "m",
        "permissionMode": "default", "slash_commands": [], "apiKeySource": "none", "claude_code_version": "2.1.330",
        "output_style": "default", "agents": [], "skills": [], "plugins": []}),
    )
}

fn assistant(blocks: Value) -> Message {
    message(
        json!({"type": "assistant", "parent_tool_use_id": null, "message": {"id": "msg_1", "type": "message",
        "role": "assistant", "model": "m", "content": blocks, "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 1}}}),
    )
}

fn tool_result(call: &str, is_error: bool) -> Message {
    message(
        json!({"type": "user", "parent_tool_use_id": null, "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call, "content": "seen", "is_error": is_error}]}}),
    )
}

fn replay(text: &str) -> Message {
    message(
        json!({"type": "user", "parent_tool_use_id": null, "uuid": PROMPT, "isReplay": true,
        "message": {"role": "user", "content": [{"type": "text", "text": text}]}}),
    )
}

fn result(subtype: &str, more: Value) -> Message {
    let mut json = json!({"type": "result", "subtype": subtype, "is_error": subtype != "success", "duration_ms": 5,
        "duration_api_ms": 3, "num_turns": 9, "stop_reason": null, "total_cost_usd": 0.25, "usage": {},
        "modelUsage": {}, "permission_denials": []});
    for (name, value) in more.as_object().unwrap() {
        json[name] = value.clone();
    }
    message(json)
}

fn prompt(json: Value) -> UserFrame {
    serde_json::from_value(json).unwrap()
}

fn queued(frame: Value, id: &str) -> QueuedPrompt {
    QueuedPrompt::new(&prompt(frame), uuid(id))
}

/// Accepts a prompt and runs a turn like the engine; returns the frames of the turn.
fn turn(frames: &mut Frames, messages: Vec<Message>) -> Vec<Value> {
    let accepted = queued(
        json!({"uuid": PROMPT, "message": {"content": "hi"}, "origin": {"kind": "human"}}),
        PROMPT,
    );
    let mut lines = frames.accepted(&accepted);
    let mut queue = Some(accepted);
    for message in std::iter::once(init()).chain(messages) {
        let facts = Facts {
            queued: queue.iter().count(),
            ..Facts::default()
        };
        lines.extend(match message {
            Message::User(user) if user.uuid == uuid(PROMPT) && queue.is_some() => {
                frames.taken_in(queue.take().unwrap(), user)
            }
            message => {
                if matches!(message, Message::Result(_))
                    && frames.lacks_its_prompt()
                    && let Some(prompt) = queue.take()
                {
                    frames.answers(prompt);
                }
                let queued = queue.iter().count();
                frames.message(
                    message,
                    Facts {
                        queued,
                        ..facts.clone()
                    },
                )
            }
        });
    }
    read(lines)
}

fn kinds(frames: &[Value]) -> Vec<String> {
    frames
        .iter()
        .map(|frame| {
            let detail = frame
                .get("state")
                .or_else(|| frame.get("subtype"))
                .and_then(Value::as_str);
            match detail {
                Some(detail) => format!("{} {detail}", frame["type"].as_str().unwrap()),
                None => frame["type"].as_str().unwrap().to_owned(),
            }
        })
        .collect()
}

#[test]
fn a_turn_has_its_frames_in_the_order_of_the_official_engine() {
    let mut frames = frames(FrameSettings {
        states: StateFrames::ForSdk,
        ..FrameSettings::default()
    });
    let said = turn(
        &mut frames,
        vec![
            replay("hi"),
            assistant(json!([{"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"n": 1.0}}])),
            tool_result("t1", false),
            assistant(json!([{"type": "text", "text": "Seen."}])),
            result(
                "success",
                json!({"result": "Seen.", "stop_reason": "end_turn"}),
            ),
        ],
    );
    assert_eq!(
        kinds(&said),
        [
            "system running",
            "command_lifecycle queued",
            "system init",
            "command_lifecycle started",
            "assistant",
            "assistant",
            "user",
            "assistant",
            "command_lifecycle completed",
            "result success"
        ]
    );
    assert_eq!(said[0]["sdk_host_only"], true);
    let result = said.last().unwrap();
    assert_eq!(
        result["num_turns"], 2,
        "one, and one for the results of tools"
    );
    assert_eq!(result["terminal_reason"], "completed");
    assert_eq!(result["user_message_uuids"], json!([PROMPT]));
    assert_eq!(result["origin"], json!({"kind": "human"}));
    let idle = read(frames.idle());
    assert_eq!(kinds(&idle), ["system idle"]);
    assert!(!frames.has_failed());
}

#[test]
fn every_content_block_is_a_frame_under_an_id_of_its_own() {
    let mut frames = frames(FrameSettings::default());
    let blocks = json!([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "yes"},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"n": 1.0}}]);
    let lines = frames.message(assistant(blocks), Facts::default());
    assert!(
        lines[2].contains(r#""input":{"n":1.0}"#),
        "as the model wrote it: {}",
        lines[2]
    );
    let said = read(lines);
    let id = uuid("33333333-3333-4333-8333-333333333333");
    for (index, frame) in said.iter().enumerate() {
        assert_eq!(frame["uuid"], block_uuid(id, index).to_string());
        assert_eq!(frame["message"]["id"], "msg_1");
        assert_eq!(frame["message"]["content"].as_array().unwrap().len(), 1);
        assert_eq!(frame["message"]["stop_reason"], Value::Null);
        assert_eq!(frame["parent_tool_use_id"], Value::Null);
    }
}

#[test]
fn results_of_tools_have_something_for_programs_in_any_case() {
    let mut frames = frames(FrameSettings::default());
    let said = read(frames.message(tool_result("t1", true), Facts::default()));
    assert_eq!(said[0]["tool_use_result"], "Error: seen");
    let said = read(frames.message(tool_result("t1", false), Facts::default()));
    assert_eq!(said[0]["tool_use_result"], "seen");
}

#[test]
fn prompts_are_repeated_only_where_that_was_asked_for() {
    let answer = || vec![replay("hi"), result("success", json!({"result": ""}))];
    let said = turn(&mut frames(FrameSettings::default()), answer());
    assert!(!kinds(&said).contains(&"user".to_owned()));
    let settings = FrameSettings {
        replay: true,
        ..FrameSettings::default()
    };
    let said = turn(&mut frames(settings), answer());
    let repeated = said.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(repeated["isReplay"], true);
    assert_eq!(repeated["uuid"], PROMPT);
}

#[test]
fn an_answer_that_never_came_is_a_success_that_is_an_error() {
    let mut frames = frames(FrameSettings::default());
    let facts = Facts {
        http_status: Some(429),
        ..Facts::default()
    };
    let mut failed =
        serde_json::to_value(assistant(json!([{"type": "text", "text": "too many"}]))).unwrap();
    failed["error"] = "rate_limit".into();
    failed["message"]["model"] = "<synthetic>".into();
    let said = read(frames.message(message(failed), facts.clone()));
    assert_eq!(said[0]["error"], "rate_limit");
    assert_eq!(said[0]["is_api_error_message"], true);
    let end = result("error_during_execution", json!({"errors": ["too many"]}));
    let said = read(frames.message(end, facts.clone()));
    let end = &said[0];
    assert_eq!(end["subtype"], "success");
    assert_eq!(end["is_error"], true);
    assert_eq!(end["result"], "API Error: too many");
    assert_eq!(end["terminal_reason"], "api_error");
    assert_eq!(end["api_error_status"], 429);
    assert_eq!(end["num_turns"], 1);
    assert!(end.get("errors").is_none());
    assert!(frames.has_failed());
}

#[test]
fn an_answer_that_broke_off_has_no_status() {
    let mut frames = frames(FrameSettings::default());
    let mut broken =
        serde_json::to_value(assistant(json!([{"type": "text", "text": "broken"}]))).unwrap();
    broken["error"] = "server_error".into();
    let said = read(frames.message(message(broken), Facts::default()));
    assert!(said[0].get("api_error_status").is_none());
    let end = result("error_during_execution", json!({"errors": ["broken"]}));
    let said = read(frames.message(end, Facts::default()));
    assert_eq!(said[0]["api_error_status"], Value::Null);
}

#[test]
fn an_interrupt_closes_the_stream_and_says_what_it_met() {
    let interrupted = || result("error_during_execution", json!({"errors": ["interrupted"]}));
    let marker = |text: &str| {
        message(json!({"type": "user", "parent_tool_use_id": null,
            "message": {"role": "user", "content": [{"type": "text", "text": text}]}}))
    };
    // An interrupt during the model's response, inside a block.
    let mut streaming = frames(FrameSettings {
        partial: true,
        ..FrameSettings::default()
    });
    let event = |event: Value| {
        message(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}))
    };
    turn(
        &mut streaming,
        vec![
            replay("hi"),
            event(json!({"type": "message_start", "message": {"id": "msg_1"}})),
            event(json!({"type": "content_block_start", "index": 0})),
            event(json!({"type": "content_block_stop", "index": 0})),
            event(json!({"type": "content_block_start", "index": 1})),
        ],
    );
    let mut cut = serde_json::to_value(assistant(json!([
        {"type": "text", "text": "Whole."}, {"type": "text", "text": "Hal"}
    ])))
    .unwrap();
    cut["aborted"] = true.into();
    cut["message"]["stop_reason"] = Value::Null;
    let mut said = Vec::new();
    for message in [
        message(cut),
        marker("[Request interrupted by user]"),
        interrupted(),
    ] {
        said.extend(read(streaming.message(message, Facts::default())));
    }
    assert_eq!(
        kinds(&said),
        [
            "assistant",
            "assistant",
            "user",
            "stream_event",
            "stream_event",
            "stream_event",
            "command_lifecycle cancelled",
            "result error_during_execution"
        ]
    );
    let events: Vec<&str> = said
        .iter()
        .filter_map(|frame| frame["event"]["type"].as_str())
        .collect();
    assert_eq!(
        events,
        ["content_block_stop", "message_delta", "message_stop"]
    );
    // The block that was complete is an ordinary block.
    let text = |at: usize| &said[at]["message"]["content"][0]["text"];
    assert_eq!((text(0), said[0].get("aborted")), (&json!("Whole."), None));
    assert_eq!(
        (text(1), &said[1]["aborted"]),
        (&json!("Hal"), &json!(true))
    );
    let end = said.last().unwrap();
    assert_eq!(end["terminal_reason"], "aborted_streaming");
    assert_eq!(end["num_turns"], 2);
    // An interrupt during a call.
    let mut tools = frames(FrameSettings::default());
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]);
    turn(
        &mut tools,
        vec![
            replay("hi"),
            assistant(call),
            tool_result("t1", true),
            marker("[Request interrupted by user for tool use]"),
        ],
    );
    let said = read(tools.message(interrupted(), Facts::default()));
    let end = said.last().unwrap();
    assert_eq!(end["terminal_reason"], "aborted_tools");
    assert_eq!(end["num_turns"], 3);
}

#[test]
fn other_endings_say_why() {
    for (subtype, more, reason) in [
        (
            "error_max_turns",
            json!({"errors": ["enough"]}),
            json!("max_turns"),
        ),
        (
            "error_max_budget_usd",
            json!({"errors": ["spent"]}),
            json!("budget_exhausted"),
        ),
        (
            "success",
            json!({"result": "x", "stop_reason": "tool_use"}),
            json!("hook_stopped"),
        ),
        (
            "success",
            json!({"result": "x", "stop_reason": "tool_use", "structured_output": {}}),
            json!("completed"),
        ),
    ] {
        let mut frames = frames(FrameSettings::default());
        let text = assistant(json!([{"type": "text", "text": "x"}]));
        let said = turn(&mut frames, vec![replay("hi"), text, result(subtype, more)]);
        assert_eq!(said.last().unwrap()["terminal_reason"], reason, "{subtype}");
    }
}

#[test]
fn a_prompt_that_was_dropped_is_no_turn() {
    let mut frames = frames(FrameSettings::default());
    let said = turn(
        &mut frames,
        vec![result("success", json!({"result": "blocked"}))],
    );
    let end = said.last().unwrap();
    assert_eq!(end["num_turns"], 0);
    assert!(end.get("terminal_reason").is_none());
    assert_eq!(end["user_message_uuids"], json!([PROMPT]));
    assert!(!frames.is_in_turn());
}

#[test]
fn questions_are_between_two_states() {
    let mut frames = frames(FrameSettings {
        states: StateFrames::ForCaller,
        ..FrameSettings::default()
    });
    assert!(frames.requires_action(true).is_empty(), "nothing runs");
    let said = turn(&mut frames, vec![]);
    assert!(said[0].get("sdk_host_only").is_none());
    let mut lines = frames.requires_action(true);
    lines.extend(frames.requires_action(true));
    lines.extend(frames.requires_action(false));
    assert_eq!(
        kinds(&read(lines)),
        ["system requires_action", "system running"]
    );
}

#[test]
fn background_tasks_are_counted_in_frames() {
    let mut frames = frames(FrameSettings::default());
    let started = message(
        json!({"type": "system", "subtype": "task_started", "task_id": "b1", "tool_use_id": "t1",
        "description": "bg", "task_type": "local_bash"}),
    );
    let said = read(frames.message(started, Facts::default()));
    assert_eq!(
        kinds(&said),
        ["system background_tasks_changed", "system task_started"]
    );
    assert_eq!(
        said[0]["tasks"],
        json!([{"task_id": "b1", "task_type": "local_bash", "description": "bg"}])
    );
    assert_eq!(said[1]["is_backgrounded"], true);
    assert!(frames.has_task_of("local_bash") && !frames.has_task_of("local_agent"));
    let ended = message(
        json!({"type": "system", "subtype": "task_notification", "task_id": "b1", "status": "stopped",
        "output_file": "", "summary": "done"}),
    );
    let said = read(frames.message(ended, Facts::default()));
    assert_eq!(
        kinds(&said),
        [
            "system task_updated",
            "system task_notification",
            "system background_tasks_changed"
        ]
    );
    assert_eq!(said[0]["patch"]["status"], "killed");
    assert_eq!(said[2]["tasks"], json!([]));
    // A turn that is started by the end of a task has no prompt.
    let mut lines = frames.message(init(), Facts::default());
    lines.extend(frames.message(
        assistant(json!([{"type": "text", "text": "ok"}])),
        Facts::default(),
    ));
    lines.extend(frames.message(result("success", json!({"result": "ok"})), Facts::default()));
    assert_eq!(
        read(lines).last().unwrap()["origin"],
        json!({"kind": "task-notification"})
    );
}

#[test]
fn a_conversation_that_begins_anew_says_so_under_its_old_id() {
    let mut frames = frames(FrameSettings::default());
    let new = uuid("44444444-4444-4444-8444-444444444444");
    let said = read(frames.reset(new, uuid(PROMPT)));
    assert_eq!(said[0]["type"], "conversation_reset");
    assert_eq!(said[0]["session_id"], SESSION);
    assert_eq!(said[0]["new_conversation_id"], new.to_string());
    let said = read(frames.local_answer(LocalCommand::Clear, None, "", 0));
    assert_eq!(kinds(&said), ["result success"]);
    assert_eq!(said[0]["session_id"], new.to_string());
    assert_eq!(said[0]["local_command"], "clear");
    assert_eq!(said[0]["num_turns"], 0);
}

#[test]
fn what_cannot_be_answered_has_a_result_in_the_place_of_an_answer() {
    let mut frames = frames(FrameSettings::default());
    let said = read(frames.refusal("half a line", 0));
    assert_eq!(said[0]["subtype"], "error_during_execution");
    assert_eq!(said[0]["errors"], json!(["half a line"]));
    assert!(frames.has_failed());
}

#[test]
fn a_command_is_one_only_as_a_whole() {
    assert_eq!(LocalCommand::parse(" /clear\n"), Some(LocalCommand::Clear));
    assert_eq!(LocalCommand::parse("/cost"), Some(LocalCommand::Cost));
    for text in [
        "/clear everything",
        "clear",
        "/compact",
        "/unknown",
        "/renamed it",
    ] {
        assert_eq!(LocalCommand::parse(text), None, "{text}");
    }
}

#[test]
fn sess_5_the_words_behind_rename_are_the_title() {
    for (text, title) in [
        ("/rename  Knots and ropes \n", "Knots and ropes"),
        ("/rename", ""),
        ("/rename\tKnots", "Knots"),
    ] {
        assert_eq!(LocalCommand::parse(text), Some(LocalCommand::Rename));
        assert_eq!(LocalCommand::title(text), Some(title));
    }
}

#[test]
fn a_retry_because_the_server_is_overloaded_says_so() {
    let retry = |status: u16| {
        let retry = message(
            json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 2, "retry_delay_ms": 5,
            "error_status": status, "error": "server_error", "message": "no"}),
        );
        let mut frames = frames(FrameSettings::default());
        read(frames.message(retry, Facts::default())).remove(0)
    };
    assert_eq!(retry(529)["error"], "overloaded");
    assert_eq!(retry(500)["error"], "server_error");
}

#[test]
fn what_an_mcp_tool_answers_is_a_list_of_blocks() {
    let mut frames = frames(FrameSettings::default());
    let call =
        |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let messages = vec![
        assistant(json!([
            call("a", "mcp__notes__read"),
            call("b", "Read"),
            call("c", "mcp__notes__fail")
        ])),
        tool_result("a", false),
        tool_result("b", false),
        tool_result("c", true),
    ];
    let lines = turn(&mut frames, messages);
    let results: Vec<&Value> = lines.iter().filter(|line| line["type"] == "user").collect();
    let blocks = json!([{"type": "text", "text": "seen"}]);
    assert_eq!(results[0]["message"]["content"][0]["content"], blocks);
    assert_eq!(results[0]["tool_use_result"], blocks);
    assert_eq!(results[1]["message"]["content"][0]["content"], "seen");
    assert_eq!(results[2]["tool_use_result"], "Error: seen");
}

#[test]
fn results_are_counted_and_say_what_waits_behind_them() {
    let mut frames = frames(FrameSettings::default());
    let more = json!({"result": "done"});
    let first = turn(
        &mut frames,
        vec![assistant(json!([{"type": "text", "text": "done"}]))],
    );
    assert_eq!(first.last().unwrap()["type"], "assistant");
    frames.accepted(&queued(
        json!({"message": {"content": "and now?"}}),
        SESSION,
    ));
    let facts = Facts {
        queued: 1,
        ..Facts::default()
    };
    // The first turn answers its prompt although it was never taken in.
    frames.answers(queued(json!({}), PROMPT));
    let first = read(frames.message(result("success", more.clone()), facts.clone()));
    let first = first.last().unwrap();
    assert_eq!(
        (&first["result_index"], &first["queued_turn_count"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(first["api_error_status"], Value::Null);
    frames.message(init(), Facts::default());
    let second = read(frames.message(result("success", more), Facts::default()));
    assert_eq!(second.last().unwrap()["result_index"], 1);
}

#[test]
fn the_command_to_compact_is_named_in_its_result() {
    let mut frames = frames(FrameSettings::default());
    let boundary = message(json!({"type": "system", "subtype": "compact_boundary",
        "compact_metadata": {"trigger": "manual", "pre_tokens": 17}}));
    let lines = turn(
        &mut frames,
        vec![boundary, result("success", json!({"result": ""}))],
    );
    let ended = lines.last().unwrap();
    assert_eq!(ended["local_command"], "compact");
    assert!(ended.get("terminal_reason").is_none(), "{ended}");
}

#[test]
fn callbacks_are_told_which_prompt_is_answered_and_what_goes_on() {
    let mut frames = frames(FrameSettings::default());
    assert!(frames.hook_context(HookEvent::PreToolUse, None).is_empty());
    turn(&mut frames, Vec::new());
    let next = queued(json!({}), PROMPT);
    let context = Value::from(frames.hook_context(HookEvent::Stop, Some(&next)));
    let wanted = json!({"prompt_id": PROMPT, "background_tasks": [], "session_crons": []});
    assert_eq!(context, wanted);
}

fn task_started(more: Value) -> Message {
    let mut json = json!({"type": "system", "subtype": "task_started", "task_id": "a1", "tool_use_id": "t1",
        "description": "look", "task_type": "local_agent"});
    for (name, value) in more.as_object().unwrap() {
        json[name] = value.clone();
    }
    message(json)
}

fn task_ended() -> Message {
    message(
        json!({"type": "system", "subtype": "task_notification", "task_id": "a1", "tool_use_id": "t1",
        "status": "completed", "output_file": "/o", "summary": "Seen.", "usage": {"total_tokens": 1, "tool_uses": 0, "duration_ms": 2}}),
    )
}

#[test]
fn sub_1_an_agent_that_is_waited_for_is_a_task_and_its_frames_say_whose_they_are() {
    let mut frames = frames(FrameSettings::default());
    let facts = Facts {
        at: Some(windlass_core::UnixMillis(1_795_295_030_267)),
        ..Facts::default()
    };
    let started = task_started(
        json!({"subagent_type": "reader", "prompt": "Look.", "is_backgrounded": false}),
    );
    let lines = read(frames.message(started, facts.clone()));
    assert_eq!(lines.len(), 1, "it is no background task");
    assert_eq!(lines[0]["is_backgrounded"], false);
    assert!(frames.has_no_tasks());

    let said = message(
        json!({"type": "assistant", "parent_tool_use_id": "t1", "message": {"id": "msg_1", "type": "message",
        "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Hm."}], "stop_reason": "end_turn",
        "stop_sequence": null, "usage": {}}}),
    );
    let frame = read(frames.message(said, facts.clone())).remove(0);
    assert_eq!(
        (&frame["agent_id"], &frame["subagent_type"]),
        (&json!("a1"), &json!("reader"))
    );
    assert_eq!(frame["task_description"], "look");
    assert_eq!(frame["timestamp"], "2026-11-21T21:03:50.267Z");

    let lines = read(frames.message(task_ended(), facts.clone()));
    assert_eq!(lines.len(), 2);
    assert_eq!(
        lines[0]["patch"],
        json!({"status": "completed", "end_time": 1_795_295_030_267_u64})
    );
    assert_eq!(lines[1]["summary"], "Seen.");
    let frame = read(frames.message(tool_result("t1", false), facts.clone())).remove(0);
    assert_eq!(frame.get("agent_id"), None);
}

#[test]
fn an_agent_that_is_put_into_the_background_becomes_a_task_there() {
    let mut frames = frames(FrameSettings::default());
    let started = task_started(json!({"subagent_type": "reader", "is_backgrounded": false}));
    frames.message(started, Facts::default());
    let lines = read(frames.message(task_started(json!({})), Facts::default()));
    assert_eq!(lines[0]["subtype"], "background_tasks_changed");
    assert_eq!(lines[1]["patch"], json!({"is_backgrounded": true}));
    assert!(!frames.has_no_tasks());
    let lines = read(frames.message(task_ended(), Facts::default()));
    assert_eq!(lines[2]["tasks"], json!([]));
}
