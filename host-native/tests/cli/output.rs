//! What a run prints, in each of the forms.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::support::{Windlass, calling, model, saying};

#[test]
fn loop_5_print_gives_the_answer_and_nothing_else() {
    let server = saying(["Forty-two."]);
    let done = Windlass::asking(&server).run(&["-p", "What is it?"]);
    assert_eq!(
        (done.code, done.stdout.as_str(), done.stderr.as_str()),
        (Some(0), "Forty-two.\n", "")
    );
    server.verify().unwrap();
}

#[test]
fn loop_24_json_is_the_result_message() {
    let server = saying(["Forty-two."]);
    let done = Windlass::asking(&server).run(&["What is it?", "--output-format", "json"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let [result] = done.lines().try_into().unwrap();
    assert_eq!(result["type"], "result");
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["result"], "Forty-two.");
    assert_eq!(result["is_error"], false);
    assert!(result["usage"]["output_tokens"].is_u64(), "{result}");
}

#[test]
fn loop_1_stream_json_begins_with_init_and_ends_with_the_result() {
    let server = calling("Glob", &json!({"pattern": "*.txt"}), "One file.");
    let windlass = Windlass::asking(&server);
    windlass.write("a.txt", "");
    let args = [
        "-p",
        "Look",
        "--output-format",
        "stream-json",
        "--verbose",
        "--model",
        "claude-haiku-4-5",
        "--permission-mode",
        "plan",
    ];
    let done = windlass.run(&args);
    assert_eq!(done.code, Some(0), "{done:?}");
    let lines = done.lines();
    let kinds: Vec<&str> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        // A tool that was never called before is compiled first, which a busy machine may take so long about that it is said.
        .filter(|kind| *kind != "tool_progress")
        .collect();
    assert_eq!(
        kinds,
        ["system", "assistant", "user", "assistant", "result"]
    );
    let init = &lines[0];
    assert_eq!(init["subtype"], "init");
    assert_eq!(init["model"], "claude-haiku-4-5");
    assert_eq!(init["permissionMode"], "plan");
    assert_eq!(
        init["cwd"],
        windlass
            .workspace
            .path()
            .canonicalize()
            .unwrap()
            .to_str()
            .unwrap()
    );
    assert_eq!(
        init["tools"],
        json!([
            "Read",
            "Write",
            "Edit",
            "NotebookEdit",
            "Glob",
            "Grep",
            "Bash",
            "WebFetch",
            "WebSearch",
            "TaskOutput",
            "TaskStop",
            "Task",
            "TodoWrite",
            "ToolSearch"
        ])
    );
    assert_eq!(lines[2]["tool_use_result"]["numFiles"], 1);
}

#[test]
fn loop_22_every_message_is_identified() {
    let server = calling("Glob", &json!({"pattern": "*"}), "Done.");
    let done = Windlass::asking(&server).run(&[
        "Look",
        "--output-format",
        "stream-json",
        "--include-partial-messages",
    ]);
    let lines = done.lines();
    let session = &lines[0]["session_id"];
    let mut uuids: Vec<&str> = lines
        .iter()
        .map(|line| line["uuid"].as_str().unwrap())
        .collect();
    uuids.sort_unstable();
    uuids.dedup();
    assert_eq!(uuids.len(), lines.len());
    for line in &lines {
        assert_eq!(&line["session_id"], session, "{line}");
        if ["assistant", "user", "stream_event"].contains(&line["type"].as_str().unwrap()) {
            assert_eq!(line.get("parent_tool_use_id"), Some(&Value::Null), "{line}");
        }
    }
}

#[test]
fn loop_4_stream_events_come_only_when_they_are_asked_for() {
    for (flag, expected) in [("--include-partial-messages", true), ("--verbose", false)] {
        let server = saying(["Hello."]);
        let done = Windlass::asking(&server).run(&["Hi", "--output-format", "stream-json", flag]);
        let events: Vec<Value> = done
            .lines()
            .into_iter()
            .filter(|line| line["type"] == "stream_event")
            .collect();
        assert_eq!(!events.is_empty(), expected, "{flag}");
        if expected {
            assert_eq!(events[0]["event"]["type"], "message_start");
        }
    }
}

#[test]
fn people_see_the_run_and_a_pipe_gets_no_colours() {
    let server = calling("Bash", &json!({"command": "echo so"}), "All is well.");
    let done = Windlass::asking(&server).run(&["Look", "--allowedTools", "Bash(echo:*)"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(
        lines[0].starts_with("  ✓ Bash echo so · so · "),
        "{lines:?}"
    );
    assert_eq!(lines[2..5], ["All is well.", "", "✓ done"]);
    assert!(lines[5].starts_with("  2 turns · "), "{lines:?}");
    assert!(!done.stdout.contains('\x1b'), "{done:?}");
}

#[test]
fn colours_follow_the_usual_variables() {
    for (name, coloured) in [("CLICOLOR_FORCE", true), ("NO_COLOR", false)] {
        let server = saying(["Hello."]);
        let windlass = Windlass::asking(&server);
        let output = windlass.command(&["Hi"]).env(name, "1").output().unwrap();
        assert_eq!(output.stdout.contains(&0x1b), coloured, "{name}");
    }
}

#[test]
fn verbose_shows_the_run_beside_the_answer() {
    let server = calling("Glob", &json!({"pattern": "*.none"}), "Nothing.");
    let done = Windlass::asking(&server).run(&["-p", "Look", "--verbose"]);
    assert_eq!(done.stdout, "Nothing.\n");
    assert!(done.stderr.contains("✓ Glob *.none · 0 files"), "{done:?}");
    assert!(done.stderr.contains("tools Read, Write"), "{done:?}");
}

#[test]
fn debug_writes_every_message_to_standard_error() {
    let server = saying(["Hello."]);
    let done = Windlass::asking(&server).run(&["-p", "Hi", "--debug"]);
    assert_eq!(done.stdout, "Hello.\n");
    let kinds: Vec<Value> = done
        .stderr
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone())
        .collect();
    assert_eq!(kinds, ["system", "assistant", "result"]);
}

#[test]
fn perm_3_debug_shows_a_command_as_it_runs() {
    let server = calling("Bash", &json!({"command": "echo  'a'b  # said"}), "Done.");
    let done = Windlass::asking(&server).run(&["-p", "Say it", "--debug"]);
    assert_eq!(done.stdout, "Done.\n");
    let ran = done
        .stderr
        .lines()
        .find(|line| line.contains("[DEBUG] commands: "));
    assert!(ran.is_some_and(|line| line.contains("'ab'")), "{done:?}");
}

#[test]
fn the_prompt_comes_from_the_pipe_or_from_both() {
    for (given, piped, expected) in [
        (None, "What is in the pipe?\n", "What is in the pipe?\n"),
        (
            Some("Explain:"),
            "line 1\nline 2",
            "Explain:\n\nline 1\nline 2",
        ),
        (Some("Nothing is piped"), "", "Nothing is piped"),
    ] {
        let script = json!({"exchanges": [{
            // The first block says where the session works.
            "expect": {"fields": {"/messages/0/content/1/text": expected}},
            "respond": "Yes.",
        }]});
        let server = model(&script.to_string());
        let mut args = vec!["-p"];
        args.extend(given);
        let done = Windlass::asking(&server).run_with_input(&args, piped.as_bytes());
        assert_eq!(
            (done.code, done.stdout.as_str()),
            (Some(0), "Yes.\n"),
            "{done:?}"
        );
    }
}

#[test]
fn a_pipe_that_stays_silent_does_not_hold_up_a_run_with_a_prompt() {
    let server = saying(["Hello."]);
    let windlass = Windlass::asking(&server);
    let mut child = (windlass.command(&["-p", "Hi"]))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Held open and never written to.
    let silent = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(silent);
    assert_eq!(output.stdout, b"Hello.\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing came from standard input"));
}

#[test]
fn flags_reach_the_request() {
    let script = json!({"exchanges": [{
        "expect": {
            "model": "claude-opus-4-6",
            "system_contains": "You are a lighthouse.\n\nBe brief.",
            "tools_include": ["Read", "Grep"],
            "tools_exclude": ["Bash", "Edit", "Write", "Glob"],
            "fields": {"/output_config/effort": "low"},
            "headers": {"x-api-key": "sk-test", "anthropic-beta": true},
        },
        "respond": "Blink.",
    }]});
    let server = model(&script.to_string());
    let windlass = Windlass::asking(&server);
    let args = [
        "-p",
        "Hi",
        "--model",
        "claude-opus-4-6",
        "--system-prompt",
        "You are a lighthouse.",
        "--append-system-prompt",
        "Be brief.",
        "--tools",
        "Read Grep,Glob",
        "--disallowed-tools",
        "Glob",
        "--effort",
        "low",
        "--betas",
        "context-1m-2025-08-07",
    ];
    let output = windlass
        .command(&args)
        .env("ANTHROPIC_API_KEY", "sk-test")
        .output()
        .unwrap();
    assert_eq!(
        output.stdout,
        b"Blink.\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let script = json!({"exchanges": [
        {"respond": {"content": [{"type": "tool_use", "name": "Glob", "input": {"pattern": "*"}}]}},
        {"respond": {"text": "never ends", "faults": [{"after_events": 3, "hang": true}]}},
    ]});
    let server = model(&script.to_string());
    let windlass = Windlass::asking(&server);
    let mut child = (windlass.command(&[
        "Hi",
        "--output-format",
        "stream-json",
        "--include-partial-messages",
    ]))
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert!(first.contains("\"init\""), "{first}");
    drop(stdout);
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(
        (child.wait().unwrap().code(), stderr.as_str()),
        (Some(141), "")
    );
}

#[test]
fn loop_7_and_loop_8_limits_end_a_run_with_exit_code_1() {
    let endless = json!({"exchanges": [{
        "repeat": 5,
        "respond": {"content": [{"type": "tool_use", "name": "Glob", "input": {"pattern": "*"}}],
                    "usage": {"input_tokens": 100_000, "output_tokens": 10}},
    }]});
    for (flag, value, words) in [
        ("--max-turns", "2", "limit of 2 tool rounds"),
        ("--max-budget-usd", "0.45", "budget of $0.45"),
    ] {
        let server = model(&endless.to_string());
        let done = Windlass::asking(&server).run(&["-p", "Go on", flag, value]);
        assert!(done.complaint(1).contains(words), "{done:?}");
        assert_eq!(server.requests().len(), 2, "{flag}");
    }
}

#[test]
fn a_price_file_makes_a_budget_possible() {
    let server = saying(["Cheap."]);
    let windlass = Windlass::asking(&server);
    let args = [
        "-p",
        "Hi",
        "--model",
        "house-model",
        "--max-budget-usd",
        "1",
    ];
    // What no table knows costs nobody knows how much on a server of another kind.
    let elsewhere = ["--provider", "openai", "--base-url", &server.url()];
    let done = windlass.run(&[&args[..], &elsewhere].concat());
    assert!(
        done.complaint(1)
            .contains("no price is known for the model house-model"),
        "{done:?}"
    );
    windlass.write(
        "prices.json",
        r#"{"models": [{"prefix": "house-", "input": 1, "output": 1, "cache_read": 0, "cache_write": 0}]}"#,
    );
    let done = windlass.run(&[&args[..], &["--prices", "prices.json"]].concat());
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(0), "Cheap.\n"),
        "{done:?}"
    );
}

#[test]
fn the_models_are_listed_with_those_of_a_price_file() {
    let windlass = Windlass::new();
    let done = windlass.run(&["models"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(
        done.stdout.contains("claude-opus-5-5") && done.stdout.contains("any other"),
        "{done:?}"
    );
    windlass.write(
        "prices.json",
        r#"{"models": [{"prefix": "house-", "input": "1.5", "output": 1, "cache_read": 0, "cache_write": 0}]}"#,
    );
    let done = windlass.run(&["models", "--json", "--prices", "prices.json"]);
    let listed: Value = serde_json::from_str(&done.stdout).unwrap();
    let models = listed["models"].as_array().unwrap();
    let house = models
        .iter()
        .find(|model| model["prefix"] == "house-")
        .unwrap();
    assert_eq!(house["input"].to_string(), "1.5");
    assert_eq!(listed["aliases"]["sonnet"], "claude-sonnet-5-5");
    let done = windlass.run(&["models", "--prices", "none.json"]);
    assert!(
        done.complaint(3).contains("--prices `none.json`"),
        "{done:?}"
    );
}
