//! What whoever is asked learns and answers, and what comes of it.

use std::sync::Arc;

use serde_json::json;
use windlass_core::{
    Input, Output, Session, Spec,
    effect::{Answer, Effect, PermissionResponse, ResolvedPath, Stage},
    permission::{Mode, PermissionUpdate, RuleValue, ToolSet, UpdateError},
    tool::{Access, ApprovedCommand, Observation, ToolResult},
};

use crate::harness::{Bench, Reply, asking_spec, bash, file_tool, raw, rules, tool, tool_use};

const PROMPT_TOOL: &str = "mcp__gate__ask";

fn allowed(updates: Vec<PermissionUpdate>) -> PermissionResponse {
    PermissionResponse::Allow {
        updated_input: None,
        updated_permissions: updates,
    }
}

fn prompted(spec: Spec) -> Bench {
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench
}

#[test]
fn perm_5_the_answer_may_change_the_input_and_the_rules_or_end_the_run() {
    let mut bench = prompted(asking_spec(vec![tool("Note")]));
    bench.reply(&Reply::message(&[
        tool_use("a", "Note", json!({"text": "x"})),
        tool_use("b", "Note", json!({"text": "y"})),
    ]));
    let suggested = bench.question().1.suggestions;
    assert_eq!(
        serde_json::to_value(&suggested).unwrap(),
        json!([{"type": "addRules", "rules": [{"toolName": "Note"}], "behavior": "allow", "destination": "localSettings"}])
    );
    bench.decide(PermissionResponse::Allow {
        updated_input: Some(raw(&json!({"text": "z"}))),
        updated_permissions: suggested,
    });
    assert_eq!(bench.call("a").1.input.get(), r#"{"text":"z"}"#);
    bench.finish("a", "ok");
    bench.finish("b", "unasked");

    let mut bench = prompted(asking_spec(vec![tool("Note")]));
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.decide(PermissionResponse::Deny {
        message: "stop".into(),
        interrupt: true,
    });
    assert_eq!(bench.result().permission_denials.len(), 1);
    assert_eq!(bench.requests().len(), 1, "nobody asks the model again");
}

#[test]
fn perm_12_the_reason_of_a_question_hides_nothing_and_the_input_is_the_models() {
    let mut bench = prompted(asking_spec(vec![file_tool("Edit", Access::Write)]));
    let path = "/etc/a\u{202e}b\u{200b}\u{1b}[8m";
    bench.reply(&Reply::call("a", "Edit", json!({"file_path": path})));
    bench.resolve();
    let (_, question) = bench.question();
    let shown = "/etc/a\\u{202e}b\\u{200b}␛[8m is outside the workspace";
    assert!(
        question.decision_reason.contains(shown),
        "{}",
        question.decision_reason
    );
    let input: serde_json::Value = question.input.decode().unwrap();
    assert_eq!(input["file_path"], path);
    assert_eq!(question.blocked_path.as_deref(), Some(path));
    bench.interrupt();
}

#[test]
fn perm_12_the_question_names_the_call_the_reason_and_the_path_and_ends_with_the_run() {
    let mut bench = prompted(asking_spec(vec![file_tool("Edit", Access::Write)]));
    bench.reply(&Reply::call(
        "a",
        "Edit",
        json!({"file_path": "/etc/hosts"}),
    ));
    bench.resolve();
    let (id, question) = bench.question();
    assert_eq!(question.tool_use_id, "a");
    assert_eq!(question.agent_id, None, "the main thread");
    assert_eq!(question.blocked_path.as_deref(), Some("/etc/hosts"));
    assert!(question.decision_reason.contains("outside the workspace"));
    assert!(matches!(
        &question.suggestions[..],
        [PermissionUpdate::AddDirectories(change), PermissionUpdate::SetMode { mode: Mode::AcceptEdits, .. }]
            if change.directories == ["/etc"]
    ));
    bench.interrupt();
    assert!(bench.cancelled().contains(&id), "the signal fires");
}

#[test]
fn perm_12_allowing_without_an_input_runs_the_original() {
    let mut bench = prompted(asking_spec(vec![tool("Note")]));
    bench.reply(&Reply::call("a", "Note", json!({"text": "x"})));
    let answer = r#"{"behavior":"allow","toolUseID":"a"}"#;
    bench.decide(serde_json::from_str(answer).unwrap());
    assert_eq!(bench.call("a").1.input.get(), r#"{"text":"x"}"#);
}

#[test]
fn perm_11_a_directory_added_while_the_session_runs_belongs_to_the_workspace() {
    let mut spec = asking_spec(vec![file_tool("Edit", Access::Write)]);
    spec.policy.permissions.mode = Mode::AcceptEdits;
    let mut bench = prompted(spec);
    bench.reply(&Reply::message(&[
        tool_use("a", "Edit", json!({"file_path": "/other/a"})),
        tool_use("b", "Edit", json!({"file_path": "/other/b"})),
    ]));
    bench.resolve();
    let updates = bench.question().1.suggestions;
    bench.decide(allowed(updates));
    bench.finish("a", "ok");
    bench.resolve();
    let (_, call) = bench.call("b");
    assert!(
        call.grant.roots.iter().any(|root| root.path == "/other"),
        "{:?}",
        call.grant
    );
}

#[test]
fn perm_13_updates_of_which_one_does_not_apply_change_nothing_and_are_told() {
    let mut bench = prompted(asking_spec(vec![tool("Note")]));
    bench.reply(&Reply::message(&[
        tool_use("a", "Note", json!({})),
        tool_use("b", "Note", json!({})),
    ]));
    bench.decide(allowed(vec![
        PermissionUpdate::allow_in_session(vec![RuleValue::tool("Note")]),
        PermissionUpdate::allow_in_session(vec![RuleValue::some("Note", "x")]),
    ]));
    assert!(matches!(
        bench.outputs.iter().find(|output| matches!(output, Output::Refused(_))),
        Some(Output::Refused(UpdateError::Rule(error))) if error.rule == "Note(x)"
    ));
    bench.finish("a", "it was allowed all the same");
    assert_eq!(bench.question().1.tool_use_id, "b");
}

#[test]
fn perm_8_a_refused_mode_is_told_and_the_session_goes_on() {
    let mut bench = prompted(asking_spec(vec![tool("Note")]));
    bench.input(Input::SetMode(Mode::BypassPermissions));
    assert!(
        bench
            .outputs
            .contains(&Output::Refused(UpdateError::BypassNotAllowed))
    );
    assert_eq!(bench.session.mode(), Mode::Default);
    bench.reply(&Reply::call("a", "Note", json!({})));
    bench.question();
    bench.input(Input::UpdatePermissions(vec![
        PermissionUpdate::allow_in_session(vec![RuleValue::tool("Note")]),
    ]));
    bench.decide(PermissionResponse::allow());
    bench.finish("a", "ok");
    bench.reply(&Reply::call("b", "Note", json!({})));
    bench.finish("b", "the rule holds from the next call on");
}

#[test]
fn perm_14_a_tool_is_asked_where_the_callback_would_be() {
    let spec = || {
        let mut spec = asking_spec(vec![tool("Note"), tool(PROMPT_TOOL)]);
        spec.policy.permissions.can_ask = false;
        spec.policy.permissions.prompt_tool = Some(PROMPT_TOOL.into());
        spec
    };
    let asked = |answer: ToolResult| {
        let mut bench = prompted(spec());
        let offered = bench.body()["tools"].to_string();
        assert!(!offered.contains(PROMPT_TOOL), "not the model's to call");
        bench.reply(&Reply::call("a", "Note", json!({"text": "x"})));
        let (id, effect) = bench.of(Stage::Ask);
        let Effect::CallTool(call) = effect else {
            panic!("{effect:?}");
        };
        assert_eq!(call.name, PROMPT_TOOL);
        let input: serde_json::Value = call.input.decode().unwrap();
        assert_eq!(
            input,
            json!({"tool_name": "Note", "input": {"text": "x"}, "tool_use_id": "a"})
        );
        bench.answer(id, Answer::Progress("thinking".into()));
        bench.answer(id, Answer::Tool(answer));
        bench
    };
    let yes = r#"{"behavior":"allow","updatedInput":{"text":"y"}}"#;
    let bench = asked(ToolResult::text(yes));
    assert_eq!(bench.call("a").1.input.get(), r#"{"text":"y"}"#);
    for (no, words) in [
        (
            ToolResult::text(r#"{"behavior":"deny","message":"never"}"#),
            "never",
        ),
        (ToolResult::text("yes!"), "no permission result"),
        (ToolResult::error(yes), "failed"),
    ] {
        let bench = asked(no);
        let text = bench.body()["messages"][2]["content"][0]["content"].to_string();
        assert!(text.contains(words), "{text}");
    }
    let mut missing = spec();
    missing.tools.definitions.pop();
    let mut bench = prompted(missing);
    bench.reply(&Reply::call("a", "Note", json!({})));
    let text = bench.body()["messages"][2]["content"][0]["content"].to_string();
    assert!(
        text.contains(PROMPT_TOOL) && text.contains("does not exist"),
        "{text}"
    );
}

#[test]
fn perm_10_the_tools_there_are_can_be_a_list_none_or_all() {
    for (set, expected) in [
        (ToolSet::Preset, &["Note", "Other", "mcp__a__b"][..]),
        (ToolSet::Only(vec!["Note".into()]), &["Note", "mcp__a__b"]),
        (ToolSet::Only(vec![]), &["mcp__a__b"]),
    ] {
        let mut spec = asking_spec(vec![tool("Note"), tool("Other"), tool("mcp__a__b")]);
        spec.policy.permissions.tools = set;
        spec.policy.permissions.mode = Mode::BypassPermissions;
        let mut bench = prompted(spec);
        let tools = bench.body()["tools"].clone();
        let names: Vec<&str> = tools
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, expected);
        bench.reply(&Reply::call("a", "Other", json!({})));
        assert_eq!(bench.calls().is_empty(), !expected.contains(&"Other"));
    }
}

#[test]
fn perm_16_bypassing_bypasses_no_deny_rule_and_every_call_carries_them() {
    let mut spec = asking_spec(vec![bash(), file_tool("Read", Access::Read)]);
    spec.policy.permissions.mode = Mode::BypassPermissions;
    spec.policy.permissions.rules.deny = rules(&["Read(secret/**)", "Bash(rm:*)"]);
    let mut bench = prompted(spec);
    bench.reply(&Reply::message(&[
        tool_use("a", "Bash", json!({"command": "make"})),
        tool_use("b", "Bash", json!({"command": "rm x"})),
        tool_use("c", "Bash", json!({"command": "echo x > secret/key"})),
    ]));
    let (_, call) = bench.call("a");
    assert_eq!(call.grant.deny.len(), 1, "also where nothing is granted");
    assert_eq!(call.grant.deny[0].pattern, "/work/secret/**");
    bench.finish("a", "ok");
    bench.resolve();
    bench.resolve();
    assert!(bench.calls().is_empty());
    let results = bench.body()["messages"][2]["content"].clone();
    assert_eq!(results[1]["is_error"], true);
    assert_eq!(results[2]["is_error"], true);
}

#[test]
fn perm_4_a_link_in_a_command_leads_where_the_host_says() {
    let mut spec = asking_spec(vec![bash()]);
    spec.policy.permissions.mode = Mode::AcceptEdits;
    let real = |path: Result<&str, &str>| {
        let mut bench = prompted(spec.clone());
        bench.reply(&Reply::call(
            "a",
            "Bash",
            json!({"command": "touch link/a"}),
        ));
        let (id, _) = bench.of(Stage::Resolve);
        let path = path.map(ResolvedPath::at).map_err(Into::into);
        bench.answer(id, Answer::Resolved(vec![path]));
        bench
    };
    real(Ok("/work/real/a")).call("a");
    let bench = real(Ok("/etc/a"));
    assert_eq!(bench.question().1.blocked_path.as_deref(), Some("/etc/a"));
    real(Err("no such folder")).question();
}

#[test]
fn perm_4_the_host_says_what_comes_along_with_a_folder() {
    let mut spec = asking_spec(vec![bash()]);
    spec.policy.permissions.mode = Mode::AcceptEdits;
    let copies = |brings: Option<&str>| {
        let mut bench = prompted(spec.clone());
        let line = json!({"command": "cp -r a b"});
        bench.reply(&Reply::call("a", "Bash", line));
        let (id, _) = bench.of(Stage::Resolve);
        let source = ResolvedPath {
            brings: brings.map(Into::into),
            ..ResolvedPath::at("/work/a")
        };
        let target = ResolvedPath::at("/work/b");
        bench.answer(id, Answer::Resolved(vec![Ok(source), Ok(target)]));
        bench
    };
    let (_, call) = copies(None).call("a");
    let Some(ApprovedCommand::Plan(plan)) = call.command else {
        panic!("{call:?}");
    };
    // Nothing but the mode lets it run.
    assert_eq!(
        (plan.mode_allowed_files, plan.only_mode_allows),
        (vec!["/work/a".to_owned(), "/work/b".to_owned()], true)
    );
    let asked = copies(Some(".claude/settings.json"));
    let reason = &asked.question().1.decision_reason;
    assert!(reason.contains("/work/a/.claude/settings.json"), "{reason}");
}

#[test]
fn tool_2_nobody_is_asked_about_a_change_that_fails_because_the_file_was_not_read() {
    let mut write = file_tool("Write", Access::Write);
    write.paths[0].read_first = true;
    let spec = asking_spec(vec![write, file_tool("Read", Access::Read)]);
    let writes = |exists: bool, seen: bool| {
        let mut bench = prompted(spec.clone());
        if seen {
            bench.input(Input::Seen(Observation {
                path: "/work/a".into(),
                digest: "sha256:00".into(),
                whole: true,
            }));
        }
        bench.reply(&Reply::call("a", "Write", json!({"file_path": "/work/a"})));
        let (id, _) = bench.of(Stage::Resolve);
        let real = ResolvedPath {
            exists,
            ..ResolvedPath::at("/work/a")
        };
        bench.answer(id, Answer::Resolved(vec![Ok(real)]));
        bench
    };
    writes(false, false).question();
    writes(true, true).question();
    let bench = writes(true, false);
    let messages = bench.body()["messages"].clone();
    let text = messages[2]["content"][0]["content"].as_str().unwrap();
    assert!(text.contains("/work/a has not been read yet"), "{text}");
}

#[test]
fn perm_4_the_host_says_what_a_rule_closes_below_a_folder() {
    let mut spec = asking_spec(vec![bash()]);
    spec.policy.permissions.mode = Mode::AcceptEdits;
    spec.policy.permissions.rules.deny = rules(&["Read(.env)", "Edit(*.lock)"]);
    let removes = |holds: Option<&str>| {
        let mut bench = prompted(spec.clone());
        bench.reply(&Reply::call("a", "Bash", json!({"command": "rm -rf a"})));
        let (id, effect) = bench.of(Stage::Resolve);
        let Effect::Resolve(asked) = effect else {
            panic!("{effect:?}");
        };
        assert_eq!(asked[0].closed.len(), 2, "{asked:?}");
        let folder = ResolvedPath {
            holds: holds.map(Into::into),
            ..ResolvedPath::at("/work/a")
        };
        bench.answer(id, Answer::Resolved(vec![Ok(folder)]));
        bench
    };
    removes(None).call("a");
    let asked = removes(Some("b/.env"));
    let reason = &asked.question().1.decision_reason;
    assert!(reason.contains("Read(.env)"), "{reason}");
}

#[test]
fn what_is_denied_unasked_is_told_where_that_is_wanted() {
    for told in [false, true] {
        let mut spec = asking_spec(vec![tool("Note"), tool("Other")]);
        spec.policy.permissions.can_ask = false;
        spec.policy.permissions.rules.deny = rules(&["Note"]);
        spec.policy.permissions.tell_denials = told;
        let mut bench = prompted(spec);
        bench.reply(&Reply::message(&[
            tool_use("a", "Note", json!({})),
            tool_use("b", "Other", json!({})),
        ]));
        bench.says("Well.");
        let lines = bench.lines_of("system");
        let denied: Vec<_> = lines
            .iter()
            .filter(|line| line["subtype"] == "permission_denied")
            .map(|line| (&line["tool_use_id"], &line["decision_reason_type"]))
            .collect();
        let wanted = [(&json!("a"), &json!("rule")), (&json!("b"), &json!("mode"))];
        assert_eq!(denied, if told { &wanted[..] } else { &[] });
    }
}

#[test]
fn api_3_a_guarded_server_is_asked_about_where_the_mode_would_not_and_stays_so_in_a_snapshot() {
    let spec = || {
        let mut spec = asking_spec(vec![tool("mcp__calc__add"), tool("mcp__notes__read")]);
        spec.policy.permissions.mode = Mode::BypassPermissions;
        spec.policy.permissions.allow_bypass = true;
        spec
    };
    let guard = |server: &str, is_guarded| Input::GuardServer {
        server: server.into(),
        is_guarded,
    };
    let mut bench = Bench::new(spec());
    bench.input(guard("calc", true));
    let snapshot = bench.session.snapshot().unwrap();
    bench.session = Session::restore(Arc::new(spec()), &snapshot).unwrap();
    bench.input(Input::Resumed { live: vec![] });
    bench.prompt("go");
    bench.reply(&Reply::message(&[
        tool_use("a", "mcp__calc__add", json!({})),
        tool_use("b", "mcp__notes__read", json!({})),
    ]));
    bench.decide(PermissionResponse::deny("no"));
    bench.finish("b", "read");
    bench.input(guard("calc", false));
    bench.reply(&Reply::call("c", "mcp__calc__add", json!({})));
    bench.finish("c", "3");
}
