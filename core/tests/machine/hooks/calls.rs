//! Hooks around tool calls.

use std::{cell::Cell, rc::Rc};

use serde_json::{Value, json};
use windlass_core::{
    effect::PermissionResponse,
    hook::{FailurePolicy, HookAnswer, HookEvent, HookKind, HookOutput},
    permission::{Mode, ToolSet},
    tool::{Access, ToolResult},
};
use windlass_testkit::{HookStep, TestHost};

use super::{
    HookOutputJson, calls, free_spec, informed, json_of, matcher, model, one_call, responses,
    result, texts, told, user_message,
};
use crate::harness::{asking_spec, bash, file_tool, rules, spec_with, tool};

const BEFORE: HookEvent = HookEvent::PreToolUse;
const AFTER: HookEvent = HookEvent::PostToolUse;

fn before(host: TestHost, specific: Value) -> TestHost {
    let answer = HookOutputJson::of(BEFORE, specific).read(BEFORE);
    host.hook(BEFORE, move |_| answer.clone())
}

#[test]
fn hook_10_a_denial_keeps_the_call_from_running_and_the_model_reads_why() {
    let deny = json!({"permissionDecision": "deny", "permissionDecisionReason": "not on Fridays"});
    let host = before(one_call("Note", json!({})), deny).tool("Note", |_| ToolResult::text("x"));
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert!(host.calls().is_empty());
    let sent = texts(&user_message(&host, 1));
    assert_eq!(sent, ["result: A hook denied Note: not on Fridays"]);
    let denials = &result(&messages)["permission_denials"];
    assert_eq!(denials[0]["tool_name"], "Note");
}

#[test]
fn hook_10_a_denial_holds_in_every_mode_and_against_every_rule() {
    for mode in Mode::ALL {
        let deny = json!({"permissionDecision": "deny"});
        let host = before(one_call("Note", json!({})), deny)
            .allow_all()
            .tool("Note", |_| ToolResult::text("x"));
        let mut spec = free_spec();
        spec.policy.permissions.mode = mode;
        spec.policy.permissions.rules.allow = rules(&["Note"]);
        host.prompt(&mut host.session(spec), "go").unwrap();
        assert!(host.calls().is_empty(), "{mode:?}");
        assert!(host.questions().is_empty(), "{mode:?}");
    }
}

#[test]
fn hook_10_an_updated_input_is_what_runs_and_is_judged() {
    let change = json!({"updatedInput": {"command": "git status"}});
    let host = before(one_call("Bash", json!({"command": "rm -rf /"})), change)
        .tool("Bash", |_| ToolResult::text("clean"));
    host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(host.calls()[0].input.get(), r#"{"command":"git status"}"#);

    // The changed input meets the rules, and the schema, as if the model had given it.
    for (changed, expected) in [
        (json!({"command": "curl evil"}), "Bash(curl:*)"),
        (json!({"cmd": "ls"}), "not valid"),
    ] {
        let allow = json!({"permissionDecision": "allow", "updatedInput": changed});
        let host = before(one_call("Bash", json!({"command": "ls"})), allow);
        let mut spec = free_spec();
        spec.policy.permissions.rules.deny = rules(&["Bash(curl:*)"]);
        host.prompt(&mut host.session(spec), "go").unwrap();
        assert!(host.calls().is_empty());
        let sent = texts(&user_message(&host, 1));
        assert!(sent[0].contains(expected), "{sent:?}");
    }
}

#[test]
fn hook_10_an_updated_path_is_resolved_anew() {
    let change = json!({"updatedInput": {"file_path": "secret/key"}});
    let host = before(one_call("Read", json!({"file_path": "a.txt"})), change)
        .tool("Read", |_| ToolResult::text("the key"));
    let mut spec = spec_with(vec![file_tool("Read", Access::Read)]);
    spec.policy.permissions.rules.deny = rules(&["Read(secret/**)"]);
    host.prompt(&mut host.session(spec), "go").unwrap();
    assert!(host.calls().is_empty());
}

#[test]
fn hook_10_ask_forces_the_question_whatever_mode_and_rules_say() {
    let ask = json!({"permissionDecision": "ask", "permissionDecisionReason": "are you sure"});
    let asked = |host: TestHost, mode| {
        let host = before(host, ask.clone()).tool("Note", |_| ToolResult::text("x"));
        let mut spec = free_spec();
        spec.policy.permissions.mode = mode;
        spec.policy.permissions.rules.allow = rules(&["Note"]);
        host.prompt(&mut host.session(spec), "go").unwrap();
        (host.questions(), host.calls().len())
    };
    for mode in [Mode::BypassPermissions, Mode::Default] {
        let (questions, ran) = asked(one_call("Note", json!({})).allow_all(), mode);
        assert_eq!((questions.len(), ran), (1, 1), "{mode:?}");
        assert!(questions[0].decision_reason.contains("are you sure"));
        // With nobody to ask it does not run.
        assert_eq!(asked(one_call("Note", json!({})), mode).1, 0);
    }
    let (questions, ran) = asked(one_call("Note", json!({})).allow_all(), Mode::DontAsk);
    assert_eq!((questions.len(), ran), (0, 0));
}

#[test]
fn hook_10_an_allow_spares_the_question_but_no_deny_or_ask_rule() {
    let allow = || json!({"permissionDecision": "allow"});
    for (deny, ask, mode, questions, ran) in [
        (vec![], vec![], Mode::Default, 0, 1),
        (vec![], vec![], Mode::DontAsk, 0, 1),
        (vec!["Note"], vec![], Mode::Default, 0, 0),
        (vec![], vec!["Note"], Mode::Default, 1, 1),
        (vec![], vec![], Mode::Plan, 0, 0),
    ] {
        let host = before(one_call("Note", json!({})), allow())
            .allow_all()
            .tool("Note", |_| ToolResult::text("x"));
        let mut spec = asking_spec(vec![tool("Note")]);
        spec.policy.permissions.mode = mode;
        spec.policy.permissions.rules.deny = rules(&deny);
        spec.policy.permissions.rules.ask = rules(&ask);
        host.prompt(&mut host.session(spec), "go").unwrap();
        let seen = (host.questions().len(), host.calls().len());
        assert_eq!(seen, (questions, ran), "{deny:?} {ask:?} {mode:?}");
    }
}

#[test]
fn hook_2_hooks_run_beside_each_other_and_the_strictest_answer_wins() {
    let say = |ms: u64, decision: &str| {
        let answer = HookOutputJson::of(BEFORE, json!({"permissionDecision": decision}));
        let answer = HookStep::answer(answer.read(BEFORE));
        move |_: &_| vec![HookStep::Work(ms), answer.clone()]
    };
    for times in [[300, 200, 100], [100, 200, 300]] {
        let host = one_call("Note", json!({}))
            .hook_steps(matcher(BEFORE, ""), say(times[0], "allow"))
            .hook_steps(matcher(BEFORE, "Note|Read"), say(times[1], "deny"))
            .hook_steps(matcher(BEFORE, "^N.t"), say(times[2], "ask"))
            .hook_steps(matcher(BEFORE, "Bash"), say(10_000, "deny"));
        host.prompt(&mut host.session(free_spec()), "go").unwrap();
        assert!(host.calls().is_empty());
        assert!(host.questions().is_empty());
        // All of them at once: the slowest takes 300 ms, and the one for Bash is not run.
        assert_eq!(host.elapsed_ms(), 300);
        assert_eq!(host.hook_calls().len(), 3);
    }
}

#[test]
fn hook_12_after_a_call_the_hook_sees_the_structured_output_and_may_replace_it() {
    let host = one_call("mcp__box__put", json!({"n": 1}))
        .tool("mcp__box__put", |_| ToolResult {
            structured: Some(json_of(&json!({"stored": [1, 2]}))),
            ..ToolResult::text("the long answer")
        })
        .hook(AFTER, |_| {
            let specific = json!({"updatedMCPToolOutput": {"content": [{"type": "text", "text": "the short one"}]}});
            HookOutputJson::of(AFTER, specific).read(AFTER)
        });
    host.prompt(&mut host.session(free_spec()), "go").unwrap();
    let told = told(&host, 0);
    assert_eq!(told["tool_response"], json!({"stored": [1, 2]}));
    assert_eq!(told["tool_input"], json!({"n": 1}));
    assert_eq!(told["tool_use_id"], "toolu_0");
    assert_eq!(texts(&user_message(&host, 1)), ["result: the short one"]);
}

#[test]
fn hook_12_a_failed_call_has_its_own_event_with_the_error() {
    let host = one_call("Note", json!({}))
        .tool("Note", |_| ToolResult::error("the disk is full"))
        .hook(AFTER, |_| HookOutput::default())
        .hook(HookEvent::PostToolUseFailure, |_| HookOutput::default());
    host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(host.hook_calls().len(), 1);
    let told = told(&host, 0);
    assert_eq!(told["hook_event_name"], "PostToolUseFailure");
    assert_eq!(told["error"], "the disk is full");
    assert_eq!(told["is_interrupt"], false);
}

#[test]
fn hook_11_context_around_calls_stands_behind_all_results_in_the_order_of_the_calls() {
    let context = |event: HookEvent| {
        move |input: &windlass_core::hook::HookInput| {
            let id = input.event.tool_use_id().unwrap_or("").to_owned();
            let text = format!("{} {id}", event.name());
            HookOutputJson::of(event, json!({"additionalContext": text})).read(event)
        }
    };
    let host = model(&[
        calls(&[("Note", json!({})), ("Bash", json!({"command": "x"}))]),
        json!("Done."),
    ])
    .tool("Note", |_| ToolResult::text("noted"))
    .tool("Bash", |_| ToolResult::error("no x"))
    .hook(BEFORE, context(BEFORE))
    .hook(AFTER, context(AFTER))
    .hook(
        HookEvent::PostToolUseFailure,
        context(HookEvent::PostToolUseFailure),
    );
    host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(
        texts(&user_message(&host, 1)),
        [
            "result: noted",
            "result: no x",
            "[PreToolUse hook] PreToolUse toolu_0",
            "[PostToolUse hook] PostToolUse toolu_0",
            "[PreToolUse hook] PreToolUse toolu_1",
            "[PostToolUseFailure hook] PostToolUseFailure toolu_1",
        ]
    );
    // What was sent before is still sent word for word: the cache holds.
    let [first, second] = [0, 1].map(|nth| host.requests()[nth].body_bytes());
    let common = first
        .iter()
        .zip(&second)
        .take_while(|(a, b)| a == b)
        .count();
    let first_messages = String::from_utf8_lossy(&first);
    let prompt_at = first_messages.find("\"go\"").expect("the prompt");
    assert!(common > prompt_at, "{common} of {prompt_at}");
}

#[test]
fn hook_4_blocking_after_a_call_tells_the_model_what_is_wrong() {
    let host = one_call("Note", json!({}))
        .tool("Note", |_| ToolResult::text("noted"))
        .hook(AFTER, |_| {
            super::output(json!({"decision": "block", "reason": "run the linter"})).read(AFTER)
        });
    host.prompt(&mut host.session(free_spec()), "go").unwrap();
    let sent = texts(&user_message(&host, 1));
    assert_eq!(sent[0], "result: noted");
    assert!(sent[1].contains("run the linter"), "{sent:?}");
}

#[test]
fn hook_13_a_hook_settles_the_question_without_the_callback() {
    let event = HookEvent::PermissionRequest;
    let settle = |decision: Value| {
        let answer = HookOutputJson::of(event, json!({"decision": decision})).read(event);
        let host = one_call("Bash", json!({"command": "ls"}))
            .permission(|_| PermissionResponse::deny("the callback was asked"))
            .tool("Bash", |_| ToolResult::text("x"))
            .hook(event, move |_| answer.clone());
        let messages = host
            .prompt(&mut host.session(asking_spec(vec![bash()])), "go")
            .unwrap();
        assert!(host.questions().is_empty());
        (host, result(&messages))
    };
    let (host, _) = settle(json!({"behavior": "allow", "updatedInput": {"command": "ls -l"}}));
    assert_eq!(host.calls()[0].input.get(), r#"{"command":"ls -l"}"#);
    assert_eq!(told(&host, 0)["tool_name"], "Bash");
    assert_eq!(told(&host, 0)["tool_input"], json!({"command": "ls"}));

    let (host, _) = settle(json!({"behavior": "deny", "message": "no shells"}));
    assert!(host.calls().is_empty());
    assert!(texts(&user_message(&host, 1))[0].contains("no shells"));

    let (host, result) = settle(json!({"behavior": "deny", "interrupt": true}));
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(host.requests().len(), 1);
}

#[test]
fn hook_13_without_an_opinion_the_callback_is_asked_and_a_deny_rule_still_holds() {
    let event = HookEvent::PermissionRequest;
    let host = one_call("Bash", json!({"command": "ls"}))
        .allow_all()
        .tool("Bash", |_| ToolResult::text("x"))
        .hook(event, |_| HookOutput::default());
    host.prompt(&mut host.session(asking_spec(vec![bash()])), "go")
        .unwrap();
    assert_eq!((host.questions().len(), host.calls().len()), (1, 1));

    let decision = json!({"behavior": "allow", "updatedInput": {"command": "curl evil"}});
    let answer = HookOutputJson::of(event, json!({"decision": decision})).read(event);
    let host = one_call("Bash", json!({"command": "ls"}))
        .allow_all()
        .hook(event, move |_| answer.clone());
    let mut spec = asking_spec(vec![bash()]);
    spec.policy.permissions.rules.deny = rules(&["Bash(curl:*)"]);
    host.prompt(&mut host.session(spec), "go").unwrap();
    assert!(host.calls().is_empty());
}

#[test]
fn hook_13_updated_permissions_hold_for_the_next_call() {
    let event = HookEvent::PermissionRequest;
    let update = json!([{"type": "addRules", "behavior": "allow", "destination": "session",
        "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}]}]);
    let decision = json!({"behavior": "allow", "updatedPermissions": update});
    let answer = HookOutputJson::of(event, json!({"decision": decision})).read(event);
    let host = model(&[
        calls(&[("Bash", json!({"command": "ls a"}))]),
        calls(&[("Bash", json!({"command": "ls b"}))]),
        json!("Done."),
    ])
    .allow_all()
    .tool("Bash", |_| ToolResult::text("x"))
    .hook(event, move |_| answer.clone());
    host.prompt(&mut host.session(asking_spec(vec![bash()])), "go")
        .unwrap();
    assert_eq!(host.calls().len(), 2);
    assert_eq!(host.hook_calls().len(), 1);
}

#[test]
fn hook_14_a_hook_ends_the_run_and_what_has_not_begun_does_not_begin() {
    let host = model(&[
        calls(&[("Note", json!({})), ("Note", json!({"second": true}))]),
        json!("Never asked for."),
    ])
    .tool("Note", |_| ToolResult::text("noted"))
    .hook(AFTER, |_| {
        super::output(json!({"continue": false, "stopReason": "enough for today"})).read(AFTER)
    });
    let mut session = host.session(free_spec());
    let messages = host.prompt(&mut session, "go").unwrap();
    let result = result(&messages);
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["result"], "enough for today");
    assert_eq!((host.calls().len(), host.requests().len()), (1, 1));
    assert_eq!(informed(&messages)[0].content, "enough for today");
    // The session goes on with the next prompt, and its history is whole.
    assert_eq!(session.history().message_count(), 3);
}

#[test]
fn hook_14_output_can_be_suppressed_and_a_message_be_said() {
    let host = one_call("Note", json!({}))
        .tool("Note", |_| ToolResult::text("noted"))
        .hook(AFTER, |_| {
            super::output(json!({"suppressOutput": true, "systemMessage": "disk nearly full"}))
                .read(AFTER)
        });
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(informed(&messages)[0].content, "disk nearly full");
    let response = responses(&messages)[0];
    assert_eq!(
        (response.output.as_str(), response.stdout.as_str()),
        ("", "")
    );
    // Neither is for the model.
    assert_eq!(texts(&user_message(&host, 1)), ["result: noted"]);
}

#[test]
fn hook_14_the_loop_does_not_wait_for_an_asynchronous_hook() {
    let host = one_call("Note", json!({}))
        .tool("Note", |_| ToolResult::text("noted"))
        .hook(BEFORE, |_| HookOutput::run_on(Some(30_000)));
    host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(host.calls().len(), 1);
    assert_eq!(host.elapsed_ms(), 0);
}

#[test]
fn hook_7_a_third_party_narrows_the_files_and_the_time_of_a_call() {
    let verdict = json!({"verdict": "narrow", "timeout_ms": 500,
        "deny_paths": [{"pattern": "/work/.env", "access": "read"}]});
    let answer = HookStep::End(HookAnswer::Output(json_of(&verdict)));
    let mut guard = matcher(BEFORE, "Read");
    guard.kind = HookKind::Narrowing;
    let host = one_call("Read", json!({"file_path": "a.txt"}))
        .tool("Read", |_| ToolResult::text("a"))
        .hook_steps(guard, move |_| vec![answer.clone()]);
    let spec = spec_with(vec![file_tool("Read", Access::Read)]);
    host.prompt(&mut host.session(spec), "go").unwrap();
    let call = &host.calls()[0];
    assert_eq!(call.grant.deny[0].pattern, "/work/.env");
    assert_eq!(call.timeout_ms, Some(500));
}

#[test]
fn hook_8_the_signal_fires_at_the_timeout_of_the_matcher_and_when_the_run_is_interrupted() {
    let ended = Rc::new(Cell::new(0));
    let mut slow = matcher(BEFORE, "*");
    slow.timeout_ms = 2_500;
    slow.on_failure = Some(FailurePolicy::Continue);
    let count = ended.clone();
    let host = one_call("Note", json!({}))
        .tool("Note", |_| ToolResult::text("noted"))
        .hook_steps(slow, move |_| {
            count.set(count.get() + 1);
            vec![HookStep::UntilCancelled]
        });
    host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!((ended.get(), host.elapsed_ms()), (1, 2_500));
    assert_eq!(host.hook_calls()[0].tool_use_id.as_deref(), Some("toolu_0"));
    assert_eq!(host.hook_calls()[0].timeout_ms, 2_500);

    let mut slow = matcher(BEFORE, "*");
    slow.timeout_ms = 60_000;
    let host = one_call("Note", json!({}))
        .tool("Note", |_| ToolResult::text("noted"))
        .hook_steps(slow, |_| vec![HookStep::UntilCancelled])
        .input_at(1_000, windlass_core::Input::Interrupt);
    let messages = host.prompt(&mut host.session(free_spec()), "go").unwrap();
    assert_eq!(host.elapsed_ms(), 1_000);
    assert_eq!(result(&messages)["subtype"], "error_during_execution");
    assert!(host.calls().is_empty());
}

#[test]
fn perm_16_bypassing_bypasses_neither_hooks_nor_what_is_denied_or_to_be_asked() {
    let says = |decision: &str| json!({"permissionDecision": decision});
    // What a hook says, rules to deny and to ask; whether somebody is asked, and whether the call runs then.
    for (hook, deny, ask, asked, ran) in [
        (json!({}), vec![], vec![], false, true),
        (says("deny"), vec![], vec![], false, false),
        (says("ask"), vec![], vec![], true, true),
        (json!({}), vec!["Bash(rm:*)"], vec![], false, false),
        (says("allow"), vec!["Bash(rm:*)"], vec![], false, false),
        (json!({}), vec![], vec!["Bash(rm:*)"], true, true),
        (says("allow"), vec![], vec!["Bash(rm:*)"], true, true),
        (says("deny"), vec![], vec!["Bash(rm:*)"], false, false),
    ] {
        let run = |host: TestHost| {
            let host = before(host, hook.clone()).tool("Bash", |_| ToolResult::text("gone"));
            let mut spec = free_spec();
            spec.policy.permissions.rules.deny = rules(&deny);
            spec.policy.permissions.rules.ask = rules(&ask);
            assert_eq!(spec.policy.permissions.mode, Mode::BypassPermissions);
            host.prompt(&mut host.session(spec), "go").unwrap();
            assert_eq!(host.hook_calls().len(), 1, "hooks are never bypassed");
            (!host.questions().is_empty(), host.calls().len() == 1)
        };
        let call = || one_call("Bash", json!({"command": "cd x && rm -r y"}));
        assert_eq!(
            run(call().allow_all()),
            (asked, ran),
            "{hook} {deny:?} {ask:?}"
        );
        // With nobody to ask, what should be asked about does not run.
        assert_eq!(
            run(call()),
            (false, ran && !asked),
            "{hook} {deny:?} {ask:?}"
        );
    }
    // A tool that is forbidden or not among the tools there are does not run either, whatever a hook says.
    let (mut forbidden, mut left_out) = (free_spec(), free_spec());
    forbidden.policy.permissions.rules.deny = rules(&["Bash"]);
    left_out.policy.permissions.tools = ToolSet::Only(vec!["Note".into()]);
    for spec in [forbidden, left_out] {
        let host = before(
            one_call("Bash", json!({"command": "ls"})).allow_all(),
            says("allow"),
        );
        host.prompt(&mut host.session(spec), "go").unwrap();
        assert!(host.calls().is_empty());
    }
}
