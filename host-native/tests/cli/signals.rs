//! Ctrl-C and SIGTERM.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStdout, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use windlass::model_server::ModelServer;

use crate::support::{Windlass, calling, model};

struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    /// Starts a run and waits until it has got so far that this stands in a line of its output.
    fn until(windlass: &Windlass, args: &[&str], words: &str) -> Self {
        let mut child = windlass
            .command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut running = Self { child, stdout };
        running.wait_for(words);
        running
    }

    fn wait_for(&mut self, words: &str) {
        let mut line = String::new();
        while !line.contains(words) {
            line.clear();
            assert!(
                self.stdout.read_line(&mut line).unwrap() > 0,
                "it ended before {words:?} came"
            );
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }

    /// What it prints from here on, and its exit code.
    fn end(mut self) -> (Vec<Value>, Option<i32>) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let lines = rest
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        (lines, self.child.wait().unwrap().code())
    }
}

/// A model that stops in the middle of its answer and says no more.
fn silent() -> ModelServer {
    model(&json!({"exchanges": [{"respond": {"text": "Well", "faults": [{"after_events": 3, "hang": true}]}}]}).to_string())
}

const STREAMING: [&str; 4] = [
    "Hi",
    "--output-format",
    "stream-json",
    "--include-partial-messages",
];

#[test]
fn loop_13_the_first_signal_ends_the_run_with_its_result() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let server = silent();
        let running = Running::until(
            &Windlass::asking(&server),
            &STREAMING,
            "content_block_start",
        );
        running.signal(signal);
        let (lines, exit) = running.end();
        let result = lines.last().unwrap();
        assert_eq!(result["type"], "result");
        assert_eq!(result["subtype"], "error_during_execution");
        assert_eq!(result["errors"], json!(["interrupted"]));
        assert_eq!(exit, Some(code));
    }
}

#[test]
fn loop_13_the_result_of_an_interrupted_run_is_printed_as_json_too() {
    let windlass = Windlass::new();
    let command = format!(
        "touch {}; sleep 600",
        windlass.workspace.path().join("started").display()
    );
    let server = calling("Bash", &json!({"command": command}), "unused");
    let url = server.url();
    let mut child = windlass
        .command(&[
            "Hi",
            "--output-format",
            "json",
            "--base-url",
            &url,
            "--allowedTools",
            "Bash",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    while !windlass.workspace.path().join("started").exists() {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let result: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(result["errors"], json!(["interrupted"]), "{result}");
}

/// A run whose command has made its file `started`.
fn until_started(windlass: &Windlass, url: &str) -> Running {
    let args = [
        "Hi",
        "--output-format",
        "stream-json",
        "--base-url",
        url,
        "--allowedTools",
        "Bash",
    ];
    let running = Running::until(windlass, &args, "tool_use");
    // The call was announced; it runs when its file is there.
    while !windlass.workspace.path().join("started").exists() {
        std::thread::yield_now();
    }
    running
}

#[test]
fn loop_13_an_interrupted_command_ends_with_what_it_started() {
    let windlass = Windlass::new();
    let command = format!(
        "sleep 600 & echo $! > pid; touch {}; wait",
        windlass.workspace.path().join("started").display()
    );
    let server = calling("Bash", &json!({"command": command}), "unused");
    let running = until_started(&windlass, &server.url());
    running.signal(Signal::INT);
    let (lines, exit) = running.end();
    assert_eq!(exit, Some(130));
    assert_eq!(lines.last().unwrap()["subtype"], "error_during_execution");
    let pid = Pid::from_raw(windlass.file("pid").trim().parse().unwrap()).unwrap();
    // Killed with its group; a zombie that nobody has collected yet is as good as gone.
    let gone = || {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()))
            .unwrap_or_default();
        state.is_empty() || state.contains(") Z ")
    };
    while !gone() {
        std::thread::yield_now();
    }
}

#[test]
fn the_second_signal_quits() {
    let windlass = Windlass::new();
    // It does not listen to the polite signal, so the run cannot end in good order at once.
    let command = format!(
        "trap '' TERM INT; touch {}; while :; do sleep 0.1; done",
        windlass.workspace.path().join("started").display()
    );
    let server = calling("Bash", &json!({"command": command}), "unused");
    let running = until_started(&windlass, &server.url());
    running.signal(Signal::INT);
    running.signal(Signal::INT);
    let (_, exit) = running.end();
    assert_eq!(exit, Some(130));
}
