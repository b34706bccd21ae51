//! `windlass plugin grant`, `revoke` and `list`: what a component has for good, and what a changed one has not.

use std::fs;

use serde_json::{Value, json};
use windlass::model_server::ModelServer;

use crate::{
    plugin_install::plugin,
    support::{Done, Windlass, model},
};

const GRANTS: &str = ".config/windlass/plugins/grants.json";

fn asks() -> Value {
    json!({"env": ["LANGUAGE"]})
}

/// A model that calls the tool and expects this result.
fn hears(result: &str) -> ModelServer {
    let script = json!({"exchanges": [
        {"respond": {"content": [{"type": "tool_use", "name": "Speak", "input": {}}]}},
        {"expect": {"tool_results": [{"contains": result, "is_error": false}]}, "respond": "done"},
    ]});
    model(&script.to_string())
}

/// A session with the plugin, in which its tool says this.
fn session(windlass: &Windlass, result: &str) -> Done {
    let server = hears(result);
    let args = [
        "-p",
        "go",
        "--plugin-dir",
        "speaks.wasm",
        "--allowedTools",
        "Speak",
    ];
    let mut command = windlass.command(&args);
    command
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "none")
        .env("LANGUAGE", "français");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, Some(0), "{result}: {done:?}");
    server.verify().unwrap();
    done
}

fn put(windlass: &Windlass, version: &str, asks: &Value) {
    fs::write(
        windlass.workspace.path().join("speaks.wasm"),
        plugin(version, asks),
    )
    .unwrap();
}

/// Grants something as a script of the person does, or shows what there is.
fn grant(windlass: &Windlass, more: &[&str]) -> Done {
    let yes: &[&str] = if more.is_empty() { &[] } else { &["--yes"] };
    windlass.run(&[&["plugin", "grant", "speaks.wasm"], more, yes].concat())
}

#[test]
fn card_5_what_was_granted_for_good_holds_for_that_file_and_no_other() {
    let windlass = Windlass::new();
    put(&windlass, "1.0.0", &asks());
    let grant = |more: &[&str]| grant(&windlass, more);
    let done = grant(&[]);
    assert!(
        done.stdout.contains("read the variable LANGUAGE"),
        "{done:?}"
    );
    assert!(done.stdout.contains("was granted nothing"), "{done:?}");
    assert!(!windlass.home().join(GRANTS).exists());
    session(&windlass, "-");

    let done = grant(&["--env", "LANGUAGE"]);
    assert!(
        done.stdout.contains("    the variable LANGUAGE"),
        "{done:?}"
    );
    session(&windlass, "français");
    let listed = windlass.run(&["plugin", "list"]);
    assert!(
        listed.stdout.contains("speaks 1.0.0 (sha256:"),
        "{listed:?}"
    );

    // Another file under its name, which asks for more.
    put(
        &windlass,
        "1.1.0",
        &json!({"env": ["LANGUAGE", "EDITOR"], "filesystem": "read"}),
    );
    let done = session(&windlass, "-");
    assert!(done.stderr.contains("is not speaks 1.0.0"), "{done:?}");
    let done = grant(&[]);
    assert!(
        done.stdout.contains("+ read the variable EDITOR"),
        "{done:?}"
    );
    assert!(done.stdout.contains("+ read files"), "{done:?}");
    assert!(
        !done.stdout.contains("+ read the variable LANGUAGE"),
        "{done:?}"
    );
    grant(&["--env", "LANGUAGE"]);
    session(&windlass, "français");
    let listed = windlass.run(&["plugin", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let kept: Vec<&Value> = listed.as_object().unwrap().values().collect();
    assert_eq!(kept.len(), 1, "{listed}");
    assert_eq!(kept[0]["version"], "1.1.0");

    let done = windlass.run(&["plugin", "revoke", "speaks", "--yes"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    session(&windlass, "-");
    let done = windlass.run(&["plugin", "revoke", "speaks"]);
    assert!(
        done.complaint(3).contains("was granted anything"),
        "{done:?}"
    );
}

#[test]
fn card_5_what_cannot_be_granted_is_said_and_leaves_the_grants_as_they_are() {
    let windlass = Windlass::new();
    put(&windlass, "1.0.0", &asks());
    let grant = |more: &[&str]| grant(&windlass, more);
    for (more, problem) in [
        (["--env", "EDITOR"], "for which it does not ask"),
        (
            ["--http", "https://api.example.com"],
            "for which it does not ask",
        ),
        (["--http", "ftp://api.example.com"], "ftp"),
        (["--secret", "TOKEN"], "NAME=VARIABLE"),
        (["--state", "durable"], "asks for no"),
        (["--dir", "nowhere"], "nowhere"),
    ] {
        let done = grant(&more);
        assert!(done.complaint(3).contains(problem), "{more:?}: {done:?}");
    }
    assert!(!windlass.home().join(GRANTS).exists());
    let done = windlass.run(&["plugin", "grant", "gone.wasm"]);
    assert!(done.complaint(3).contains("gone.wasm"), "{done:?}");

    // A file that nobody can rely on starts nothing.
    grant(&["--env", "LANGUAGE"]);
    let file = windlass.home().join(GRANTS);
    let kept = fs::read_to_string(&file).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }
    for broken in [
        "{".to_owned(),
        kept.replace(r#""version": 1,"#, r#""version": 2,"#),
        kept.replacen(r#""grant": {"#, r#""grant": {"core": true, "#, 1),
    ] {
        assert_ne!(broken, kept);
        fs::write(&file, &broken).unwrap();
        let mut command = windlass.command(&["-p", "go", "--plugin-dir", "speaks.wasm"]);
        command.env("ANTHROPIC_API_KEY", "none");
        let done = Done::of(&command.output().unwrap());
        assert_ne!(done.code, Some(0), "{done:?}");
        assert!(
            done.stderr.contains("grants.json cannot be read"),
            "{done:?}"
        );
        let done = grant(&["--env", "LANGUAGE"]);
        assert!(done.complaint(3).contains("Mend the file"), "{done:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), broken);
    }
}

/// What closes the files of windlass itself, as the model is told.
const CLOSED: &str = "belongs to the program itself, and no rule and no mode opens it to tools";

/// A session in this mode, where rules let everything pass, in which each call ends like this: with an error or not, and with
/// these words.
fn called(windlass: &Windlass, mode: &str, calls: &[(Value, bool, &str)]) {
    let made: Vec<&Value> = calls.iter().map(|(call, _, _)| call).collect();
    let ends: Vec<Value> = calls
        .iter()
        .map(|(_, is_error, words)| json!({"is_error": is_error, "contains": words}))
        .collect();
    let script = json!({"exchanges": [
        {"respond": {"content": made}},
        {"expect": {"tool_results": ends}, "respond": "done"},
    ]});
    let server = model(&script.to_string());
    let mut command = windlass.command(&[
        "-p",
        "go",
        "--plugin-dir",
        "speaks.wasm",
        "--permission-mode",
        mode,
        "--allowedTools",
        "Write",
        "Read",
        "Edit",
        "Bash(cp:*)",
    ]);
    command
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "none")
        // Root may bypass in a sandbox only.
        .env("IS_SANDBOX", "1");
    let done = Done::of(&command.output().unwrap());
    assert_eq!(done.code, Some(0), "{mode}: {done:?}");
    if let Err(unmet) = server.verify() {
        panic!("{mode}: {unmet}");
    }
}

#[test]
fn card_5_no_tool_writes_a_grant() {
    for mode in ["acceptEdits", "bypassPermissions"] {
        let windlass = Windlass::new();
        put(&windlass, "1.0.0", &asks());
        let file = windlass.home().join(GRANTS);
        let path = file.display().to_string();
        let beside = windlass.home().join("elsewhere.json");
        let call =
            |name: &str, input: Value| json!({"type": "tool_use", "name": name, "input": input});
        let write = |path: &str| call("Write", json!({"file_path": path, "content": "{}"}));
        let read = call("Read", json!({ "file_path": path }));
        let copy = call("Bash", json!({"command": format!("cp speaks.wasm {path}")}));

        // Where there is no such file yet nothing but its protection stands in the way: one in the same home is written.
        let calls = [
            (write(&path), true, CLOSED),
            (copy.clone(), true, CLOSED),
            (write(beside.to_str().unwrap()), false, ""),
        ];
        called(&windlass, mode, &calls);
        assert!(!file.exists(), "{mode}");
        assert_eq!(fs::read_to_string(&beside).unwrap(), "{}", "{mode}");

        grant(&windlass, &["--env", "LANGUAGE"]);
        let kept = fs::read_to_string(&file).unwrap();
        assert!(kept.contains("LANGUAGE"), "{kept}");
        // That which is there cannot be read, so that nothing else replaces it either.
        let calls = [
            (read, true, CLOSED),
            (copy, true, CLOSED),
            (write(&path), true, ""),
        ];
        called(&windlass, mode, &calls);
        assert_eq!(fs::read_to_string(&file).unwrap(), kept, "{mode}");
    }
}

#[test]
fn card_5_a_grant_adds_what_is_named_and_a_part_is_taken_back() {
    let windlass = Windlass::new();
    let asks = json!({
        "env": ["LANGUAGE", "EDITOR"], "filesystem": "read", "state": "durable",
        "http": [{"origin": "https://api.example.com", "methods": ["GET", "POST"]}],
    });
    put(&windlass, "1.0.0", &asks);
    let kept = || -> Value {
        let listed = windlass.run(&["plugin", "list", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        listed.as_object().unwrap().values().next().unwrap()["grant"].clone()
    };
    let has = |done: &Done, lines: &[&str]| {
        assert_eq!(done.code, Some(0), "{done:?}");
        let shown: Vec<&str> = done
            .stdout
            .lines()
            .skip_while(|line| *line != "  has")
            .collect();
        for line in lines {
            assert!(shown.contains(line), "{line}: {done:?}");
        }
        assert_eq!(shown.len(), lines.len() + 1, "{done:?}");
    };
    // Naming one thing grants no other, the files of the workspace least of all.
    let done = grant(&windlass, &["--env", "LANGUAGE"]);
    let workspace = "  - the workspace, which a component that is loaded by its path has until it is granted something (--workspace=read or --workspace=write keeps it)";
    has(&done, &["    the variable LANGUAGE", workspace]);
    let done = grant(
        &windlass,
        &["--workspace", "read", "--http", "https://api.example.com"],
    );
    has(
        &done,
        &[
            "  + the workspace to read",
            "  + requests to https://api.example.com (GET)",
            "    the variable LANGUAGE",
        ],
    );
    let done = grant(
        &windlass,
        &[
            "--http",
            "https://api.example.com=POST",
            "--state",
            "session",
        ],
    );
    has(
        &done,
        &[
            "    the workspace to read",
            "  + requests to https://api.example.com (GET, POST)",
            "    the variable LANGUAGE",
            "  + memory while a session lasts",
            "  - requests to https://api.example.com (GET)",
        ],
    );
    let before = kept();
    let revoke =
        |more: &[&str]| windlass.run(&[&["plugin", "revoke", "speaks", "--yes"], more].concat());
    for more in [
        ["--env", "EDITOR"],
        ["--secret", "TOKEN"],
        ["--dir", "/nowhere"],
        ["--http", "https://other.example.com"],
    ] {
        let done = revoke(&more);
        assert!(done.complaint(3).contains("is not granted"), "{done:?}");
        assert_eq!(kept(), before);
    }
    let done = revoke(&["--http", "https://api.example.com=GET", "--state"]);
    has(
        &done,
        &[
            "    the workspace to read",
            "    requests to https://api.example.com (POST)",
            "    the variable LANGUAGE",
        ],
    );
    has(
        &revoke(&["--workspace", "--http", "https://api.example.com"]),
        &["    the variable LANGUAGE"],
    );
    session(&windlass, "français");
    let done = grant(&windlass, &["--replace", "--env", "EDITOR"]);
    has(
        &done,
        &["  + the variable EDITOR", "  - the variable LANGUAGE"],
    );
    session(&windlass, "-");
    // A part that was the last one leaves nothing, and no workspace either.
    has(&revoke(&["--env", "EDITOR"]), &["    nothing"]);
    assert_eq!(kept()["directories"], json!([]));
}
