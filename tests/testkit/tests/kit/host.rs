//! Sessions in a test host: scripted model, closure tools, virtual time.

use std::{cell::Cell, rc::Rc};

use serde_json::json;
use windlass_core::{
    Input, Message, Spec,
    effect::{HttpFailure, HttpFailureKind, PermissionResponse, Prompt},
    json::RawJson,
    spec::{ModelSpec, PolicySpec, ResponseLimits},
    tool::{Access, PathParam, ToolDefinition, ToolResult},
};
use windlass_testkit::{RunError, Script, TestHost, ToolStep, VirtualClock, render};

fn script(value: &serde_json::Value) -> Script {
    Script::parse(&value.to_string()).expect("a script")
}

fn tool(name: &str) -> ToolDefinition {
    let schema = RawJson::parse(r#"{"type":"object"}"#).expect("JSON");
    ToolDefinition::new(name, "A tool.", schema)
}

fn with_tool(tool: ToolDefinition) -> Spec {
    Spec::with_tools([tool])
}

fn calls(name: &str, input: serde_json::Value) -> serde_json::Value {
    json!({"respond": {
        "content": [{"type": "tool_use", "name": name, "input": input}],
        "usage": {"input_tokens": 10, "output_tokens": 5}
    }})
}

fn says(text: &str) -> serde_json::Value {
    json!({"respond": {"text": text, "usage": {"input_tokens": 10, "output_tokens": 5}}})
}

#[test]
fn an_agent_test_reads_like_its_transcript() {
    let host = TestHost::new(script(&json!({"exchanges": [
        calls("Add", json!({"a": 1, "b": 2})),
        says("It is 3.")
    ]})))
    .allow_all()
    .tool("Add", |_| ToolResult::text("3"));
    let mut session = host.session(with_tool(tool("Add").read_only()));
    let messages = host.prompt(&mut session, "What is 1 + 2?").expect("a run");
    assert_eq!(
        render(&messages),
        "\
system init model=claude-opus-5-5 cwd=/work mode=default tools=[Add]
assistant tool_use Add toolu_1_1 {\"a\":1,\"b\":2}
user tool_result toolu_1_1 \"3\"
assistant text \"It is 3.\"
result success turns=2 stop=end_turn cost=0 tokens=20/10 \"It is 3.\"
"
    );
    assert_eq!(host.verify(), Ok(()));
    assert_eq!(host.requests().len(), 2);
    assert_eq!(host.calls()[0].input.get(), "{\"a\":1,\"b\":2}");
}

#[test]
fn waiting_costs_virtual_time_only() {
    let host = TestHost::new(script(&json!({"exchanges": [{"respond": {
        "text": "Slow.", "chunks": "whole", "delay_ms": {"head": 3_600_000, "chunk": 500}
    }}]})));
    let mut session = host.session(Spec {
        model: ModelSpec {
            response: ResponseLimits::none(),
            ..ModelSpec::default()
        },
        ..Spec::default()
    });
    host.prompt(&mut session, "Hi").expect("a run");
    assert_eq!(host.elapsed_ms(), 3_600_500);
}

#[test]
fn a_failing_model_is_asked_again_after_the_time_it_names() {
    let host = TestHost::new(script(&json!({"exchanges": [
        {"respond": {"error": {"type": "overloaded_error", "message": "Overloaded"},
                     "headers": {"retry-after": "7"}}},
        says("Here I am.")
    ]})))
    .http_failure(HttpFailure::new(HttpFailureKind::Connect, "no route"));
    let mut session = host.session(Spec::default());
    let messages = host.prompt(&mut session, "Hi").expect("a run");
    let retries = render(&messages)
        .lines()
        .filter(|line| line.starts_with("system api_retry"))
        .count();
    assert_eq!(retries, 2);
    assert!(host.elapsed_ms() >= 7_000);
    assert_eq!(host.verify(), Ok(()));
}

#[test]
fn an_input_can_wait_for_a_moment_or_for_a_message() {
    let hanging = json!({"exchanges": [
        {"respond": {"text": "never", "faults": [{"after_events": 2, "hang": true}]}},
        says("Again.")
    ]});
    let host = TestHost::new(script(&hanging))
        .input_at(250, Input::Interrupt)
        .input_when(
            |message| matches!(message, Message::Result(_)),
            Input::Prompt(Prompt::text("And now?")),
        );
    let mut session = host.session(Spec::default());
    let messages = host.prompt(&mut session, "Hi").expect("a run");
    assert_eq!(host.elapsed_ms(), 250);
    let rendered = render(&messages);
    let results: Vec<&str> = rendered
        .lines()
        .filter(|l| l.starts_with("result"))
        .collect();
    assert_eq!(results.len(), 2, "{rendered}");
    assert!(results[0].starts_with("result error_during_execution"));
    assert!(results[1].ends_with("\"Again.\""));
}

#[test]
fn what_never_comes_is_an_error_and_no_hang() {
    let host = TestHost::new(script(&json!({"exchanges": [
        {"respond": {"text": "never", "faults": [{"after_events": 2, "hang": true}]}}
    ]})));
    let mut session = host.session(Spec {
        model: ModelSpec {
            response: ResponseLimits::none(),
            ..ModelSpec::default()
        },
        ..Spec::default()
    });
    let stuck = host.prompt(&mut session, "Hi").expect_err("nothing comes");
    assert!(matches!(stuck, RunError::Stuck(_)), "{stuck}");
}

#[test]
fn a_tool_can_report_take_its_time_and_hear_that_it_is_cancelled() {
    let host = TestHost::new(script(&json!({"exchanges": [
        calls("Slow", json!({})),
        says("Done.")
    ]})))
    .allow_all()
    .tool_steps("Slow", |_| {
        vec![
            ToolStep::Progress("half".into()),
            ToolStep::Work(2_000),
            ToolStep::Return(ToolResult::text("ok")),
        ]
    });
    let mut session = host.session(with_tool(tool("Slow").read_only()));
    let messages = host.prompt(&mut session, "Go").expect("a run");
    assert!(render(&messages).contains("tool_result toolu_1_1 \"ok\""));
    assert_eq!(host.elapsed_ms(), 2_000);

    let host = TestHost::new(script(&json!({"exchanges": [calls("Slow", json!({}))]})))
        .allow_all()
        .tool_steps("Slow", |_| vec![ToolStep::UntilCancelled])
        .input_at(100, Input::Interrupt);
    let mut session = host.session(with_tool(tool("Slow").read_only()));
    let messages = host.prompt(&mut session, "Go").expect("a run");
    assert_eq!(host.elapsed_ms(), 100);
    assert!(render(&messages).contains("tool_result toolu_1_1 error"));

    let host = TestHost::new(script(&json!({"exchanges": [calls("Slow", json!({}))]})))
        .allow_all()
        .tool_steps("Slow", |_| vec![ToolStep::Forever])
        .input_at(100, Input::Interrupt);
    let mut session = host.session(with_tool(tool("Slow").read_only()));
    host.prompt(&mut session, "Go").expect("a run");
    assert_eq!(
        host.elapsed_ms(),
        100 + Spec::default().policy.cancel_grace_ms
    );
}

#[test]
fn permission_questions_are_answered_as_the_test_says() {
    let exchanges = json!({"exchanges": [calls("Send", json!({})), says("Ok.")]});
    let run = |host: TestHost, can_ask: bool| {
        let mut spec = with_tool(tool("Send"));
        spec.policy.permissions.can_ask = can_ask;
        let messages = host.prompt(&mut host.session(spec), "Go").expect("a run");
        (
            render(&messages),
            host.questions().len(),
            host.calls().len(),
        )
    };
    let sent = |host: TestHost| host.tool("Send", |_| ToolResult::text("sent"));
    let (denied, questions, called) = run(sent(TestHost::new(script(&exchanges))), false);
    assert!(denied.contains("nobody to ask"), "{denied}");
    assert_eq!((questions, called), (0, 0));

    let (denied, questions, called) = run(sent(TestHost::new(script(&exchanges))), true);
    assert!(
        denied.contains("was not told what to answer about Send"),
        "{denied}"
    );
    assert_eq!((questions, called), (1, 0));

    let asked = Rc::new(Cell::new(0));
    let counter = asked.clone();
    let host = sent(TestHost::new(script(&exchanges))).permission(move |_| {
        counter.set(counter.get() + 1);
        PermissionResponse::allow()
    });
    let (allowed, questions, called) = run(host, false);
    assert!(
        allowed.contains("tool_result toolu_1_1 \"sent\""),
        "{allowed}"
    );
    assert_eq!((questions, called, asked.get()), (1, 1, 1));
}

#[test]
fn paths_are_normalised_and_links_are_what_the_test_says() {
    let read = ToolDefinition {
        paths: vec![PathParam {
            field: "path".into(),
            access: Access::Read,
            default_cwd: false,
            read_first: false,
        }],
        ..tool("Read").read_only()
    };
    let ask = |path: &str| {
        let host = TestHost::new(script(&json!({"exchanges": [
            calls("Read", json!({"path": path})),
            says("Ok.")
        ]})))
        .cwd("/home/me/./x/..")
        .tool("Read", |_| ToolResult::text("read"))
        .resolves("link", Ok("/etc/passwd"))
        .resolves("/home/me/gone", Err("no such place"));
        let mut spec = with_tool(read.clone());
        spec.policy.permissions.free_workspace_reads = true;
        spec.policy.permissions.can_ask = true;
        host.prompt(&mut host.session(spec), "Go").expect("a run");
        let blocked = host
            .questions()
            .first()
            .and_then(|q| q.blocked_path.clone());
        (host.calls().len(), blocked)
    };
    assert_eq!(ask("a/../b.txt"), (1, None));
    assert_eq!(ask("../other"), (0, Some("/home/other".into())));
    assert_eq!(ask("link"), (0, Some("/etc/passwd".into())));
    assert_eq!(ask("gone").0, 0);
}

#[test]
fn transcript_entries_are_collected() {
    let spec = || Spec {
        policy: PolicySpec {
            persist: true,
            ..PolicySpec::default()
        },
        ..Spec::default()
    };
    let host = TestHost::new(Script::says(["Hello."]));
    host.prompt(&mut host.session(spec()), "Hi").expect("a run");
    let roles: Vec<bool> = (host.entries().iter())
        .map(|entry| entry.message.get().contains("\"role\":\"user\""))
        .collect();
    assert_eq!(roles, [true, false]);

    let host = TestHost::new(Script::says(["Hello."])).persist_failure("disk full");
    let messages = host.prompt(&mut host.session(spec()), "Hi").expect("a run");
    assert!(render(&messages).contains("disk full"));
    assert!(host.entries().is_empty() || host.entries().len() == 1);
}

#[test]
fn virtual_time_passes_in_the_order_of_deadlines() {
    let clock = VirtualClock::new();
    let order = Rc::new(std::cell::RefCell::new(Vec::new()));
    let sleeper = |ms: u64| {
        let (clock, order) = (clock.clone(), order.clone());
        async move {
            clock.sleep(ms).await;
            order.borrow_mut().push(clock.now().mono.0);
        }
    };
    // A deadline that nobody waits for any more does not make time pass.
    drop(clock.sleep(5));
    let all = async {
        futures_util::future::join3(sleeper(30), sleeper(10), sleeper(20)).await;
    };
    clock.block_on(all).expect("all timers are set");
    assert_eq!(*order.borrow(), [10, 20, 30]);
    // The end of time is a moment like any other.
    clock.block_on(clock.sleep(u64::MAX)).expect("it comes");
    assert_eq!(clock.now().mono.0, u64::MAX);
}

#[test]
fn rendering_numbers_uuids_and_shortens_texts() {
    let host = TestHost::new(Script::says(["0123456789".repeat(100).as_str()]));
    let mut spec = Spec::default();
    spec.stream.partial_messages = true;
    let mut session = host.session(spec);
    let messages = host.prompt(&mut session, "Hi").expect("a run");
    let rendered = render(&messages);
    assert_eq!(rendered.lines().count(), messages.len());
    assert!(rendered.lines().all(|line| line.chars().count() < 400));
    assert!(rendered.contains("stream_event content_block_delta 0 \"0123456789"));
    assert!(!rendered.contains(&session.id().to_string()));
}
