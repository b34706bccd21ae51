//! The Bash tool from outside: what the model reads, what programs read, and what is left running (nothing).

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod lasting;

use std::{fs, path::Path, time::Duration};

use futures_util::{StreamExt, stream::BoxStream};
use serde_json::{Value, json};
use tempfile::TempDir;
use windlass::{
    bash::{Bash, MAX_STDOUT},
    host::RunTool,
};
use windlass_core::{
    EffectId,
    effect::{Answer, Stage},
    host::CancelSignal,
    json::RawJson,
    tool::{ApprovedCommand, FsGrant, ToolCall, ToolResult},
    uuid_v4,
};

fn call(directory: &Path, input: &Value) -> ToolCall {
    ToolCall {
        tool_use_id: "toolu_1".into(),
        name: "Bash".into(),
        input: RawJson::encode(input).unwrap(),
        grant: FsGrant {
            cwd: directory.to_str().unwrap().to_owned(),
            ..FsGrant::default()
        },
        observed: Vec::new(),
        timeout_ms: None,
        agent: None,
        command: Some(ApprovedCommand::AsWritten),
        outside_sandbox: false,
        model: None,
        shell: None,
    }
}

async fn run(command: &str) -> ToolResult {
    let directory = TempDir::new().unwrap();
    let call = call(directory.path(), &json!({ "command": command }));
    Bash::new().call(&call, CancelSignal::new()).await
}

fn structured(result: &ToolResult) -> Value {
    result.structured.as_ref().unwrap().decode().unwrap()
}

/// Ends when a file is there with something in it: how a test learns that a command has come so far.
async fn written(path: &Path) -> String {
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => tokio::time::sleep(Duration::from_millis(2)).await,
        }
    }
}

/// Whether a process still runs. One that ended and was not collected by anybody does not.
fn is_running(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

async fn gone(pid: &str) {
    while is_running(pid) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn tool_23_stdout_and_stderr_are_kept_apart() {
    let result = run("echo out; echo err >&2").await;
    assert!(!result.is_error);
    assert_eq!(result.joined_text(), "out\nerr");
    assert_eq!(
        structured(&result),
        json!({ "stdout": "out\n", "stderr": "err\n", "interrupted": false, "isImage": false })
    );
}

#[tokio::test]
async fn tool_23_exit_codes_are_failures_unless_they_are_answers() {
    let failed = run("echo text; exit 3").await;
    assert!(failed.is_error);
    assert_eq!(failed.joined_text(), "Exit code 3\ntext");

    let answered = run("echo haystack | grep needle").await;
    assert!(!answered.is_error);
    assert_eq!(answered.joined_text(), "No matches found");
    let meaning = &structured(&answered)["returnCodeInterpretation"];
    assert_eq!(meaning, "No matches found");

    let signalled = run("kill -9 $$").await;
    assert!(signalled.is_error);
    assert_eq!(signalled.joined_text(), "Ended by signal 9");
}

#[tokio::test]
async fn tool_23_a_command_stops_at_its_time_limit_with_its_children() {
    let directory = TempDir::new().unwrap();
    let command = "echo before; sleep 1000 & echo $! > pid; wait";
    let input = json!({ "command": command, "timeout": 300 });
    let result = Bash::new()
        .call(&call(directory.path(), &input), CancelSignal::new())
        .await;
    assert!(result.is_error);
    let text = result.joined_text();
    assert!(text.contains("out of time after 300 ms"), "{text}");
    assert!(text.ends_with("before"), "{text}");
    assert_eq!(structured(&result)["interrupted"], true);
    gone(&written(&directory.path().join("pid")).await).await;
}

#[tokio::test]
async fn tool_23_the_time_limit_is_ten_minutes_at_most() {
    let schema: Value = Bash::definition().input_schema.decode().unwrap();
    let told = schema["properties"]["timeout"]["description"]
        .as_str()
        .unwrap();
    assert!(told.contains("120000") && told.contains("600000"));
    let directory = TempDir::new().unwrap();
    let input = json!({ "command": "sleep 1000", "timeout": 1e12 });
    let limited = ToolCall {
        timeout_ms: Some(50),
        ..call(directory.path(), &input)
    };
    let result = Bash::new().call(&limited, CancelSignal::new()).await;
    assert!(result.joined_text().contains("out of time after 50 ms"));
}

#[tokio::test]
async fn a_command_that_ignores_the_request_to_end_is_killed() {
    let directory = TempDir::new().unwrap();
    let command = "trap '' TERM; echo $$ > pid; while true; do sleep 0.1; done";
    let call = call(directory.path(), &json!({ "command": command }));
    let cancel = CancelSignal::new();
    let bash = Bash::new();
    let pid_file = directory.path().join("pid");
    let (result, pid) = tokio::join!(bash.call(&call, cancel.clone()), async {
        let pid = written(&pid_file).await;
        cancel.cancel();
        pid
    });
    assert!(result.is_error);
    assert!(result.joined_text().contains("interrupted"));
    assert_eq!(structured(&result)["interrupted"], true);
    gone(&pid).await;
}

#[tokio::test]
async fn a_command_that_is_asked_to_end_can_tidy_up() {
    let directory = TempDir::new().unwrap();
    let command = "trap 'echo tidied; exit 0' TERM; echo $$ > pid; while true; do sleep 0.05; done";
    let call = call(directory.path(), &json!({ "command": command }));
    let cancel = CancelSignal::new();
    let bash = Bash::new();
    let pid_file = directory.path().join("pid");
    let (result, ()) = tokio::join!(bash.call(&call, cancel.clone()), async {
        written(&pid_file).await;
        cancel.cancel();
    });
    assert_eq!(structured(&result)["stdout"], "tidied\n");
}

#[tokio::test]
async fn an_abandoned_command_is_killed_with_its_children() {
    let directory = TempDir::new().unwrap();
    let command = "sleep 1000 & echo $! > child; echo $$ > shell; wait";
    let call = call(directory.path(), &json!({ "command": command }));
    let bash = Bash::new();
    let (child, shell) = tokio::select! {
        _ = bash.call(&call, CancelSignal::new()) => panic!("it waits"),
        pids = async {
            (written(&directory.path().join("child")).await, written(&directory.path().join("shell")).await)
        } => pids,
    };
    gone(&child).await;
    gone(&shell).await;
}

#[tokio::test]
async fn what_is_left_in_the_background_ends_with_the_command_and_holds_nothing_up() {
    let directory = TempDir::new().unwrap();
    let command = "sleep 1000 & echo $! > pid; echo done";
    let call = call(directory.path(), &json!({ "command": command }));
    let result = Bash::new().call(&call, CancelSignal::new()).await;
    assert_eq!(
        (result.is_error, result.joined_text().as_str()),
        (false, "done")
    );
    gone(&written(&directory.path().join("pid")).await).await;
}

#[tokio::test]
async fn a_process_that_left_the_group_cannot_hold_the_result_back() {
    let directory = TempDir::new().unwrap();
    // It keeps the pipe open from a session of its own; the test ends it itself.
    let command = "setsid sleep 1000 & echo $! > pid; echo done";
    let call = call(directory.path(), &json!({ "command": command }));
    let result = Bash::new().call(&call, CancelSignal::new()).await;
    assert_eq!(result.joined_text(), "done");
    let pid = written(&directory.path().join("pid")).await;
    let killed = std::process::Command::new("kill").arg(&pid).status();
    // `setsid` forks when it leads a group already; then this number is gone and the sleeper is its child.
    drop(killed);
}

#[tokio::test]
async fn long_output_is_cut_in_the_middle() {
    let result = run("echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last").await;
    let text = result.joined_text();
    assert!(text.len() < MAX_STDOUT + 200, "{}", text.len());
    assert!(text.starts_with("first\nxxx") && text.ends_with("xxx\nlast"));
    assert!(text.contains("bytes of output are not shown"));
}

#[tokio::test]
async fn output_that_is_no_text_is_shown_as_such() {
    let result = run("printf 'a\\377b'").await;
    assert_eq!(result.joined_text(), "a\u{fffd}b");
}

#[tokio::test]
async fn standard_input_is_empty_and_keys_are_not_in_the_environment() {
    assert_eq!(run("cat; echo end").await.joined_text(), "end");
    assert_eq!(run("true").await.joined_text(), "(no output)");
    let directory = TempDir::new().unwrap();
    let call = call(
        directory.path(),
        &json!({ "command": "echo $CARGO_PKG_NAME-$PATH" }),
    );
    let bash = Bash::new().hiding(["CARGO_PKG_NAME"]);
    let text = bash.call(&call, CancelSignal::new()).await.joined_text();
    assert!(text.starts_with("-/"), "{text}");
}

#[tokio::test]
async fn commands_run_in_the_working_directory_of_the_call() {
    let directory = TempDir::new().unwrap();
    let real = directory.path().canonicalize().unwrap();
    let call_here = call(&real, &json!({ "command": "pwd" }));
    let here = Bash::new().call(&call_here, CancelSignal::new()).await;
    assert_eq!(here.joined_text(), real.to_str().unwrap());
    let missing = real.join("missing");
    let call_there = call(&missing, &json!({ "command": "pwd" }));
    let there = Bash::new().call(&call_there, CancelSignal::new()).await;
    assert!(there.is_error);
    assert!(there.joined_text().contains(missing.to_str().unwrap()));
}

#[tokio::test]
async fn inputs_that_cannot_be_done_are_refused_with_a_reason() {
    let directory = TempDir::new().unwrap();
    let call = call(directory.path(), &json!({ "command": 3 }));
    let result = Bash::new().call(&call, CancelSignal::new()).await;
    assert!(result.is_error);
    assert!(result.joined_text().contains("JSON"), "{result:?}");
}

fn answers(call: ToolCall, cancel: CancelSignal) -> BoxStream<'static, Answer> {
    let id = EffectId {
        session: uuid_v4([1; 16]),
        agent: 0,
        turn: 1,
        call: 1,
        stage: Stage::Run,
        attempt: 1,
    };
    Bash::new().run(id, call, cancel)
}

#[tokio::test]
async fn tool_6_what_a_command_in_the_background_writes_is_told_before_its_result() {
    let directory = TempDir::new().unwrap();
    let command = "echo one; while ! test -e go; do sleep 0.01; done; echo two >&2; exit 3";
    let input = json!({ "command": command, "run_in_background": true, "timeout": 1 });
    let mut answers = answers(call(directory.path(), &input), CancelSignal::new());
    assert_eq!(answers.next().await, Some(Answer::Output("one\n".into())));
    fs::write(directory.path().join("go"), "").unwrap();
    assert_eq!(answers.next().await, Some(Answer::Output("two\n".into())));
    match answers.next().await {
        Some(Answer::Tool(result)) => assert_eq!(result.joined_text(), "Exit code 3\none\ntwo"),
        other => panic!("{other:?}"),
    }
    assert_eq!(answers.next().await, None);
}

#[tokio::test]
async fn tool_6_a_command_in_the_background_goes_with_whoever_listens_and_whatever_it_writes() {
    let directory = TempDir::new().unwrap();
    let command = "echo $$ > part; mv part pid; yes";
    let input = json!({ "command": command, "run_in_background": true });
    let mut answers = answers(call(directory.path(), &input), CancelSignal::new());
    assert!(matches!(answers.next().await, Some(Answer::Output(text)) if text.starts_with("y\n")));
    let pid = written(&directory.path().join("pid")).await;
    drop(answers);
    gone(&pid).await;
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_command_cannot_trace_others_and_this_process_keeps_its_rights() {
    /// The sets of capabilities in a status, as text, and whether one of them has a capability.
    fn sets(status: &str) -> Vec<&str> {
        (status.lines())
            .filter(|line| line.starts_with("Cap"))
            .collect()
    }
    fn has(set: &str, capability: u32) -> bool {
        let (_, bits) = set.split_once(":\t").unwrap();
        u64::from_str_radix(bits, 16).unwrap() >> capability & 1 == 1
    }
    const SETPCAP: u32 = 8;
    const SYS_PTRACE: u32 = 19;
    let before = fs::read_to_string("/proc/thread-self/status").unwrap();
    let result = run("cat /proc/self/status").await;
    let given = structured(&result)["stdout"].as_str().unwrap().to_owned();
    let after = fs::read_to_string("/proc/thread-self/status").unwrap();
    assert_eq!(sets(&before), sets(&after));
    let held = |capability| {
        sets(&before)
            .iter()
            .any(|set| set.starts_with("CapEff") && has(set, capability))
    };
    if !held(SETPCAP) {
        eprintln!("not tried: who is not root has no such right to give away");
        return;
    }
    let tracing: Vec<&str> = sets(&given)
        .into_iter()
        .filter(|set| has(set, SYS_PTRACE))
        .collect();
    assert_eq!(tracing, Vec::<&str>::new());
}
