//! What the commands of `windlass plugin` say of components and folders: plain words about what somebody else made.

use std::fs;

use serde_json::{Value, json};

use crate::{
    guest,
    plugin_install::{declaration, hears, kept, plugin},
    support::{Done, Windlass},
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
    // What it brings to read, and what no session would take of that.
    windlass.write("notes/commands/deep/tidy.md", "Tidy up.");
    windlass.write(
        "notes/skills/plan/SKILL.md",
        "---\ndescription: Plans.\n---\nPlan.",
    );
    windlass.write("notes/skills/bare/SKILL.md", "No description.");
    windlass.write(
        "notes/agents/reviewer.md",
        "---\nname: reviewer\ndescription: Reviews.\n---\nReview.",
    );
    windlass.write("notes/agents/broken.md", "---\nname: [\n---\n");
    let done = windlass.run(&["plugin", "check", "notes"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    for part in [
        "commands  notes:deep:tidy\n",
        "agents    notes:reviewer\n",
        "skills    notes:plan\n",
        "but       skills/bare/SKILL.md is left out: ",
        "but       agents/broken.md is left out: ",
    ] {
        assert!(done.stdout.contains(part), "{part}: {done:?}");
    }
    let done = windlass.run(&["plugin", "check", "notes", "--json"]);
    let said: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(said["skills"], json!(["notes:plan"]));
    assert_eq!(said["doubts"].as_array().map(Vec::len), Some(2), "{said}");
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

#[test]
fn card_5_a_limit_under_which_nothing_runs_and_a_path_that_no_model_knows_are_said() {
    let windlass = Windlass::new();
    for (part, key) in [
        ("limits", "memory_bytes"),
        ("limits", "timeout_ms"),
        ("tool", "timeout_ms"),
    ] {
        let mut declaration = declaration("1.0.0", &json!({}));
        match part {
            "tool" => declaration["tools"][0][key] = json!(0),
            _ => declaration[part] = json!({ key: 0 }),
        }
        let bytes = guest::declared(&declaration.to_string(), "(i32.const 0)");
        put(&windlass, "x.wasm", &bytes);
        let done = windlass.run(&["plugin", "check", "x.wasm"]);
        assert_eq!(done.code, Some(1), "{part} {key}: {done:?}");
        for said in [key, "as 0", part] {
            assert!(done.stdout.contains(said), "{said}: {done:?}");
        }
        assert_eq!(windlass.run(&["plugin", "add", "x.wasm"]).code, Some(3));
    }
    let mut declaration = declaration("1.0.0", &json!({"filesystem": "read"}));
    let tool = &mut declaration["tools"][0];
    tool["paths"] = json!([
        {"field": "file", "access": "read"},
        {"field": "fiel", "access": "read"},
    ]);
    tool["input_schema"] = json!({"type": "object", "properties": {"file": {"type": "string"}}});
    let bytes = guest::declared(&declaration.to_string(), "(i32.const 0)");
    put(&windlass, "x.wasm", &bytes);
    let done = windlass.run(&["plugin", "check", "x.wasm"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let doubts: Vec<&str> = (done.stdout.lines())
        .filter(|line| line.trim_start().starts_with("but "))
        .collect();
    assert!(
        matches!(doubts.as_slice(), [doubt] if doubt.contains("`fiel`")),
        "{done:?}"
    );
}

#[test]
fn card_5_a_limit_below_the_memory_that_a_component_begins_with_is_refused() {
    let windlass = Windlass::new();
    // The guest begins with two pages.
    for (limit, loads) in [(1000, false), (131_071, false), (131_072, true)] {
        let mut declaration = declaration("1.0.0", &json!({}));
        declaration["limits"] = json!({ "memory_bytes": limit });
        let bytes = guest::declared(&declaration.to_string(), "(i32.const 0)");
        put(&windlass, "x.wasm", &bytes);
        put(&windlass, "notes/components/x.wasm", &bytes);
        for path in ["x.wasm", "notes"] {
            let done = windlass.run(&["plugin", "check", path]);
            assert_eq!(done.code, Some(i32::from(!loads)), "{limit}: {done:?}");
            let said = format!("`memory_bytes` as {limit} in `limits`");
            assert_eq!(done.stdout.contains(&said), !loads, "{done:?}");
            assert_eq!(done.stdout.contains("have 131072 bytes"), !loads);
        }
        if !loads {
            let done = windlass.run(&["plugin", "add", "x.wasm"]);
            assert!(done.complaint(3).contains("131072 bytes"), "{done:?}");
            assert!(kept(&windlass).is_empty());
        }
    }
}

#[test]
fn card_5_a_component_is_one_however_its_ending_is_written() {
    let windlass = Windlass::new();
    let component = plugin("1.0.0", &json!({}));
    put(&windlass, "notes/components/SPEAKS.WASM", &component);
    let done = windlass.run(&["plugin", "check", "notes"]);
    assert!(done.stdout.contains("components/SPEAKS.WASM"), "{done:?}");
    hears(&windlass, &["--plugin-dir", "notes"], "-");
}

#[test]
fn card_5_what_cannot_be_seen_of_a_command_is_shown() {
    let windlass = Windlass::new();
    let hooks = json!({"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "look\u{200B} \u{E0041}x"},
    ]}]}});
    windlass.write("notes/hooks/hooks.json", &hooks.to_string());
    let done = windlass.run(&["plugin", "check", "notes"]);
    assert!(done.stdout.contains("look<U+200B> <U+E0041>x"), "{done:?}");
}

#[test]
fn card_5_what_may_not_be_granted_is_said_with_what_may() {
    let windlass = Windlass::new();
    put(
        &windlass,
        "x.wasm",
        &plugin("1.0.0", &json!({"filesystem": "read", "env": ["LANGUAGE"]})),
    );
    let grant =
        |more: &[&str]| windlass.run(&[&["plugin", "grant", "x.wasm", "--yes"], more].concat());
    let done = grant(&["--http", "https://api.example.com"]);
    let complaint = done.complaint(3);
    for part in [
        "for which it does not ask",
        "it asks to read files; read the variable LANGUAGE",
    ] {
        assert!(complaint.contains(part), "{complaint}");
    }
    // Without a grant it has the workspace where it is loaded by its path, and with this one no more.
    let done = grant(&["--env", "LANGUAGE"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.contains("  - the workspace"), "{done:?}");
    let done = grant(&["--workspace", "read"]);
    assert!(!done.stdout.contains("  - "), "{done:?}");
}

#[test]
fn card_5_a_folder_that_is_called_like_no_plugin_is_told_how_to_be_one() {
    let windlass = Windlass::new();
    windlass.write("My_Notes/commands/tidy.md", "Tidy up.");
    let done = windlass.run(&["plugin", "add", "My_Notes"]);
    assert!(
        done.complaint(3).contains("called like its folder"),
        "{done:?}"
    );
}

#[test]
fn card_5_a_file_that_is_no_plugin_is_refused_with_what_to_do_by_every_command() {
    let windlass = Windlass::new();
    let whole = plugin("1.0.0", &json!({}));
    let mut newer = declaration("1.0.0", &json!({}));
    newer["wit"] = json!("0.2.0");
    let newer = guest::declared(&newer.to_string(), "(i32.const 0)");
    for (bytes, remedy) in [
        (&whole[..whole.len() - 9], "fetch it again"),
        (b"\0asm\x01\0\0\0", "ask its author for a build that fits"),
        (b"no WebAssembly at all", "fetch it again"),
        (&newer, "update windlass"),
    ] {
        put(&windlass, "x.wasm", bytes);
        let done = windlass.run(&["plugin", "check", "x.wasm"]);
        assert_eq!(done.code, Some(1), "{remedy}: {done:?}");
        assert!(done.stdout.contains(remedy), "{remedy}: {done:?}");
        for args in [
            &["plugin", "add", "x.wasm"][..],
            &["plugin", "grant", "x.wasm"],
        ] {
            let complaint = windlass.run(args).complaint(3).to_owned();
            assert!(complaint.contains(remedy), "{args:?}: {complaint}");
        }
        let mut command = windlass.command(&["-p", "go", "--plugin-dir", "x.wasm"]);
        command.env("ANTHROPIC_API_KEY", "none");
        let done = Done::of(&command.output().unwrap());
        assert_ne!(done.code, Some(0), "{done:?}");
        assert!(done.stderr.contains(remedy), "{remedy}: {done:?}");
    }
}

#[test]
fn conf_3_a_manifest_that_names_what_is_not_there_is_one_clear_error() {
    let windlass = Windlass::new();
    windlass.write("notes/texts/tidy.md", "Tidy up.");
    for key in ["commands", "agents", "skills", "outputStyles"] {
        let manifest = |path: &str| json!({ "name": "notes", key: ["./texts", path] }).to_string();
        windlass.write("notes/.claude-plugin/plugin.json", &manifest("./nothere"));
        let said = format!("`{key}` names `nothere`, and there is nothing of that name");
        let done = windlass.run(&["plugin", "check", "notes"]);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stdout.contains(&said), "{done:?}");
        let done = windlass.run(&["plugin", "add", "notes"]);
        assert!(done.complaint(3).contains(&said), "{done:?}");
        let mut command = windlass.command(&["-p", "go", "--plugin-dir", "notes"]);
        command.env("ANTHROPIC_API_KEY", "none");
        let done = Done::of(&command.output().unwrap());
        assert_ne!(done.code, Some(0), "{done:?}");
        assert!(done.stderr.contains(&said), "{done:?}");
        // A folder and a file that are there are taken.
        windlass.write(
            "notes/.claude-plugin/plugin.json",
            &manifest("texts/tidy.md"),
        );
        let done = windlass.run(&["plugin", "check", "notes"]);
        assert_eq!(done.code, Some(0), "{done:?}");
    }
}

#[test]
fn conf_3_a_folder_that_was_not_built_is_one_clear_error() {
    let windlass = Windlass::new();
    for language in ["rust", "js", "python"] {
        let made = windlass.run(&["plugin", "new", language, "--lang", language]);
        assert_eq!(made.code, Some(0), "{made:?}");
        let done = windlass.run(&["plugin", "check", language]);
        assert_eq!(done.code, Some(1), "{done:?}");
        assert!(done.stdout.contains("`windlass plugin build`"), "{done:?}");
        let done = windlass.run(&["plugin", "add", language]);
        assert!(
            done.complaint(3).contains("`windlass plugin build`"),
            "{done:?}"
        );
        let mut command = windlass.command(&["-p", "go", "--plugin-dir", language]);
        command.env("ANTHROPIC_API_KEY", "none");
        let done = Done::of(&command.output().unwrap());
        assert_ne!(done.code, Some(0), "{done:?}");
        assert!(done.stderr.contains("`windlass plugin build "), "{done:?}");
    }
}
