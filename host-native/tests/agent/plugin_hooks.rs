//! Hooks of plugins: judges refuse and never allow, observers change nothing, and whatever fails does not let a call through.

use std::{fs, path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use windlass::{
    AgentBuilder, Message, NoInput, Tool,
    core::{
        effect::PermissionResponse,
        message::SystemMessage,
        permission::Mode,
        tool::{Access, PluginGrant},
    },
};

use crate::{
    guest::{self, Hooked},
    support::{Model, calls, messages, tool_results},
};

/// What judges answer with.
const TEXT: &str = "the policy says so";
const DENIES: &str = "(call $deny (i32.const 4096) (i32.const 18))";
const ASKS: &str = "(call $ask (i32.const 4096) (i32.const 18))";
const PASSES: &str = "(call $pass)";
const FAILS: &str = "(call $failed (i32.const 4096) (i32.const 18))";
const TRAPS: &str = "unreachable";
const LOOPS: &str = "(loop $again (br $again)) unreachable";

/// Writes the input to `log.json` below the first root; an error if there is none.
const LOGS: &str = r#"
    (i64.store (i32.const 3000) (i64.const 0x6e6f736a2e676f6c))
    (call $roots (i32.const 2048))
    (if (i32.eqz (i32.load (i32.const 2052))) (then
        (return (call $failed (i32.const 4096) (i32.const 18)))))
    (call $write (i32.load offset=12 (i32.load (i32.const 2048)))
        (i32.const 3000) (i32.const 8) (local.get 4) (local.get 5)
        (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2064))
    (if (result i32) (i32.load8_u (i32.const 2064))
        (then (call $failed (i32.const 4096) (i32.const 3)))
        (else (call $seen)))
"#;

/// A folder for a plugin `policy`, a workspace and a directory beside it.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "logs"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("work/note.txt"), "buy milk").unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The plugin with these hooks.
    fn plugin(&self, hooks: &Value, with: &Hooked<'_>) -> PathBuf {
        let tools = match with.call {
            None => json!([]),
            Some(_) => {
                json!([{"name": "t", "description": "A test.", "input_schema": {"type": "object"}}])
            }
        };
        let declaration = json!({
            "name": "policy", "version": "0.1.0", "wit": "0.1.0", "tools": tools, "hooks": hooks,
            "grants": {"filesystem": "write"}, "limits": {"memory_bytes": 1_000_000},
        });
        let path = self.path("policy.wasm");
        fs::write(&path, guest::hooked(&declaration.to_string(), with)).unwrap();
        path
    }

    /// A plugin with a judge of calls.
    fn judge(&self, body: &str) -> PathBuf {
        self.judge_of(body, &json!({"event": "PreToolUse"}))
    }

    fn judge_of(&self, body: &str, more: &Value) -> PathBuf {
        let mut hook = json!({"name": "Policy", "kind": "judge", "timeout_ms": 5000});
        let more = more.as_object().unwrap().clone();
        hook.as_object_mut().unwrap().extend(more);
        let with = Hooked {
            judge: Some(body),
            text: TEXT,
            ..Hooked::default()
        };
        self.plugin(&json!([hook]), &with)
    }

    fn observer(&self, body: &str, events: &[&str]) -> PathBuf {
        let hook = |event: &&str| json!({"name": event, "kind": "observer", "event": event});
        let hooks: Vec<Value> = events.iter().map(hook).collect();
        let with = Hooked {
            observe: Some(body),
            text: TEXT,
            ..Hooked::default()
        };
        self.plugin(&json!(hooks), &with)
    }

    /// What comes of calls, one a response: the messages of the run, and the results of the calls.
    async fn run(
        &self,
        called: &[(&str, Value)],
        with: impl FnOnce(AgentBuilder) -> AgentBuilder,
    ) -> (Vec<Message>, Vec<String>) {
        let mut exchanges: Vec<Value> = called
            .iter()
            .map(|call| calls(std::slice::from_ref(call)))
            .collect();
        exchanges.push(json!({"respond": "done"}));
        let model = Model::of(json!(exchanges));
        let agent = with(model.agent().cwd(self.path("work")))
            .tool(nod())
            .tool(shake());
        let agent = agent.build().unwrap();
        let messages = messages(&mut agent.query("go")).await;
        let results = tool_results(&messages);
        (messages, results)
    }
}

fn nod() -> Tool {
    Tool::new("nod", "Nods", |_: NoInput| async { "nodded" })
}

fn shake() -> Tool {
    Tool::new("shake", "Shakes", |_: NoInput| async { "shaken" })
}

fn call(name: &str) -> (&str, Value) {
    (name, json!({}))
}

/// What a run says beside the conversation.
fn notices(messages: &[Message]) -> Vec<String> {
    let notice = |message: &Message| match message {
        Message::System(SystemMessage::Informational(notice)) => Some(notice.content.clone()),
        _ => None,
    };
    messages.iter().filter_map(notice).collect()
}

#[track_caller]
fn says(texts: &[String], part: &str) {
    assert!(
        texts.iter().any(|text| text.contains(part)),
        "{part}: {texts:?}"
    );
}

#[tokio::test]
async fn hook_5_a_judge_of_a_plugin_denies_what_rules_allow() {
    let ground = Ground::new();
    let plugin = ground.judge(DENIES);
    let allowed = |agent: AgentBuilder| agent.plugin(&plugin).allowed_tools(["nod"]);
    let (_, results) = ground.run(&[call("nod")], allowed).await;
    assert_eq!(results, [format!("A hook denied nod: {TEXT}")]);
}

#[tokio::test]
async fn hook_5_a_judge_of_a_plugin_makes_somebody_be_asked() {
    let ground = Ground::new();
    let plugin = ground.judge(ASKS);
    let (_, results) = ground
        .run(&[call("nod")], |agent| {
            let agent = agent.plugin(&plugin).allowed_tools(["nod"]);
            agent.on_permission(|request| async move {
                PermissionResponse::deny(format!("asked, for {}", request.decision_reason))
            })
        })
        .await;
    says(&results, "asked, for");
    says(&results, TEXT);
}

#[tokio::test]
async fn card_3_a_judge_that_passes_allows_nothing() {
    let ground = Ground::new();
    let plugin = ground.judge(PASSES);
    let (_, results) = ground
        .run(&[call("nod")], |agent| agent.plugin(&plugin))
        .await;
    says(&results, "nobody to ask");
    let denied = |agent: AgentBuilder| {
        let agent = agent.plugin(&plugin).allowed_tools(["nod"]);
        agent.disallowed_tools(["nod"])
    };
    let (_, results) = ground.run(&[call("nod")], denied).await;
    assert!(!results.concat().contains("nodded"), "{results:?}");
    let (_, results) = ground
        .run(&[call("nod")], |agent| {
            agent.plugin(&plugin).allowed_tools(["nod"])
        })
        .await;
    assert_eq!(results, ["nodded"]);
}

#[tokio::test]
async fn hook_5_a_judge_closes_files_to_a_call_and_gives_it_less_time() {
    let ground = Ground::new();
    fs::write(ground.path("work/.env"), "KEY=1").unwrap();
    let read = |name: &str| ("Read", json!({"file_path": ground.path("work").join(name)}));
    let with = Hooked {
        judge: Some("(call $narrow (i32.const 4096) (i32.const 7) (i32.const 0))"),
        text: "**/.env",
        ..Hooked::default()
    };
    let hook = json!({"name": "Policy", "kind": "judge", "event": "PreToolUse"});
    let plugin = ground.plugin(&json!([hook]), &with);
    let builtin = |agent: AgentBuilder| {
        let agent = agent.builtin_tools().allowed_tools(["Read", "Bash", "nod"]);
        agent.plugin(&plugin)
    };
    let (_, results) = ground.run(&[read("note.txt"), read(".env")], builtin).await;
    assert!(results[0].contains("buy milk"), "{results:?}");
    assert!(!results[1].contains("KEY=1"), "{results:?}");
    // What the host cannot keep, it refuses.
    let others = [call("nod"), ("Bash", json!({"command": "true"}))];
    let (_, results) = ground.run(&others, builtin).await;
    assert!(results[0].contains("does not hold for nod"), "{results:?}");
    assert!(results[1].contains("does not hold for Bash"), "{results:?}");

    let narrows = "(call $narrow (i32.const 0) (i32.const 0) (i32.const 50))";
    let with = Hooked {
        call: Some(LOOPS),
        judge: Some(narrows),
        ..Hooked::default()
    };
    let plugin = ground.plugin(&json!([hook]), &with);
    let allowed = |agent: AgentBuilder| agent.plugin(&plugin).allowed_tools(["t"]);
    let (_, results) = ground.run(&[call("t")], allowed).await;
    says(&results, "ran out of time after 50 ms");
}

#[tokio::test]
async fn card_3_a_judge_that_fails_in_any_way_lets_no_call_through_and_is_named() {
    let ground = Ground::new();
    let grows = "(if (i32.eq (memory.grow (i32.const 1000)) (i32.const -1)) (then unreachable)) (call $pass)";
    let huge = "(call $deny (i32.const 8192) (i32.const 100000))";
    let beyond = "(call $deny (i32.const 0) (i32.const 0x7fffffff))";
    let nonsense = "(i32.store8 (i32.const 1200) (i32.const 0)) (i32.store8 (i32.const 1204) (i32.const 9)) (i32.const 1200)";
    let relative = "(call $narrow (i32.const 4096) (i32.const 18) (i32.const 0))";
    for (body, why) in [
        (TRAPS, "its component trapped"),
        (LOOPS, "it ran out of time after 100 ms"),
        (grows, "it ran out of memory"),
        (huge, "its reason has 100000 bytes"),
        (beyond, "its component trapped"),
        (nonsense, "its component trapped"),
        (FAILS, TEXT),
        (relative, "its judgement is"),
    ] {
        let plugin = ground.judge_of(body, &json!({"event": "PreToolUse", "timeout_ms": 100}));
        for mode in [Mode::Default, Mode::AcceptEdits] {
            let allowed = |agent: AgentBuilder| {
                let agent = agent.plugin(&plugin).allowed_tools(["nod"]);
                agent.permission_mode(mode)
            };
            let (messages, results) = ground.run(&[call("nod")], allowed).await;
            says(&results, "A hook denied nod: the hook policy:Policy failed");
            says(&results, why);
            let notices = notices(&messages);
            says(&notices, "The hook policy:Policy (PreToolUse:nod) failed");
            says(&notices, why);
        }
    }
}

#[tokio::test]
async fn hook_5_a_judge_refuses_prompts_and_answers_requests_for_permission() {
    let ground = Ground::new();
    for body in [DENIES, TRAPS, ASKS] {
        let plugin = ground.judge_of(body, &json!({"event": "UserPromptSubmit"}));
        let model = Model::says(["nobody asks"]);
        let agent = model.agent().cwd(ground.path("work")).plugin(&plugin);
        messages(&mut agent.build().unwrap().query("go")).await;
        assert!(model.requests().is_empty(), "the prompt reached the model");
    }
    let plugin = ground.judge_of(DENIES, &json!({"event": "PermissionRequest"}));
    let (_, results) = ground
        .run(&[call("nod")], |agent| {
            let agent = agent.plugin(&plugin);
            agent.on_permission(|_| async { PermissionResponse::allow() })
        })
        .await;
    says(&results, TEXT);
}

#[tokio::test]
async fn hook_5_a_judge_hears_of_the_calls_that_its_matcher_names() {
    let ground = Ground::new();
    let plugin = ground.judge_of(
        DENIES,
        &json!({"event": "PreToolUse", "matcher": "Write|nod"}),
    );
    let allowed = |agent: AgentBuilder| agent.plugin(&plugin).allowed_tools(["nod", "shake"]);
    let (_, results) = ground.run(&[call("nod"), call("shake")], allowed).await;
    assert!(results[0].contains(TEXT), "{results:?}");
    assert_eq!(results[1], "shaken");
}

#[tokio::test]
async fn hook_5_an_observer_sees_the_events_that_it_declared_and_writes_where_it_was_granted() {
    let ground = Ground::new();
    let log = ground.path("logs/log.json");
    let hook = json!({"name": "Log", "kind": "observer", "event": "PostToolUse", "matcher": "nod"});
    let with = Hooked {
        observe: Some(LOGS),
        text: TEXT,
        ..Hooked::default()
    };
    let plugin = ground.plugin(&json!([hook]), &with);
    let logs = ground.path("logs").display().to_string();
    let granted = |agent: AgentBuilder| {
        let grant = PluginGrant::default().directory(logs.clone(), Access::Write);
        let agent = agent.plugin_granted(&plugin, grant);
        agent.allowed_tools(["nod", "shake"])
    };
    let (_, results) = ground.run(&[call("shake")], granted).await;
    assert_eq!(results, ["shaken"]);
    assert!(
        !log.exists(),
        "it heard of a call that its matcher does not name"
    );
    let (_, results) = ground.run(&[call("nod")], granted).await;
    assert_eq!(results, ["nodded"]);
    let seen: Value = serde_json::from_slice(&fs::read(&log).unwrap()).unwrap();
    assert_eq!(seen["hook_event_name"], "PostToolUse");
    assert_eq!(seen["tool_response"], "nodded");
    // The workspace is granted to tools only, and a directory for reading is not written.
    fs::remove_file(&log).unwrap();
    let (messages, _) = ground
        .run(&[call("nod")], |agent| {
            agent.plugin(&plugin).allowed_tools(["nod"])
        })
        .await;
    says(&notices(&messages), &format!("failed: {TEXT}"));
    let (messages, _) = ground
        .run(&[call("nod")], |agent| {
            let grant = PluginGrant::default().directory(logs.clone(), Access::Read);
            agent.plugin_granted(&plugin, grant).allowed_tools(["nod"])
        })
        .await;
    says(&notices(&messages), "failed: the");
    assert!(!log.exists() && !ground.path("work/log.json").exists());
}

/// Every event that such a run has.
const EVENTS: [&str; 6] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "Stop",
];

#[tokio::test]
async fn card_3_an_observer_alters_nothing_whether_it_answers_fails_or_traps() {
    let ground = Ground::new();
    let called = [call("nod"), call("shake")];
    let (_, expected) = ground
        .run(&called, |agent| agent.allowed_tools(["nod"]))
        .await;
    // The last answers as a judge that denies: to an observer that is memory which nobody reads.
    let as_judge = "(drop (call $deny (i32.const 4096) (i32.const 18))) (i32.const 1200)";
    for (body, fails) in [
        ("(call $seen)", false),
        (as_judge, false),
        (FAILS, true),
        (TRAPS, true),
    ] {
        let plugin = ground.observer(body, &EVENTS);
        let (messages, results) = ground
            .run(&called, |agent| {
                agent.plugin(&plugin).allowed_tools(["nod"])
            })
            .await;
        assert_eq!(results, expected, "{body}");
        let notices = notices(&messages);
        assert_eq!(
            notices.iter().any(|it| it.contains("failed")),
            fails,
            "{notices:?}"
        );
        let Some(Message::Result(result)) = messages.last() else {
            panic!("{messages:?}");
        };
        assert_eq!(result.result.as_deref(), Some("done"));
    }
}

#[tokio::test]
async fn card_3_a_component_that_traps_again_and_again_is_not_run_any_more() {
    let ground = Ground::new();
    let plugin = ground.judge(TRAPS);
    let allowed = |agent: AgentBuilder| agent.plugin(&plugin).allowed_tools(["nod"]);
    let nods: Vec<_> = (0..4).map(|_| call("nod")).collect();
    let (_, results) = ground.run(&nods, allowed).await;
    for trapped in &results[..3] {
        assert!(trapped.contains("its component trapped ("), "{results:?}");
    }
    assert!(
        results[3].contains("trapped 3 times in a row"),
        "{results:?}"
    );

    // A tool that traps when it has an input, and a run in between that ends well.
    let traps = "(if (i32.gt_u (local.get 3) (i32.const 2)) (then unreachable))
        (call $text (i32.const 4096) (i32.const 18))";
    let with = Hooked {
        call: Some(traps),
        text: TEXT,
        ..Hooked::default()
    };
    let plugin = ground.plugin(&json!([]), &with);
    let allowed = |agent: AgentBuilder| agent.plugin(&plugin).allowed_tools(["t"]);
    let (ok, bad) = (("t", json!({})), ("t", json!({"a": 1})));
    let called = [&bad, &bad, &ok, &bad, &bad, &bad, &ok].map(Clone::clone);
    let (_, results) = ground.run(&called, allowed).await;
    assert_eq!(results[2], TEXT, "{results:?}");
    assert!(
        results[5].contains("its component trapped ("),
        "{results:?}"
    );
    assert!(
        results[6].contains("trapped 3 times in a row"),
        "{results:?}"
    );
}

#[tokio::test]
async fn hook_5_two_plugins_of_one_name_both_judge() {
    let ground = Ground::new();
    let passes = ground.judge(PASSES);
    let first = ground.path("logs/policy.wasm");
    fs::rename(&passes, &first).unwrap();
    let second = ground.judge(DENIES);
    let both = |agent: AgentBuilder| agent.plugin(&first).plugin(&second).allowed_tools(["nod"]);
    let (_, results) = ground.run(&[call("nod")], both).await;
    says(&results, TEXT);
}

/// Why a plugin is not loaded.
fn refusal(bytes: &[u8]) -> String {
    let ground = Ground::new();
    let path = ground.path("policy.wasm");
    fs::write(&path, bytes).unwrap();
    let model = Model::says(["nobody asks"]);
    model.agent().plugin(&path).build().unwrap_err().to_string()
}

#[test]
fn card_3_a_declared_hook_that_cannot_be_run_as_declared_is_not_loaded() {
    let hook = json!({"name": "Policy", "kind": "judge", "event": "PreToolUse"});
    let declared = |hooks: &Value| {
        let head = json!({"name": "policy", "version": "0.1.0", "wit": "0.1.0", "hooks": hooks});
        head.to_string()
    };
    let with = Hooked {
        judge: Some(PASSES),
        ..Hooked::default()
    };
    let many: Vec<Value> = (0..65)
        .map(|number| json!({"name": format!("h{number}"), "kind": "judge", "event": "PreToolUse"}))
        .collect();
    let changed = |key: &str, value: Value| {
        let mut hook = hook.clone();
        hook[key] = value;
        json!([hook])
    };
    for (hooks, part) in [
        (json!([]), "neither a tool nor a hook"),
        (json!(many), "declares 65 hooks"),
        (json!([hook, hook]), "the hook `Policy` twice"),
        (changed("name", json!("a b")), "the hook name `a b`"),
        (
            changed("kind", json!("trusted")),
            "unknown variant `trusted`",
        ),
        (
            changed("kind", json!("observer")),
            "the observer `Policy` and does not export the function `observe`",
        ),
        (
            changed("event", json!("BeforeTool")),
            "unknown variant `BeforeTool`",
        ),
        (
            changed("event", json!("PostToolUse")),
            "PostToolUse, at which nothing can be refused",
        ),
        (changed("matcher", json!("a||b")), "a name is missing"),
        (changed("timeout_ms", json!(0)), "a time limit of 0 ms"),
        (changed("timeout_ms", json!(60_001)), "1 to 60000"),
        (changed("allow", json!(true)), "unknown field `allow`"),
        (
            json!([{"name": "P", "kind": "judge", "event": "UserPromptSubmit", "matcher": "x"}]),
            "leave the matcher out",
        ),
    ] {
        let message = refusal(&guest::hooked(&declared(&hooks), &with));
        assert!(message.contains(part), "{part}: {message}");
    }
    let message = refusal(&guest::declared(&declared(&json!([hook])), TRAPS));
    assert!(
        message.contains("does not export the function `judge`"),
        "{message}"
    );
    let tools = guest::DECLARATION.to_owned();
    let message = refusal(&guest::hooked(&tools, &with));
    assert!(
        message.contains("does not export the function `call`"),
        "{message}"
    );
    let wasi = r#"(component (import "wasi:http/types@0.2.0" (instance)))"#;
    let mut wasi = wat::parse_str(wasi).unwrap();
    guest::append_declaration(&mut wasi, &declared(&json!([hook])));
    let message = refusal(&wasi);
    assert!(
        message.contains("imports `wasi:http/types@0.2.0`"),
        "{message}"
    );
}

#[tokio::test]
async fn hook_5_closures_commands_and_components_are_hooks_side_by_side() {
    use windlass::core::hook::{HookEvent, HookOutput};
    let ground = Ground::new();
    let heard = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let told = Arc::clone(&heard);
    // The closure allows, and the component of a stranger denies: deny wins.
    let plugin = ground.judge(DENIES);
    let (_, results) = ground
        .run(&[call("nod")], |agent| {
            agent
                .plugin(&plugin)
                .hook(HookEvent::PreToolUse, move |_, _| {
                    told.store(true, std::sync::atomic::Ordering::Relaxed);
                    async { HookOutput::allow() }
                })
        })
        .await;
    says(&results, TEXT);
    assert!(heard.load(std::sync::atomic::Ordering::Relaxed));
}
