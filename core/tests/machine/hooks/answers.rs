//! Hooks along the way of an answer: what was denied, what all calls gave, what failed, what is left to others.

use serde_json::{Value, json};
use windlass_core::{
    Input, Prompt,
    hook::{HookEvent, HookOutput, input},
    tool::ToolResult,
    tools::{CoreTool, enter_worktree::EnterWorktreeOutput},
};
use windlass_testkit::{Script, TestHost};

use super::{
    HookOutputJson, calls, free_spec, informed, matcher, model, one_call, output, result, texts,
    told, user_message,
};
use crate::harness::{rules, spec_with, tool};

fn answering(host: TestHost, event: HookEvent, answer: Value) -> TestHost {
    let answer = output(answer).read(event);
    host.hook(event, move |_| answer.clone())
}

/// The input of the one hook of this event that was run.
fn told_of(host: &TestHost, event: HookEvent) -> Value {
    let mut nth = (0..host.hook_calls().len()).filter(|nth| host.hook_calls()[*nth].event == event);
    let told = told(host, nth.next().expect("a hook"));
    assert_eq!(nth.next(), None, "once");
    told
}

#[test]
fn hook_17_every_denial_is_told_and_may_be_tried_again() {
    let event = HookEvent::PermissionDenied;
    for (answer, hints) in [(json!({}), 0), (json!({"retry": true}), 1)] {
        let answer = HookOutputJson::of(event, answer).read(event);
        let host = one_call("Note", json!({"a": 1})).hook(event, move |_| answer.clone());
        let mut spec = spec_with(vec![tool("Note")]);
        spec.policy.permissions.rules.deny = rules(&["Note"]);
        let messages = host.prompt(&mut host.session(spec), "go").unwrap();
        let told = told_of(&host, event);
        assert_eq!(told["tool_name"], "Note");
        assert_eq!(told["tool_input"], json!({"a": 1}));
        assert_eq!(told["tool_use_id"], "toolu_0");
        let sent = texts(&user_message(&host, 1));
        assert_eq!(
            sent[0],
            format!("result: {}", told["reason"].as_str().unwrap())
        );
        assert_eq!(sent.len(), 1 + hints, "{sent:?}");
        assert_eq!(
            result(&messages)["permission_denials"][0]["tool_name"],
            "Note"
        );
    }
}

#[test]
fn hook_17_a_batch_is_shown_once_with_all_its_results_before_the_model_reads_them() {
    let event = HookEvent::PostToolBatch;
    let two = calls(&[("Note", json!({"n": 1})), ("Note", json!({"n": 2}))]);
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PostToolBatch", "additionalContext": "Both are stale."}});
    let host = answering(model(&[two, json!("Done.")]), event, answer).tool("Note", |call| {
        ToolResult::text(format!("noted {}", call.input.get()))
    });
    host.prompt(&mut host.session(free_spec()), "go").unwrap();
    let told = told_of(&host, event);
    let shown: Vec<&Value> = told["tool_calls"].as_array().unwrap().iter().collect();
    assert_eq!(shown.len(), 2);
    assert_eq!(shown[1]["tool_use_id"], "toolu_1");
    assert_eq!(shown[1]["tool_input"], json!({"n": 2}));
    assert!(
        shown[1]["tool_response"].to_string().contains("noted"),
        "{told}"
    );
    let sent = texts(&user_message(&host, 1));
    assert_eq!(sent[2], "[PostToolBatch hook] Both are stale.");
}

#[test]
fn hook_17_a_batch_that_is_blocked_ends_the_run_before_the_model_is_asked_again() {
    let answer = json!({"decision": "block", "reason": "enough"});
    let host = answering(
        one_call("Note", json!({})),
        HookEvent::PostToolBatch,
        answer,
    )
    .tool("Note", |_| ToolResult::text("noted"));
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(host.requests().len(), 1);
    assert_eq!(result(&messages)["result"], "enough");
}

#[test]
fn hook_17_a_failure_that_ends_the_answer_is_told_before_the_result() {
    let refused = json!({"exchanges": [{"respond": {"error": {"type": "invalid_request_error", "message": "no"}}}]});
    let host = TestHost::new(Script::parse(&refused.to_string()).unwrap());
    let host = answering(
        host,
        HookEvent::StopFailure,
        json!({"systemMessage": "heard"}),
    )
    .hook(HookEvent::Stop, |_| {
        HookOutput::stop("it did not stop by itself")
    });
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    let told = told_of(&host, HookEvent::StopFailure);
    assert_eq!(told["error"], "invalid_request");
    assert!(
        told["error_details"].as_str().unwrap().contains("no"),
        "{told}"
    );
    assert!(
        host.hook_calls()
            .iter()
            .all(|call| call.event != HookEvent::Stop)
    );
    assert_eq!(informed(&messages)[0].content, "heard");
    assert_eq!(result(&messages)["is_error"], true);
}

#[test]
fn hook_17_a_command_that_was_expanded_can_be_refused() {
    let event = HookEvent::UserPromptExpansion;
    let command = input::UserPromptExpansion {
        expansion_type: input::ExpansionType::SlashCommand,
        command_name: "ship".into(),
        command_args: "now".into(),
        command_source: Some("project".into()),
        prompt: "/ship now".into(),
    };
    let prompt = Prompt {
        expanded_from: Some(command),
        ..Prompt::text("Ship it now.")
    };
    let answer = json!({"decision": "block", "reason": "not on Fridays"});
    let host = answering(model(&[json!("Never asked for.")]), event, answer);
    let mut session = host.session(free_spec());
    host.run(&mut session, [Input::Prompt(prompt)]).unwrap();
    let told = told_of(&host, event);
    assert_eq!(told["command_name"], "ship");
    assert_eq!(told["command_args"], "now");
    assert_eq!(told["prompt"], "/ship now");
    assert!(host.requests().is_empty());
    let said = host.messages();
    assert!(informed(&said)[0].content.contains("not on Fridays"));
}

#[test]
fn hook_17_a_move_into_a_worktree_is_told_with_both_directories() {
    let enter = calls(&[("EnterWorktree", json!({"name": "fix"}))]);
    let made = EnterWorktreeOutput {
        worktree_path: "/work/.trees/fix".into(),
        worktree_branch: None,
        message: "There.".into(),
    };
    let host = answering(
        model(&[enter, json!("Done.")]),
        HookEvent::CwdChanged,
        json!({}),
    )
    .tool("EnterWorktree", move |_| made.clone().into_result());
    let mut spec = free_spec();
    spec.offer([CoreTool::EnterWorktree]);
    host.prompt(&mut host.session(spec), "go").unwrap();
    let told = told_of(&host, HookEvent::CwdChanged);
    assert_eq!(told["old_cwd"], "/work");
    assert_eq!(told["new_cwd"], "/work/.trees/fix");
}

#[test]
fn hook_17_a_question_is_brought_to_somebodys_notice() {
    let host = answering(
        one_call("Note", json!({})),
        HookEvent::Notification,
        json!({}),
    )
    .allow_all()
    .tool("Note", |_| ToolResult::text("noted"));
    let spec = crate::harness::asking_spec(vec![tool("Note")]);
    host.prompt(&mut host.session(spec), "go").unwrap();
    let told = told_of(&host, HookEvent::Notification);
    assert_eq!(told["notification_type"], "permission_prompt");
    assert!(told["message"].as_str().unwrap().contains("Note"));
}

#[test]
fn hook_10_a_call_that_is_deferred_ends_the_run_and_is_in_its_result() {
    let event = HookEvent::PreToolUse;
    let defer = HookOutputJson::of(event, json!({"permissionDecision": "defer"})).read(event);
    let host = one_call("Note", json!({"a": 1})).hook(event, move |_| defer.clone());
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    let result = result(&messages);
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["stop_reason"], "tool_deferred");
    assert_eq!(
        result["deferred_tool_use"],
        json!({"id": "toolu_0", "name": "Note", "input": {"a": 1}})
    );
    assert_eq!(host.requests().len(), 1);
    assert!(host.calls().is_empty());
    assert_eq!(result["permission_denials"], json!([]));
}

#[test]
fn hook_10_one_of_several_calls_cannot_be_deferred_and_is_asked_about() {
    let event = HookEvent::PreToolUse;
    let defer = HookOutputJson::of(event, json!({"permissionDecision": "defer"})).read(event);
    let two = calls(&[("Note", json!({})), ("Bash", json!({"command": "make"}))]);
    let host = model(&[two, json!("Done.")])
        .hook_steps(matcher(event, "Note"), move |_| {
            vec![windlass_testkit::HookStep::End(
                windlass_core::hook::HookAnswer::Output(defer.to_json()),
            )]
        })
        .allow_all()
        .tool("Note", |_| ToolResult::text("noted"))
        .tool("Bash", |_| ToolResult::text("made"));
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(host.calls().len(), 2);
    assert_eq!(host.questions().len(), 1);
    assert_eq!(result(&messages)["result"], "Done.");
}
