//! Hooks around and inside subagents.

use serde_json::json;
use windlass_core::{
    Spec,
    hook::{HookEvent, HookOutput, Occurrence},
    tool::ToolResult,
    tools::CoreTool,
};
use windlass_testkit::TestHost;

use super::{HookOutputJson, calls, free_spec, model, output, result, texts, told, user_message};

fn spec() -> Spec {
    let mut spec = free_spec();
    spec.offer([CoreTool::Task]);
    spec.environment.transcript = "/t/s.jsonl".into();
    spec
}

/// The main model starts an agent that notes something and reports.
fn delegating() -> TestHost {
    let task = json!({"description": "d", "prompt": "Look.", "subagent_type": "general-purpose"});
    let answers = [
        calls(&[("Task", task)]),
        json!([{"type": "tool_use", "id": "toolu_in", "name": "Note", "input": {}}]),
        json!("The report."),
        json!("All done."),
    ];
    model(&answers).tool("Note", |_| ToolResult::text("noted"))
}

#[test]
fn hook_16_subagent_events_name_the_agent_and_what_it_says_joins_its_prompt() {
    let (start, stop) = (HookEvent::SubagentStart, HookEvent::SubagentStop);
    let context = HookOutputJson::of(start, json!({"additionalContext": "Mind the gap."}));
    let context = context.read(start);
    let host = delegating()
        .hook(start, move |_| context.clone())
        .hook(stop, |_| HookOutput::default());
    let messages = host.prompt(&mut host.session(spec()), "go").unwrap();
    assert_eq!(result(&messages)["result"], "All done.");
    let began = told(&host, 0);
    let id = began["agent_id"].as_str().unwrap();
    assert_eq!(
        (&began["hook_event_name"], &began["agent_type"]),
        (&json!("SubagentStart"), &json!("general-purpose"))
    );
    assert_eq!(
        texts(&user_message(&host, 1)),
        ["Look.", "[SubagentStart hook] Mind the gap."]
    );
    let ended = told(&host, 1);
    assert_eq!(
        (
            &ended["hook_event_name"],
            &ended["agent_id"],
            &ended["stop_hook_active"],
            &ended["last_assistant_message"]
        ),
        (
            &json!("SubagentStop"),
            &json!(id),
            &json!(false),
            &json!("The report.")
        )
    );
    assert_eq!(
        ended["agent_transcript_path"],
        format!("/t/s/subagents/agent-{id}.jsonl")
    );
    assert_eq!(host.hook_calls().len(), 2);
}

#[test]
fn hook_16_a_subagent_can_be_kept_from_stopping() {
    let stop = HookEvent::SubagentStop;
    let objects = output(json!({"decision": "block", "reason": "look again"})).read(stop);
    let task = json!({"description": "d", "prompt": "Look.", "subagent_type": "Plan"});
    let answers = [
        calls(&[("Task", task)]),
        json!("Enough."),
        json!("Really enough."),
        json!("Done."),
    ];
    let host = model(&answers).hook(stop, move |input| match &input.event {
        Occurrence::SubagentStop(stop) if !stop.stop_hook_active => objects.clone(),
        _ => HookOutput::default(),
    });
    let messages = host.prompt(&mut host.session(spec()), "go").unwrap();
    assert_eq!(result(&messages)["result"], "Done.");
    assert!(texts(&user_message(&host, 2))[0].contains("look again"));
    assert_eq!(texts(&user_message(&host, 3)), ["result: Really enough."]);
}

#[test]
fn hook_1_hooks_see_the_calls_of_subagents_and_the_task_itself() {
    let (before, after) = (HookEvent::PreToolUse, HookEvent::PostToolUse);
    let host = delegating()
        .hook(before, |_| HookOutput::default())
        .hook(after, |_| HookOutput::default());
    host.prompt(&mut host.session(spec()), "go").unwrap();
    let seen: Vec<(String, String, bool)> = (0..host.hook_calls().len())
        .map(|nth| {
            let told = told(&host, nth);
            let text = |key: &str| told[key].as_str().unwrap_or("").to_owned();
            (
                text("hook_event_name"),
                text("tool_name"),
                told["agent_id"].is_string(),
            )
        })
        .collect();
    let expected = [
        ("PreToolUse", "Task", false),
        ("PreToolUse", "Note", true),
        ("PostToolUse", "Note", true),
        ("PostToolUse", "Task", false),
    ];
    let expected =
        expected.map(|(event, tool, inside)| (event.to_owned(), tool.to_owned(), inside));
    assert_eq!(seen, expected);
    assert_eq!(told(&host, 3)["tool_response"]["status"], "completed");
}

#[test]
fn hook_10_a_denial_holds_inside_a_subagent() {
    let before = HookEvent::PreToolUse;
    let deny = json!({"permissionDecision": "deny", "permissionDecisionReason": "no notes"});
    let deny = HookOutputJson::of(before, deny).read(before);
    let host = delegating().hook(before, move |input| match &input.event {
        Occurrence::PreToolUse(call) if call.tool_name == "Note" => deny.clone(),
        _ => HookOutput::default(),
    });
    let messages = host.prompt(&mut host.session(spec()), "go").unwrap();
    assert!(host.calls().is_empty());
    assert_eq!(
        texts(&user_message(&host, 2)),
        ["result: A hook denied Note: no notes"]
    );
    assert_eq!(
        result(&messages)["permission_denials"][0]["tool_name"],
        "Note"
    );
}
