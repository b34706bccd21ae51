//! Settings files at the command line: their rules, their mode, their sandbox; and whose word counts.

use std::fs;

use serde_json::{Value, json};
use windlass::model_server::ModelServer;

use crate::support::{Done, Windlass, model};

/// A model that has commands run, one after the other, and then is done.
fn running(commands: &[&str]) -> ModelServer {
    let call = |command: &&str| {
        let call = json!({"type": "tool_use", "name": "Bash", "input": {"command": command}});
        json!({"respond": {"content": [call]}})
    };
    let mut exchanges: Vec<Value> = commands.iter().map(call).collect();
    exchanges.push(json!({"respond": "Done."}));
    model(&json!({ "exchanges": exchanges }).to_string())
}

/// Where settings lie.
enum At {
    Project,
    Local,
    User,
}

fn put(windlass: &Windlass, at: &At, settings: &str) {
    let (folder, name) = match at {
        At::Project => (windlass.workspace.path(), "settings.json"),
        At::Local => (windlass.workspace.path(), "settings.local.json"),
        At::User => (windlass.home(), "settings.json"),
    };
    fs::create_dir_all(folder.join(".claude")).unwrap();
    fs::write(folder.join(".claude").join(name), settings).unwrap();
}

fn there(windlass: &Windlass, name: &str) -> bool {
    windlass.workspace.path().join(name).exists()
}

#[test]
fn conf_1_what_any_settings_file_denies_does_not_run() {
    for at in [At::Project, At::Local, At::User] {
        let server = running(&["touch made", "touch other"]);
        let windlass = Windlass::asking(&server);
        put(
            &windlass,
            &at,
            r#"{"permissions": {"deny": ["Bash(touch made)"]}}"#,
        );
        let done = windlass.run(&["-p", "go", "--allowedTools", "Bash(touch:*)"]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(0), "Done.\n"));
        assert!(!there(&windlass, "made"), "{done:?}");
        assert!(there(&windlass, "other"), "{done:?}");
    }
}

#[test]
fn conf_1_a_closed_file_is_closed_by_any_tool() {
    let read = json!({"type": "tool_use", "name": "Read", "input": {"file_path": "secret.txt"}});
    let cat = json!({"type": "tool_use", "name": "Bash", "input": {"command": "cat secret.txt"}});
    let server = model(
        &json!({"exchanges": [
            {"respond": {"content": [read]}},
            {"respond": {"content": [cat]}},
            {"respond": "Done."},
        ]})
        .to_string(),
    );
    let windlass = Windlass::asking(&server);
    windlass.write("secret.txt", "the secret\n");
    put(
        &windlass,
        &At::Project,
        r#"{"permissions": {"deny": ["Read(./secret.txt)"]}}"#,
    );
    windlass.run(&["-p", "go", "--allowedTools", "Bash(cat:*)"]);
    for request in server.requests() {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        assert!(!body.contains("the secret"), "{body}");
    }
}

#[test]
fn conf_1_a_folder_allows_itself_nothing_until_it_is_trusted() {
    let settings = r#"{"permissions": {"allow": ["Bash(touch:*)"], "defaultMode": "acceptEdits"}}"#;
    let run = |arrange: &dyn Fn(&Windlass), flags: &[&str]| -> (Done, bool) {
        let server = running(&["touch made"]);
        let windlass = Windlass::asking(&server);
        put(&windlass, &At::Project, settings);
        arrange(&windlass);
        let done = windlass.run(&[&["-p", "go"], flags].concat());
        (done, there(&windlass, "made"))
    };
    let (done, made) = run(&|_| {}, &[]);
    assert!(!made, "{done:?}");
    let named = "its files do not allow Bash(touch:*)";
    assert!(done.stderr.contains(named), "{done:?}");
    let (done, made) = run(&|_| {}, &["--trust"]);
    assert!(made && done.stderr.is_empty(), "{done:?}");
    let noted = |windlass: &Windlass| {
        let folder = windlass.workspace.path().canonicalize().unwrap();
        let person =
            json!({"projects": {folder.to_str().unwrap(): {"hasTrustDialogAccepted": true}}});
        fs::write(windlass.home().join(".claude.json"), person.to_string()).unwrap();
    };
    let (done, made) = run(&noted, &[]);
    assert!(made && done.stderr.is_empty(), "{done:?}");
    let (done, made) = run(&noted, &["--setting-sources", "user"]);
    assert!(!made, "{done:?}");
}

#[test]
fn conf_1_the_persons_own_settings_allow() {
    let server = running(&["touch made"]);
    let windlass = Windlass::asking(&server);
    put(
        &windlass,
        &At::User,
        r#"{"permissions": {"allow": ["Bash(touch:*)"]}}"#,
    );
    let done = windlass.run(&["-p", "go"]);
    assert!(
        there(&windlass, "made") && done.stderr.is_empty(),
        "{done:?}"
    );
    // A flag says it for one run, a file that it names too.
    for flag in [
        r#"{"permissions": {"allow": ["Bash(touch:*)"]}}"#,
        "more.json",
    ] {
        let server = running(&["touch made"]);
        let windlass = Windlass::asking(&server);
        windlass.write(
            "more.json",
            r#"{"permissions": {"allow": ["Bash(touch:*)"]}}"#,
        );
        let done = windlass.run(&["-p", "go", "--settings", flag]);
        assert!(there(&windlass, "made"), "{done:?}");
    }
}

#[test]
fn conf_1_the_sandbox_of_the_settings_confines() {
    let other = tempfile::tempdir().unwrap();
    let command = format!("touch inside; touch {}/made", other.path().display());
    let server = running(&[&command]);
    let windlass = Windlass::asking(&server);
    put(&windlass, &At::User, r#"{"sandbox": {"enabled": true}}"#);
    let done = windlass.run(&["-p", "go"]);
    assert!(!other.path().join("made").exists(), "{done:?}");
    let is_confined = !done.stderr.contains("the sandbox:");
    assert_eq!(there(&windlass, "inside"), is_confined, "{done:?}");
}

/// The command line says more of the sandbox, and takes back nothing that settings close.
#[test]
fn conf_11_the_command_line_adds_to_the_sandbox_of_the_settings() {
    let other = tempfile::tempdir().unwrap();
    let secret = other.path().join("secret.txt");
    fs::write(&secret, "hidden").unwrap();
    let server = running(&[&format!("touch inside; cat {} > copy", secret.display())]);
    let windlass = Windlass::asking(&server);
    let closed = json!({"sandbox": {"enabled": false, "filesystem": {"denyRead": [secret]}}});
    put(&windlass, &At::User, &closed.to_string());
    let done = windlass.run(&["-p", "go", "--sandbox", r#"{"enabled": true}"#]);
    assert_eq!(windlass.file("copy"), "", "{done:?}");
    let is_confined = !done.stderr.contains("the sandbox:");
    assert_eq!(there(&windlass, "inside"), is_confined, "{done:?}");
}

/// Where the person's settings lie is no place to work in, wherever that is.
#[test]
fn conf_1_the_configuration_directory_is_edited_by_nobody_unasked() {
    let config = tempfile::tempdir().unwrap();
    let touch = |name: &str| format!("touch {}/{name}", config.path().display());
    let server = running(&[&touch("made"), "touch other"]);
    let windlass = Windlass::asking(&server);
    let folder = config.path().to_str().unwrap();
    let mut command = windlass.command(&["-p", "go", "--add-dir", folder]);
    command.args(["--permission-mode", "acceptEdits"]);
    let done = Done::of(&command.env("CLAUDE_CONFIG_DIR", folder).output().unwrap());
    assert!(!config.path().join("made").exists(), "{done:?}");
    assert!(there(&windlass, "other"), "{done:?}");
}

#[test]
fn conf_1_settings_that_cannot_be_used_begin_nothing() {
    for (settings, flags, code, words) in [
        ("{\"permissions\": {", &[][..], 3, "settings.json: "),
        (
            "{\"permissions\": {\n\"deny\": [\"Bash(rm\"]}}",
            &[],
            3,
            ".claude/settings.json: line 2, `permissions.deny[0]`: permission rule `Bash(rm`",
        ),
        (
            "{\"permissions\": {\n\"deny\": [\"bash\"]}}",
            &[],
            3,
            ".claude/settings.json: line 2, `permissions.deny[0]`: ",
        ),
        (
            "{}",
            &["--settings", r#"{"permissions": {"deny": "x"}}"#],
            3,
            "--settings: line 1, `permissions.deny`: ",
        ),
        (
            r#"{"permissions": {"disableBypassPermissionsMode": "disable"}}"#,
            &["--dangerously-skip-permissions"],
            3,
            "disableBypassPermissionsMode",
        ),
        (
            r#"{"permissions": {"Deny": ["Bash"]}}"#,
            &[],
            3,
            "permissions.deny",
        ),
        (r#"{"Sandbox": {"enabled": true}}"#, &[], 3, "`sandbox`"),
        (
            r#"{"permissions": {"deny": ["mcp__x__"]}}"#,
            &[],
            3,
            "did you mean mcp__x?",
        ),
        ("{}", &["--setting-sources", "users"], 2, "users"),
        ("{}", &["--settings", "none.json"], 3, "none.json"),
    ] {
        let server = running(&[]);
        let windlass = Windlass::asking(&server);
        put(&windlass, &At::Project, settings);
        let done = windlass.run(&[&["-p", "go"], flags].concat());
        assert_eq!(done.code, Some(code), "{settings}: {done:?}");
        assert!(done.stderr.contains(words), "{settings}: {done:?}");
        assert!(server.requests().is_empty(), "{settings}: {done:?}");
    }
}

/// A hook guards something: one that nobody can read guards nothing, so nothing begins, also where it would not run. What only
/// Claude Code has is told of instead, since files are shared with it.
#[test]
fn hook_5_no_session_begins_with_a_hook_that_cannot_be_read() {
    let hook = |kind: &str, event: &str| json!({"hooks": {event: [{"hooks": [{"type": kind, "command": "exit 2"}]}]}});
    let misspelt = |key: &str| json!({key: {"PreToolUse": []}});
    for (settings, words) in [
        (hook("comand", "PreToolUse"), "did you mean `command`?"),
        (hook("foo", "PreToolUse"), "hooks.PreToolUse"),
        (hook("command", "BeforeTool"), "hooks.BeforeTool"),
        (hook("command", "preToolUse"), "did you mean `PreToolUse`?"),
        (misspelt("Hooks"), "did you mean `hooks`?"),
        (misspelt("hook"), "did you mean `hooks`?"),
    ] {
        let text = settings.to_string();
        let server = running(&[]);
        let windlass = Windlass::asking(&server);
        let flag = windlass.run(&["-p", "go", "--settings", &text]);
        put(&windlass, &At::Project, &text);
        let file = ".claude/settings.json";
        let engine = [
            "--verbose",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
        ];
        let prompt = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n";
        for (done, place, code) in [
            (flag, "--settings", 3),
            (windlass.run(&["-p", "go"]), file, 3),
            (windlass.run(&["-p", "go", "--trust"]), file, 3),
            (windlass.run_with_input(&engine, prompt), file, 1),
        ] {
            assert_eq!(done.code, Some(code), "{text}: {done:?}");
            assert!(done.stderr.contains(place), "{text}: {done:?}");
            assert!(done.stderr.contains(words), "{text}: {done:?}");
        }
        assert!(server.requests().is_empty(), "{text}");
        let doctor = windlass.run(&["doctor"]);
        assert!(doctor.stdout.contains(words), "{text}: {doctor:?}");
    }
    for (settings, words) in [
        (
            hook("http", "PreToolUse"),
            "PreToolUse hooks of the type http",
        ),
        (hook("command", "FileChanged"), "the event FileChanged"),
    ] {
        let server = running(&[]);
        let windlass = Windlass::asking(&server);
        put(&windlass, &At::User, &settings.to_string());
        let done = windlass.run(&["-p", "go"]);
        assert_eq!(done.code, Some(0), "{settings}: {done:?}");
        assert!(done.stderr.contains(words), "{settings}: {done:?}");
    }
}

#[test]
fn conf_1_what_would_only_allow_and_cannot_be_used_is_said() {
    let server = running(&["touch made"]);
    let windlass = Windlass::asking(&server);
    let settings = r#"{"permissions": {"allow": ["Write(src/**)", "Bash(touch:*)"], "deny": ["SlashCommand(/x:*)"], "defaultMode": "auto"}}"#;
    put(&windlass, &At::User, settings);
    let done = windlass.run(&["-p", "go"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stderr.contains("Edit(src/**)"), "{done:?}");
    assert!(there(&windlass, "made"), "{done:?}");
}

#[test]
fn perm_2_bypass_is_refused_for_root() {
    let is_root = rustix::process::geteuid().is_root();
    for flags in [
        &["--dangerously-skip-permissions"][..],
        &["--permission-mode", "bypassPermissions"],
    ] {
        let server = running(&["touch made"]);
        let windlass = Windlass::asking(&server);
        let done = windlass.run(&[&["-p", "go"], flags].concat());
        assert_eq!(there(&windlass, "made"), !is_root, "{flags:?}: {done:?}");
        assert_eq!(done.code == Some(0), !is_root, "{flags:?}: {done:?}");
        assert_eq!(done.stderr.contains("root"), is_root, "{flags:?}: {done:?}");
    }
}

#[test]
fn perm_17_a_call_is_explained_with_the_rules_of_the_settings() {
    let windlass = Windlass::new();
    put(
        &windlass,
        &At::Project,
        r#"{"permissions": {"deny": ["Bash(rm:*)", "Read(./secret.txt)", "mcp__z__forbidden", "mcp__y"], "allow": ["Bash(make:*)"]}}"#,
    );
    windlass.write("secret.txt", "x");
    let explained = |call: &str, flags: &[&str]| {
        let done = windlass.run(&[&["permissions", "explain", call], flags].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        done.stdout
    };
    for (call, flags, verdict) in [
        ("Bash(rm -rf x)", &[][..], "Bash is denied"),
        ("Bash(echo hi)", &[], "Bash runs"),
        ("Bash(make test)", &[], "Bash is asked about"),
        ("Bash(make test)", &["--trust"], "Bash runs"),
        ("Bash(git push)", &[], "Bash is asked about"),
        (
            "Bash(git push)",
            &["--allowedTools", "Bash(git push)"],
            "Bash runs",
        ),
        ("Read(secret.txt)", &[], "Read is denied"),
        ("Read({\"file_path\": \"other.txt\"})", &[], "Read runs"),
        (
            "Write(a.txt)",
            &["--permission-mode", "acceptEdits"],
            "Write runs",
        ),
        // No server is started for it.
        ("mcp__z__t", &[], "mcp__z__t is asked about"),
        ("mcp__z__t", &["--allowedTools", "mcp__z"], "mcp__z__t runs"),
        ("mcp__z__forbidden", &[], "mcp__z__forbidden is denied"),
        (
            r#"mcp__y__t({"a": 1})"#,
            &["--trust"],
            "mcp__y__t is denied",
        ),
    ] {
        let text = explained(call, flags);
        assert!(text.starts_with(verdict), "{call} {flags:?}: {text}");
    }
    let json: Value = serde_json::from_str(&explained("Bash(rm x)", &["--json"])).unwrap();
    assert_eq!(json["decision"]["verdict"], "deny", "{json}");
    for name in ["Bsh", "mcp__z", "mcp__z__"] {
        let unknown = windlass.run(&["permissions", "explain", &format!("{name}(x)")]);
        assert_eq!(unknown.code, Some(2), "{unknown:?}");
        let words = format!("no tool named `{name}`");
        assert!(unknown.stderr.contains(&words), "{unknown:?}");
    }
}

#[test]
fn perm_17_rules_that_do_nothing_are_found() {
    let windlass = Windlass::new();
    let clean = windlass.run(&["permissions", "lint"]);
    assert_eq!(clean.code, Some(0), "{clean:?}");
    put(
        &windlass,
        &At::Project,
        r#"{"permissions": {"allow": ["Bsh(npm test)", "Bash(rm x)"], "deny": ["Bash(rm:*)", "Bash(ls"]}}"#,
    );
    let found = windlass.run(&["permissions", "lint"]);
    assert_eq!(found.code, Some(1), "{found:?}");
    for words in ["did you mean Bash?", "decides first", "Bash(ls"] {
        assert!(found.stdout.contains(words), "{words}: {found:?}");
    }
    let doctor = windlass.run(&["doctor"]);
    assert!(doctor.stdout.contains("Bash(ls"), "{doctor:?}");
}
