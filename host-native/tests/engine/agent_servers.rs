//! MCP servers that agents have for themselves, from files and from the SDK's option.

use std::{fs, path::Path, sync::Arc};

use serde_json::{Value, json};

use crate::support::{Sdk, calls, result_text, says};

const NOTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");

/// A server whose notes say this.
fn notes(note: &str) -> Value {
    json!({"command": "python3", "args": [NOTES], "env": {"NOTE": note}})
}

/// A definition with such a server of its own.
fn keeper(note: &str) -> Value {
    json!({"description": "Keeps notes.", "prompt": "You keep notes.", "mcpServers": [{"notes": notes(note)}]})
}

/// A folder whose project has an agent in a file, with a server of its own.
fn project() -> Arc<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let agents = folder.path().join(".claude/agents");
    fs::create_dir_all(&agents).unwrap();
    let file = format!(
        "---\nname: keeper\ndescription: Keeps notes.\nmcpServers:\n  - notes:\n      command: python3\n      \
         args: [\"{NOTES}\"]\n      env:\n        NOTE: filed\n---\nYou keep notes.\n"
    );
    fs::write(agents.join("keeper.md"), file).unwrap();
    Arc::new(folder)
}

/// A call that starts an agent, from a thread that has none of these tools.
fn starts(agent: &str) -> Value {
    let input = json!({"description": "look", "prompt": "Look it up.", "subagent_type": agent});
    without(calls("Agent", input))
}

/// An exchange whose request offers no tool of the server.
fn without(mut exchange: Value) -> Value {
    exchange["expect"] = json!({"tools_exclude": ["mcp__notes__read", "mcp__notes__whoami"]});
    exchange
}

fn with(mut exchange: Value) -> Value {
    exchange["expect"] = json!({"tools_include": ["mcp__notes__read", "mcp__notes__whoami"]});
    exchange
}

fn reads() -> Value {
    calls("mcp__notes__read", json!({"name": "x"}))
}

/// What tools answered to agents.
fn answers(frames: &[Value]) -> Vec<String> {
    let of_agents =
        |frame: &&Value| frame["type"] == "user" && !frame["parent_tool_use_id"].is_null();
    let texts = frames.iter().filter(of_agents).map(result_text);
    texts.filter(|text| !text.is_empty()).collect()
}

/// The servers as `init` names them.
fn servers(frames: &[Value]) -> Value {
    let mut inits = frames.iter().filter(|frame| frame["subtype"] == "init");
    inits.next().unwrap()["mcp_servers"].clone()
}

fn is_there(pid: &str) -> bool {
    let asked = std::process::Command::new("ps").args(["-p", pid]).output();
    asked.unwrap().status.success()
}

#[tokio::test]
async fn sub_1_an_agent_of_a_file_has_the_server_that_stands_in_it_and_nobody_else_has() {
    let whoami = with(calls("mcp__notes__whoami", json!({})));
    let script = json!([
        starts("keeper"),
        whoami,
        reads(),
        says("Noted."),
        without(says("Thanks."))
    ]);
    let flags = ["--setting-sources=project", "--allowedTools", "mcp__notes"];
    let mut sdk = Sdk::start_in(project(), &flags, script);
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let told = answers(&frames);
    let [pid, note] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(note, "filed (x)");
    // It starts with its agent, not with the session.
    assert_eq!(
        servers(&frames),
        json!([{"name": "notes", "status": "pending"}])
    );
    let status = sdk.request(json!({"subtype": "mcp_status"})).await;
    let server = &status["response"]["mcpServers"][0];
    assert_eq!(server["agent"], "keeper");
    assert_eq!(server["status"], "connected");
    sdk.model.verify().unwrap();
    assert!(is_there(pid));
    let pid = pid.clone();
    sdk.close().await;
    assert!(!is_there(&pid), "the server ends with the session");
}

#[tokio::test]
async fn sub_1_two_agents_and_the_session_may_each_have_a_server_of_one_name() {
    let script = json!([
        with(calls(
            "Agent",
            json!({"description": "look", "prompt": "Look.", "subagent_type": "one"})
        )),
        with(reads()),
        says("It is there."),
        calls(
            "Agent",
            json!({"description": "look", "prompt": "Look.", "subagent_type": "two"})
        ),
        with(reads()),
        says("It is there."),
        calls(
            "Agent",
            json!({"description": "look", "prompt": "Look.", "subagent_type": "named"})
        ),
        with(reads()),
        says("It is there."),
        reads(),
        says("Well."),
    ]);
    let config = json!({"mcpServers": {"notes": notes("the session's")}}).to_string();
    let flags = ["--mcp-config", &config, "--allowedTools", "mcp__notes"];
    let mut sdk = Sdk::start(&flags, script);
    let named = json!({"description": "d", "prompt": "p", "mcpServers": ["notes"]});
    let agents = json!({"one": keeper("of one"), "two": keeper("of two"), "named": named});
    sdk.initialize(json!({"agents": agents})).await;
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert_eq!(
        answers(&frames),
        ["of one (x)", "of two (x)", "the session's (x)"]
    );
    let own = frames
        .iter()
        .rfind(|frame| frame["type"] == "user")
        .unwrap();
    assert_eq!(result_text(own), "the session's (x)");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn sub_1_rules_hold_for_an_agents_own_server_too() {
    // Nobody is asked, and no rule allows it.
    let refused =
        json!({"expect": {"tool_results": [{"is_error": true}]}, "respond": "I may not."});
    let script = json!([
        starts("keeper"),
        with(calls("mcp__notes__whoami", json!({}))),
        refused,
        says("A pity.")
    ]);
    let mut sdk = Sdk::start(&[], script);
    sdk.initialize(json!({"agents": {"keeper": keeper("x")}}))
        .await;
    sdk.prompt("go").await;
    let result = sdk.first("result").await;
    assert_eq!(
        result["permission_denials"][0]["tool_name"],
        "mcp__notes__whoami"
    );
    sdk.model.verify().unwrap();
    // What a rule denies altogether is not even offered.
    let script = json!([starts("keeper"), without(says("Nothing.")), says("A pity.")]);
    let mut sdk = Sdk::start(&["--disallowedTools", "mcp__notes"], script);
    sdk.initialize(json!({"agents": {"keeper": keeper("x")}}))
        .await;
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "A pity.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn sub_1_an_agents_server_that_cannot_be_reached_is_told_and_the_session_goes_on() {
    let script = json!([
        starts("keeper"),
        without(says("Without notes.")),
        says("A pity.")
    ]);
    let mut sdk = Sdk::start(&[], script);
    let agent = json!({"description": "d", "prompt": "p",
        "mcpServers": [{"notes": {"command": "there-is-no-such-program"}}]});
    sdk.initialize(json!({"agents": {"keeper": agent}})).await;
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    assert_eq!(frames.last().unwrap()["result"], "A pity.");
    let status = sdk.request(json!({"subtype": "mcp_status"})).await;
    let server = &status["response"]["mcpServers"][0];
    let reason = server["error"].as_str().unwrap();
    assert_eq!(server["agent"], "keeper");
    assert!(reason.contains("there-is-no-such-program"), "{reason}");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn sub_1_the_servers_of_files_are_left_out_where_only_given_ones_are_wanted() {
    let script = json!([
        starts("keeper"),
        without(says("Nothing.")),
        starts("given"),
        with(says("All.")),
        says("Well.")
    ]);
    let flags = ["--setting-sources=project", "--strict-mcp-config"];
    let mut sdk = Sdk::start_in(project(), &flags, script);
    sdk.initialize(json!({"agents": {"given": keeper("given")}}))
        .await;
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Well.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn sub_1_the_main_thread_that_runs_as_an_agent_has_its_servers() {
    let flags = [
        "--agent",
        "keeper",
        "--setting-sources=project",
        "--allowedTools",
        "mcp__notes",
    ];
    let mut sdk = Sdk::start_in(project(), &flags, json!([with(reads()), says("Well.")]));
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let answer = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(result_text(answer), "filed (x)");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn sub_1_agents_that_are_read_anew_bring_and_take_their_servers() {
    let whoami = with(calls("mcp__notes__whoami", json!({})));
    let script = json!([
        starts("keeper"),
        whoami,
        says("Noted."),
        says("One."),
        starts("keeper"),
        without(says("None.")),
        says("Two."),
    ]);
    let flags = ["--setting-sources=project", "--allowedTools", "mcp__notes"];
    let mut sdk = Sdk::start_in(project(), &flags, script);
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let pid = answers(&frames).remove(0);
    let file = sdk.folder.path().join(".claude/agents/keeper.md");
    assert!(Path::new(&file).exists());
    fs::write(
        &file,
        "---\nname: keeper\ndescription: Has none.\n---\nYou have none.\n",
    )
    .unwrap();
    let reply = sdk.request(json!({"subtype": "reload_skills"})).await;
    assert_eq!(reply["subtype"], "success");
    sdk.prompt("and now?").await;
    assert_eq!(sdk.first("result").await["result"], "Two.");
    let gone = async {
        while is_there(&pid) {
            tokio::task::yield_now().await;
        }
    };
    let gone = tokio::time::timeout(std::time::Duration::from_secs(60), gone).await;
    assert!(gone.is_ok(), "a server that no agent has any more ends");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn sub_1_the_servers_of_an_agent_that_nobody_starts_do_not_run() {
    let mark = "touch started; exec cat";
    let agent = json!({"description": "d", "prompt": "p",
        "mcpServers": [{"notes": {"command": "sh", "args": ["-c", mark]}}]});
    let mut sdk = Sdk::start(&[], json!([says("Alone.")]));
    sdk.initialize(json!({"agents": {"keeper": agent}})).await;
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "Alone.");
    let status = sdk.request(json!({"subtype": "mcp_status"})).await;
    assert_eq!(status["response"]["mcpServers"][0]["status"], "pending");
    assert!(!sdk.folder.path().join("started").exists());
}

#[tokio::test]
async fn mcp_2_requests_of_the_sdk_reach_the_server_of_an_agent() {
    let look = || {
        calls(
            "Agent",
            json!({"description": "look", "prompt": "Look it up.", "subagent_type": "keeper"}),
        )
    };
    let script = json!([
        look(),
        without(says("It is away.")),
        says("A pity."),
        look(),
        with(says("It is back.")),
        says("Good."),
    ]);
    let mut sdk = Sdk::start(&[], script);
    sdk.initialize(json!({"agents": {"keeper": keeper("of the keeper")}}))
        .await;
    let whoami = json!({"subtype": "mcp_call", "tool": "mcp__notes__whoami"});
    let read =
        json!({"subtype": "mcp_call", "tool": "mcp__notes__read", "arguments": {"name": "x"}});
    // It is called once it has answered.
    let reconnect = json!({"subtype": "mcp_reconnect", "serverName": "notes"});
    assert_eq!(sdk.request(reconnect.clone()).await["subtype"], "success");
    let answer = sdk.request(read).await;
    let content = &answer["response"]["content"];
    assert_eq!(content[0]["text"], "of the keeper (x)", "{answer}");
    let pid = async |sdk: &mut Sdk| {
        let answer = sdk.request(whoami.clone()).await;
        let pid = answer["response"]["content"][0]["text"].as_str();
        pid.unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    let before = pid(&mut sdk).await;
    assert_eq!(sdk.request(reconnect).await["subtype"], "success");
    assert_ne!(pid(&mut sdk).await, before, "it was started anew");

    let toggle =
        |enabled: bool| json!({"subtype": "mcp_toggle", "serverName": "notes", "enabled": enabled});
    assert_eq!(sdk.request(toggle(false)).await["subtype"], "success");
    let status = sdk.request(json!({"subtype": "mcp_status"})).await;
    assert_eq!(status["response"]["mcpServers"][0]["status"], "disabled");
    sdk.prompt("go").await;
    assert_eq!(sdk.first("result").await["result"], "A pity.");
    assert_eq!(sdk.request(toggle(true)).await["subtype"], "success");
    sdk.prompt("and now?").await;
    assert_eq!(sdk.first("result").await["result"], "Good.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn mcp_2_a_resource_is_read_from_the_agent_whose_server_runs() {
    let script = json!([starts("other"), with(says("Noted.")), says("One.")]);
    let mut sdk = Sdk::start(&[], script);
    // The first of them never starts.
    let agents = json!({"keeper": keeper("of the keeper"), "other": keeper("of the other")});
    sdk.initialize(json!({ "agents": agents })).await;
    let read = json!({"subtype": "mcp_read_resource", "serverName": "notes", "uri": "ui://x"});
    let refused = sdk.request(read.clone()).await;
    let reason = refused["error"].as_str().unwrap();
    assert!(reason.contains("not connected"), "{reason}");
    sdk.prompt("go").await;
    sdk.first("result").await;
    let answer = sdk.request(read).await;
    // It was asked; that what it says is no resource is its own affair.
    assert_eq!(answer["error"], "Unexpected response type");
    sdk.model.verify().unwrap();
}
