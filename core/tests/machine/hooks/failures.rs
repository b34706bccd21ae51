//! Hooks that crash, hang or talk nonsense.

use serde_json::json;
use windlass_core::{
    hook::{FailurePolicy, HookAnswer, HookEvent, HookOutput},
    message::HookOutcome,
    permission::Mode,
    tool::ToolResult,
};
use windlass_testkit::HookStep;

use super::{
    free_spec, informed, json_of, matcher, one_call, responses, result, texts, user_message,
};

/// Every way to fail, with the outcome it is reported as.
fn failures() -> Vec<(&'static str, Vec<HookStep>, HookOutcome)> {
    let exited = |code, stdout: &str| {
        vec![HookStep::End(HookAnswer::Exited {
            code,
            stdout: stdout.into(),
            stderr: "oh no".into(),
        })]
    };
    let output = |value| vec![HookStep::End(HookAnswer::Output(json_of(&value)))];
    vec![
        (
            "traps",
            vec![HookStep::End(HookAnswer::Failed("trap".into()))],
            HookOutcome::Error,
        ),
        ("exits with 1", exited(Some(1), ""), HookOutcome::Error),
        ("is killed", exited(None, ""), HookOutcome::Error),
        (
            "prints half an object",
            exited(Some(0), "{\"decision\": "),
            HookOutcome::Error,
        ),
        (
            "misspells",
            output(json!({"permissionDecision": "deny"})),
            HookOutcome::Error,
        ),
        ("answers a list", output(json!([])), HookOutcome::Error),
        (
            "hangs",
            vec![HookStep::UntilCancelled],
            HookOutcome::Cancelled,
        ),
        ("never answers", vec![], HookOutcome::Error),
    ]
}

#[test]
fn hook_7_a_hook_that_fails_lets_no_call_through_and_stops_nothing() {
    for (how, steps, outcome) in failures() {
        for (policy, questions, ran) in [
            (None, 1, 0),
            (Some(FailurePolicy::Ask), 1, 0),
            (Some(FailurePolicy::Block), 0, 0),
            (Some(FailurePolicy::Continue), 0, 1),
        ] {
            let mut guard = matcher(HookEvent::PreToolUse, "Note");
            guard.on_failure = policy;
            guard.timeout_ms = 5_000;
            let steps = steps.clone();
            let host = one_call("Note", json!({}))
                .permission(|_| windlass_core::effect::PermissionResponse::deny("I was asked"))
                .tool("Note", |_| ToolResult::text("noted"))
                .hook_steps(guard, move |_| steps.clone());
            let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
            // Even in a mode that asks nobody.
            let seen = (host.questions().len(), host.calls().len());
            assert_eq!(seen, (questions, ran), "{how}, {policy:?}");
            assert_eq!(result(&messages)["subtype"], "success", "{how}");
            assert_eq!(responses(&messages)[0].outcome, outcome, "{how}");
            assert!(informed(&messages)[0].content.contains("failed"), "{how}");
        }
    }
}

#[test]
fn hook_7_with_nobody_to_ask_a_failed_judgement_is_a_denial() {
    let host = one_call("Note", json!({}))
        .tool("Note", |_| ToolResult::text("noted"))
        .hook_steps(matcher(HookEvent::PreToolUse, ""), |_| Vec::new());
    let mut spec = free_spec();
    spec.policy.permissions.mode = Mode::BypassPermissions;
    host.prompt(&mut host.session(spec), "go").unwrap();
    assert!(host.calls().is_empty());
    let sent = texts(&user_message(&host, 1));
    assert!(sent[0].contains("hook 1 failed"), "{sent:?}");
}

#[test]
fn hook_7_hooks_that_only_watch_may_fail_without_any_effect() {
    let fails = |_: &_| vec![HookStep::End(HookAnswer::Failed("trap".into()))];
    let mut host = one_call("Note", json!({})).tool("Note", |_| ToolResult::text("noted"));
    for event in HookEvent::ALL
        .into_iter()
        .filter(|event| !event.judges_calls())
    {
        host = host.hook_steps(matcher(event, ""), fails);
    }
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(result(&messages)["result"], "Done.");
    assert_eq!(texts(&user_message(&host, 0)), ["go"]);
    assert_eq!(texts(&user_message(&host, 1)), ["result: noted"]);
    // Session start, prompt, after the call, after all calls, stop.
    assert_eq!(responses(&messages).len(), 5);
}

#[test]
fn hook_7_one_hook_that_fails_does_not_silence_another() {
    let host = one_call("Note", json!({}))
        .tool("Note", |_| ToolResult::text("noted"))
        .allow_all()
        .hook_steps(matcher(HookEvent::PreToolUse, ""), |_| Vec::new())
        .hook(HookEvent::PreToolUse, |_| {
            super::output(json!({"decision": "block", "reason": "no"})).read(HookEvent::PreToolUse)
        });
    host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert!(host.questions().is_empty() && host.calls().is_empty());
}

#[test]
fn loop_32_hooks_announce_start_progress_and_outcome() {
    let host = one_call("Note", json!({}))
        .tool("Note", |_| ToolResult::text("noted"))
        .hook_steps(matcher(HookEvent::PreToolUse, ""), |_| {
            vec![
                HookStep::Write("looking".into()),
                HookStep::End(HookAnswer::Exited {
                    code: Some(0),
                    stdout: "fine".into(),
                    stderr: "slow today".into(),
                }),
            ]
        });
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    let lines: Vec<serde_json::Value> = messages
        .iter()
        .map(|message| serde_json::from_str(&message.to_line()).unwrap())
        .filter(|line: &serde_json::Value| {
            line["subtype"]
                .as_str()
                .is_some_and(|s| s.starts_with("hook_"))
        })
        .collect();
    let id = lines[0]["hook_id"].clone();
    assert!(
        id.as_str().unwrap().ends_with("/0/1/1/PreToolUse-hook-1/1"),
        "{id}"
    );
    for line in &lines {
        assert_eq!(line["type"], "system");
        assert_eq!(line["hook_id"], id);
        assert_eq!(line["hook_name"], "PreToolUse:Note");
        assert_eq!(line["hook_event"], "PreToolUse");
        assert!(line["uuid"].is_string() && line["session_id"].is_string());
    }
    let fields = |nth: usize| -> Vec<&str> {
        lines[nth]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect()
    };
    let mut expected = vec![
        "type",
        "subtype",
        "hook_id",
        "hook_name",
        "hook_event",
        "uuid",
        "session_id",
    ];
    let sorted = |mut names: Vec<&'static str>| {
        names.sort_unstable();
        names
    };
    assert_eq!(fields(0), sorted(expected.clone()));
    expected.extend(["stdout", "stderr", "output"]);
    assert_eq!(fields(1), sorted(expected.clone()));
    expected.extend(["exit_code", "outcome"]);
    assert_eq!(fields(2), sorted(expected));
    assert_eq!(lines[1]["output"], "looking");
    assert_eq!(lines[2]["output"], "fine\nslow today");
    assert_eq!(lines[2]["exit_code"], 0);
    assert_eq!(lines[2]["outcome"], "success");
}

#[test]
fn loop_32_the_announcements_can_be_switched_off() {
    let host = one_call("Note", json!({}))
        .tool("Note", |_| ToolResult::text("noted"))
        .hook(HookEvent::PreToolUse, |_| HookOutput::default());
    let mut spec = free_spec();
    spec.stream.hook_messages = false;
    let messages = host.prompt(&mut host.session(spec), "go").unwrap();
    assert_eq!(host.hook_calls().len(), 1);
    assert!(
        messages.iter().all(|m| !m.to_line().contains("hook_")),
        "{messages:?}"
    );
}
