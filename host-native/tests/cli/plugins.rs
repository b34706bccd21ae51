//! `windlass plugin`, and `--plugin-dir`.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Windlass, saying};

fn declared(declaration: &Value) -> Vec<u8> {
    crate::guest::declared(&declaration.to_string(), "(i32.const 0)")
}

fn declaration() -> Value {
    json!({
        "name": "count", "version": "1.2.3", "wit": "0.1.0",
        "tools": [{
            "name": "CountLines", "description": "Counts the lines of a file.\nAt once.",
            "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}},
            "paths": [{"field": "file_path", "access": "read"}],
        }],
        "grants": {"filesystem": "read"},
        "limits": {"memory_bytes": 1_000_000, "timeout_ms": 500},
    })
}

#[test]
fn card_5_what_a_component_asks_for_is_said_before_anybody_trusts_it() {
    let windlass = Windlass::new();
    let path = windlass.home().join("count.wasm");
    fs::write(&path, declared(&declaration())).unwrap();
    let path = path.to_str().unwrap();
    let done = windlass.run(&["plugin", "check", path]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    for part in [
        "count 1.2.3",
        "sha256:",
        "windlass:host/filesystem@0.1.0",
        "reading, where it is granted",
        "1000000 bytes of memory, 500 ms",
        "CountLines: Counts the lines of a file. At once.",
        "reads the file in `file_path`",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    assert!(!done.stdout.contains("but"), "{}", done.stdout);
    let done = windlass.run(&["plugin", "check", path, "--json"]);
    let said: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(said["loads"], true);
    assert_eq!(said["tools"][0]["paths"][0]["field"], "file_path");
}

#[test]
fn card_5_what_would_not_work_and_what_would_not_load_is_said() {
    let windlass = Windlass::new();
    let check = |declaration: &Value| {
        let path = windlass.home().join("x.wasm");
        fs::write(&path, declared(declaration)).unwrap();
        windlass.run(&["plugin", "check", path.to_str().unwrap()])
    };
    let mut asks = declaration();
    asks["grants"] = json!({
        "filesystem": "none",
        "http": ["https://a.example", {"origin": "https://b.example", "methods": ["GET", "POST"]}],
        "secrets": [{"name": "B_TOKEN", "description": "Of a bot.", "audience": ["https://b.example"]}],
        "env": ["LANG"],
        "state": "durable",
    });
    asks["limits"] = json!({"host_calls": 10, "http_bytes": 20, "log_bytes": 30});
    asks["instance"] = json!("session");
    asks["tools"][0]["description"] = json!("");
    let done = check(&asks);
    assert_eq!(done.code, Some(0), "{done:?}");
    for part in [
        "https://a.example (GET), https://b.example (GET, POST)",
        "B_TOKEN for https://b.example: Of a bot.",
        "LANG",
        "kept in files",
        "keeps its memory for the session",
        "30 bytes of log, 10 calls of the host, 20 bytes over HTTP",
        "no description",
        "asks for no files",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    for (key, value, problem) in [
        (
            "http",
            json!(["https://*.example.com"]),
            "`https://*.example.com` is no origin",
        ),
        (
            "http",
            json!(["https://a.example/v1"]),
            "write that, without path",
        ),
        ("http", json!(["http://a.example"]), "is not encrypted"),
        (
            "secrets",
            json!([{"name": "T", "description": "", "audience": ["https://c.example"]}]),
            "is not among `grants.http`",
        ),
        ("env", json!(["ANTHROPIC_API_KEY"]), "holds a key"),
        ("state", json!("forever"), "unknown variant `forever`"),
        ("network", json!([]), "unknown field `network`"),
    ] {
        let mut wrong = declaration();
        wrong["grants"][key] = value;
        let done = check(&wrong);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stdout.contains(problem), "{done:?}");
    }
    let mut escapes = declaration();
    escapes["name"] = json!("\u{1b}[31mred");
    assert!(!check(&escapes).stdout.contains('\u{1b}'));
    for (key, value) in [
        ("grant", json!({"workspace": "write"})),
        ("core", json!("Bash")),
    ] {
        let mut unknown = declaration();
        unknown["tools"][0][key] = value;
        let done = check(&unknown);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(
            done.stdout.contains(&format!("unknown field `{key}`")),
            "{done:?}"
        );
    }
    for name in ["Read", "Bash", "WebFetch", "mcp__notes__read"] {
        let mut takes = declaration();
        takes["tools"][0]["name"] = json!(name);
        let done = check(&takes);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stdout.contains("needs another name"), "{done:?}");
    }
    let done = windlass.run(&["plugin", "check", "gone.wasm"]);
    assert!(done.complaint(3).contains("gone.wasm"), "{done:?}");
}

/// A component whose judge denies calls of Write.
fn policy() -> Vec<u8> {
    let declaration = json!({
        "name": "policy", "version": "0.1.0", "wit": "0.1.0",
        "hooks": [
            {"name": "Policy", "kind": "judge", "event": "PreToolUse", "matcher": "Write"},
            {"name": "Log", "kind": "observer", "event": "Stop"},
        ],
    });
    let with = crate::guest::Hooked {
        judge: Some("(call $deny (i32.const 4096) (i32.const 7))"),
        observe: Some("(call $seen)"),
        text: "no, no.",
        ..crate::guest::Hooked::default()
    };
    crate::guest::hooked(&declaration.to_string(), &with)
}

#[test]
fn hook_5_a_judge_of_a_plugin_denies_on_the_command_line() {
    let input = json!({"file_path": "note.txt", "content": "buy milk"});
    let server = crate::support::calling("Write", &input, "Well.");
    let windlass = Windlass::asking(&server);
    let path = windlass.home().join("policy.wasm");
    fs::write(&path, policy()).unwrap();
    let plugin = path.to_str().unwrap();
    let args = [
        "-p",
        "go",
        "--allowedTools",
        "Write",
        "--plugin-dir",
        plugin,
    ];
    let done = windlass.run(&args);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!windlass.workspace.path().join("note.txt").exists());
    let asked = server.requests();
    let told = String::from_utf8_lossy(&asked.last().unwrap().body).into_owned();
    assert!(told.contains("A hook denied Write: no, no."), "{told}");
}

/// A component whose judge answers for calls of Read like this.
fn judging(body: &str, text: &str) -> Vec<u8> {
    let declaration = json!({
        "name": "policy", "version": "0.1.0", "wit": "0.1.0",
        "hooks": [{"name": "Policy", "kind": "judge", "event": "PreToolUse", "matcher": "Read"}],
    });
    let with = crate::guest::Hooked {
        judge: Some(body),
        text,
        ..crate::guest::Hooked::default()
    };
    crate::guest::hooked(&declaration.to_string(), &with)
}

/// What a model is told that reads a note and a file with a key, where rules let it, in a session with this component or none.
fn read_with(component: Option<&[u8]>) -> String {
    let read =
        |name: &str| json!({"type": "tool_use", "name": "Read", "input": {"file_path": name}});
    let script = json!({"exchanges": [
        {"respond": {"content": [read("note.txt"), read(".env")]}},
        {"respond": "Well."},
    ]});
    let server = crate::support::model(&script.to_string());
    let windlass = Windlass::asking(&server);
    windlass.write("note.txt", "buy milk");
    windlass.write(".env", "KEY=1");
    let path = windlass.home().join("policy.wasm");
    let mut args = vec!["-p", "go", "--allowedTools", "Read"];
    if let Some(component) = component {
        fs::write(&path, component).unwrap();
        args.extend(["--plugin-dir", path.to_str().unwrap()]);
    }
    let done = windlass.run(&args);
    assert_eq!(done.code, Some(0), "{done:?}");
    let asked = server.requests();
    assert_eq!(asked.len(), 2);
    String::from_utf8_lossy(&asked[1].body).into_owned()
}

#[test]
fn hook_5_a_judge_of_a_plugin_narrows_a_call_on_the_command_line() {
    let told = read_with(None);
    assert!(
        told.contains("buy milk") && told.contains("KEY=1"),
        "{told}"
    );
    let narrows = "(call $narrow (i32.const 4096) (i32.const 7) (i32.const 0))";
    let told = read_with(Some(&judging(narrows, "**/.env")));
    assert!(told.contains("buy milk"), "{told}");
    assert!(!told.contains("KEY=1"), "{told}");
}

#[test]
fn hook_5_a_judge_of_a_plugin_has_somebody_asked_on_the_command_line() {
    let asks = "(call $ask (i32.const 4096) (i32.const 7))";
    let told = read_with(Some(&judging(asks, "why so?")));
    // What the rules allow is asked about, and there is nobody.
    let words = "Read needs permission (a hook says so: policy:Policy: why so?), and there is no terminal to ask at.";
    assert_eq!(told.matches(words).count(), 2, "{told}");
    assert!(
        !told.contains("buy milk") && !told.contains("KEY=1"),
        "{told}"
    );
}

#[test]
fn hook_5_what_hooks_a_component_has_is_said_before_anybody_trusts_it() {
    let windlass = Windlass::new();
    let path = windlass.home().join("policy.wasm");
    fs::write(&path, policy()).unwrap();
    let path = path.to_str().unwrap();
    let done = windlass.run(&["plugin", "check", path]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for part in [
        "Policy: PreToolUse of Write (judge: may refuse, ask and narrow)",
        "Log: Stop (observer: sees, and changes nothing)",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let done = windlass.run(&["plugin", "check", path, "--json"]);
    let said: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(said["hooks"][0]["event"], "PreToolUse");
    assert_eq!(said["hooks"][0]["matcher"], "Write");
    assert_eq!(said["hooks"][1]["kind"], "observer");
}

#[test]
fn conf_3_a_plugin_that_cannot_be_loaded_starts_nothing() {
    let server = saying([]);
    let windlass = Windlass::asking(&server);
    windlass.write(
        "plugins/lint/.claude-plugin/plugin.json",
        "{\"name\": \"A b\"}",
    );
    windlass.write("plugins/notes.txt", "no plugin");
    windlass.write("plugins/bad.wasm", "no component");
    // Without its judge, it would let through what that refuses.
    windlass.write("plugins/linked/components/.keep", "");
    let plugins = windlass.workspace.path().join("plugins");
    fs::write(plugins.join("policy.wasm"), policy()).unwrap();
    let link = plugins.join("linked/components/policy.wasm");
    std::os::unix::fs::symlink("../../policy.wasm", link).unwrap();
    for (plugin, reason) in [
        ("plugins/gone", "no such file or folder: check the path"),
        ("plugins/linked", "leads out of the plugin's folder"),
        ("plugins/lint", "`A b` is no name of a plugin"),
        ("plugins/notes.txt", "neither a folder nor a component"),
        ("plugins/bad.wasm", "not WebAssembly"),
    ] {
        let done = windlass.run(&["-p", "hi", "--plugin-dir", plugin]);
        assert!(done.complaint(3).contains(reason), "{done:?}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn conf_3_a_command_of_a_plugin_is_there_on_the_command_line() {
    let server = crate::support::model(
        r#"{"exchanges": [{"expect": {"last_user_contains": "Say hello to Ada."}, "respond": "Hello."}]}"#,
    );
    let windlass = Windlass::asking(&server);
    windlass.write("plugins/lint/commands/greet.md", "Say hello to $ARGUMENTS.");
    let hooks = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}});
    windlass.write("plugins/lint/hooks/hooks.json", &hooks.to_string());
    let done = windlass.run(&["-p", "/lint:greet Ada", "--plugin-dir", "plugins/lint"]);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), "Hello.\n"),
        "{done:?}"
    );
    assert!(
        done.stderr.contains("the plugin lint has 1 hook"),
        "{done:?}"
    );
}
