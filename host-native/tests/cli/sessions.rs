//! Sessions that are kept, and go on: the same transcripts as those of the engine of the SDKs.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::{Value, json};
use windlass::model_server::ModelServer;

use crate::{
    support::{Done, Windlass, model, saying},
    terminal::Terminal,
};

/// The id of the session that a run was.
fn session(done: &Done) -> String {
    let last = done.lines().pop().unwrap();
    last["session_id"].as_str().unwrap().to_owned()
}

/// What a request says, without what stands around it.
fn texts(server: &ModelServer, request: usize) -> String {
    let body: Value = serde_json::from_slice(&server.requests()[request].body).unwrap();
    body["messages"].to_string()
}

const JSON: [&str; 2] = ["--output-format", "json"];

#[test]
fn sess_1_a_session_is_resumed_by_its_id() {
    let server = saying(["Noted.", "Blue."]);
    let windlass = Windlass::asking(&server);
    let first = windlass.run(&[&["-p", "My colour is blue."], &JSON[..]].concat());
    let id = session(&first);
    let second = windlass.run(&[&["-p", "Which colour?", "--resume", &id], &JSON[..]].concat());
    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(session(&second), id);
    let said = texts(&server, 1);
    assert!(
        said.contains("My colour is blue.") && said.contains("Noted."),
        "{said}"
    );
}

#[test]
fn sess_1_the_newest_session_of_the_folder_goes_on() {
    let server = saying(["One.", "Two.", "Three."]);
    let windlass = Windlass::asking(&server);
    windlass.run(&["-p", "first"]);
    windlass.run(&["-p", "second"]);
    let done = windlass.run(&["-p", "third", "-c"]);
    assert_eq!(done.stdout, "Three.\n", "{done:?}");
    let said = texts(&server, 2);
    assert!(said.contains("second") && !said.contains("first"), "{said}");
}

#[test]
fn sess_1_where_there_is_none_to_go_on_a_new_one_begins_and_it_is_said() {
    let server = saying(["One.", "Two."]);
    let windlass = Windlass::asking(&server);
    let done = windlass.run(&["-p", "first", "-c"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "One.\n"));
    assert!(done.stderr.contains("a new one begins"), "{done:?}");
    let done = windlass.run(&["-p", "second", "-c"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
}

#[test]
fn sess_1_a_fork_leaves_the_other_session_as_it_was() {
    let server = saying(["One.", "Two.", "Three."]);
    let windlass = Windlass::asking(&server);
    let id = session(&windlass.run(&[&["-p", "first"], &JSON[..]].concat()));
    let fork = ["-p", "second", "--resume", &id, "--fork-session"];
    let forked = session(&windlass.run(&[&fork[..], &JSON[..]].concat()));
    assert_ne!(forked, id);
    windlass.run(&["-p", "third", "--resume", &id]);
    let said = texts(&server, 2);
    assert!(said.contains("first") && !said.contains("second"), "{said}");
}

#[test]
fn sess_1_a_session_has_the_id_it_is_given_and_only_once() {
    let server = saying(["One.", "Two."]);
    let windlass = Windlass::asking(&server);
    let id = "0b1f6c3e-5d2a-4f8e-9a57-1c2d3e4f5a6b";
    let args = ["-p", "first", "--session-id", id, "--output-format", "json"];
    assert_eq!(session(&windlass.run(&args)), id);
    let again = windlass.run(&["-p", "again", "--session-id", id]);
    let complaint = again.complaint(3);
    assert!(
        complaint.contains("already in use") && complaint.contains(&format!("--resume {id}")),
        "{complaint}"
    );
    // Also where nothing would be kept under it.
    let again = windlass.run(&[
        "-p",
        "again",
        "--session-id",
        id,
        "--no-session-persistence",
    ]);
    assert!(again.complaint(3).contains("already in use"), "{again:?}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn sess_1_nothing_is_kept_where_nothing_is_to_be() {
    let server = saying(["One."]);
    let windlass = Windlass::asking(&server);
    windlass.run(&["-p", "first", "--no-session-persistence"]);
    let listed = windlass.run(&["sessions", "list"]);
    assert_eq!(listed.stdout, "There are no sessions of this folder.\n");
    assert!(!windlass.home().join(".claude/projects").exists());
}

#[test]
fn sess_1_a_session_that_is_not_there_is_named_and_nothing_is_asked() {
    let server = saying([]);
    let windlass = Windlass::asking(&server);
    let id = "0b1f6c3e-5d2a-4f8e-9a57-1c2d3e4f5a6b";
    for id in [id, &id.to_uppercase(), "nope"] {
        for form in [&[][..], &["-p"]] {
            let done = windlass.run(&[&["go on", "--resume", id], form].concat());
            let complaint = done.complaint(3).to_lowercase();
            assert!(complaint.contains(&id.to_lowercase()), "{complaint}");
            assert!(
                complaint.contains("`windlass sessions list`"),
                "{complaint}"
            );
        }
        // To a program a result says so, as an SDK is told.
        let done = windlass.run(&[&["go on", "--resume", id], &JSON[..]].concat());
        let result = done.lines().pop().unwrap();
        assert_eq!((done.code, &result["is_error"]), (Some(3), &json!(true)));
    }
    let done = windlass.run(&["-p", "go on", "--resume"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(
        done.stderr.contains("takes the id of a session"),
        "{done:?}"
    );
}

#[test]
fn sess_2_sessions_are_listed_shown_and_deleted() {
    let call = json!({"type": "tool_use", "name": "Glob", "input": {"pattern": "*.rs"}});
    let script = json!({"exchanges": [
        {"respond": {"content": [{"type": "text", "text": "I look."}, call]}},
        {"respond": "Nothing there."},
        {"respond": "Yes."},
    ]});
    let server = model(&script.to_string());
    let windlass = Windlass::asking(&server);
    let id = session(&windlass.run(&[&["-p", "Look for\nsources"], &JSON[..]].concat()));
    windlass.run(&["-p", "Is it named?", "--name", "The named one"]);

    let listed = windlass.run(&["sessions", "list"]);
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{listed:?}");
    assert!(lines[0].ends_with("The named one"), "{listed:?}");
    assert!(
        lines[1].starts_with(&id) && lines[1].ends_with("Look for sources"),
        "{listed:?}"
    );

    let shown = windlass.run(&["sessions", "show", &id]);
    assert_eq!(
        shown.stdout,
        "> Look for\nsources\n\nI look.\n\n  Glob *.rs\n\nNothing there.\n\n"
    );

    let deleted = windlass.run(&["sessions", "delete", &id]);
    assert_eq!(deleted.code, Some(0), "{deleted:?}");
    assert_eq!(
        windlass.run(&["sessions", "list"]).stdout.lines().count(),
        1
    );
    let again = windlass.run(&["sessions", "delete", &id]);
    assert_eq!(again.code, Some(2), "{again:?}");
}

#[test]
fn sess_1_a_link_in_the_place_of_a_session_destroys_nothing() {
    let server = saying(["One.", "Two."]);
    let windlass = Windlass::asking(&server);
    let id = session(&windlass.run(&[&["-p", "first"], &JSON[..]].concat()));
    let projects = std::fs::read_dir(windlass.home().join(".claude/projects")).unwrap();
    let folder = projects.map(|entry| entry.unwrap().path()).next().unwrap();
    let transcript = folder.join(format!("{id}.jsonl"));
    std::fs::remove_file(&transcript).unwrap();
    let victim = windlass.home().join("victim");
    for content in ["-----KEY", "a: 1\nlast line", "{}\n{\"a"] {
        std::fs::write(&victim, content).unwrap();
        std::os::unix::fs::symlink(&victim, &transcript).unwrap();
        for (args, why) in [
            // What is no session is not among those of the folder.
            (&["sessions", "show", &id][..], "no session"),
            (&["sessions", "delete", &id], "no session"),
            (&["-p", "x", "--resume", &id], "it is a link"),
            (&["-p", "x", "--session-id", &id], "it is a link"),
        ] {
            let done = windlass.run(args);
            assert_ne!(done.code, Some(0), "{args:?}: {done:?}");
            assert!(done.stderr.contains(why), "{args:?}: {done:?}");
        }
        windlass.run(&["-p", "x", "-c"]);
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), content);
        assert!(transcript.is_symlink());
        std::fs::remove_file(&transcript).unwrap();
    }
}

/// A name that is given is given, whoever asks for it and whatever the session was called before.
#[test]
fn sess_2_a_session_that_goes_on_takes_the_name_it_is_given() {
    let server = saying(["One.", "Two.", "Three.", "Four."]);
    let windlass = Windlass::asking(&server);
    let name = || windlass.run(&["sessions", "list"]).stdout;
    let id = session(&windlass.run(&[&["-p", "first"], &JSON[..]].concat()));
    windlass.run(&["-p", "second", "-c", "-n", "Named later"]);
    assert!(name().ends_with("Named later\n"), "{}", name());
    windlass.run(&["-p", "third", "-r", &id, "--name", "Renamed"]);
    assert!(name().ends_with("Renamed\n"), "{}", name());
    // Also beside an SDK's lines.
    let prompt = json!({"type": "user", "message": {"role": "user", "content": "go"}});
    let args = [
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "-r",
        &id,
        "-n",
        "Of the engine",
    ];
    let done = windlass.run_with_input(&args, format!("{prompt}\n").as_bytes());
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:?}");
    assert_eq!(session(&done), id);
    assert!(name().ends_with("Of the engine\n"), "{}", name());
}

/// Runs in the test command that are killed; `WINDLASS_ATTACK_ROUNDS` says how many else, at most 200.
const KILLED: usize = 12;

#[test]
fn sess_4_a_run_that_is_killed_anywhere_is_resumed_and_every_line_is_whole() {
    let rounds = std::env::var("WINDLASS_ATTACK_ROUNDS");
    let rounds = rounds.map_or(KILLED, |all| all.parse::<usize>().unwrap().min(200));
    let windlass = Windlass::new();
    let id = "0b1f6c3e-5d2a-4f8e-9a57-1c2d3e4f5a6b";
    for round in 0..rounds {
        let call = json!({"type": "tool_use", "name": "Bash", "input": {"command": "echo so"}});
        let calls = vec![json!({"respond": {"content": [call]}}); 3];
        let end = [json!({"respond": "Done."})];
        let exchanges = [&calls[..], &end].concat();
        let server = model(&json!({ "exchanges": exchanges }).to_string());
        let session = if round == 0 {
            "--session-id"
        } else {
            "--resume"
        };
        let url = server.url();
        let mut child = windlass
            .command(&[
                "-p",
                "go",
                "--base-url",
                &url,
                session,
                id,
                "--output-format",
                "stream-json",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Of the first run at least until the model has answered: the prompt is written down then.
        let count = if round == 0 { 2 } else { round % 8 };
        for _ in 0..count {
            let line = lines.next().and_then(Result::ok);
            assert!(round > 0 || line.is_some(), "nothing came");
        }
        // It may have come to its end.
        let _ = child.kill();
        child.wait().unwrap();
    }
    let server = saying(["Resumed."]);
    let url = server.url();
    let done = windlass.run(&["-p", "And now?", "--base-url", &url, "--resume", id]);
    assert_eq!(done.stdout, "Resumed.\n", "{done:?}");
    let transcript = transcript(&windlass, id);
    assert!(transcript.ends_with('\n'));
    for line in transcript.lines() {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
    eprintln!("tried: {rounds} runs that were killed");
}

/// Whatever was printed when the process is killed in the middle of a command is there when the session goes on.
#[test]
fn sess_4_what_was_printed_before_a_kill_is_in_the_session_that_is_resumed() {
    let bash = |command: &str| {
        let call = json!({"type": "tool_use", "name": "Bash", "input": {"command": command}});
        json!({"respond": {"content": ["Counting.", call]}})
    };
    let script = json!({"exchanges": [bash("echo so many"), bash("sleep 600")]});
    let server = model(&script.to_string());
    let windlass = Windlass::new();
    let id = "0b1f6c3e-5d2a-4f8e-9a57-1c2d3e4f5a6b";
    let (url, format) = (server.url(), ["--output-format", "stream-json"]);
    let begin = [
        "-p",
        "Count it.",
        "--base-url",
        &url,
        "--session-id",
        id,
        "--allowedTools",
        "Bash",
    ];
    let mut child = windlass
        .command(&[&begin[..], &format].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut printed: Vec<Value> = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        printed.push(serde_json::from_str(&line.unwrap()).unwrap());
        if printed.last().unwrap().to_string().contains("sleep 600") {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let transcript = transcript(&windlass, id);
    let said: Vec<&Value> = printed
        .iter()
        .filter(|line| line["type"] == "assistant" || line["type"] == "user")
        .collect();
    assert!(said.len() >= 3, "{printed:?}");
    for line in said {
        assert!(
            transcript.contains(line["uuid"].as_str().unwrap()),
            "{line} is lost"
        );
    }
    let expected = json!({"messages_contain": ["Count it.", "so many"], "last_user_contains": "And now?",
        "tool_results": [{"id": "toolu_2_2", "is_error": true}]});
    let script = json!({"exchanges": [{"expect": expected, "respond": "Resumed."}]});
    let server = model(&script.to_string());
    let url = server.url();
    let done = windlass.run(&["-p", "And now?", "--base-url", &url, "--resume", id]);
    assert_eq!(done.stdout, "Resumed.\n", "{done:?}");
    server.verify().unwrap();
}

/// The transcript of a session, of the one folder that there is.
fn transcript(windlass: &Windlass, id: &str) -> String {
    let projects = std::fs::read_dir(windlass.home().join(".claude/projects")).unwrap();
    let folder = projects.map(|entry| entry.unwrap().path()).next().unwrap();
    std::fs::read_to_string(folder.join(format!("{id}.jsonl"))).unwrap()
}

#[test]
fn sess_5_a_list_names_the_title_that_was_given_else_a_generated_one_else_the_prompt() {
    let server = saying(["One.", "Two.", "Three."]);
    let windlass = Windlass::asking(&server);
    let mut ids = Vec::new();
    for prompt in ["About knots.", "About sails.", "About tides."] {
        ids.push(session(
            &windlass.run(&[&["-p", prompt], &JSON[..]].concat()),
        ));
    }
    // As another engine writes down what its model made of the conversation.
    let projects = std::fs::read_dir(windlass.home().join(".claude/projects")).unwrap();
    let folder = projects.map(|entry| entry.unwrap().path()).next().unwrap();
    for id in &ids[..2] {
        let mut text = transcript(&windlass, id);
        let title = json!({"type": "ai-title", "aiTitle": "Ropes at sea", "sessionId": id});
        text.push_str(&format!("{title}\n"));
        std::fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
    }
    let renamed = windlass.run(&["-p", "/rename Knots for sailors", "--resume", &ids[0]]);
    assert_eq!(renamed.code, Some(0), "{renamed:?}");
    assert!(renamed.stdout.contains("Knots for sailors"), "{renamed:?}");
    let listed = windlass.run(&["sessions", "list"]).stdout;
    for (id, name) in ids
        .iter()
        .zip(["Knots for sailors", "Ropes at sea", "About tides."])
    {
        let line = listed
            .lines()
            .find(|line| line.starts_with(id.as_str()))
            .unwrap();
        assert!(line.ends_with(name), "{listed}");
    }
    assert_eq!(
        server.requests().len(),
        3,
        "the model is asked for no title"
    );
}

#[test]
fn without_a_prompt_a_conversation_begins_at_a_terminal() {
    let server = saying(["Hello, you.", "You said hello."]);
    let windlass = Windlass::asking(&server);
    let mut terminal = Terminal::run(&windlass, &[]);
    terminal.wait_for("> ");
    terminal.type_in("Hello\n");
    terminal.wait_for("Hello, you.");
    terminal.wait_for("> ");
    terminal.type_in("What did I say?\n");
    terminal.wait_for("You said hello.");
    terminal.wait_for("> ");
    terminal.type_in("\x04");
    assert_eq!(terminal.exit_code(), Some(0));
    assert!(texts(&server, 1).contains("Hello, you."));
    // Without a terminal there is nobody to wait for.
    let done = windlass.run(&[]);
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.stderr.contains("there is no prompt"), "{done:?}");
}
