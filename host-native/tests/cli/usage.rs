//! What is refused before anything starts, and what is answered without a model.

use crate::support::{Done, Windlass, saying};

/// Runs it without a server or a key.
fn alone(args: &[&str]) -> Done {
    Windlass::new().run(args)
}

/// It must be refused as wrong usage, with these words.
#[track_caller]
fn refused(args: &[&str], words: &str) {
    let done = alone(args);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert_eq!(done.stdout, "", "{done:?}");
    assert!(done.stderr.starts_with("error: "), "{done:?}");
    assert!(done.stderr.contains(words), "{done:?}");
}

#[test]
fn the_version_names_the_program() {
    for flag in ["--version", "-v"] {
        let done = alone(&[flag]);
        assert_eq!(
            done.stdout,
            concat!(env!("CARGO_PKG_VERSION"), " (windlass)\n")
        );
        assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    }
}

#[test]
fn help_is_an_answer_not_an_error() {
    let done = alone(&["--help"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    for word in [
        "--allowedTools",
        "--input-format",
        "--output-format",
        "doctor",
        "ANTHROPIC_API_KEY",
        "Exit codes",
    ] {
        assert!(done.stdout.contains(word), "{word} is missing");
    }
}

#[test]
fn text_is_what_is_read_also_where_it_is_said() {
    let server = saying(["Hello."]);
    let done = Windlass::asking(&server).run(&["-p", "hi", "--input-format", "text"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "Hello.\n"));
    refused(&["-p", "hi", "--input-format", "xml"], "stream-json");
}

#[test]
fn wrong_usage_is_explained() {
    refused(&["-p", "hi", "--no-such-flag"], "'--no-such-flag'");
    refused(&["-p"], "there is no prompt");
    refused(&["-p", "  "], "there is no prompt");
    refused(&["-p", "hi", "--max-turns", "none"], "--max-turns");
    refused(&["-p", "hi", "--permission-mode", "yolo"], "acceptEdits");
    refused(&["-p", "hi", "--output-format", "xml"], "stream-json");
    refused(&["doctor", "--no-such-flag"], "--no-such-flag");
    for (settings, words) in [
        (r#"{"enable": true}"#, "have no `enable`"),
        (
            r#"{"enabled": true, "network": {"allowedDomain": ["a.test"]}}"#,
            "have no `network.allowedDomain`",
        ),
        (r#"{"enabled": true} x"#, "a JSON object such as"),
        (r#"{"enabled": "yes"}"#, "a JSON object such as"),
    ] {
        refused(&["-p", "hi", "--sandbox", settings], words);
    }
}

#[test]
fn rules_and_tools_that_do_not_exist_are_refused_by_the_flag_that_names_them() {
    let server = saying([]);
    let windlass = Windlass::asking(&server);
    for (flag, value, words) in [
        (
            "--allowedTools",
            "Bash(ls",
            "the parenthesis is not closed at the end (from --allowedTools)",
        ),
        (
            "--disallowedTools",
            "Glob(*.rs)",
            "spelled Read(pattern): Read(*.rs) (from --disallowedTools)",
        ),
        (
            "--tools",
            "Read,Teleport",
            "--tools: there is no built-in tool named `Teleport`",
        ),
    ] {
        let done = windlass.run(&["-p", "hi", flag, value]);
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.stderr.contains(words), "{done:?}");
    }
}

#[test]
fn perm_4_no_session_begins_with_a_rule_that_forbids_a_tool_by_a_misspelt_name() {
    let server = saying([]);
    let windlass = Windlass::asking(&server);
    let settings = |list: &str, rule: &str| format!(r#"{{"permissions":{{"{list}":["{rule}"]}}}}"#);
    let prompt = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n";
    for (rule, meant) in [
        ("bash", "Bash"),
        ("Bashh", "Bash"),
        ("Wrte", "Write"),
        ("Reed", "Read"),
    ] {
        let words = format!("no tool is named {rule}: did you mean {meant}?");
        let [deny, ask] = ["deny", "ask"].map(|list| settings(list, rule));
        for flags in [
            ["--disallowedTools", rule],
            ["--settings", deny.as_str()],
            ["--settings", ask.as_str()],
        ] {
            let done = windlass.run(&[&["-p", "hi"][..], &flags].concat());
            assert_ne!(done.code, Some(0), "{flags:?}: {done:?}");
            assert!(done.stderr.contains(&words), "{flags:?}: {done:?}");
            let args = [&ENGINE[..], &flags].concat();
            let done = windlass.run_with_input(&args, prompt);
            assert_eq!(done.code, Some(1), "{flags:?}: {done:?}");
            assert!(done.stderr.contains(&words), "{flags:?}: {done:?}");
        }
    }
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn perm_4_rules_about_tools_that_other_engines_have_are_no_mistake() {
    let server = saying(["Hello.", "Hello."]);
    let windlass = Windlass::asking(&server);
    let shared = r#"{"permissions":{"deny":["WebFetch","WebSearch","NotebookEdit","Skill(docs)","mcp__github","KillBash"]}}"#;
    let done = windlass.run(&["-p", "hi", "--tools", "Read", "--settings", shared]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    // A name of which nobody knows what is meant is told.
    let done = windlass.run(&["-p", "hi", "--disallowedTools", "Teleport"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stderr.contains("no tool is named Teleport"),
        "{done:?}"
    );
}

/// What the SDKs start an engine with.
const ENGINE: [&str; 5] = [
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
];

#[test]
fn perm_4_an_engine_does_not_begin_with_a_rule_that_it_cannot_read() {
    let server = saying([]);
    let windlass = Windlass::asking(&server);
    let settings = |list: &str| format!("{{\"permissions\":{{\"{list}\":[\"Bash(ls\"]}}}}");
    let [deny, ask, allow] = ["deny", "ask", "allow"].map(settings);
    let prompt = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n";
    for (flags, words) in [
        (&["--disallowedTools", "Write", "Bash(ls"][..], "not closed"),
        (&["--disallowed-tools=Bash(ls"], "not closed"),
        (&["--allowedTools", "Read", "Bash(ls"], "not closed"),
        (&["--disallowedTools=Write", "Bash"], "belongs to no option"),
        (&["--settings", deny.as_str()], "not closed"),
        (&["--settings", ask.as_str()], "not closed"),
        (&["--settings", allow.as_str()], "not closed"),
    ] {
        let args = [&ENGINE[..], flags].concat();
        let done = windlass.run_with_input(&args, prompt);
        assert_eq!(done.code, Some(1), "{flags:?}: {done:?}");
        assert!(done.stderr.contains(words), "{flags:?}: {done:?}");
        assert!(
            !done.stdout.contains("\"init\""),
            "no session begins: {done:?}"
        );
    }
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_missing_key_is_named() {
    let done = alone(&["-p", "hi"]);
    assert!(
        done.complaint(3).contains("set ANTHROPIC_API_KEY"),
        "{done:?}"
    );
    // An empty variable is no key either.
    let windlass = Windlass::new();
    let output = windlass
        .command(&["-p", "hi"])
        .env("ANTHROPIC_API_KEY", "")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn what_cannot_be_read_is_named() {
    let server = saying([]);
    let windlass = Windlass::asking(&server);
    windlass.write("prices.json", "{\"models\": 5}");
    for (args, words) in [
        (
            ["--prices", "no-such.json"],
            "--prices `no-such.json`: No such file",
        ),
        (
            ["--prices", "prices.json"],
            "--prices `prices.json`: the price file is not of the documented form",
        ),
        (
            ["--add-dir", "no-such-dir"],
            "--add-dir `no-such-dir`: No such file",
        ),
        (
            ["--add-dir", "prices.json"],
            "--add-dir `prices.json`: it is not a directory",
        ),
        (
            ["--base-url", "ftp://127.0.0.1/a?key=b"],
            "the model endpoint `ftp://127.0.0.1` is not a usable address: only http and https are spoken",
        ),
        (
            ["--base-url", "http://me:secret@127.0.0.1/secret"],
            "`http://127.0.0.1` is not a usable address: it contains a user name",
        ),
        (
            ["--base-url", "localhost:11434"],
            "write http://localhost:11434 or https://localhost:11434",
        ),
        (
            ["--base-url", "192.0.2.7:8080/v1"],
            "write http://192.0.2.7:8080 or",
        ),
    ] {
        let done = windlass.run(&["-p", "hi", args[0], args[1]]);
        let complaint = done.complaint(3);
        assert!(complaint.contains(words), "{done:?}");
        assert!(
            !complaint.contains('…') && !complaint.contains("secret"),
            "{done:?}"
        );
    }
}

#[test]
fn certificates_that_cannot_be_read_are_named() {
    let windlass = Windlass::new();
    windlass.write("empty.pem", "");
    for (file, words) in [
        ("no-such.pem", "no-such.pem"),
        ("empty.pem", "there is none in it"),
    ] {
        let args = [
            "-p",
            "hi",
            "--base-url",
            "https://127.0.0.1:1",
            "--ca-file",
            file,
        ];
        let done = windlass.run(&args);
        assert!(done.complaint(3).contains(words), "{done:?}");
        // The variable that other programs read means the same.
        let args = &args[..4];
        let output = windlass
            .command(args)
            .env("NODE_EXTRA_CA_CERTS", file)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3));
    }
}

#[test]
fn doctor_reports_and_its_exit_code_tells() {
    let server =
        crate::support::model(r#"{"validate": false, "exchanges": [{"respond": "unused"}]}"#);
    let done = Windlass::asking(&server).run(&["doctor"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    for line in ["✓ server", "✓ tools", "✓ cache", "✓ bash", "needs none"] {
        assert!(done.stdout.contains(line), "{line}: {done:?}");
    }

    let windlass = Windlass::new();
    let secret = "sk-ant-a-secret-nobody-may-see";
    let done = windlass
        .command(&["doctor", "--base-url", "http://127.0.0.1:1"])
        .env("ANTHROPIC_API_KEY", secret)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{shown}");
    assert!(shown.contains("✓ key"), "{shown}");
    assert!(
        shown.contains("✗ server") && shown.contains("Connection refused"),
        "{shown}"
    );
    assert!(!shown.contains("secret"), "{shown}");

    // Whether a key is missing depends on the server, which is not known.
    let done = windlass.run(&["doctor", "--base-url", "localhost:1"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(!done.stdout.contains("✗ key"), "{done:?}");
    assert!(!done.stdout.contains("set ANTHROPIC_API_KEY"), "{done:?}");
    assert!(done.stdout.contains("write http://localhost:1"), "{done:?}");
}

#[test]
fn auth_status_says_where_the_key_comes_from_and_not_what_it_is() {
    const KEY: &str = "sk-canary-of-the-status";
    let windlass = Windlass::new();
    for (variables, code, source) in [
        (
            &[("ANTHROPIC_API_KEY", KEY)][..],
            0,
            Some("ANTHROPIC_API_KEY"),
        ),
        (
            &[("ANTHROPIC_AUTH_TOKEN", KEY)],
            0,
            Some("ANTHROPIC_AUTH_TOKEN"),
        ),
        (&[], 1, None),
    ] {
        for args in [
            &["auth", "status", "--json"][..],
            &["--settings", "{}", "auth", "status", "--json"],
            &["auth", "status"],
        ] {
            let mut command = windlass.command(args);
            command.env_remove("ANTHROPIC_API_KEY");
            command.envs(variables.iter().copied());
            let done = Done::of(&command.output().unwrap());
            assert_eq!(done.code, Some(code), "{args:?}: {done:?}");
            assert!(
                !done.stdout.contains(KEY) && !done.stderr.contains(KEY),
                "{done:?}"
            );
            if args.last() == Some(&"--json") {
                let status: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
                assert_eq!(status["loggedIn"], source.is_some(), "{status}");
                assert_eq!(status["apiKeySource"].as_str(), source, "{status}");
            }
        }
    }
    refused(&["auth", "login"], "ANTHROPIC_API_KEY");
}

#[test]
fn conf_8_auth_status_knows_of_keys_in_settings_and_runs_nothing() {
    const KEY: &str = "sk-canary-of-the-status";
    let windlass = Windlass::new();
    let settings = windlass.home().join(".claude/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    for (settings_of_user, method, words) in [
        (
            serde_json::json!({"apiKeyHelper": "touch ran"}),
            "api_key_helper",
            "`apiKeyHelper` of the user's settings",
        ),
        (
            serde_json::json!({"env": {"ANTHROPIC_API_KEY": KEY}}),
            "api_key",
            "the user's settings",
        ),
    ] {
        std::fs::write(&settings, settings_of_user.to_string()).unwrap();
        for json in [true, false] {
            let args = ["auth", "status", "--json"];
            let mut command = windlass.command(if json { &args[..] } else { &args[..2] });
            command.env_remove("ANTHROPIC_API_KEY");
            let done = Done::of(&command.output().unwrap());
            assert_eq!(done.code, Some(0), "{done:?}");
            assert!(!done.stdout.contains(KEY), "{done:?}");
            if json {
                let status: serde_json::Value = serde_json::from_str(&done.stdout).unwrap();
                assert_eq!(status["apiKeySource"], "user", "{status}");
                assert_eq!(status["authMethod"], method, "{status}");
            } else {
                assert!(done.stdout.contains(words), "{done:?}");
            }
        }
    }
    assert!(!windlass.workspace.path().join("ran").exists());
}
