//! Calls that need permission: refused without a terminal, asked about at one.

use serde_json::json;
use windlass::model_server::ModelServer;

use crate::{
    support::{Windlass, calling, model},
    terminal::Terminal,
};

/// A model that makes a file by a command, twice.
fn toucher() -> ModelServer {
    let touch = json!({"type": "tool_use", "name": "Bash", "input": {"command": "touch made"}});
    let script = json!({"exchanges": [
        {"respond": {"content": [touch]}},
        {"respond": {"content": [touch]}},
        {"respond": "Both done."},
    ]});
    model(&script.to_string())
}

#[test]
fn perm_7_without_a_terminal_a_call_is_denied_and_the_flag_is_named() {
    let server = calling(
        "Bash",
        &json!({"command": "touch made"}),
        "I was not allowed to.",
    );
    let windlass = Windlass::asking(&server);
    let done = windlass.run(&["-p", "Make it"]);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), "I was not allowed to.\n")
    );
    assert!(
        done.stderr
            .contains("It would run with --allowedTools 'Bash(touch made)'"),
        "{done:?}"
    );
    assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    assert!(!windlass.workspace.path().join("made").exists());
    // The model read the same.
    let body = server.requests()[1].body.clone();
    assert!(
        String::from_utf8_lossy(&body).contains("--allowedTools"),
        "{body:?}"
    );
}

#[test]
fn perm_7_the_flag_that_is_named_lets_the_call_run_or_none_is_named() {
    for (line, flags, file) in [
        ("touch .bashrc", &[][..], Some(".bashrc")),
        ("touch made", &[], Some("made")),
        ("cat < /dev/null > made", &[], Some("made")),
        ("sort .env", &["--disallowedTools", "Read(.env)"], None),
        ("git $x", &["--disallowedTools", "Bash(git push:*)"], None),
        (
            "f() { make; }; f",
            &["--disallowedTools", "Bash(rm:*)"],
            None,
        ),
        ("touch 'a,b)' \"(\"", &[], None),
    ] {
        let ask = |more: &[&str]| {
            let server = calling("Bash", &json!({"command": line}), "Done.");
            let windlass = Windlass::asking(&server);
            let done = windlass.run(&[&["-p", "Make it"], flags, more].concat());
            (windlass, done)
        };
        let (_, done) = ask(&[]);
        assert!(
            done.stderr.contains("there is no terminal to ask at"),
            "{line}: {done:?}"
        );
        let Some(file) = file else {
            assert!(!done.stderr.contains("--allowedTools"), "{line}: {done:?}");
            assert!(done.stderr.contains("No flag"), "{line}: {done:?}");
            continue;
        };
        let (_, named) = done.stderr.split_once("with --allowedTools ").unwrap();
        let rule = named.trim_end().trim_end_matches('.').trim_matches('\'');
        let (windlass, done) = ask(&["--allowedTools", rule]);
        assert!(
            windlass.workspace.path().join(file).exists(),
            "{line}: {rule}: {done:?}"
        );
    }
}

#[test]
fn perm_7_denied_calls_are_listed_in_the_result() {
    let server = calling(
        "Write",
        &json!({"file_path": "a.txt", "content": "x"}),
        "No.",
    );
    let done = Windlass::asking(&server).run(&["Write it", "--output-format", "json"]);
    let [result] = done.lines().try_into().unwrap();
    assert_eq!(result["permission_denials"][0]["tool_name"], "Write");
    assert_eq!(
        result["permission_denials"][0]["tool_input"]["content"],
        "x"
    );
}

#[test]
fn perm_1_the_flag_that_was_named_allows_it() {
    let server = calling("Bash", &json!({"command": "touch made"}), "Done.");
    let windlass = Windlass::asking(&server);
    let done = windlass.run(&["-p", "Make it", "--allowedTools", "Bash(touch made)"]);
    assert_eq!(
        (done.stdout.as_str(), done.stderr.as_str()),
        ("Done.\n", "")
    );
    assert!(windlass.workspace.path().join("made").exists());
}

#[test]
fn perm_1_a_deny_rule_beats_every_mode_and_permission() {
    let server = calling("Bash", &json!({"command": "touch made"}), "No.");
    let windlass = Windlass::asking(&server);
    let args = [
        "-p",
        "Make it",
        "--allowedTools",
        "Bash",
        "--disallowedTools",
        "Bash(touch:*)",
    ];
    assert_eq!(windlass.run(&args).code, Some(0));
    assert!(!windlass.workspace.path().join("made").exists());
}

#[test]
fn perm_1_edits_run_unasked_where_the_mode_says_so() {
    let server = calling(
        "Write",
        &json!({"file_path": "a.txt", "content": "x"}),
        "Written.",
    );
    let windlass = Windlass::asking(&server);
    windlass.run(&["-p", "Write it", "--permission-mode", "acceptEdits"]);
    assert_eq!(windlass.file("a.txt"), "x");
}

#[test]
fn perm_4_a_folder_that_brings_authority_along_is_not_carried_unasked() {
    for (line, lies, made) in [
        ("cp -r evil/. .", "evil/.claude/settings.json", ".claude"),
        ("cp -rT evil there", "evil/.mcp.json", "there"),
        ("mv evil there", "evil/a/.git/hooks/pre-commit", "there"),
        ("cp -r evil there", "evil/.bashrc", "there"),
    ] {
        let server = calling("Bash", &json!({ "command": line }), "No.");
        let windlass = Windlass::asking(&server);
        let lies = windlass.workspace.path().join(lies);
        std::fs::create_dir_all(lies.parent().unwrap()).unwrap();
        std::fs::write(lies, "{}").unwrap();
        let done = windlass.run(&["-p", "Do it", "--permission-mode", "acceptEdits"]);
        assert_eq!(done.code, Some(0), "{line}: {done:?}");
        assert!(done.stderr.contains("take orders"), "{line}: {done:?}");
        assert!(!windlass.workspace.path().join(made).exists(), "{line}");
    }
    // Others are.
    let server = calling(
        "Bash",
        &json!({"command": "cp -r good/. . && mv good there"}),
        "Done.",
    );
    let windlass = Windlass::asking(&server);
    std::fs::create_dir_all(windlass.workspace.path().join("good/hooks")).unwrap();
    windlass.write("good/config", "{}");
    let done = windlass.run(&["-p", "Do it", "--permission-mode", "acceptEdits"]);
    assert_eq!(
        (done.stdout.as_str(), done.stderr.as_str()),
        ("Done.\n", "")
    );
    assert_eq!(
        (windlass.file("config"), windlass.file("there/config")),
        ("{}".into(), "{}".into())
    );
}

#[test]
fn perm_7_at_a_terminal_yes_runs_the_call_and_no_does_not() {
    let server = toucher();
    let windlass = Windlass::asking(&server);
    let mut terminal = Terminal::run(&windlass, &["Make it"]);
    let question = terminal.wait_for("> ");
    assert!(question.contains("touch made"), "{question:?}");
    assert!(
        question.contains("no permission rule covers it"),
        "{question:?}"
    );
    assert!(
        question.contains("always this, in this session"),
        "{question:?}"
    );
    terminal.type_in("n not now\n");
    terminal.wait_for("✗");
    terminal.wait_for("> ");
    assert!(
        !windlass.workspace.path().join("made").exists(),
        "it was denied"
    );
    terminal.type_in("what?\n");
    terminal.wait_for("Please answer with one of the letters");
    terminal.wait_for("> ");
    terminal.type_in("y\n");
    terminal.wait_for("Both done.");
    assert_eq!(terminal.exit_code(), Some(0));
    assert!(windlass.workspace.path().join("made").exists());
    let first = String::from_utf8_lossy(&server.requests()[1].body).into_owned();
    assert!(
        first.contains("The user said no to this use of Bash: not now"),
        "{first}"
    );
}

#[test]
fn perm_7_the_question_shows_what_a_command_hides() {
    let hidden = "echo \"$\\\n(touch made)\" \u{202e}x\u{200b} \u{1b}[8m";
    let server = calling("Bash", &json!({"command": hidden}), "No.");
    let windlass = Windlass::asking(&server);
    let mut terminal = Terminal::run(&windlass, &["Say it"]);
    let question = terminal.wait_for("> ");
    for shown in ["echo \"$\\⏎", "(touch made)\" \\u{202e}x\\u{200b} ␛[8m"] {
        assert!(question.contains(shown), "{question:?}");
    }
    assert!(
        !question.contains(['\u{202e}', '\u{200b}']) && !question.contains("\u{1b}[8m"),
        "{question:?}"
    );
    terminal.type_in("n\n");
    terminal.wait_for("No.");
    assert_eq!(terminal.exit_code(), Some(0));
    assert!(!windlass.workspace.path().join("made").exists());
}

#[test]
fn perm_7_always_holds_for_the_rest_of_the_session() {
    let server = toucher();
    let windlass = Windlass::asking(&server);
    let mut terminal = Terminal::run(&windlass, &["Make it"]);
    terminal.wait_for("> ");
    terminal.type_in("a\n");
    let rest = terminal.wait_for("Both done.");
    assert!(
        !rest.contains("always this, in this session"),
        "it asked again: {rest:?}"
    );
    assert_eq!(terminal.exit_code(), Some(0));
}

#[test]
fn perm_7_what_was_typed_before_the_question_is_no_answer_to_it() {
    let server = toucher();
    let windlass = Windlass::asking(&server);
    let mut terminal = Terminal::run(&windlass, &["Make it"]);
    // Before anything is shown.
    terminal.type_in("y\ny\ny\n");
    terminal.wait_for("> ");
    terminal.type_in("n\n");
    terminal.wait_for("✗");
    terminal.wait_for("> ");
    terminal.type_in("n\n");
    terminal.wait_for("Both done.");
    assert_eq!(terminal.exit_code(), Some(0));
    assert!(!windlass.workspace.path().join("made").exists());
}

#[test]
fn tool_26_at_a_terminal_the_person_answers_the_models_questions() {
    let question = json!({
        "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "Red", "description": "like a rose"}, {"label": "Blue", "description": ""}],
    });
    let server = calling(
        "AskUserQuestion",
        &json!({"questions": [question]}),
        "Blue it is.",
    );
    let windlass = Windlass::asking(&server);
    let mut terminal = Terminal::run(&windlass, &["Ask me"]);
    let shown = terminal.wait_for("your own words > ");
    for part in ["Which colour?", "1 Red", "like a rose", "2 Blue"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    terminal.type_in("7\n");
    terminal.wait_for("your own words > ");
    terminal.type_in("2\n");
    terminal.wait_for("Blue it is.");
    assert_eq!(terminal.exit_code(), Some(0));
    let body = String::from_utf8_lossy(&server.requests()[1].body).into_owned();
    assert!(body.contains("Blue"), "{body}");
    // Without a terminal there is nobody to ask, and the tool is not offered.
    let server = crate::support::saying(["Hi."]);
    Windlass::asking(&server).run(&["-p", "Hi"]);
    let body = String::from_utf8_lossy(&server.requests()[0].body).into_owned();
    assert!(!body.contains("AskUserQuestion"), "{body}");
}

#[test]
fn perm_7_the_end_of_input_is_a_no() {
    let server = toucher();
    let windlass = Windlass::asking(&server);
    let mut terminal = Terminal::run(&windlass, &["Make it"]);
    terminal.wait_for("> ");
    terminal.type_in("\x04");
    terminal.wait_for("there is no terminal to ask at");
    terminal.wait_for("Both done.");
    assert_eq!(terminal.exit_code(), Some(0));
    assert!(!windlass.workspace.path().join("made").exists());
}

/// A model that runs these commands, one after the other.
fn commander(commands: &[&str]) -> ModelServer {
    let call = |command| json!({"type": "tool_use", "name": "Bash", "input": {"command": command}});
    let mut exchanges: Vec<_> = commands
        .iter()
        .map(|command| json!({"respond": {"content": [call(command)]}}))
        .collect();
    exchanges.push(json!({"respond": "Done."}));
    model(&json!({ "exchanges": exchanges }).to_string())
}

#[test]
fn tool_6_commands_go_on_where_the_last_one_ended_and_are_judged_from_there() {
    let server = commander(&[
        "mkdir sub && cd sub && name=made",
        "touch plain && echo \"$name\" > out",
        "touch ../../outside",
    ]);
    let windlass = Windlass::asking(&server);
    let mode = ["--permission-mode", "acceptEdits"];
    let done = windlass.run(
        &[
            &["-p", "Make it", "--allowedTools", "Bash(echo:*)"],
            &mode[..],
        ]
        .concat(),
    );
    assert_eq!(done.stdout, "Done.\n", "{done:?}");
    let there = |name: &str| windlass.workspace.path().join(name).exists();
    assert!(there("sub/plain"), "{done:?}");
    assert_eq!(windlass.file("sub/out"), "made\n");
    assert!(!there("../outside"), "{done:?}");
    assert!(done.stderr.contains("it runs in"), "{done:?}");
}

#[test]
fn tool_6_a_command_that_leaves_the_workspace_does_not_take_the_next_one_along() {
    let server = commander(&["export name=made; cd sub; cd /", "touch $name"]);
    let windlass = Windlass::asking(&server);
    std::fs::create_dir(windlass.workspace.path().join("sub")).unwrap();
    let done = windlass.run(&["-p", "Make it", "--allowedTools", "Bash"]);
    assert_eq!(done.stdout, "Done.\n", "{done:?}");
    assert!(windlass.workspace.path().join("made").exists(), "{done:?}");
    let body = server.requests()[1].body.clone();
    assert!(String::from_utf8_lossy(&body).contains("outside of the workspace"));
}
