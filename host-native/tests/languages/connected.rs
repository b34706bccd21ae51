//! Hooks, requests, a secret, state, settings and reports, in both languages: what the guests `tests/languages/connected.*` do.

use secrecy::SecretString;
use serde_json::{Value, json};
use windlass::{
    AgentBuilder, PermissionResponse,
    core::tool::{Access, PluginGrant},
    plugins::{ComponentGrant, Method, SecretSource, StateScope},
};

use crate::{
    server::Server,
    support::{Ground, connected, model, plugin},
};

const SECRET: &str = "tok-4f9a0c21be";

/// Calls the guest's tool, with all that it asks for.
async fn calls(name: &str, server: &Server, calls: Vec<(Value, (&str, bool))>) {
    let ground = Ground::new(&[("secret.txt", "hidden"), ("note.txt", "a note")]);
    let grant = ComponentGrant::from(PluginGrant::workspace(Access::Read))
        .origin(
            "http://localhost".parse().unwrap(),
            [Method::Get, Method::Post],
        )
        .secret("TOKEN", "THE_TOKEN")
        .env("CARGO_PKG_NAME")
        .role(
            "outside",
            ground.path("outside").to_string_lossy(),
            Access::Read,
        )
        .state(StateScope::Session);
    let source = SecretSource::new(|wanted| {
        (wanted.reference == "THE_TOKEN").then(|| SecretString::from(SECRET))
    });
    let with = |agent: AgentBuilder| {
        agent
            .plugin_host(connected(server.port(), source))
            .plugin_granted(plugin(name), grant)
            .on_permission(|request| async move {
                PermissionResponse::deny(format!("nobody wants it: {}", request.decision_reason))
            })
    };
    ground.calls("Use", calls, with).await;
}

fn how(how: &str) -> Value {
    json!({ "how": how })
}

async fn requests(name: &str) {
    let server = Server::start();
    let at = |how: &str| json!({"how": how, "url": "http://localhost/a"});
    let other = json!({"how": "get", "url": "http://127.0.0.1:1/"});
    let made = vec![
        (at("get"), ("200 text/plain GET /a", false)),
        (at("get"), ("x-mine: 1", false)),
        (at("post"), ("POST /a", false)),
        (at("post"), ("content-type: application/json", false)),
        (at("post"), ("gr", false)),
        (at("put"), ("The request failed: ", true)),
        (other, ("not granted", true)),
        (at("long"), ("more than 10 bytes", true)),
        (how("available"), ("true false", false)),
        (at("secret"), ("authorization: Bearer [key]", false)),
        (at("basic"), ("authorization: Basic [key]", false)),
    ];
    calls(name, &server, made).await;
    let sent = server.end();
    let with_secret = format!("authorization: Bearer {SECRET}\r\n");
    assert!(sent.iter().any(|one| one.contains(&with_secret)));
    assert_eq!(sent.len(), 8);
}

async fn memory(name: &str, list: &str) {
    let server = Server::start();
    let made = vec![
        (how("config"), ("windlass ", false)),
        (how("remember"), ("bytes list seen", false)),
        (how("recall"), (list, false)),
        (how("seen"), ("config remember recall", false)),
        (how("key"), ("has control characters", true)),
        (how("progress"), ("reported", false)),
    ];
    calls(name, &server, made).await;
}

async fn judgements(name: &str, kind_of_id: &str, nothing: &[&str]) {
    let server = Server::start();
    let judged = |url: &str| json!({"how": "read", "path": "note.txt", "url": url});
    let hidden = json!({"how": "read", "path": "secret.txt", "url": "narrowed"});
    let open = json!({"how": "read", "path": "secret.txt", "url": ""});
    let denied = format!("denied at PreToolUse, {kind_of_id}");
    let mut made = vec![
        (judged("denied"), (denied.as_str(), true)),
        (judged("asked"), ("asked by the policy", true)),
        (judged("failing"), ("the policy broke", true)),
        (judged("narrowed"), ("a note", false)),
        (hidden, ("secret.txt does not exist", true)),
        (open, ("hidden", false)),
    ];
    let nothing = nothing.iter().map(|how| (judged(how), ("returned", true)));
    made.extend(nothing);
    calls(name, &server, made).await;
}

/// The directory of a role, which no call names.
async fn role(name: &str, nothing: &str) {
    let server = Server::start();
    let told = format!("the secret {nothing}");
    calls(name, &server, vec![(how("directory"), (&told, false))]).await;
}

#[tokio::test]
async fn card_5_a_plugin_in_javascript_finds_the_directory_of_a_role() {
    role("connected-js", "undefined").await;
}

#[tokio::test]
async fn card_5_a_plugin_in_python_finds_the_directory_of_a_role() {
    role("connected-python", "None").await;
}

#[tokio::test]
async fn card_5_a_plugin_in_javascript_sends_requests_and_secrets_as_granted() {
    requests("connected-js").await;
}

#[tokio::test]
async fn card_5_a_plugin_in_python_sends_requests_and_secrets_as_granted() {
    requests("connected-python").await;
}

#[tokio::test]
async fn card_5_a_plugin_in_javascript_remembers_and_reads_settings_as_granted() {
    memory("connected-js", r#"[1,"zwei"] 0,255 undefined"#).await;
}

#[tokio::test]
async fn card_5_a_plugin_in_python_remembers_and_reads_settings_as_granted() {
    memory("connected-python", "[1, 'zwei'] [0, 255] None").await;
}

/// What tools and hooks of a session remember is theirs in common, and no other session's.
#[tokio::test]
async fn card_5_hooks_remember_what_tools_of_their_session_do_and_no_other_session() {
    let ground = Ground::new(&[]);
    let call = |how: &str| json!({"respond": {"content": [{"type": "tool_use", "name": "Use", "input": {"how": how}}]}});
    let result = |text: &str, is_error: bool| json!({"expect": {"tool_results": [{"contains": text, "is_error": is_error}]}});
    let then = |mut expected: Value, next: Value| {
        expected["respond"] = next["respond"].clone();
        expected
    };
    let done = json!({"respond": "done"});
    let exchanges = [
        call("progress"),
        then(result("reported", false), call("seen")),
        then(result("progress", false), done.clone()),
        // Another session of the agent.
        call("seen"),
        then(result("undefined", true), done),
    ];
    let model = model(&exchanges);
    let grant = ComponentGrant::default().state(StateScope::Session);
    let agent = ground
        .agent(&model)
        .allowed_tools(["Use"])
        .plugin_granted(plugin("connected-js"), grant)
        .build()
        .unwrap();
    for _ in 0..2 {
        agent.run("go").await.unwrap();
    }
    if let Err(unmet) = model.verify() {
        panic!("{unmet}");
    }
}

/// What is no judgement refuses, whatever it looks like.
#[tokio::test]
async fn hook_5_functions_in_javascript_are_hooks() {
    judgements("connected-js", "string", &["nothing", "truthy", "promised"]).await;
}

#[tokio::test]
async fn hook_5_functions_in_python_are_hooks() {
    judgements("connected-python", "str", &["nothing"]).await;
}
