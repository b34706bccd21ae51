//! The callback-style loop from outside.
#![allow(clippy::unwrap_used)]

use std::{cell::RefCell, rc::Rc};

use serde_json::{Value, json};
use windlass_callback_loop::{CallbackLoop, LoopError, LoopEvent, LoopOutcome, Preset};
use windlass_core::{
    RawJson,
    tool::{ToolDefinition, ToolResult},
    uuid_v4,
};
use windlass_testkit::{Script, TestHost};

fn raw(value: &Value) -> RawJson {
    RawJson::parse(value.to_string()).unwrap()
}

/// A tool that takes any object.
fn tool(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, "Does something.", raw(&json!({"type": "object"})))
}

type Log = Rc<RefCell<Vec<String>>>;

fn host(script: &Value) -> TestHost {
    TestHost::new(Script::parse(&script.to_string()).unwrap())
}

fn run(host: &TestHost, callback_loop: CallbackLoop<'_>) -> Result<LoopOutcome, LoopError> {
    let id = uuid_v4([7; 16]);
    host.block_on(callback_loop.run(host, id, [7; 32])).unwrap()
}

fn tutor(tools: Vec<ToolDefinition>) -> CallbackLoop<'static> {
    CallbackLoop::new("You are a tutor.", "Teach me.").tools(tools)
}

fn calls(names: &[&str], text: &str) -> Value {
    let mut content = vec![json!({"type": "text", "text": text})];
    content.extend(
        names
            .iter()
            .map(|name| json!({"type": "tool_use", "name": name, "input": {}})),
    );
    json!({"respond": {"content": content}})
}

/// Tools that write down when they run; their results are JSON.
fn logging_host(script: &Value, log: &Log) -> TestHost {
    ["Look", "Note"]
        .into_iter()
        .fold(host(script), |host, name| {
            let log = Rc::clone(log);
            host.tool(name, move |_| {
                log.borrow_mut().push(format!("{name} runs"));
                ToolResult::text(json!({"from": name}).to_string())
            })
        })
}

fn describe(event: &LoopEvent) -> String {
    match event {
        LoopEvent::Thinking { text } => format!("thinking {text}"),
        LoopEvent::ToolCall { tool, input } => format!("call {tool} {input}"),
        LoopEvent::ToolResult { tool, result } => format!("result {tool} {result}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sprout_1_one_call_gives_text_calls_and_history() {
    let script = json!({"exchanges": [
        {"expect": {"model": "claude-opus-4-20250514"},
         "respond": {"content": [{"type": "tool_use", "name": "Note", "input": {"a": 1}}]}},
        {"respond": "Done."},
    ]});
    let host = host(&script).tool("Note", |_| ToolResult::text(r#"{"kept":true}"#));
    let outcome = run(&host, tutor(vec![tool("Note")])).unwrap();
    assert_eq!(outcome.final_text, "Done.");
    assert!(!outcome.reached_limit);
    assert_eq!(outcome.tool_calls.len(), 1);
    let call = &outcome.tool_calls[0];
    assert_eq!(
        (call.tool.as_str(), call.input.get()),
        ("Note", r#"{"a":1}"#)
    );
    assert_eq!(
        call.result.as_ref().map(RawJson::get),
        Some(r#"{"kept":true}"#)
    );
    let roles: Vec<Value> = outcome
        .history
        .iter()
        .map(|line| serde_json::from_str::<Value>(line.get()).unwrap()["role"].clone())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant"]);
    host.verify().unwrap();
}

#[test]
fn sprout_1_the_limit_is_fifteen_rounds_where_none_is_named() {
    let exchanges: Vec<Value> = (0..15).map(|_| calls(&["Note"], "Again.")).collect();
    let host = host(&json!({"exchanges": exchanges})).tool("Note", |_| ToolResult::text("1"));
    let outcome = run(&host, tutor(vec![tool("Note")])).unwrap();
    assert!(outcome.reached_limit);
    assert_eq!(outcome.tool_calls.len(), 15);
    assert_eq!(host.requests().len(), 15);
}

#[test]
fn sprout_2_callbacks_come_in_the_order_of_events() {
    let log = Log::default();
    let script = json!({"exchanges": [calls(&["Look"], "First I look."), {"respond": "Seen."}]});
    let host = logging_host(&script, &log);
    let callback_loop =
        tutor(vec![tool("Look")]).on_event(|event| log.borrow_mut().push(describe(event)));
    run(&host, callback_loop).unwrap();
    assert_eq!(
        *log.borrow(),
        [
            "thinking First I look.",
            "call Look {}",
            "Look runs",
            r#"result Look {"from":"Look"}"#,
            "thinking Seen.",
        ]
    );
}

#[test]
fn sprout_3_at_the_limit_there_is_a_partial_result() {
    let script = json!({"exchanges": [calls(&["Note"], "One."), calls(&["Note"], "Two.")]});
    let host = host(&script).tool("Note", |_| ToolResult::text("1"));
    let outcome = run(&host, tutor(vec![tool("Note")]).max_iterations(2)).unwrap();
    assert!(outcome.reached_limit);
    assert_eq!(outcome.final_text, "Two.");
    assert_eq!(outcome.tool_calls.len(), 2);
    assert!(outcome.tool_calls.iter().all(|call| call.result.is_some()));
}

#[test]
fn sprout_4_events_are_server_sent_events_with_results_cut_short() {
    let event = |event: LoopEvent| {
        let text = event.to_sse("tutor");
        let (name, data) = text.split_once('\n').unwrap();
        let data = data.strip_prefix("data: ").unwrap();
        let data = data
            .strip_suffix("\n\n")
            .expect("a blank line ends an event");
        let data: Value = serde_json::from_str(data).unwrap();
        (name.to_owned(), data)
    };
    let thinking = LoopEvent::Thinking {
        text: "two\nlines".into(),
    };
    assert_eq!(
        event(thinking),
        (
            "event: agent_reasoning".into(),
            json!({"agent": "tutor", "text": "two\nlines"})
        )
    );
    let call = LoopEvent::ToolCall {
        tool: "Note".into(),
        input: raw(&json!({"a": [1]})),
    };
    assert_eq!(
        event(call),
        (
            "event: tool_call".into(),
            json!({"tool": "Note", "input": {"a": [1]}})
        )
    );
    let long = LoopEvent::ToolResult {
        tool: "Note".into(),
        result: raw(&json!("é".repeat(300))),
    };
    assert_eq!(
        event(long),
        (
            "event: tool_result".into(),
            json!({"tool": "Note", "summary": "é".repeat(200)})
        )
    );
}

#[test]
fn sprout_4_a_loop_feeds_a_web_page_while_it_runs() {
    let script = json!({"exchanges": [
        calls(&["Look", "Fail"], "First I look."),
        {"respond": "Seen."},
    ]});
    let host = host(&script)
        .tool("Look", |_| ToolResult::text("é".repeat(300)))
        .tool("Fail", |_| ToolResult::error("no such thing"));
    let mut feed = String::new();
    let callback_loop = tutor(vec![tool("Look"), tool("Fail")])
        .on_event(|event| feed += &event.to_sse(Preset::Tutor.name()));
    run(&host, callback_loop).unwrap();
    // As a page reads it: events are parted by blank lines, each has a name and one line of data.
    let events: Vec<(&str, Value)> = (feed.strip_suffix("\n\n").unwrap())
        .split("\n\n")
        .map(|event| {
            let (name, data) = event.split_once('\n').unwrap();
            let data = data.strip_prefix("data: ").unwrap();
            let name = name.strip_prefix("event: ").unwrap();
            (name, serde_json::from_str(data).unwrap())
        })
        .collect();
    assert_eq!(
        events,
        [
            (
                "agent_reasoning",
                json!({"agent": "tutor", "text": "First I look."})
            ),
            ("tool_call", json!({"tool": "Look", "input": {}})),
            (
                "tool_result",
                json!({"tool": "Look", "summary": "é".repeat(200)})
            ),
            ("tool_call", json!({"tool": "Fail", "input": {}})),
            (
                "tool_result",
                json!({"tool": "Fail", "summary": "no such thing"})
            ),
            (
                "agent_reasoning",
                json!({"agent": "tutor", "text": "Seen."})
            ),
        ]
    );
}

#[test]
fn sprout_5_every_preset_ends_at_its_own_limit() {
    for (preset, limit) in [
        (Preset::Topic, 15),
        (Preset::Subconcept, 15),
        (Preset::Refinement, 15),
        (Preset::Tutor, 5),
        (Preset::Grading, 10),
    ] {
        let exchanges: Vec<Value> = (0..limit).map(|_| calls(&["Note"], "More.")).collect();
        let host = host(&json!({"exchanges": exchanges})).tool("Note", |_| ToolResult::text("1"));
        let outcome = run(&host, tutor(vec![tool("Note")]).preset(preset)).unwrap();
        assert!(outcome.reached_limit, "{}", preset.name());
        assert_eq!(host.requests().len(), limit, "{}", preset.name());
        assert_eq!(outcome.tool_calls.len(), limit, "{}", preset.name());
        assert_eq!(outcome.final_text, "More.", "the partial result");
    }
}

#[test]
fn sprout_9_a_small_run_asks_the_model_for_less() {
    for (preset, small, expected) in [
        (Preset::Topic, false, "Make 6 to 10 concepts."),
        (Preset::Topic, true, "Make 1 to 2 concepts."),
        (
            Preset::Subconcept,
            false,
            "Make 5 to 10 questions and 8 to 12 subconcepts.",
        ),
        (
            Preset::Subconcept,
            true,
            "Make 2 to 3 questions and 2 to 3 subconcepts.",
        ),
    ] {
        let whole = format!("You teach.\n\n{expected}");
        let script = json!({"exchanges": [{"respond": "Made."}]});
        let host = host(&script);
        let callback_loop = CallbackLoop::new("You teach.", "Graphs.")
            .preset(preset)
            .small(small);
        let outcome = run(&host, callback_loop).unwrap();
        assert_eq!(outcome.final_text, "Made.");
        let request: Value = serde_json::from_slice(&host.requests()[0].body.concat()).unwrap();
        assert_eq!(request["system"][0]["text"], whole, "{request}");
        let first: Value = serde_json::from_str(outcome.history[0].get()).unwrap();
        assert_eq!(first["content"][0]["text"], whole, "{first}");
    }
}

#[test]
fn sprout_5_a_preset_without_amounts_says_nothing_of_its_own() {
    for small in [false, true] {
        let host = host(&json!({"exchanges": [{"respond": "Done."}]}));
        let callback_loop = tutor(vec![]).preset(Preset::Tutor).small(small);
        let outcome = run(&host, callback_loop).unwrap();
        let first: Value = serde_json::from_str(outcome.history[0].get()).unwrap();
        assert_eq!(first["content"][0]["text"], "You are a tutor.");
    }
}

#[test]
fn sprout_5_presets_have_limits_of_their_own_and_a_small_mode() {
    let limits = Preset::ALL.map(|preset| (preset.name(), preset.max_iterations()));
    let expected = [
        ("topic", 15),
        ("subconcept", 15),
        ("refinement", 15),
        ("tutor", 5),
        ("grading", 10),
    ];
    assert_eq!(limits, expected);
    let exchanges: Vec<Value> = (0..5).map(|_| calls(&["Note"], "More.")).collect();
    let host = host(&json!({"exchanges": exchanges})).tool("Note", |_| ToolResult::text("1"));
    let outcome = run(&host, tutor(vec![tool("Note")]).preset(Preset::Tutor)).unwrap();
    assert!(outcome.reached_limit);
    assert_eq!(outcome.tool_calls.len(), 5);
}

#[test]
fn sprout_6_tools_run_one_after_another_each_between_its_callbacks() {
    let log = Log::default();
    let script = json!({"exchanges": [calls(&["Look", "Note", "Look"], ""), {"respond": "Done."}]});
    let host = logging_host(&script, &log);
    let read_only = ["Look", "Note"].map(|name| tool(name).read_only());
    let callback_loop =
        tutor(read_only.to_vec()).on_event(|event| log.borrow_mut().push(describe(event)));
    run(&host, callback_loop).unwrap();
    let expected: Vec<String> = ["Look", "Note", "Look"]
        .iter()
        .flat_map(|name| {
            [
                format!("call {name} {{}}"),
                format!("{name} runs"),
                format!("result {name} {{\"from\":\"{name}\"}}"),
            ]
        })
        .chain(["thinking Done.".to_owned()])
        .collect();
    assert_eq!(*log.borrow(), expected);
}

#[test]
fn sprout_6_callbacks_may_be_left_out() {
    let host = host(&json!({"exchanges": [{"respond": "Done."}]}));
    assert_eq!(run(&host, tutor(vec![])).unwrap().final_text, "Done.");
}

#[test]
fn sprout_7_the_model_reads_the_value_as_json_and_the_summary_its_string_form() {
    let script = json!({"exchanges": [
        calls(&["Note"], ""),
        {"expect": {"last_user_contains": "{\"from\":\"Note\"}"}, "respond": "Done."},
    ]});
    let log = Log::default();
    let host = logging_host(&script, &log);
    let mut summaries = Vec::new();
    let callback_loop = tutor(vec![tool("Note")]).on_event(|event| {
        if let LoopEvent::ToolResult { .. } = event {
            summaries.push(event.to_sse("tutor"));
        }
    });
    let outcome = run(&host, callback_loop).unwrap();
    host.verify().unwrap();
    assert!(
        summaries[0].contains(r#""summary":"{\"from\":\"Note\"}""#),
        "{summaries:?}"
    );
    assert!(outcome.history[0].get().contains("You are a tutor."));
}

#[test]
fn sprout_8_a_rate_limit_is_retried_three_times_and_then_an_error() {
    let limited =
        json!({"respond": {"error": {"type": "rate_limit_error", "message": "slow down"}}});
    let four = json!({"exchanges": [&limited, &limited, &limited, &limited]});
    let host = host(&four);
    let error = run(&host, tutor(vec![])).unwrap_err();
    assert!(
        matches!(&error, LoopError::Model { message } if message.contains("slow down")),
        "{error}"
    );
    assert_eq!(host.requests().len(), 4);
    assert_eq!(host.elapsed_ms(), 14_000, "2, 4 and 8 seconds");
}

#[test]
fn sprout_8_no_other_error_is_retried() {
    let overloaded = json!({"respond": {"error": {"type": "overloaded_error", "message": "full"}}});
    let host = host(&json!({"exchanges": [overloaded]}));
    run(&host, tutor(vec![])).unwrap_err();
    assert_eq!(host.requests().len(), 1);
}

#[test]
fn sprout_9_the_amounts_of_small_and_full_runs() {
    let amounts = |preset: Preset, small| {
        let amounts = preset.amounts(small);
        [amounts.concepts, amounts.questions, amounts.subconcepts]
    };
    assert_eq!(amounts(Preset::Topic, false), [Some(6..=10), None, None]);
    assert_eq!(amounts(Preset::Topic, true), [Some(1..=2), None, None]);
    assert_eq!(
        amounts(Preset::Subconcept, false),
        [None, Some(5..=10), Some(8..=12)]
    );
    assert_eq!(
        amounts(Preset::Subconcept, true),
        [None, Some(2..=3), Some(2..=3)]
    );
    assert_eq!(amounts(Preset::Tutor, true), [None, None, None]);
}
