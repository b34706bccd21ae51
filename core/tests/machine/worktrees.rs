//! Work that moves into a git worktree: the host makes it, the session goes there.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::{
    Input, Session, Spec,
    effect::{Answer, Effect, Stage},
    hook::{FailurePolicy, HookAnswer, HookEvent, HookKind, HookMatcher, HookOutput},
    permission::Mode,
    tool::{Access, ToolCall, ToolDefinition, ToolResult},
    tools::{CoreTool, enter_worktree::EnterWorktreeOutput},
};

use crate::harness::{
    Bench, Reply, asking_spec, bash, file_tool, rules, session_id, spec_with, tool, tool_use,
};

const TREE: &str = "/work/.trees/fix";

fn tools() -> Vec<ToolDefinition> {
    vec![
        bash(),
        file_tool("Read", Access::Read),
        file_tool("Edit", Access::Write),
    ]
}

fn spec() -> Spec {
    let mut spec = spec_with(tools());
    spec.offer([CoreTool::EnterWorktree, CoreTool::Task]);
    spec
}

fn made(path: &str) -> ToolResult {
    EnterWorktreeOutput {
        worktree_path: path.into(),
        worktree_branch: Some("fix".into()),
        message: format!("The work goes on in {path}."),
    }
    .into_result()
}

fn enter(bench: &mut Bench, result: ToolResult) -> ToolCall {
    bench.reply(&Reply::call("w", "EnterWorktree", json!({"name": "fix"})));
    let (id, call) = bench.call("w");
    bench.answer(id, Answer::Tool(result));
    call
}

fn entered(spec: Spec) -> Bench {
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    enter(&mut bench, made(TREE));
    bench
}

/// The paths that the host is asked to resolve.
fn asked(bench: &Bench) -> Vec<String> {
    match bench.of(Stage::Resolve).1 {
        Effect::Resolve(paths) => paths.into_iter().map(|asked| asked.path).collect(),
        other => panic!("{other:?}"),
    }
}

fn last_result(bench: &Bench) -> String {
    let users = bench.lines_of("user");
    users.last().unwrap()["message"]["content"][0]["content"].to_string()
}

#[test]
fn tool_28_after_entering_a_worktree_calls_hooks_and_init_are_there() {
    let mut spec = spec();
    spec.policy.hooks = vec![HookMatcher::new(
        HookEvent::PostToolUse,
        ["watch".to_owned()],
    )];
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let call = enter(&mut bench, made(TREE));
    assert_eq!(call.input.get(), r#"{"name":"fix"}"#);
    assert_eq!(call.grant.cwd, "/work", "it is made from where the work is");
    let cwd_of_hook = |bench: &mut Bench| {
        let (id, Effect::RunHook(hook)) = bench.of(Stage::Hook(HookEvent::PostToolUse, 1)) else {
            panic!("no hook");
        };
        bench.answer(
            id,
            Answer::Hook(windlass_core::hook::HookAnswer::Output(
                windlass_core::RawJson::empty_object(),
            )),
        );
        hook.input.decode::<Value>().unwrap()["cwd"].clone()
    };
    assert_eq!(cwd_of_hook(&mut bench), TREE);
    let said = bench.lines_of("user").pop().unwrap();
    assert_eq!(
        said["tool_use_result"],
        json!({"worktreePath": TREE, "worktreeBranch": "fix", "message": format!("The work goes on in {TREE}.")})
    );
    bench.reply(&Reply::message(&[
        tool_use("a", "Read", json!({"file_path": "src/lib.rs"})),
        tool_use("b", "Bash", json!({"command": "make"})),
    ]));
    assert_eq!(asked(&bench), [format!("{TREE}/src/lib.rs")]);
    bench.resolve();
    let (_, call) = bench.call("a");
    assert_eq!(call.grant.cwd, TREE);
    assert_eq!(call.grant.roots[0].path, TREE);
    bench.finish("a", "text");
    assert_eq!(cwd_of_hook(&mut bench), TREE);
    assert_eq!(bench.call("b").1.grant.cwd, TREE);
    bench.finish("b", "ok");
    assert_eq!(cwd_of_hook(&mut bench), TREE);
    bench.says("done");
    bench.prompt("and now?");
    let inits = bench.lines_of("system");
    let inits: Vec<_> = inits.iter().filter(|l| l["subtype"] == "init").collect();
    assert_eq!(
        (&inits[0]["cwd"], &inits[1]["cwd"]),
        (&json!("/work"), &json!(TREE))
    );
}

#[test]
fn tool_28_rules_that_allow_mean_the_new_tree_and_rules_that_deny_mean_both() {
    let mut spec = asking_spec(tools());
    spec.offer([CoreTool::EnterWorktree]);
    spec.policy.permissions.rules.allow = rules(&["EnterWorktree", "Edit(src/**)"]);
    spec.policy.permissions.rules.deny = rules(&["Read(secret/**)", "Read(.env)"]);
    let mut bench = entered(spec);
    let runs = |bench: &mut Bench, tool: &str, path: &str| {
        bench.reply(&Reply::call("", tool, json!({"file_path": path})));
        bench.resolve();
        if let Some((id, call)) = bench.calls().pop() {
            let closed: Vec<_> = call.grant.deny.iter().map(|d| d.pattern.clone()).collect();
            for root in ["/work", TREE] {
                assert!(closed.contains(&format!("{root}/secret/**")), "{closed:?}");
            }
            bench.answer(id, Answer::Tool(ToolResult::text("ok")));
            return Some(true);
        }
        if bench.pending_stages().contains(&Stage::Ask) {
            let (id, _) = bench.question();
            let no = windlass_core::effect::PermissionResponse::deny("no");
            bench.answer(id, Answer::Permission(no));
            return None;
        }
        Some(false)
    };
    for (tool, path, expected) in [
        ("Edit", "src/a.rs", Some(true)),
        ("Edit", "/work/.trees/fix/src/a.rs", Some(true)),
        ("Edit", "/work/src/a.rs", None),
        ("Read", "secret/key", Some(false)),
        ("Read", "/work/secret/key", Some(false)),
        ("Read", "/work/deep/.env", Some(false)),
        ("Read", "deep/.env", Some(false)),
    ] {
        assert_eq!(runs(&mut bench, tool, path), expected, "{tool} {path}");
    }
}

#[test]
fn tool_28_what_the_old_tree_denies_stays_denied_when_permissions_are_bypassed() {
    let mut spec = spec();
    spec.policy.permissions.rules.deny = rules(&["Read(secret/**)"]);
    let mut bench = entered(spec);
    for command in ["cat /work/secret/key", "cat secret/key"] {
        bench.reply(&Reply::call("", "Bash", json!({"command": command})));
        bench.resolve();
        assert!(bench.calls().is_empty(), "{command}");
        assert!(last_result(&bench).contains("secret/**"), "{command}");
    }
}

#[test]
fn tool_16_a_host_that_makes_no_worktree_moves_nothing() {
    for answer in [
        ToolResult::error("this is no git repository"),
        ToolResult::text("done"),
        made("trees/fix"),
        made("/work/../etc"),
    ] {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        enter(&mut bench, answer.clone());
        assert_eq!(
            bench.lines_of("user").pop().unwrap()["message"]["content"][0]["is_error"],
            true
        );
        assert!(last_result(&bench).contains(&answer.joined_text()));
        bench.reply(&Reply::call("b", "Bash", json!({"command": "ls"})));
        assert_eq!(bench.call("b").1.grant.cwd, "/work");
    }
}

#[test]
fn tool_16_names_that_lead_elsewhere_and_calls_without_permission_make_no_worktree() {
    for name in ["../fix", "a/b", "-f", ".git", ""] {
        let mut bench = Bench::new(spec());
        bench.prompt("go");
        bench.reply(&Reply::call("w", "EnterWorktree", json!({"name": name})));
        assert!(bench.calls().is_empty(), "{name}");
    }
    let mut bench = Bench::new({
        let mut spec = spec();
        spec.policy.permissions = asking_spec(vec![]).policy.permissions;
        spec
    });
    bench.prompt("go");
    bench.reply(&Reply::call("w", "EnterWorktree", json!({})));
    assert!(bench.calls().is_empty());
    assert_eq!(bench.question().1.tool_name, "EnterWorktree");
    let mut spec = spec();
    spec.policy.permissions.mode = Mode::Plan;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call("w", "EnterWorktree", json!({})));
    assert!(
        bench.pending_stages() == [Stage::Model],
        "nothing is made in plan mode"
    );
}

#[test]
fn tool_16_a_plugins_tool_of_this_name_moves_nothing() {
    let mut bench = Bench::new(spec_with(vec![tool("EnterWorktree"), bash()]));
    bench.prompt("go");
    enter(&mut bench, made(TREE));
    bench.reply(&Reply::call("b", "Bash", json!({"command": "ls"})));
    assert_eq!(bench.call("b").1.grant.cwd, "/work");
}

#[test]
fn tool_16_a_session_put_away_or_forked_is_where_it_was() {
    let mut bench = entered(spec());
    bench.says("done");
    let snapshot = bench.session.snapshot().unwrap();
    let (fork, _) = bench.session.fork(session_id(), [9; 32], None);
    let restored = Session::restore(Arc::new(spec()), &snapshot).unwrap();
    for (session, is_restored) in [(fork, false), (restored, true)] {
        let mut bench = Bench::new(spec());
        bench.session = session;
        if is_restored {
            bench.input(Input::Resumed { live: vec![] });
        }
        bench.prompt("go on");
        bench.reply(&Reply::call("b", "Bash", json!({"command": "ls"})));
        assert_eq!(bench.call("b").1.grant.cwd, TREE);
        assert_eq!(bench.lines_of("system")[0]["cwd"], TREE);
    }
}

/// A bench whose model sends an agent to work in a worktree of its own.
fn isolating(spec: Spec) -> Bench {
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    let task = json!({"description": "d", "prompt": "Look.", "subagent_type": "general-purpose", "isolation": "worktree"});
    bench.reply(&Reply::call("t", "Task", task));
    bench
}

/// A task in a worktree of its own, and the call that makes that.
fn isolated() -> (Bench, ToolCall) {
    let bench = isolating(spec());
    let (_, call) = bench.call("t");
    (bench, call)
}

#[test]
fn perm_4_a_rule_that_denies_worktrees_holds_for_agents_that_need_one() {
    let mut spec = spec();
    spec.policy
        .permissions
        .rules
        .deny
        .extend(rules(&["EnterWorktree"]));
    let bench = isolating(spec);
    assert!(!bench.pending_stages().contains(&Stage::Run));
}

/// Sessions in which a hook hears of worktrees that are needed.
fn hooked() -> Spec {
    let mut spec = spec();
    spec.policy.hooks = vec![HookMatcher::new(
        HookEvent::WorktreeCreate,
        ["maker".to_owned()],
    )];
    spec
}

/// What the hook is told.
fn told(bench: &Bench) -> Value {
    let (_, Effect::RunHook(hook)) = bench.of(CREATE) else {
        panic!("no hook");
    };
    hook.input.decode().unwrap()
}

fn hook_says(bench: &mut Bench, answer: HookAnswer) {
    let (id, _) = bench.of(CREATE);
    bench.answer(id, Answer::Hook(answer));
}

fn says(output: &HookOutput) -> HookAnswer {
    HookAnswer::Output(output.to_json())
}

const CREATE: Stage = Stage::Hook(HookEvent::WorktreeCreate, 1);

/// What the agent of this number is asked for next.
fn agent_reply(bench: &mut Bench, reply: &Reply) {
    let id = bench.pending.iter().map(|(id, _)| *id);
    let id = id
        .clone()
        .find(|id| id.agent == 1 && id.stage == Stage::Model);
    for answer in reply.answers() {
        bench.answer(id.expect("the agent's request"), answer);
    }
}

#[test]
fn tool_25_an_isolated_agent_works_in_a_worktree_of_its_own() {
    let (mut bench, call) = isolated();
    assert_eq!(call.name, "EnterWorktree");
    let name = call.input.decode::<Value>().unwrap()["name"].clone();
    let name = name.as_str().unwrap().to_owned();
    assert!(name.starts_with("agent-a"), "{name}");
    let (id, _) = bench.call("t");
    assert!(
        bench.session.decision(id).is_some(),
        "it runs by the task's permission"
    );
    bench.answer(id, Answer::Tool(made(TREE)));
    let run = Reply::call("i", "Bash", json!({"command": "ls"}));
    agent_reply(&mut bench, &run);
    assert_eq!(bench.call("i").1.grant.cwd, TREE);
    // Put away and taken up, it is still there.
    let snapshot = bench.session.snapshot().unwrap();
    bench.session = Session::restore(Arc::new(spec()), &snapshot).unwrap();
    let live = bench.pending.iter().map(|(id, _)| *id).collect();
    bench.input(Input::Resumed { live });
    bench.finish("i", "files");
    agent_reply(&mut bench, &Reply::text("The report."));
    let told = last_result(&bench) + &bench.body()["messages"].to_string();
    assert!(
        told.contains("The report.") && told.contains(TREE),
        "{told}"
    );
    // The parent has not moved, and whoever goes on with the agent finds it there.
    bench.reply(&Reply::call("b", "Bash", json!({"command": "ls"})));
    assert_eq!(bench.call("b").1.grant.cwd, "/work");
    bench.finish("b", "files");
    let agent = name.strip_prefix("agent-").unwrap();
    let again = json!({"description": "d", "prompt": "More.", "subagent_type": "general-purpose", "resume": agent});
    bench.reply(&Reply::call("t2", "Task", again));
    agent_reply(
        &mut bench,
        &Reply::call("j", "Bash", json!({"command": "ls"})),
    );
    assert_eq!(bench.call("j").1.grant.cwd, TREE);
}

#[test]
fn tool_25_without_a_worktree_an_isolated_agent_is_not_started() {
    let (mut bench, _) = isolated();
    let (id, _) = bench.call("t");
    bench.answer(id, Answer::Tool(ToolResult::error("no repository here")));
    assert!(last_result(&bench).contains("no repository here"));
    assert_eq!(bench.pending_stages(), [Stage::Model]);

    // An interrupt while it is being made ends in a history that goes on.
    let (mut bench, _) = isolated();
    bench.interrupt();
    let (id, _) = bench.call("t");
    bench.answer(id, Answer::Cancelled);
    assert!(bench.session.is_idle());
    bench.prompt("go on");
    bench.says("fine");
    assert!(!bench.result().is_error);

    // The person cannot put it into the background before there is an agent.
    let (mut bench, _) = isolated();
    bench.input(Input::Background(None));
    let (id, _) = bench.call("t");
    bench.answer(id, Answer::Tool(made(TREE)));
    agent_reply(&mut bench, &Reply::text("The report."));
    assert!(last_result(&bench).contains("The report."));
}

#[test]
fn hook_17_a_worktree_that_is_needed_is_told_by_its_name_before_it_is_made() {
    let mut bench = Bench::new(hooked());
    bench.prompt("go");
    // What only the session may say is dropped.
    let input = json!({"name": "fix", "path": "/etc"});
    bench.reply(&Reply::call("w", "EnterWorktree", input));
    assert!(bench.calls().is_empty(), "the hook comes first");
    let told = told(&bench);
    assert_eq!(told["hook_event_name"], "WorktreeCreate");
    assert_eq!(told["name"], "fix");
    assert_eq!(told["cwd"], "/work");
    hook_says(&mut bench, says(&HookOutput::default()));
    let (id, call) = bench.call("w");
    assert_eq!(call.input.get(), r#"{"name":"fix"}"#);
    assert!(bench.session.decision(id).is_some());
    bench.answer(id, Answer::Tool(made(TREE)));
    bench.reply(&Reply::call("b", "Bash", json!({"command": "ls"})));
    assert_eq!(bench.call("b").1.grant.cwd, TREE);

    // One without a name is made up before hooks are told of it, and the host has the same.
    let mut bench = Bench::new(hooked());
    bench.prompt("go");
    bench.reply(&Reply::call("w", "EnterWorktree", json!({})));
    let name = self::told(&bench)["name"].clone();
    assert!(name.as_str().unwrap().starts_with("work-"), "{name}");
    hook_says(&mut bench, says(&HookOutput::default()));
    let input = bench.call("w").1.input;
    assert_eq!(input.decode::<Value>().unwrap(), json!({ "name": name }));
}

#[test]
fn hook_17_a_hook_that_has_made_the_worktree_says_where_and_the_host_only_goes_there() {
    let printed = HookAnswer::Exited {
        code: Some(0),
        stdout: format!("{TREE}\n"),
        stderr: String::new(),
    };
    for answer in [says(&HookOutput::worktree(TREE)), printed] {
        let mut bench = Bench::new(hooked());
        bench.prompt("go");
        bench.reply(&Reply::call("w", "EnterWorktree", json!({"name": "fix"})));
        // Put away while the hook runs, it is asked again and the call goes on.
        let snapshot = bench.session.snapshot().unwrap();
        bench.session = Session::restore(Arc::new(hooked()), &snapshot).unwrap();
        bench.pending.clear();
        bench.input(Input::Resumed { live: vec![] });
        hook_says(&mut bench, answer);
        let (id, call) = bench.call("w");
        let expected = json!({"name": "fix", "path": TREE});
        assert_eq!(call.input.decode::<Value>().unwrap(), expected);
        bench.answer(id, Answer::Tool(made(TREE)));
        bench.reply(&Reply::call("b", "Bash", json!({"command": "ls"})));
        assert_eq!(bench.call("b").1.grant.cwd, TREE);
    }
}

#[test]
fn hook_17_the_worktree_of_an_agent_is_told_made_or_refused_by_hooks_too() {
    let mut bench = isolating(hooked());
    let name = told(&bench)["name"].clone();
    assert!(name.as_str().unwrap().starts_with("agent-a"), "{name}");
    hook_says(&mut bench, says(&HookOutput::worktree(TREE)));
    let (id, call) = bench.call("t");
    let expected = json!({"name": name, "path": TREE});
    assert_eq!(call.input.decode::<Value>().unwrap(), expected);
    bench.answer(id, Answer::Tool(made(TREE)));
    agent_reply(
        &mut bench,
        &Reply::call("i", "Bash", json!({"command": "ls"})),
    );
    assert_eq!(bench.call("i").1.grant.cwd, TREE);

    let mut bench = isolating(hooked());
    hook_says(&mut bench, says(&HookOutput::block("not on a Sunday")));
    assert!(bench.calls().is_empty());
    let text = last_result(&bench);
    assert!(
        text.contains("not started") && text.contains("not on a Sunday"),
        "{text}"
    );
}

#[test]
fn hook_17_a_worktree_that_is_refused_or_fails_to_be_made_is_as_the_policy_says() {
    let failed = || HookAnswer::Failed("trap".into());
    for (answer, policy, is_made) in [
        (says(&HookOutput::block("no")), None, false),
        (failed(), Some(FailurePolicy::Block), false),
        (failed(), None, true),
        (says(&HookOutput::stop("enough")), None, false),
    ] {
        let mut spec = hooked();
        spec.policy.hooks[0].on_failure = policy;
        let mut bench = Bench::new(spec);
        bench.prompt("go");
        bench.reply(&Reply::call("w", "EnterWorktree", json!({"name": "fix"})));
        hook_says(&mut bench, answer.clone());
        assert_eq!(!bench.calls().is_empty(), is_made, "{answer:?}");
        if !is_made {
            let said = bench.lines_of("user").pop().unwrap();
            assert_eq!(said["message"]["content"][0]["is_error"], true);
        }
    }
    // A third party may only refuse.
    let mut spec = hooked();
    spec.policy.hooks[0].kind = HookKind::Narrowing;
    let mut bench = Bench::new(spec);
    bench.prompt("go");
    bench.reply(&Reply::call("w", "EnterWorktree", json!({"name": "fix"})));
    hook_says(&mut bench, says(&HookOutput::worktree("/elsewhere")));
    let input = bench.call("w").1.input;
    assert_eq!(input.get(), r#"{"name":"fix"}"#);

    // An interrupt while the hook runs ends in a history that goes on.
    let mut bench = Bench::new(hooked());
    bench.prompt("go");
    bench.reply(&Reply::call("w", "EnterWorktree", json!({"name": "fix"})));
    bench.interrupt();
    let (id, _) = bench.of(CREATE);
    bench.answer(id, Answer::Cancelled);
    assert!(bench.session.is_idle());
    bench.prompt("go on");
    bench.says("fine");
    assert!(!bench.result().is_error);
}

#[test]
fn sub_5_a_worktree_that_comes_after_an_interrupt_starts_no_agent() {
    let mut bench = isolating(spec());
    let (id, _) = bench.of(Stage::Run);
    bench.interrupt();
    bench.answer(id, Answer::Tool(made(TREE)));
    assert!(bench.session.is_idle());
    assert_eq!(bench.session.agents().count(), 0, "no agent began");
    bench.prompt("go on");
    bench.says("fine");
    assert!(!bench.result().is_error);
}

/// What is made for agents goes with them.
#[test]
fn tool_28_no_worktree_of_the_session_is_named_like_those_of_agents() {
    let mut bench = Bench::new(spec());
    bench.prompt("go");
    bench.reply(&Reply::call(
        "w",
        "EnterWorktree",
        json!({"name": "agent-x"}),
    ));
    assert!(bench.pending.iter().all(|(id, _)| id.stage != Stage::Run));
    let said = last_result(&bench);
    assert!(said.contains("are made for agents"), "{said}");
}
