//! What may run: the tools that are offered, rules, and whoever is asked.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use windlass::{
    Message, NoInput, Tool,
    core::{RawJson, effect::PermissionResponse, message::SystemMessage},
};

use crate::support::{Model, calls, done_after, messages, text};

const BUILT_IN: [&str; 5] = ["Read", "Write", "Edit", "Glob", "Grep"];

fn nod() -> Tool {
    Tool::new("nod", "Nods", |_: NoInput| async { "nodded" })
}

/// The tools that `system/init` names.
async fn offered(
    build: impl FnOnce(windlass::AgentBuilder) -> windlass::AgentBuilder,
) -> Vec<String> {
    let model = Model::says(["hi"]);
    let agent = build(model.agent()).build().unwrap();
    let messages = messages(&mut agent.query("hi")).await;
    let Some(Message::System(SystemMessage::Init(init))) = messages.first() else {
        panic!("{messages:?}");
    };
    init.tools.clone()
}

#[tokio::test]
async fn perm_10_tools_is_the_set_of_built_in_tools_and_none_is_the_default() {
    assert_eq!(offered(|agent| agent).await, Vec::<String>::new());
    assert_eq!(
        offered(|agent| agent.tools(Vec::<String>::new())).await,
        Vec::<String>::new()
    );
    assert_eq!(
        offered(|agent| agent.tools(["Glob", "Read"]).tool(nod())).await,
        ["Read", "Glob", "nod"]
    );
    let all = offered(windlass::AgentBuilder::builtin_tools).await;
    assert!(
        BUILT_IN
            .iter()
            .all(|name| all.iter().any(|tool| tool == name)),
        "{all:?}"
    );
    assert_eq!(all.iter().any(|tool| tool == "Bash"), cfg!(unix));
}

#[tokio::test]
async fn perm_10_allowed_tools_only_approves_and_what_it_leaves_out_stays_offered() {
    let model = Model::of(json!([
        {
            "expect": { "tools_include": ["nod", "shake"] },
            "respond": { "content": [
                { "type": "tool_use", "name": "nod", "input": {} },
                { "type": "tool_use", "name": "shake", "input": {} }
            ] }
        },
        {
            "expect": { "tool_results": [
                { "id": "toolu_1_1", "contains": "nodded", "is_error": false },
                { "id": "toolu_1_2", "contains": "needs permission", "is_error": true }
            ] },
            "respond": "done"
        },
    ]));
    let shake = Tool::new("shake", "Shakes", |_: NoInput| async { "shaken" });
    let agent = model
        .agent()
        .tool(nod())
        .tool(shake)
        .allowed_tools(["nod"])
        .build()
        .unwrap();
    let result = agent.run("go").await.unwrap();
    assert_eq!(result.permission_denials.len(), 1);
    assert_eq!(result.permission_denials[0].tool_name, "shake");
    model.verify();
}

#[tokio::test]
async fn perm_10_disallowed_tools_are_not_offered_and_beat_whatever_allows_them() {
    let model = Model::of(json!([
        {
            "expect": { "tools_include": ["shake"], "tools_exclude": ["nod"] },
            "respond": { "content": [{ "type": "tool_use", "name": "nod", "input": {} }] }
        },
        done_after("nod", true),
    ]));
    let shake = Tool::new("shake", "Shakes", |_: NoInput| async {});
    let agent = model
        .agent()
        .tool(nod())
        .tool(shake)
        .allowed_tools(["nod"])
        .disallowed_tools(["nod"])
        .on_permission(|_| async { PermissionResponse::allow() })
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    model.verify();
}

#[tokio::test]
async fn perm_9_the_three_lists_come_together() {
    let model = Model::of(json!([
        {
            "expect": { "tools_include": ["Read", "Glob", "nod"], "tools_exclude": ["Grep", "Write", "Edit", "Bash"] },
            "respond": "hi"
        },
    ]));
    let agent = model
        .agent()
        .tools(["Read", "Glob", "Grep"])
        .tool(nod())
        .allowed_tools(["Read"])
        .disallowed_tools(["Grep"])
        .build()
        .unwrap();
    agent.run("hi").await.unwrap();
    model.verify();
}

#[tokio::test]
async fn perm_1_without_anybody_to_ask_the_answer_is_no_and_names_the_rule_that_would_allow_it() {
    let model = Model::of(json!([
        calls(&[("nod", json!({}))]),
        done_after("nobody to ask", true)
    ]));
    let agent = model.agent().tool(nod()).build().unwrap();
    let messages = messages(&mut agent.query("go")).await;
    assert!(crate::support::tool_results(&messages)[0].contains("a rule such as nod"));
    model.verify();
}

#[tokio::test]
async fn perm_7_what_the_callback_denies_is_told_to_the_model_and_listed_in_the_result() {
    let model = Model::of(json!([
        calls(&[("nod", json!({}))]),
        done_after("not while the cat sleeps", true),
    ]));
    let agent = model
        .agent()
        .tool(nod())
        .on_permission(|_| async { PermissionResponse::deny("not while the cat sleeps") })
        .build()
        .unwrap();
    let result = agent.run("go").await.unwrap();
    assert_eq!(result.permission_denials[0].tool_use_id, "toolu_1_1");
    model.verify();
}

#[tokio::test]
async fn perm_5_the_callback_sees_the_call_and_may_change_its_input() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Go {
        to: String,
    }
    let model = Model::of(json!([
        calls(&[("go", json!({ "to": "the cliff" }))]),
        done_after("went to the garden", false),
    ]));
    let go = Tool::new("go", "Goes", |go: Go| async move {
        format!("went to {}", go.to)
    });
    let asked = Arc::new(Mutex::new(Vec::new()));
    let note = Arc::clone(&asked);
    let agent = model
        .agent()
        .tool(go)
        .on_permission(move |request| {
            let input: Value = request.input.decode().unwrap();
            note.lock().unwrap().push((request.tool_name, input));
            async {
                PermissionResponse::Allow {
                    updated_input: Some(RawJson::parse(r#"{"to":"the garden"}"#).unwrap()),
                    updated_permissions: Vec::new(),
                }
            }
        })
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    assert_eq!(
        *asked.lock().unwrap(),
        [("go".to_owned(), json!({ "to": "the cliff" }))]
    );
    model.verify();
}

#[tokio::test]
async fn a_callback_that_panics_denies() {
    let model = Model::of(json!([
        calls(&[("nod", json!({}))]),
        done_after("the permission callback panicked: lost my glasses", true),
    ]));
    let agent = model
        .agent()
        .tool(nod())
        .on_permission(|request| async move {
            assert!(request.tool_name != "nod", "lost my glasses");
            PermissionResponse::allow()
        })
        .build()
        .unwrap();
    let done = agent.run("go").await.unwrap();
    assert_eq!(text(done), "done");
}

#[tokio::test]
async fn ask_rules_ask_even_when_an_allow_rule_covers_the_call() {
    let model = Model::of(json!([
        calls(&[("nod", json!({}))]),
        done_after("no", true)
    ]));
    let agent = model
        .agent()
        .tool(nod())
        .allowed_tools(["nod"])
        .ask_tools(["nod"])
        .on_permission(|_| async { PermissionResponse::deny("no") })
        .build()
        .unwrap();
    agent.run("go").await.unwrap();
    model.verify();
}

#[tokio::test]
async fn built_in_tools_work_in_the_workspace_and_a_link_out_of_it_is_asked_about() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.txt"), "the secret").unwrap();
    let work = tempfile::tempdir().unwrap();
    std::fs::write(work.path().join("note.txt"), "buy milk\n").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        outside.path().join("secret.txt"),
        work.path().join("link.txt"),
    )
    .unwrap();
    #[cfg(not(unix))]
    std::fs::copy(
        outside.path().join("secret.txt"),
        work.path().join("link.txt"),
    )
    .unwrap();
    let model = Model::of(json!([
        calls(&[
            ("Read", json!({ "file_path": "note.txt" })),
            ("Read", json!({ "file_path": "link.txt" })),
        ]),
        {
            "expect": { "tool_results": [
                { "id": "toolu_1_1", "contains": "buy milk", "is_error": false },
                { "id": "toolu_1_2", "contains": "outside the workspace", "is_error": true }
            ] },
            "respond": "done"
        },
    ]));
    let agent = model
        .agent()
        .tools(["Read"])
        .free_workspace_reads(true)
        .cwd(work.path())
        .build()
        .unwrap();
    assert_eq!(text(agent.run("read them").await.unwrap()), "done");
    model.verify();
}
