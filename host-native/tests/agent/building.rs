//! What cannot be built says what is wrong, where, and what to do.

use serde_json::json;
use windlass::{
    Agent, AgentBuilder, NoInput, Tool,
    core::{message::ResultSubtype, permission::Mode},
};

use crate::support::{Model, calls};

fn refused(builder: AgentBuilder) -> String {
    builder.build().unwrap_err().to_string()
}

fn some() -> AgentBuilder {
    Model::says([]).agent()
}

fn nod() -> Tool {
    Tool::new("nod", "Nods", |_: NoInput| async {})
}

fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in {text:?}");
    }
}

#[test]
fn without_a_way_to_a_model_nothing_is_built() {
    contains(
        &refused(Agent::builder()),
        &["no API key", "ANTHROPIC_API_KEY", "base_url"],
    );
    assert!(
        Agent::builder()
            .base_url("http://127.0.0.1:1")
            .build()
            .is_ok(),
        "it may want no key"
    );
    assert!(Agent::builder().api_key("sk-test").build().is_ok());
    contains(
        &refused(
            Agent::builder()
                .api_key("sk-test")
                .base_url("localhost:8080"),
        ),
        &["localhost:8080", "https://api.anthropic.com"],
    );
}

#[test]
fn perm_10_an_unknown_name_in_tools_is_refused_with_the_names_there_are() {
    contains(
        &refused(some().tools(["Raed"])),
        &["`Raed`", "Read, Write, Edit, NotebookEdit, Glob, Grep"],
    );
}

#[test]
fn a_rule_that_cannot_be_read_is_refused_with_its_place() {
    contains(
        &refused(some().allowed_tools(["Bash(ls"])),
        &["Bash(ls", "allowed_tools"],
    );
    contains(
        &refused(some().disallowed_tools(["Read()"])),
        &["Read()", "disallowed_tools"],
    );
    contains(&refused(some().ask_tools([""])), &["ask_tools"]);
}

#[test]
fn two_tools_of_one_name_and_names_no_model_could_call_are_refused() {
    contains(
        &refused(some().tool(nod()).tool(nod())),
        &["two tools", "`nod`"],
    );
    let read = Tool::new("Read", "Reads", |_: NoInput| async {});
    contains(
        &refused(some().tools(["Read"]).tool(read)),
        &["two tools", "`Read`"],
    );
    for name in ["", "with space", &"x".repeat(65), "naïve"] {
        let tool = Tool::new(name, "Odd", |_: NoInput| async {});
        contains(&refused(some().tool(tool)), &["tool name", name]);
    }
}

#[test]
fn a_tool_whose_input_is_no_object_is_refused() {
    let word = Tool::new("say", "Says", |word: String| async move { word });
    contains(
        &refused(some().tool(word)),
        &["`say`", "type string", "struct"],
    );
    let unit = Tool::new("go", "Goes", |(): ()| async {});
    contains(&refused(some().tool(unit)), &["`go`", "NoInput"]);
}

#[test]
fn directories_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let missing = folder.path().join("missing");
    contains(
        &refused(some().cwd(&missing)),
        &["cwd", "missing", "directory"],
    );
    contains(&refused(some().cwd(&file)), &["cwd", "not a directory"]);
    contains(
        &refused(some().add_dir(&file)),
        &["add_dir", "not a directory"],
    );
}

#[cfg(unix)]
#[test]
fn the_working_directory_is_its_real_path() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let agent = some().cwd(&link).build().unwrap();
    let real = real.canonicalize().unwrap();
    assert_eq!(agent.spec().environment.cwd, real.to_str().unwrap());
}

#[test]
fn budgets_are_amounts_of_money() {
    for amount in [-1.0, f64::NAN, f64::INFINITY] {
        contains(
            &refused(some().max_budget_usd(amount)),
            &["max_budget_usd", "0.25"],
        );
    }
    let agent = some().max_budget_usd(0.25).build().unwrap();
    assert_eq!(
        agent.spec().policy.limits.max_budget.unwrap().nanos,
        250_000_000
    );
}

#[test]
fn price_files_are_read_when_the_agent_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.json");
    contains(
        &refused(some().prices_file(&path)),
        &["prices_file", "prices.json"],
    );
    std::fs::write(&path, "{\"models\": 7}").unwrap();
    contains(
        &refused(some().prices_file(&path)),
        &["prices_file", "prices.json", "line 1"],
    );
    let price = json!({ "prefix": "house-model", "input": 1, "output": 2, "cache_read": 0, "cache_write": 0 });
    std::fs::write(&path, json!({ "models": [price] }).to_string()).unwrap();
    let agent = some().prices_file(&path).build().unwrap();
    assert!(agent.spec().model.catalogue.get("house-model-1").is_some());
}

#[test]
fn a_plugin_that_is_none_is_refused_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tool.wasm");
    contains(&refused(some().plugin(&path)), &["plugin", "tool.wasm"]);
    std::fs::write(&path, "#!/bin/sh").unwrap();
    contains(&refused(some().plugin(&path)), &["tool", "not WebAssembly"]);
}

#[test]
fn perm_2_bypass_needs_its_flag_and_is_refused_for_root() {
    let bypass = || some().permission_mode(Mode::BypassPermissions);
    contains(&refused(bypass()), &["allow_dangerously_skip_permissions"]);
    let built = bypass().allow_dangerously_skip_permissions(true).build();
    // What this process may do to a file of root's tells who it is, without asking for a user id.
    if is_root() {
        contains(&built.unwrap_err().to_string(), &["refused for root"]);
    } else {
        assert!(built.is_ok());
    }
}

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    uid.and_then(|ids| ids.split_whitespace().nth(1).map(|id| id == "0"))
        .unwrap_or(false)
}

#[tokio::test]
async fn loop_7_a_limit_of_turns_ends_a_run() {
    let model = Model::of(json!([calls(&[("nod", json!({}))])]));
    let agent = model
        .agent()
        .tool(nod())
        .allowed_tools(["nod"])
        .max_turns(1)
        .build()
        .unwrap();
    let result = agent.run("go").await.unwrap();
    assert_eq!(result.subtype, ResultSubtype::ErrorMaxTurns);
    model.verify();
}

#[tokio::test]
async fn loop_8_a_budget_ends_a_run() {
    let mut exchange = calls(&[("nod", json!({}))]);
    exchange["respond"]["usage"] = json!({ "input_tokens": 1_000_000, "output_tokens": 1000 });
    let model = Model::of(json!([exchange]));
    let agent = model
        .agent()
        .tool(nod())
        .allowed_tools(["nod"])
        .max_budget_usd(0.01)
        .build()
        .unwrap();
    let result = agent.run("go").await.unwrap();
    assert_eq!(result.subtype, ResultSubtype::ErrorMaxBudgetUsd);
    model.verify();
}

#[test]
fn nothing_secret_is_in_debug_output() {
    let builder = Agent::builder().api_key("sk-canary-1234");
    assert!(!format!("{builder:?}").contains("canary"));
    let agent = builder.build().unwrap();
    assert!(!format!("{agent:?}").contains("canary"));
}
