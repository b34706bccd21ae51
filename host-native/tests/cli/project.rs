//! What a project brings along, at the command line: instructions, skills, agents, hooks, servers; and whose word counts.

use std::fs;

use serde_json::{Value, json};

use crate::{
    support::{Windlass, calling, model, saying},
    terminal::Terminal,
};

/// What makes the command the engine of an SDK.
const ENGINE: [&str; 5] = [
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
];

const NOTES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/sdk/servers/notes.py");

fn put(windlass: &Windlass, path: &str, text: &str) {
    let path = windlass.workspace.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn body(server: &windlass::model_server::ModelServer, request: usize) -> Value {
    serde_json::from_slice(&server.requests()[request].body).unwrap()
}

#[test]
fn ctx_6_instructions_of_the_project_reach_the_model_unless_it_is_bare() {
    for (flags, expected) in [
        (&[][..], true),
        (&["--setting-sources", "user"], false),
        (&["--bare"], false),
    ] {
        let server = saying(["Yes."]);
        let windlass = Windlass::asking(&server);
        put(&windlass, "CLAUDE.md", "Always count in dozens.");
        let done = windlass.run(&[&["-p", "Hi"], flags].concat());
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
        let said = body(&server, 0).to_string();
        assert_eq!(
            said.contains("Always count in dozens."),
            expected,
            "{flags:?}"
        );
    }
}

/// In the lines of an SDK `--bare` leaves out what it leaves out for people.
#[test]
fn conf_1_a_bare_engine_starts_nothing_of_the_project() {
    let prompt = json!({"type": "user", "message": {"role": "user", "content": "go"}});
    let prompt = format!("{prompt}\n");
    for (flags, is_bare) in [
        (&[][..], false),
        (&["--bare"], true),
        (&["--bare", "--setting-sources", "project"], true),
    ] {
        let server = saying(["Yes."]);
        let windlass = Windlass::asking(&server);
        let hook = json!({"type": "command", "command": "touch hooked"});
        let settings = json!({"hooks": {"SessionStart": [{"hooks": [hook]}]}});
        put(&windlass, ".claude/settings.json", &settings.to_string());
        let touch = json!({"command": "sh", "args": ["-c", "touch started"]});
        let servers = json!({"mcpServers": {"toucher": touch}});
        put(&windlass, ".mcp.json", &servers.to_string());
        put(&windlass, "CLAUDE.md", "Always count in dozens.");
        let args = [&ENGINE[..], flags].concat();
        let done = windlass.run_with_input(&args, prompt.as_bytes());
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(!done.stderr.contains("--bare"), "{done:?}");
        for file in ["hooked", "started"] {
            let is_there = windlass.workspace.path().join(file).exists();
            assert_eq!(is_there, !is_bare, "{file} with {flags:?}: {done:?}");
        }
        let said = body(&server, 0).to_string();
        assert_eq!(said.contains("in dozens"), !is_bare, "{flags:?}");
    }
}

#[test]
fn conf_9_a_command_of_the_project_is_expanded() {
    let server = saying(["Fine."]);
    let windlass = Windlass::asking(&server);
    put(
        &windlass,
        ".claude/commands/greet.md",
        "Say hello to $ARGUMENTS.",
    );
    let done = windlass.run(&["-p", "/greet the cat"]);
    assert_eq!(done.stdout, "Fine.\n", "{done:?}");
    let said = body(&server, 0)["messages"].to_string();
    assert!(said.contains("Say hello to the cat."), "{said}");
}

#[test]
fn sub_4_an_agent_of_a_flag_is_who_the_session_runs_as() {
    let server = saying(["Arr."]);
    let windlass = Windlass::asking(&server);
    let agents = json!({"pirate": {"description": "Talks.", "prompt": "You are a pirate."}});
    let agents = agents.to_string();
    let done = windlass.run(&["-p", "Hi", "--agents", &agents, "--agent", "pirate"]);
    assert_eq!(done.stdout, "Arr.\n", "{done:?}");
    let system = body(&server, 0)["system"].to_string();
    assert!(system.contains("You are a pirate."), "{system}");
}

#[test]
fn loop_18_an_answer_follows_its_schema() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let server = calling("StructuredOutput", &json!({"n": 7}), "Done.");
    let args = [
        "-p",
        "Count",
        "--json-schema",
        schema,
        "--output-format",
        "json",
    ];
    let done = Windlass::asking(&server).run(&args);
    let [result] = done.lines().try_into().unwrap();
    assert_eq!(result["structured_output"], json!({"n": 7}), "{result}");
}

#[test]
fn mcp_1_a_server_of_a_flag_is_started_and_its_tool_called() {
    let config = json!({"mcpServers": {"notes": {"command": "python3", "args": [NOTES]}}});
    let config = config.to_string();
    let server = saying(["Done."]);
    let done = Windlass::asking(&server).run(&["-p", "Hi", "--mcp-config", &config]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let tools = body(&server, 0)["tools"].to_string();
    assert!(tools.contains("mcp__notes__"), "{tools}");
}

#[test]
fn mcp_2_why_a_server_is_not_there_is_said() {
    let config = r#"{"mcpServers": {"gone": {"command": "/nowhere/to/be/found"}}}"#;
    let server = saying(["Done."]);
    let done = Windlass::asking(&server).run(&["-p", "Hi", "--mcp-config", config]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "Done.\n"));
    assert!(
        done.stderr
            .contains("the MCP server gone is not connected: "),
        "{done:?}"
    );
    assert!(done.stderr.contains("/nowhere/to/be/found"), "{done:?}");
}

/// A project that starts programs, sets a variable and allows itself a command.
fn eager(windlass: &Windlass) {
    let settings = json!({
        "permissions": {"allow": ["Bash(touch:*)"], "deny": ["Bash(rm:*)"],
            "defaultMode": "acceptEdits", "additionalDirectories": ["/etc"]},
        "env": {"OF_PROJECT": "set"},
        "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "touch hooked"}]}]},
    });
    put(windlass, ".claude/settings.json", &settings.to_string());
    let servers =
        json!({"mcpServers": {"theirs": {"command": "sh", "args": ["-c", "touch served"]}}});
    put(windlass, ".mcp.json", &servers.to_string());
    let skill =
        "---\nname: helpful\ndescription: Helps.\nallowed-tools: Bash(mkdir:*)\n---\nHelp.\n";
    put(windlass, ".claude/skills/helpful/SKILL.md", skill);
}

/// A model that makes a file, looks at a variable, and is done.
fn busy() -> windlass::model_server::ModelServer {
    let call = |command: &str| {
        let call = json!({"type": "tool_use", "name": "Bash", "input": {"command": command}});
        json!({"respond": {"content": [call]}})
    };
    model(&json!({"exchanges": [call("touch made"), call("printenv OF_PROJECT"), {"respond": "Done."}]}).to_string())
}

#[test]
fn conf_1_a_folder_that_nobody_has_trusted_starts_and_sets_nothing() {
    for trusted in [false, true] {
        let server = busy();
        let windlass = Windlass::asking(&server);
        eager(&windlass);
        let flags = ["-p", "go", "--allowedTools", "Bash(printenv:*)"];
        let trust: &[&str] = if trusted { &["--trust"] } else { &[] };
        let done = windlass.run(&[&flags, trust].concat());
        assert_eq!(
            (done.code, done.stdout.as_str()),
            (Some(0), "Done.\n"),
            "{done:?}"
        );
        let there = |name: &str| windlass.workspace.path().join(name).exists();
        for name in ["made", "hooked", "served"] {
            assert_eq!(there(name), trusted, "{name}: {done:?}");
        }
        let said = body(&server, 2)["messages"].to_string();
        assert_eq!(said.contains("\"set"), trusted, "{said}");
        let theirs = "start the MCP server theirs";
        for left_out in [
            "touch hooked",
            theirs,
            "OF_PROJECT",
            "Bash(touch:*)",
            "acceptEdits",
            "/etc",
        ] {
            assert_eq!(
                done.stderr.contains(left_out),
                !trusted,
                "{left_out}: {done:?}"
            );
        }
    }
}

#[test]
fn conf_1_at_a_terminal_the_folder_is_asked_about_once() {
    let windlass = Windlass::new();
    eager(&windlass);
    let server = busy();
    let url = server.url();
    let flags = [
        "go",
        "--base-url",
        &url,
        "--allowedTools",
        "Bash(printenv:*)",
    ];
    let mut terminal = Terminal::run(&windlass, &flags);
    let question = terminal.wait_for("y yes, n no > ");
    for part in [
        "Do you trust",
        "touch hooked",
        "theirs",
        "OF_PROJECT",
        "Bash(touch:*)",
    ] {
        assert!(question.contains(part), "{part}: {question}");
    }
    terminal.type_in("y\n");
    terminal.wait_for("Done.");
    assert_eq!(terminal.exit_code(), Some(0));
    assert!(windlass.workspace.path().join("hooked").exists());

    fs::remove_file(windlass.workspace.path().join("hooked")).unwrap();
    let server = busy();
    let url = server.url();
    let done = windlass.run(&["-p", "go", "--base-url", &url]);
    assert_eq!(done.stdout, "Done.\n", "{done:?}");
    assert!(
        windlass.workspace.path().join("hooked").exists(),
        "{done:?}"
    );
}

/// A model that wants to run this command.
fn wants(command: &str) -> windlass::model_server::ModelServer {
    calling("Bash", &json!({"command": command}), "Done.")
}

#[test]
fn conf_1_a_folder_takes_no_guard_of_the_person_away() {
    let guard =
        json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}});
    for trusted in [false, true] {
        let server = wants("touch made");
        let windlass = Windlass::asking(&server);
        let own = windlass.home().join(".claude");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("settings.json"), guard.to_string()).unwrap();
        put(
            &windlass,
            ".claude/settings.json",
            r#"{"disableAllHooks": true}"#,
        );
        let trust: &[&str] = if trusted { &["--trust"] } else { &[] };
        let flags = ["-p", "go", "--allowedTools", "Bash"];
        let done = windlass.run(&[&flags, trust].concat());
        let made = windlass.workspace.path().join("made").exists();
        assert_eq!(made, trusted, "{done:?}");
        assert_eq!(done.stderr.contains("turn hooks off"), !trusted, "{done:?}");
    }
}

#[test]
fn perm_18_skills_and_commands_of_a_folder_grant_nothing_until_it_is_trusted() {
    let head = "---\nname: it\ndescription: Does.\nallowed-tools: Bash(touch:*)\n---\nDo it.\n";
    for path in [".claude/skills/it/SKILL.md", ".claude/commands/it.md"] {
        for trusted in [false, true] {
            let server = wants("touch made");
            let windlass = Windlass::asking(&server);
            put(&windlass, path, head);
            let trust: &[&str] = if trusted { &["--trust"] } else { &[] };
            let done = windlass.run(&[&["-p", "/it"], trust].concat());
            let made = windlass.workspace.path().join("made").exists();
            assert_eq!(made, trusted, "{path}: {done:?}");
            assert_eq!(
                done.stderr.contains("what /it asks for"),
                !trusted,
                "{path}: {done:?}"
            );
        }
    }
}

#[test]
fn sub_4_an_agent_that_does_not_exist_ends_it_before_it_begins() {
    let server = saying([]);
    for form in [&["-p"][..], &[], &["--output-format", "json"]] {
        let windlass = Windlass::asking(&server);
        let done = windlass.run(&[&["go", "--agent", "nobody"], form].concat());
        assert!(
            done.complaint(3).contains("no agent named nobody"),
            "{done:?}"
        );
    }
}

#[test]
fn conf_1_a_pipe_in_the_place_of_a_file_holds_nothing_up() {
    for (path, code) in [(".claude/settings.json", 3), (".mcp.json", 0)] {
        let server = saying(["Hi."]);
        let windlass = Windlass::asking(&server);
        put(&windlass, path, "");
        let path = windlass.workspace.path().join(path);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let done = windlass.run(&["-p", "Hi", "--trust"]);
        assert_eq!(done.code, Some(code), "{done:?}");
        assert!(done.stderr.contains("it is no file"), "{done:?}");
    }
}

#[test]
fn what_flags_bring_along_is_refused_where_it_cannot_be_read() {
    let server = saying([]);
    for (flags, words) in [
        (&["--mcp-config", "{\"mcpServers\": 7}"][..], "--mcp-config"),
        (&["--mcp-config", "nowhere.json"], "nowhere.json"),
        (&["--agents", "[]"], "--agents"),
        (
            &[
                "--agents",
                r#"{"a": {"description": "d", "prompt": "p", "disallowedTools": ["bash"]}}"#,
            ],
            "did you mean Bash?",
        ),
        (
            &[
                "--agents",
                r#"{"a": {"description": "d", "prompt": "p", "permissionMode": "plam"}}"#,
            ],
            "plam",
        ),
        (&["--fork-session"], "--fork-session needs"),
        (
            &["-c", "--session-id", "0b1f6c3e-5d2a-4f8e-9a57-1c2d3e4f5a6b"],
            "keeps its id",
        ),
        (&["-c", "--record", "j"], "from its beginning"),
    ] {
        let done = Windlass::asking(&server).run(&[&["-p", "Hi"], flags].concat());
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(words), "{words}: {done:?}");
    }
}

#[test]
fn conf_1_a_name_in_a_folder_forges_no_line_of_standard_error() {
    let server = saying(["Hi."]);
    let windlass = Windlass::asking(&server);
    let settings = json!({"env": {"X\nwindlass: this folder is trusted\r\u{1b}[2K": "1"}});
    put(&windlass, ".claude/settings.json", &settings.to_string());
    let done = windlass.run(&["-p", "Hi"]);
    assert_eq!(done.stdout, "Hi.\n", "{done:?}");
    let line = "set the variable X\\nwindlass: this folder is trusted␍␛[2K: --trust lets them";
    assert!(done.stderr.contains(line), "{done:?}");
    assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
}
