//! Plugins that are folders: what they run is agreed to in plain words, and what cannot be used of them is said.

use std::fs;

use serde_json::{Value, json};

use crate::{
    plugin_install::{kept, plugin},
    support::{Done, Windlass, model, saying},
    terminal::Terminal,
};

/// A folder whose hook leaves a mark.
fn marking(windlass: &Windlass) -> std::path::PathBuf {
    let mark = windlass.home().join("ran");
    windlass.write(
        "notes/.claude-plugin/plugin.json",
        r#"{"name": "notes", "version": "1.0.0"}"#,
    );
    windlass.write("notes/mark.sh", &format!("touch '{}'\n", mark.display()));
    let hooks = json!({"hooks": {"SessionStart": [{"hooks": [
        {"type": "command", "command": "sh \"${CLAUDE_PLUGIN_ROOT}/mark.sh\""},
    ]}]}});
    windlass.write("notes/hooks/hooks.json", &hooks.to_string());
    let servers = json!({"mcpServers": {
        "db": {"command": "serve", "args": ["--at", "a b"], "env": {"LEVEL": "1"}},
        "far": {"type": "http", "url": "https://mcp.example", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    }});
    windlass.write("notes/.mcp.json", &servers.to_string());
    mark
}

fn session(windlass: &Windlass, more: &[&str]) -> Done {
    let server = saying(["done"]);
    let mut command = windlass.command(&[&["-p", "go"], more].concat());
    command
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "none");
    Done::of(&command.output().unwrap())
}

#[test]
fn card_5_what_a_folder_runs_is_said_in_the_same_plain_words_everywhere() {
    let windlass = Windlass::new();
    marking(&windlass);
    let lines = [
        r#"run a hook at SessionStart with your rights: sh "${CLAUDE_PLUGIN_ROOT}/mark.sh""#,
        "start the MCP server plugin:notes:db with your rights: LEVEL=1 serve --at 'a b'",
        "connect to the MCP server plugin:notes:far with your rights: https://mcp.example with the header Authorization: Bearer ${TOKEN}",
    ];
    for args in [
        &["plugin", "check", "notes"][..],
        &["plugin", "add", "notes"],
        &["plugin", "inspect", "notes"],
        &["plugin", "list"],
    ] {
        let done = windlass.run(args);
        assert_eq!(done.code, Some(0), "{args:?}: {done:?}");
        for line in lines {
            let is_it = |said: &str| said.ends_with(line);
            assert!(done.stdout.lines().any(is_it), "{args:?}: {line}: {done:?}");
        }
        assert!(!done.stdout.contains("HookMatcher"), "{done:?}");
    }
    // A version that lies elsewhere and runs the same is no different.
    fs::rename(
        windlass.workspace.path().join("notes"),
        windlass.workspace.path().join("moved"),
    )
    .unwrap();
    windlass.write("moved/commands/tidy.md", "Tidy up.");
    let done = windlass.run(&["plugin", "update", "notes", "--from", "moved"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let new: Vec<&str> = (done.stdout.lines())
        .filter(|line| line.starts_with("  + "))
        .collect();
    assert_eq!(new, ["  + commands/tidy.md"], "{done:?}");
}

#[test]
fn card_5_a_person_lets_the_programs_of_a_folder_run_later_and_not_any_more() {
    let windlass = Windlass::new();
    let mark = marking(&windlass);
    windlass.write("notes/.mcp.json", "{}");
    windlass.run(&["plugin", "add", "notes"]);
    session(&windlass, &[]);
    assert!(!mark.exists());
    let grant = ["plugin", "grant", "notes", "--programs"];
    let before = kept(&windlass);
    let done = windlass.run(&grant);
    assert!(done.complaint(3).contains("no terminal"), "{done:?}");
    let mut terminal = Terminal::run(&windlass, &grant);
    let shown = terminal.wait_for("y/N > ");
    assert!(shown.contains("run a hook at SessionStart"), "{shown}");
    terminal.type_in("\n");
    assert_eq!(terminal.exit_code(), Some(3));
    assert_eq!(kept(&windlass), before);
    let done = windlass.run(&["plugin", "grant", "notes", "--programs", "--yes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    session(&windlass, &[]);
    assert!(mark.exists());
    fs::remove_file(&mark).unwrap();
    let done = windlass.run(&["plugin", "revoke", "notes", "--programs", "--yes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    session(&windlass, &[]);
    assert!(!mark.exists());
    // A slip of the pen does not look like something taken back.
    let before = kept(&windlass);
    let done = windlass.run(&["plugin", "revoke", "notes", "--programs", "--yes"]);
    assert!(done.complaint(3).contains("is not granted"), "{done:?}");
    assert_eq!(kept(&windlass), before);
}

#[test]
fn card_5_an_installed_folder_that_was_changed_is_not_used() {
    let windlass = Windlass::new();
    let mark = marking(&windlass);
    windlass.write("notes/.mcp.json", "{}");
    windlass.write("notes/commands/tidy.md", "Tidy up.");
    windlass.run(&["plugin", "add", "notes", "--yes"]);
    session(&windlass, &[]);
    assert!(mark.exists());
    let said = windlass.run(&["plugin", "inspect", "notes", "--json"]);
    let said: Value = serde_json::from_str(&said.stdout).unwrap();
    let folder = std::path::PathBuf::from(said["path"].as_str().unwrap());
    for (file, text) in [
        ("mark.sh", "touch elsewhere"),
        ("hooks/hooks.json", "{}"),
        ("commands/tidy.md", "Something else."),
        // What was not there, and what is left out of what is installed.
        ("commands/more.md", "More."),
        ("node_modules/x/index.js", "more()"),
        ("__pycache__/x.pyc", "more"),
    ] {
        fs::remove_file(&mark).unwrap();
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let done = session(&windlass, &[]);
        let complaint = done.complaint(3);
        for part in [
            "was changed since it was installed",
            "`windlass plugin update notes`",
        ] {
            assert!(complaint.contains(part), "{file}: {complaint}");
        }
        assert!(!mark.exists(), "{file}");
        let done = windlass.run(&["plugin", "inspect", "notes"]);
        assert!(
            done.stdout.contains("not those that were installed"),
            "{file}: {done:?}"
        );
        let done = windlass.run(&["plugin", "update", "notes"]);
        assert_eq!(done.code, Some(0), "{file}: {done:?}");
        let done = session(&windlass, &[]);
        assert_eq!(done.code, Some(0), "{file}: {done:?}");
        assert!(mark.exists(), "{file}");
    }
}

#[test]
fn conf_3_what_a_folder_runs_finds_its_folder_and_leaves_nothing_of_python_in_it() {
    let windlass = Windlass::new();
    windlass.write("notes/hook.py", "import os, more\nopen(os.environ['MARK'], 'a').write(os.environ['CLAUDE_PLUGIN_ROOT'] + '\\n')\n");
    windlass.write("notes/more.py", "");
    let hooks = json!({"hooks": {"SessionStart": [{"hooks": [
        {"type": "command", "command": "python3 \"$CLAUDE_PLUGIN_ROOT/hook.py\""},
    ]}]}});
    windlass.write("notes/hooks/hooks.json", &hooks.to_string());
    // Another one with the same command line runs what is its own.
    for file in ["hook.py", "more.py", "hooks/hooks.json"] {
        let text = fs::read_to_string(windlass.workspace.path().join("notes").join(file)).unwrap();
        windlass.write(&format!("others/{file}"), &text);
    }
    for name in ["notes", "others"] {
        let done = windlass.run(&["plugin", "add", name, "--yes"]);
        assert_eq!(done.code, Some(0), "{done:?}");
    }
    let mark = windlass.home().join("mark");
    for round in 0..2 {
        fs::write(&mark, "").unwrap();
        let server = saying(["done"]);
        let mut command = windlass.command(&["-p", "go"]);
        command
            .env("MARK", &mark)
            .env("ANTHROPIC_BASE_URL", server.url())
            .env("ANTHROPIC_API_KEY", "none");
        let done = Done::of(&command.output().unwrap());
        assert_eq!(done.code, Some(0), "{round}: {done:?}");
        let written = fs::read_to_string(&mark).unwrap();
        let mut names: Vec<&str> = (written.lines())
            .filter_map(|line| line.rsplit('/').next())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["notes", "others"], "{written}");
    }
    // They have the same content, and one is removed without the other.
    let done = windlass.run(&["plugin", "remove", "notes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let done = windlass.run(&["plugin", "inspect", "others"]);
    assert!(done.stdout.contains("as they were installed"), "{done:?}");
    let is_of_notes = |path: &std::path::PathBuf| {
        let mut parts = path.components();
        parts.any(|part| part.as_os_str() == "notes")
    };
    assert!(!kept(&windlass).keys().any(is_of_notes));
}

#[test]
fn card_5_a_folder_is_installed_if_a_session_could_be_told_to_load_it() {
    let windlass = Windlass::new();
    for (name, file, text) in [
        ("commands-only", "commands/tidy.md", "Tidy up."),
        ("skills-only", "skills/tidy/SKILL.md", "Tidy up."),
        ("agents-only", "agents/tidy.md", "Tidy up."),
        ("styles-only", "output-styles/terse.md", "Be terse."),
        ("servers-only", ".mcp.json", "{}"),
        ("hooks-only", "hooks/hooks.json", r#"{"hooks": {}}"#),
    ] {
        windlass.write(&format!("{name}/{file}"), text);
        for args in [["plugin", "check", name], ["plugin", "add", name]] {
            let done = windlass.run(&args);
            assert_eq!(done.code, Some(0), "{args:?}: {done:?}");
            assert!(done.stdout.contains(name), "{args:?}: {done:?}");
        }
    }
    windlass.write("broken/hooks/hooks.json", r#"{"hooks": {"PreToolUs": []}}"#);
    windlass.write("other/commands.md", "No command.");
    for (name, parts) in [
        ("broken", ["hooks/hooks.json", "`PreToolUs`"]),
        ("other", ["neither a .claude-plugin/plugin.json", "skills"]),
    ] {
        for command in ["check", "add"] {
            let done = windlass.run(&["plugin", command, name]);
            let said = format!("{}{}", done.stdout, done.stderr);
            assert_ne!(done.code, Some(0), "{done:?}");
            for part in parts {
                assert!(said.contains(part), "{command}: {part}: {done:?}");
            }
        }
    }
}

#[test]
fn card_5_two_components_with_one_tool_are_told_before_they_stop_every_session() {
    let windlass = Windlass::new();
    let components = windlass.workspace.path().join("notes/components");
    fs::create_dir_all(&components).unwrap();
    for name in ["speaks.wasm", "older.wasm"] {
        fs::write(
            components.join(name),
            plugin("1.0.0", &json!({"state": name_state(name)})),
        )
        .unwrap();
    }
    let done = windlass.run(&["plugin", "add", "notes"]);
    let complaint = done.complaint(3);
    assert!(complaint.contains("has the tool Speak"), "{complaint}");
    assert!(kept(&windlass).is_empty());
    let done = session(&windlass, &["--plugin-dir", "notes"]);
    assert_ne!(done.code, Some(0), "{done:?}");
    for part in ["older.wasm", "speaks.wasm", "tool Speak", "remove"] {
        assert!(done.stderr.contains(part), "{part}: {done:?}");
    }
    assert_eq!(session(&windlass, &[]).code, Some(0));
}

/// So that the two files differ.
fn name_state(name: &str) -> &'static str {
    match name {
        "older.wasm" => "session",
        _ => "none",
    }
}

#[test]
fn conf_3_a_manifest_that_is_none_and_a_folder_that_is_no_plugin_are_told() {
    let windlass = Windlass::new();
    let hooks = json!({"name": "notes", "hooks": {"PreToolUs": []}}).to_string();
    for (text, parts) in [
        ("[]", ["plugin.json", "map"]),
        (
            r#"{"name": "notes", "version": 5}"#,
            ["plugin.json", "`version`"],
        ),
        ("{", ["plugin.json", "Mend the file"]),
        (&hooks, ["plugin.json", "`PreToolUs`"]),
    ] {
        windlass.write("notes/.claude-plugin/plugin.json", text);
        let added = windlass.run(&["plugin", "add", "notes"]);
        assert_eq!(added.code, Some(3), "{text}: {added:?}");
        let loaded = session(&windlass, &["--plugin-dir", "notes"]);
        assert_ne!(loaded.code, Some(0), "{text}: {loaded:?}");
        for part in parts {
            assert!(added.stderr.contains(part), "{part}: {added:?}");
            assert!(loaded.stderr.contains(part), "{part}: {loaded:?}");
        }
        assert!(kept(&windlass).is_empty());
    }
    windlass.write(
        "notes/.claude-plugin/plugin.json",
        r#"{"name": "notes", "mcpServer": {}}"#,
    );
    let done = session(&windlass, &["--plugin-dir", "notes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stderr.contains("`mcpServer`"), "{done:?}");

    windlass.write(
        "around/notes/.claude-plugin/plugin.json",
        r#"{"name": "notes"}"#,
    );
    let done = session(&windlass, &["--plugin-dir", "around"]);
    assert_ne!(done.code, Some(0), "{done:?}");
    assert!(done.stderr.contains("it is no plugin"), "{done:?}");
}

#[test]
fn conf_3_texts_of_a_plugin_know_their_folder_and_what_has_no_effect_is_said() {
    let windlass = Windlass::new();
    windlass.write(
        "notes/commands/hi.md",
        "---\nhooks:\n  Stop: []\n---\nHi from ${CLAUDE_PLUGIN_ROOT}, !`date`.",
    );
    windlass.write(
        "notes/skills/tidy/SKILL.md",
        "---\nname: tidy\ndescription: Tidies.\n---\nRun ${CLAUDE_PLUGIN_ROOT}/tidy.sh.",
    );
    windlass.write(
        "notes/agents/helper.md",
        "---\nname: helper\ndescription: Helps.\nhooks:\n  Stop: []\n---\nHelp.",
    );
    windlass.write(
        ".claude/agents/own.md",
        "---\nname: own\ndescription: Helps.\nhooks:\n  Stop: []\n---\nHelp.",
    );
    let folder = windlass
        .workspace
        .path()
        .join("notes")
        .canonicalize()
        .unwrap();
    let folder = folder.display();
    let run = |prompt: &str, heard: &str| {
        let script = json!({"exchanges": [
            {"expect": {"last_user_contains": heard}, "respond": "done"},
        ]});
        let server = model(&script.to_string());
        let args = [
            "-p",
            prompt,
            "--plugin-dir",
            "notes",
            "--output-format",
            "stream-json",
            "--verbose",
            "--trust",
        ];
        let mut command = windlass.command(&args);
        command
            .env("ANTHROPIC_BASE_URL", server.url())
            .env("ANTHROPIC_API_KEY", "none");
        let done = Done::of(&command.output().unwrap());
        assert_eq!(done.code, Some(0), "{done:?}");
        server.verify().unwrap();
        done
    };
    let done = run("/notes:hi", &format!("Hi from {folder},"));
    let agents: &Value = &done.lines()[0]["agents"];
    let has = |name: &str| agents.as_array().unwrap().iter().any(|agent| agent == name);
    assert!(has("notes:helper"), "{agents}");
    // An agent of one's own whose guard would not run is no agent.
    assert!(!has("own"), "{agents}");
    for part in [
        "commands/hi.md: the field `hooks`",
        "!`date` is not run",
        "agents/helper.md: the field `hooks`",
        "own.md",
        "put them into the settings",
    ] {
        assert!(done.stderr.contains(part), "{part}: {done:?}");
    }
    run("/notes:tidy", &format!("Run {folder}/tidy.sh."));
}
