//! Plugins that an SDK names: folders with commands, agents, hooks and components.

use std::{fs, path::Path, sync::Arc};

use serde_json::{Value, json};

use crate::{
    guest,
    support::{Sdk, calls, calls_all, expecting, says},
};

/// Answers every call with the text `ok`.
const OK: &str = "(i32.store16 (i32.const 2080) (i32.const 0x6b6f))
    (call $text (i32.const 2080) (i32.const 2))";

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// The folder of a plugin with one of each.
fn plugin(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(
        at,
        ".claude-plugin/plugin.json",
        json!({ "name": name }).to_string(),
    );
    write(at, "commands/greet.md", "Say hello to $ARGUMENTS.");
    let agent = "---\nname: reviewer\ndescription: Reviews.\n---\nYou review.\n";
    write(at, "agents/reviewer.md", agent);
    let hooks = json!({"hooks": {"UserPromptSubmit": [{"hooks": [
        {"type": "command", "command": "touch \"${CLAUDE_PLUGIN_ROOT}/ran\""}]}]}});
    write(at, "hooks/hooks.json", hooks.to_string());
    let declaration = guest::DECLARATION.replace("\"t\"", "\"Answer\"");
    write(
        at,
        "components/answer.wasm",
        guest::declared(&declaration, OK),
    );
    folder
}

fn has(list: &Value, name: &str) -> bool {
    list.as_array().unwrap().contains(&json!(name))
}

#[tokio::test]
async fn conf_3_a_plugins_folder_brings_commands_agents_hooks_and_components() {
    let plugin = plugin("lint");
    let path = plugin.path().canonicalize().unwrap().display().to_string();
    let greets =
        json!({"expect": {"last_user_contains": "Say hello to Ada."}, "respond": "Hello."});
    let call = calls("Answer", json!({}));
    let answered = json!({"expect": {"tool_results": [{"contains": "ok"}]}, "respond": "Done."});
    let flags = ["--plugin-dir", &path, "--allowedTools", "Answer"];
    let mut sdk = Sdk::start(&flags, json!([greets, call, answered]));
    sdk.prompt("/lint:greet Ada").await;
    let frames = sdk.until("result").await;
    assert_eq!(frames.last().unwrap()["result"], "Hello.");
    let init = frames
        .iter()
        .find(|frame| frame["subtype"] == "init")
        .unwrap();
    assert_eq!(init["plugins"], json!([{"name": "lint", "path": path}]));
    assert!(has(&init["slash_commands"], "lint:greet"), "{init}");
    assert!(has(&init["agents"], "lint:reviewer"), "{init}");
    assert!(has(&init["tools"], "Answer"), "{init}");
    assert_eq!(
        plugin.path().join("ran").exists(),
        cfg!(unix),
        "its hook has run"
    );
    sdk.prompt("call it").await;
    assert_eq!(sdk.first("result").await["result"], "Done.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn conf_3_components_alone_run_nothing_with_the_rights_of_the_user() {
    let plugin = plugin("lint");
    let path = plugin.path().display().to_string();
    let flags = ["--plugin-dir", &path, "--components-only"];
    let mut sdk = Sdk::start(&flags, json!([says("Hello.")]));
    sdk.prompt("hi").await;
    let frames = sdk.until("result").await;
    let init = frames
        .iter()
        .find(|frame| frame["subtype"] == "init")
        .unwrap();
    assert!(has(&init["tools"], "Answer"), "{init}");
    assert!(!plugin.path().join("ran").exists());
}

/// A component with a judge of calls that denies those of `Answer`, and an observer of prompts that fails.
fn policy() -> Vec<u8> {
    let declaration = json!({
        "name": "policy", "version": "0.1.0", "wit": "0.1.0",
        "hooks": [
            {"name": "Policy", "kind": "judge", "event": "PreToolUse", "matcher": "Answer"},
            {"name": "Log", "kind": "observer", "event": "UserPromptSubmit"},
        ],
    });
    let with = guest::Hooked {
        judge: Some("(call $deny (i32.const 4096) (i32.const 7))"),
        observe: Some("(call $failed (i32.const 4096) (i32.const 7))"),
        text: "no, no.",
        ..guest::Hooked::default()
    };
    guest::hooked(&declaration.to_string(), &with)
}

/// An SDK whose session has that component, and a model that follows a script.
fn sdk_with_policy(plugin: &tempfile::TempDir, more: &[&str], script: Value) -> Sdk {
    write(plugin.path(), "components/policy.wasm", policy());
    let path = plugin.path().display().to_string();
    let flags = [
        "--plugin-dir",
        &path,
        "--components-only",
        "--include-hook-events",
        "--allowedTools",
        "Answer",
    ];
    Sdk::start(&[&flags, more].concat(), script)
}

#[tokio::test]
async fn hook_5_hooks_of_a_plugins_components_run_in_a_session_of_an_sdk() {
    let plugin = plugin("lint");
    let call = calls("Answer", json!({}));
    let denied = json!({"expect": {"tool_results": [{"contains": "no, no.", "is_error": true}]}, "respond": "Well."});
    let mut sdk = sdk_with_policy(&plugin, &[], json!([call, denied]));
    // A callback of the SDK is a hook of the same session.
    let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["mine"]}]});
    sdk.initialize(json!({"hooks": hooks})).await;
    sdk.prompt("go").await;
    let asked = sdk.first("control_request hook_callback").await;
    assert_eq!(asked["request"]["callback_id"], "mine", "{asked}");
    sdk.answer(&asked, json!({})).await;
    let frames = sdk.until("result").await;
    assert_eq!(frames.last().unwrap()["result"], "Well.");
    let listing = sdk.request(json!({"subtype": "get_hooks_listing"})).await;
    let listing = listing.to_string();
    for part in ["policy:Policy", "policy:Log", "plugin policy", "mine"] {
        assert!(listing.contains(part), "{part}: {listing}");
    }
    sdk.model.verify().unwrap();
}

/// A component whose judge answers for calls of this tool; it may have the tool itself.
fn judging(tool: &str, judge: &str, text: &str, call: Option<&str>) -> Vec<u8> {
    let tools = call.map(
        |_| json!({"name": tool, "description": "A test.", "input_schema": {"type": "object"}}),
    );
    let declaration = json!({
        "name": "policy", "version": "0.1.0", "wit": "0.1.0",
        "tools": tools.into_iter().collect::<Vec<Value>>(),
        "hooks": [{"name": "Policy", "kind": "judge", "event": "PreToolUse", "matcher": tool}],
    });
    let with = guest::Hooked {
        call,
        judge: Some(judge),
        text,
        ..guest::Hooked::default()
    };
    guest::hooked(&declaration.to_string(), &with)
}

/// What judges said, in the order of the stream.
fn verdicts(frames: &[Value]) -> Vec<&str> {
    let responses = frames
        .iter()
        .filter(|frame| frame["subtype"] == "hook_response");
    responses
        .map(|frame| frame["output"].as_str().unwrap())
        .collect()
}

/// The results of tools that the model was told last.
fn told(sdk: &Sdk) -> Vec<Value> {
    let body = sdk.bodies().pop().unwrap();
    let last = body["messages"].as_array().unwrap().last().unwrap().clone();
    let blocks = last["content"].as_array().unwrap().iter();
    blocks
        .filter(|block| block["type"] == "tool_result")
        .cloned()
        .collect()
}

#[tokio::test]
async fn hook_5_a_judge_of_a_plugin_narrows_calls_in_a_session_of_an_sdk() {
    let plugin = tempfile::tempdir().unwrap();
    let name = json!({"name": "lint"}).to_string();
    write(plugin.path(), ".claude-plugin/plugin.json", name);
    let path = plugin.path().display().to_string();
    let flags = [
        "--plugin-dir",
        &path,
        "--components-only",
        "--include-hook-events",
        "--allowedTools",
        "Read",
        "Slow",
    ];
    let read = |name: &str| ("Read", json!({"file_path": format!("${{cwd}}/{name}")}));
    let narrows = "(call $narrow (i32.const 4096) (i32.const 7) (i32.const 0))";
    let component = judging("Read", narrows, "**/.env", None);
    for narrowed in [false, true] {
        let work = Arc::new(tempfile::tempdir().unwrap());
        write(work.path(), "note.txt", "buy milk");
        write(work.path(), ".env", "KEY=1");
        if narrowed {
            write(plugin.path(), "components/policy.wasm", &component);
        }
        let script = json!([calls_all(&[read("note.txt"), read(".env")]), says("Well.")]);
        let mut sdk = Sdk::start_in(work, &flags, script);
        sdk.prompt("go").await;
        let frames = sdk.until("result").await;
        let [note, key] = &told(&sdk)[..] else {
            panic!("{:?}", sdk.bodies());
        };
        assert!(note.to_string().contains("buy milk"), "{note}");
        assert_ne!(key.to_string().contains("KEY=1"), narrowed, "{key}");
        assert_eq!(key["is_error"] == true, narrowed, "{key}");
        let said = verdicts(&frames);
        let verdict =
            r#"{"verdict":"narrow","deny_paths":[{"pattern":"/**/.env","access":"read"}]}"#;
        let expected: &[&str] = if narrowed { &[verdict, verdict] } else { &[] };
        assert_eq!(said, expected);
    }

    // Less time than the tool would have.
    let narrows = "(call $narrow (i32.const 0) (i32.const 0) (i32.const 50))";
    let loops = Some("(loop $again (br $again)) unreachable");
    let component = judging("Slow", narrows, "", loops);
    write(plugin.path(), "components/policy.wasm", component);
    let script = json!([calls("Slow", json!({})), says("Well.")]);
    let mut sdk = Sdk::start(&flags, script);
    sdk.prompt("go").await;
    sdk.until("result").await;
    let [slow] = &told(&sdk)[..] else {
        panic!("{:?}", sdk.bodies());
    };
    let words = "ran out of time after 50 ms";
    assert!(slow.to_string().contains(words), "{slow}");
}

#[tokio::test]
async fn hook_5_a_judge_of_a_plugin_has_a_person_asked_in_a_session_of_an_sdk() {
    let plugin = plugin("lint");
    let asks = "(call $ask (i32.const 4096) (i32.const 7))";
    let component = judging("Answer", asks, "why so?", None);
    write(plugin.path(), "components/policy.wasm", component);
    let path = plugin.path().display().to_string();
    let flags = [
        "--plugin-dir",
        &path,
        "--components-only",
        "--permission-prompt-tool",
        "stdio",
        "--allowedTools",
        "Answer",
    ];
    let call = || calls("Answer", json!({}));
    let denied = json!({"tool_results": [{"contains": "not today", "is_error": true}]});
    let ran = json!({"tool_results": [{"contains": "ok", "is_error": false}]});
    let script = json!([
        call(),
        expecting(call(), denied),
        expecting(says("Well."), ran),
    ]);
    let mut sdk = Sdk::start(&flags, script);
    sdk.initialize(json!({})).await;
    sdk.prompt("go").await;
    // The rule alone would have let both pass.
    for answer in [
        json!({"behavior": "deny", "message": "not today"}),
        json!({"behavior": "allow", "updatedInput": {}}),
    ] {
        let question = sdk.first("control_request can_use_tool").await;
        let request = &question["request"];
        assert_eq!(request["tool_name"], "Answer", "{request}");
        let reason = request["decision_reason"].as_str().unwrap();
        assert!(reason.contains("why so?"), "{request}");
        sdk.answer(&question, answer).await;
    }
    assert_eq!(sdk.first("result").await["result"], "Well.");
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn card_3_what_comes_of_a_plugins_hooks_is_in_the_stream() {
    let plugin = plugin("lint");
    let call = calls("Answer", json!({}));
    let mut sdk = sdk_with_policy(&plugin, &[], json!([call, says("Well.")]));
    sdk.prompt("go").await;
    let frames = sdk.until("result").await;
    let responses = frames
        .iter()
        .filter(|frame| frame["subtype"] == "hook_response");
    let responses: Vec<(&str, &str, &str)> = responses
        .map(|frame| {
            let text = |key: &str| frame[key].as_str().unwrap();
            (text("hook_name"), text("outcome"), text("output"))
        })
        .collect();
    let verdict = r#"{"verdict":"deny","reason":"no, no."}"#;
    assert!(
        responses.contains(&("PreToolUse:Answer", "success", verdict)),
        "{responses:?}"
    );
    assert!(
        responses.contains(&("UserPromptSubmit", "error", "no, no.")),
        "{responses:?}"
    );
    // A person who turns hooks off means these, too.
    let off = ["--settings", r#"{"disableAllHooks": true}"#];
    let call = calls("Answer", json!({}));
    let ran = json!({"expect": {"tool_results": [{"contains": "ok", "is_error": false}]}, "respond": "Well."});
    let mut sdk = sdk_with_policy(&plugin, &off, json!([call, ran]));
    sdk.prompt("go").await;
    sdk.until("result").await;
    sdk.model.verify().unwrap();
}

#[tokio::test]
async fn conf_8_plugins_come_with_initialize_and_later_and_only_from_folders() {
    let (first, second) = (plugin("first"), plugin("second"));
    // Two plugins must not have tools of one name.
    fs::remove_dir_all(second.path().join("components")).unwrap();
    let local = |folder: &tempfile::TempDir| json!({"type": "local", "path": folder.path()});
    let mut sdk = Sdk::start(&["--await-initialize"], json!([says("Nobody asks.")]));
    let reply = sdk.initialize(json!({"plugins": [local(&first)]})).await;
    assert_eq!(reply["plugins_applied"], true, "{reply}");
    let commands = reply["commands"].to_string();
    assert!(commands.contains("first:greet"), "{commands}");
    let added = json!({"subtype": "reload_plugins", "add_plugins": [local(&second)]});
    let reply = sdk.request(added).await;
    let names = |reply: &Value| -> Vec<String> {
        let plugins = reply["response"]["plugins"].as_array().unwrap().iter();
        plugins
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&reply), ["first", "second"], "{reply}");
    assert!(reply.to_string().contains("second:greet"), "{reply}");
    // What is added in the folder meanwhile is there after it was read again.
    write(first.path(), "commands/part.md", "Say goodbye.");
    let reply = sdk.request(json!({"subtype": "reload_plugins"})).await;
    assert!(reply.to_string().contains("first:part"), "{reply}");
    let from_elsewhere = json!({"subtype": "reload_plugins",
        "add_plugins": [{"type": "git", "path": "https://example.com/a"}]});
    let refused = sdk.request(from_elsewhere).await.to_string();
    assert!(
        refused.contains("git") && refused.contains("local"),
        "{refused}"
    );
    // One named once more is the same; one with the tool of another is left out.
    let again = json!({"subtype": "reload_plugins", "add_plugins": [local(&first)]});
    assert_eq!(names(&sdk.request(again).await), ["first", "second"]);
    let third = plugin("third");
    let added = json!({"subtype": "reload_plugins", "add_plugins": [local(&third)]});
    let reply = sdk.request(added).await;
    assert_eq!(names(&reply), ["first", "second"], "{reply}");
    assert_eq!(reply["response"]["error_count"], 1, "{reply}");
    let broken = tempfile::tempdir().unwrap();
    write(broken.path(), ".claude-plugin/plugin.json", "{");
    let added = json!({"subtype": "reload_plugins", "add_plugins": [local(&broken)]});
    let reply = sdk.request(added).await;
    assert_eq!(
        names(&reply),
        ["first", "second"],
        "nothing is half loaded: {reply}"
    );
    assert_eq!(reply["response"]["error_count"], 2, "{reply}");
}

#[tokio::test]
async fn conf_3_a_plugins_folder_is_no_place_to_write_unasked() {
    let work = Arc::new(tempfile::tempdir().unwrap());
    let plugin = work.path().join("tools/lint");
    write(
        &plugin,
        "hooks/hooks.json",
        json!({"hooks": {}}).to_string(),
    );
    let file = plugin.join("hooks/hooks.json").display().to_string();
    let call = calls("Write", json!({"file_path": file, "content": "{}"}));
    let read = calls("Read", json!({"file_path": file}));
    let flags = [
        "--plugin-dir",
        "tools/lint",
        "--permission-mode",
        "acceptEdits",
    ];
    let mut sdk = Sdk::start_in(work, &flags, json!([read, call, says("Well.")]));
    sdk.prompt("go").await;
    let result = sdk.first("result").await;
    assert_eq!(
        result["permission_denials"][0]["tool_name"], "Write",
        "{result}"
    );
    assert_eq!(fs::read_to_string(file).unwrap(), r#"{"hooks":{}}"#);
}

#[tokio::test]
async fn conf_8_servers_of_plugins_start_and_end_when_plugins_are_read_again() {
    let notes = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");
    let server = |note: &str| json!({"command": "python3", "args": [notes], "env": {"NOTE": note}});
    let folder = tempfile::tempdir().unwrap();
    let servers = |servers: Value| {
        let text = json!({ "mcpServers": servers }).to_string();
        write(folder.path(), ".mcp.json", text);
    };
    write(
        folder.path(),
        ".claude-plugin/plugin.json",
        r#"{"name": "keeps"}"#,
    );
    servers(json!({"notes": server("one"), "gone": {"command": "there-is-no-such-program"}}));
    let flags = ["--await-initialize"];
    let exchanges = json!([says("One."), says("Two."), says("Three.")]);
    let mut sdk = Sdk::start(&flags, exchanges);
    sdk.initialize(json!({})).await;
    let statuses = |reply: &Value| -> Vec<(String, String)> {
        let servers = reply["response"]["mcpServers"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        servers
            .map(|it| (text(&it["name"]), text(&it["status"])))
            .collect()
    };
    let status = |name: &str, status: &str| (format!("plugin:keeps:{name}"), status.to_owned());
    let tools = |init: &Value| -> Vec<String> {
        let tools = init["tools"].as_array().unwrap().iter();
        let tools = tools.filter_map(|tool| tool.as_str());
        tools
            .filter(|tool| tool.contains("notes"))
            .map(str::to_owned)
            .collect()
    };
    let add = json!({"type": "local", "path": folder.path()});
    let reply = sdk
        .request(json!({"subtype": "reload_plugins", "add_plugins": [add]}))
        .await;
    let both = [status("gone", "failed"), status("notes", "connected")];
    assert_eq!(statuses(&reply), both, "{reply}");
    sdk.prompt("one").await;
    let offered = tools(&sdk.first("system init").await);
    assert!(!offered.is_empty());
    sdk.first("result").await;

    // What is the same goes on; what is gone ends.
    servers(json!({"notes": server("one")}));
    let reply = sdk.request(json!({"subtype": "reload_plugins"})).await;
    assert_eq!(statuses(&reply), [status("notes", "connected")], "{reply}");
    sdk.prompt("two").await;
    assert_eq!(tools(&sdk.first("system init").await), offered);
    sdk.first("result").await;

    servers(json!({}));
    let reply = sdk.request(json!({"subtype": "reload_plugins"})).await;
    assert_eq!(statuses(&reply), [], "{reply}");
    sdk.prompt("three").await;
    assert_eq!(tools(&sdk.first("system init").await), Vec::<String>::new());
    sdk.first("result").await;
}

/// Answers with the number of calls that its instance has had.
const COUNTS: &str = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (i32.store8 (i32.const 2080) (i32.add (i32.const 48) (global.get $calls)))
    (call $text (i32.const 2080) (i32.const 1))";

#[tokio::test]
async fn card_5_what_a_component_keeps_lasts_as_long_as_the_session() {
    let plugin = tempfile::tempdir().unwrap();
    let mut declaration: Value = serde_json::from_str(guest::DECLARATION).unwrap();
    declaration["instance"] = json!("session");
    declaration["tools"][0]["name"] = json!("Count");
    let component = guest::declared(&declaration.to_string(), COUNTS);
    write(plugin.path(), "components/count.wasm", component);
    write(
        plugin.path(),
        ".claude-plugin/plugin.json",
        r#"{"name": "count"}"#,
    );
    let exchange = |number: &str| {
        let counted =
            json!({"expect": {"tool_results": [{"contains": number}]}, "respond": number});
        [calls("Count", json!({})), counted]
    };
    let script = ["1", "2", "3", "1"].map(exchange).concat();
    let path = plugin.path().display().to_string();
    let flags = ["--plugin-dir", &path, "--allowedTools", "Count"];
    let mut sdk = Sdk::start(&flags, Value::Array(script));
    sdk.initialize(json!({})).await;
    let expect = async |sdk: &mut Sdk, number: &str| {
        sdk.prompt("count").await;
        assert_eq!(sdk.first("result").await["result"], number);
    };
    expect(&mut sdk, "1").await;
    // Plugins and settings are read again in the middle of it.
    sdk.request(json!({"subtype": "reload_plugins"})).await;
    expect(&mut sdk, "2").await;
    let settings = json!({"subtype": "apply_flag_settings", "settings": {"env": {"A": "1"}}});
    sdk.request(settings).await;
    expect(&mut sdk, "3").await;
    sdk.prompt("/clear").await;
    sdk.first("result").await;
    expect(&mut sdk, "1").await;
    sdk.model.verify().unwrap();
}
