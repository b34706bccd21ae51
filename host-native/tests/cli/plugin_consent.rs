//! Who may change what components are granted: a person, or a script of the person, and no program that an agent started.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    guest,
    plugin_install::{hears, kept, plugin},
    support::{Done, Windlass, model},
    terminal::Terminal,
};

const GRANTS: &str = ".config/windlass/plugins/grants.json";

/// A component that asks for a variable and for memory.
fn put(windlass: &Windlass) {
    let declaration = json!({
        "name": "speaks", "version": "1.0.0", "wit": "0.1.0",
        "tools": [{"name": "Speak", "description": "Says it.", "input_schema": {"type": "object"}}],
        "grants": {"env": ["LANGUAGE"], "state": "durable"},
    });
    let component = guest::declared(
        &declaration.to_string(),
        "(call $text (i32.const 0) (i32.const 0))",
    );
    fs::write(windlass.workspace.path().join("speaks.wasm"), component).unwrap();
}

/// A session in which the model makes these calls, each of which has to fail; the texts that it reads contain these words.
fn session_that_fails(windlass: &Windlass, calls: &[Value], words: &str, flags: &[&str]) {
    let refused: Vec<Value> = calls
        .iter()
        .map(|_| json!({"is_error": true, "contains": words}))
        .collect();
    let script = json!({"exchanges": [
        {"respond": {"content": calls}},
        {"expect": {"tool_results": refused}, "respond": "done"},
    ]});
    let server = model(&script.to_string());
    let mut command = windlass.command(&[&["-p", "go"], flags].concat());
    command
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "none");
    let done = Done::of(&command.output().unwrap());
    server.verify().unwrap();
    assert_eq!(done.code, Some(0), "{done:?}");
}

fn bash(command: &str) -> Value {
    json!({"type": "tool_use", "name": "Bash", "input": {"command": command}})
}

#[cfg(target_os = "linux")]
#[test]
fn card_5_no_command_of_a_model_changes_a_grant() {
    let windlass = Windlass::new();
    put(&windlass);
    let grants = windlass.home().join(GRANTS);
    let program = env!("CARGO_BIN_EXE_windlass");
    let grant = format!("{program} plugin grant speaks.wasm --env LANGUAGE --yes");
    let judged = [
        grant.clone(),
        format!("{program} plugin revoke speaks --yes"),
        format!("{program} plugin add speaks.wasm --yes"),
        format!("{program} plugin update"),
        format!("{program} plugin remove speaks"),
    ];
    let done = windlass.run(&[
        "plugin",
        "grant",
        "speaks.wasm",
        "--state",
        "durable",
        "--yes",
    ]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let kept = fs::read_to_string(&grants).unwrap();
    let words = "an agent does not change what components are granted";
    let narrow = format!("Bash({program}:*)");
    session_that_fails(
        &windlass,
        &judged.map(|line| bash(&line)),
        words,
        &["--allowedTools", &narrow],
    );
    // Where every command may run, the traces of the agent can be swept, but for one of them.
    let home = windlass.home().display();
    let swept = [
        format!("env -u WINDLASS_AGENT {grant}"),
        format!("env -i HOME={home} PATH=$PATH {grant}"),
        format!("sh -c 'unset WINDLASS_AGENT; exec {grant}'"),
        format!("unset WINDLASS_AGENT; {grant}"),
        format!("sh -c 'sh -c \"env -u WINDLASS_AGENT {grant}\"'"),
        // Nothing but the variable is left when its ancestors are gone.
        format!(
            "(setsid sh -c 'sleep 0.2; {grant} >said 2>&1; echo >ended' &); until test -e ended; do sleep 0.05; done; cat said; exit 1"
        ),
    ];
    session_that_fails(
        &windlass,
        &swept.map(|line| bash(&line)),
        words,
        &["--allowedTools", "Bash"],
    );
    assert_eq!(fs::read_to_string(&grants).unwrap(), kept);
}

#[test]
fn card_5_a_grant_is_a_persons_or_a_script_of_the_persons() {
    let windlass = Windlass::new();
    put(&windlass);
    let grants = windlass.home().join(GRANTS);
    let grant = ["plugin", "grant", "speaks.wasm", "--env", "LANGUAGE"];
    let revoke = ["plugin", "revoke", "speaks"];
    let done = windlass.run(&grant);
    assert!(done.complaint(3).contains("no terminal"), "{done:?}");
    assert!(done.stderr.contains("--yes"), "{done:?}");
    // An answer that nobody typed at a terminal is none.
    let done = windlass.run_with_input(&grant, b"y\n");
    assert!(done.complaint(3).contains("no terminal"), "{done:?}");
    for no in ["n\n", "\n", "sure\n"] {
        let mut terminal = Terminal::run(&windlass, &grant);
        let shown = terminal.wait_for("y/N > ");
        for words in [
            "speaks 1.0.0 (sha256:",
            "read the variable LANGUAGE",
            "    the variable LANGUAGE",
        ] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        terminal.type_in(no);
        assert_eq!(terminal.exit_code(), Some(3));
        assert!(!grants.exists());
    }
    let mut terminal = Terminal::run(&windlass, &grant);
    terminal.wait_for("y/N > ");
    terminal.type_in("y\n");
    assert_eq!(terminal.exit_code(), Some(0));
    let kept = fs::read_to_string(&grants).unwrap();
    assert!(kept.contains("LANGUAGE"), "{kept}");

    let done = windlass.run(&revoke);
    assert!(done.complaint(3).contains("no terminal"), "{done:?}");
    assert_eq!(fs::read_to_string(&grants).unwrap(), kept);
    let mut terminal = Terminal::run(&windlass, &revoke);
    terminal.wait_for("y/N > ");
    terminal.type_in("y\n");
    assert_eq!(terminal.exit_code(), Some(0));
    assert!(!fs::read_to_string(&grants).unwrap().contains("LANGUAGE"));
}

/// A folder in the workspace that the configuration directory leads to, with nothing of windlass in it.
#[cfg(unix)]
fn configuration_in_workspace(windlass: &Windlass) {
    let inside = windlass.workspace.path().join("conf");
    fs::create_dir(&inside).unwrap();
    std::os::unix::fs::symlink(inside, windlass.home().join(".config")).unwrap();
}

#[cfg(unix)]
#[test]
fn card_5_a_configuration_directory_that_is_a_link_into_the_workspace_is_closed() {
    let windlass = Windlass::new();
    configuration_in_workspace(&windlass);
    put(&windlass);
    windlass.write("grants.json", "{}");
    let file = "conf/windlass/plugins/grants.json";
    let write = |path: &str| {
        let path = windlass.workspace.path().join(path).display().to_string();
        json!({"type": "tool_use", "name": "Write", "input": {"file_path": path, "content": "{}"}})
    };
    let calls = [
        write(file),
        write("conf/windlass/plugins/state/granted/a/b"),
        bash(&format!("cp grants.json {file}")),
        bash(&format!(
            "mkdir -p conf/windlass/plugins && cp grants.json {file}"
        )),
    ];
    let flags = [
        "--allowedTools",
        "Write",
        "Edit",
        "Bash(cp:*)",
        "Bash(mkdir:*)",
    ];
    session_that_fails(&windlass, &calls, "", &flags);
    assert!(!windlass.workspace.path().join(file).exists());
    assert_eq!(
        mode(&windlass.workspace.path().join("conf/windlass/plugins")),
        0o700
    );
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn card_5_grants_that_others_could_have_written_are_not_used() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let windlass = Windlass::new();
    put(&windlass);
    let grant = [
        "plugin",
        "grant",
        "speaks.wasm",
        "--env",
        "LANGUAGE",
        "--yes",
    ];
    assert_eq!(windlass.run(&grant).code, Some(0));
    let file = windlass.home().join(GRANTS);
    let start = || {
        let mut command = windlass.command(&["-p", "go", "--plugin-dir", "speaks.wasm"]);
        command.env("ANTHROPIC_API_KEY", "none");
        Done::of(&command.output().unwrap())
    };
    for open in [0o644, 0o620, 0o602] {
        fs::set_permissions(&file, fs::Permissions::from_mode(open)).unwrap();
        for done in [
            start(),
            windlass.run(&grant),
            windlass.run(&["plugin", "list"]),
        ] {
            assert!(
                done.complaint(3).contains("chmod 600"),
                "{open:o}: {done:?}"
            );
        }
    }
    // A link in its place is no file of grants, wherever it leads.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let elsewhere = windlass.home().join("elsewhere.json");
    fs::rename(&file, &elsewhere).unwrap();
    symlink(&elsewhere, &file).unwrap();
    for done in [start(), windlass.run(&["plugin", "list"])] {
        assert!(done.complaint(3).contains("it is a link"), "{done:?}");
    }
}

#[test]
fn card_5_a_plugin_is_installed_by_a_yes_at_the_terminal_and_by_nothing_else() {
    let windlass = Windlass::new();
    let put = |version: &str, asks: &Value| {
        let bytes = plugin(version, asks);
        fs::write(windlass.workspace.path().join("speaks.wasm"), bytes).unwrap();
    };
    put("1.0.0", &json!({"env": ["LANGUAGE"]}));
    let add = ["plugin", "add", "speaks.wasm"];
    let before = kept(&windlass);
    // The last one is the end of input.
    for no in ["n\n", "\n", "sure\n", "\u{4}"] {
        let mut terminal = Terminal::run(&windlass, &add);
        let shown = terminal.wait_for("y/N > ");
        for words in [
            "speaks 1.0.0 (sha256:",
            "read the variable LANGUAGE",
            "Install it",
        ] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        terminal.type_in(no);
        terminal.wait_for("you said no");
        assert_eq!(terminal.exit_code(), Some(3), "{no:?}");
        assert_eq!(kept(&windlass), before, "{no:?}");
    }
    let mut terminal = Terminal::run(&windlass, &add);
    terminal.wait_for("y/N > ");
    terminal.type_in("y\n");
    terminal.wait_for("granted what it asks for");
    assert_eq!(terminal.exit_code(), Some(0));
    hears(&windlass, &[], "français");

    // A changed component is asked about anew, with what is different; without a yes it has nothing.
    let update = ["plugin", "update", "speaks"];
    for (version, yes, says) in [("1.1.0", true, "français"), ("1.2.0", false, "-")] {
        let more = if yes { "EDITOR" } else { "PAGER" };
        put(version, &json!({"env": ["LANGUAGE", more]}));
        let mut terminal = Terminal::run(&windlass, &update);
        let shown = terminal.wait_for("y/N > ");
        assert!(
            shown.contains(&format!("+ read the variable {more}")),
            "{shown}"
        );
        assert!(!shown.contains("+ read the variable LANGUAGE"), "{shown}");
        terminal.type_in(if yes { "y\n" } else { "\n" });
        terminal.wait_for("updated speaks");
        assert_eq!(terminal.exit_code(), Some(0));
        hears(&windlass, &[], says);
    }
}
