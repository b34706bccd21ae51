//! What the commands of `windlass plugin` say of components and folders: plain words about what somebody else made.

use std::fs;

use serde_json::{Value, json};

use crate::{
    guest,
    plugin_install::{declaration, kept, plugin},
    support::Windlass,
    terminal::Terminal,
};

/// Clears the screen, then looks like another line of a report.
const FORGED: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\nspeaks 1.0.0\n  files     none\u{9b}2K";

/// Declarations that are refused, each because of a text that somebody chose to be shown.
fn refused() -> Vec<Value> {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut declaration = declaration("1.0.0", &json!({}));
        change(&mut declaration);
        declaration
    };
    vec![
        with(&|it| it["name"] = json!(FORGED)),
        with(&|it| it["version"] = json!(FORGED)),
        with(&|it| it["wit"] = json!(FORGED)),
        with(&|it| it[FORGED] = json!(1)),
        with(&|it| it["tools"][0]["name"] = json!(FORGED)),
        with(&|it| it["tools"][0][FORGED] = json!(1)),
        with(&|it| it["grants"] = json!({"env": [FORGED]})),
        with(&|it| it["grants"] = json!({"http": [FORGED]})),
        with(&|it| it["grants"] = json!({"state": FORGED})),
        with(&|it| it["hooks"] = json!([{"name": FORGED, "kind": "judge", "event": "PreToolUse"}])),
    ]
}

fn put(windlass: &Windlass, name: &str, bytes: &[u8]) {
    let path = windlass.workspace.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn card_5_what_a_component_says_of_itself_does_nothing_to_a_terminal() {
    let windlass = Windlass::new();
    for declaration in refused() {
        let bytes = guest::declared(&declaration.to_string(), "(i32.const 0)");
        put(&windlass, "x.wasm", &bytes);
        // Where it is no terminal, escapes would be taken out: what is left of them is shown instead.
        let done = windlass.run(&["plugin", "check", "x.wasm"]);
        assert_eq!(done.code, Some(1), "{declaration}: {done:?}");
        assert_eq!(done.stdout.lines().count(), 1, "{declaration}: {done:?}");
        let mut terminal = Terminal::run(&windlass, &["plugin", "check", "x.wasm"]);
        let shown = terminal.wait_for("␛[2J");
        assert!(!shown.contains('\u{1b}'), "{declaration}: {shown:?}");
        assert_eq!(terminal.exit_code(), Some(1));
        let done = windlass.run(&["plugin", "add", "x.wasm"]);
        let complaint = done.complaint(3);
        assert!(!complaint.contains('\u{9b}'), "{declaration}: {complaint}");
        // Readers of JSON get what is there, and the line does nothing to a terminal.
        let done = windlass.run(&["plugin", "check", "x.wasm", "--json"]);
        let acts = |c: char| c.is_control() && c != '\n';
        assert!(!done.stdout.contains(acts), "{declaration}: {done:?}");
        let said: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(said["loads"], false);
    }
}

/// A component whose function is no WebAssembly.
fn invalid() -> Vec<u8> {
    let mut bytes = guest::declared(
        &declaration("1.0.0", &json!({})).to_string(),
        "(drop (i32.const 123456789)) (i32.const 0)",
    );
    let constant = [0x41, 0x95, 0x9a, 0xef, 0x3a];
    let mut places = bytes.windows(constant.len());
    let at = places.position(|place| place == constant).unwrap();
    bytes[at..at + constant.len()].fill(0xff);
    bytes
}

#[test]
fn card_5_code_that_no_call_could_run_is_refused_before_it_is_installed() {
    let windlass = Windlass::new();
    put(&windlass, "invalid.wasm", &invalid());
    put(&windlass, "notes/components/invalid.wasm", &invalid());
    for path in ["invalid.wasm", "notes"] {
        let done = windlass.run(&["plugin", "check", path]);
        assert_eq!(done.code, Some(1), "{path}: {done:?}");
        assert!(done.stdout.contains("code cannot be used"), "{done:?}");
        let done = windlass.run(&["plugin", "add", path]);
        let complaint = done.complaint(3);
        assert!(complaint.contains("code cannot be used"), "{complaint}");
        assert!(complaint.contains("Nothing was installed"), "{complaint}");
        assert!(kept(&windlass).is_empty());
    }
}

#[test]
fn card_5_a_folder_is_checked_as_it_would_be_installed() {
    let windlass = Windlass::new();
    windlass.write(
        "notes/.claude-plugin/plugin.json",
        r#"{"name": "notes", "version": "2.0.0"}"#,
    );
    let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/look.sh"},
    ]}]}});
    windlass.write("notes/hooks/hooks.json", &hooks.to_string());
    let component = plugin("1.0.0", &json!({"filesystem": "read"}));
    put(&windlass, "notes/components/speaks.wasm", &component);
    let done = windlass.run(&["plugin", "check", "notes"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    for part in [
        "notes 2.0.0\n",
        "run a hook at PreToolUse of Bash with your rights: ${CLAUDE_PLUGIN_ROOT}/look.sh",
        "components/speaks.wasm",
        "speaks 1.0.0\n",
        "reading, where it is granted",
    ] {
        assert!(done.stdout.contains(part), "{part}: {done:?}");
    }
    let done = windlass.run(&["plugin", "check", "notes", "--json"]);
    let said: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(said["components"][0]["file"], "components/speaks.wasm");
    assert_eq!(said["components"][0]["filesystem"], "read");
    assert!(kept(&windlass).is_empty());

    // What is not there is said with what could be named.
    let done = windlass.run(&["plugin", "check", "github.com/foo/bar"]);
    assert!(
        done.complaint(3).contains("there is no such file"),
        "{done:?}"
    );
    for source in ["github.com/foo/bar", "npm:foo"] {
        let done = windlass.run(&["plugin", "add", source]);
        let complaint = done.complaint(3);
        assert!(complaint.contains("oci://REGISTRY"), "{complaint}");
    }
}

#[test]
fn card_5_a_tool_that_would_stop_or_fill_every_session_is_refused_before_it_is_installed() {
    let windlass = Windlass::new();
    let long = "x".repeat(70_000);
    for (key, value, problem) in [
        ("input_schema", json!({"type": "nope"}), "input schema"),
        (
            "input_schema",
            json!({"type": "object", "pattern": "("}),
            "input schema",
        ),
        (
            "input_schema",
            json!({"type": "object", "$ref": "#/gone"}),
            "input schema",
        ),
        ("description", json!(long), "more than"),
    ] {
        let mut declaration = declaration("1.0.0", &json!({}));
        declaration["tools"][0][key] = value;
        let bytes = guest::declared(&declaration.to_string(), "(i32.const 0)");
        put(&windlass, "x.wasm", &bytes);
        let done = windlass.run(&["plugin", "check", "x.wasm"]);
        assert_eq!(done.code, Some(1), "{problem}: {done:?}");
        assert!(done.stdout.contains(problem), "{done:?}");
        let done = windlass.run(&["plugin", "add", "x.wasm"]);
        assert!(done.complaint(3).contains("`Speak`"), "{done:?}");
        assert!(kept(&windlass).is_empty());
    }
}
