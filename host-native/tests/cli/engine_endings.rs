//! Every way in which an engine may have to end: the process, what it runs, and what it has written down.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use windlass::model_server::ModelServer;

use crate::support::{Windlass, calling};

/// What the SDKs start the engine with.
const ENGINE: [&str; 7] = [
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
    "--allowedTools",
    "Bash",
];

/// An engine in the middle of a command.
struct Engine {
    windlass: Windlass,
    child: Child,
    stdin: ChildStdin,
    /// None once it is closed.
    stdout: Option<BufReader<ChildStdout>>,
    /// Of the command, and of a child of its own.
    command: Vec<Pid>,
    _model: ModelServer,
}

impl Engine {
    /// Started, asked, and so far that the command runs. `before` is what the command does first.
    fn in_mid_tool(before: &str) -> Self {
        Self::with_last_hook(before, "cat > ended.part; mv ended.part ended.json", 60_000)
    }

    /// The same with a hook that hears of the session's end, and how many milliseconds it has for that.
    fn with_last_hook(before: &str, hook: &str, limit: u32) -> Self {
        let windlass = Windlass::new();
        let hook = json!([{"hooks": [{"type": "command", "command": hook}]}]);
        let settings = json!({"hooks": {"SessionEnd": hook}}).to_string();
        fs::create_dir(windlass.workspace.path().join(".claude")).unwrap();
        windlass.write(".claude/settings.json", &settings);
        let begun = windlass.workspace.path().join("begun");
        // More than a pipe holds: what gets by it is read by an engine that knows which processes are to end with it.
        let command = format!(
            "printf '%200000s' ''; {before} sleep 600 & echo $$ $! > {begun}.part; mv {begun}.part {begun}; wait",
            begun = begun.display()
        );
        let model = calling("Bash", &json!({ "command": command }), "unused");
        let mut child = (windlass.command(&ENGINE))
            .env("ANTHROPIC_BASE_URL", model.url())
            .env("ANTHROPIC_API_KEY", "sk-test")
            .env(
                "CLAUDE_CONFIG_DIR",
                windlass.workspace.path().join(".config"),
            )
            .env("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", limit.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let prompt = json!({"type": "user", "message": {"role": "user", "content": "go"}});
        writeln!(stdin, "{prompt}").unwrap();
        while !begun.exists() {
            std::thread::yield_now();
        }
        let pids = fs::read_to_string(begun).unwrap();
        let pid = |text: &str| Pid::from_raw(text.parse().unwrap()).unwrap();
        let stdout = child.stdout.take().map(BufReader::new);
        Self {
            windlass,
            child,
            stdin,
            stdout,
            command: pids.split_whitespace().map(pid).collect(),
            _model: model,
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the process to end, and for the command to be gone, and looks at what was written down. The exit code.
    fn is_gone(&mut self) -> Option<i32> {
        let status = self.child.wait().unwrap();
        for pid in &self.command {
            while lives(*pid) {
                std::thread::yield_now();
            }
        }
        let lines = transcript(self.windlass.workspace.path());
        let said = |kind: &str, words: &str| {
            let of_kind = |line: &&Value| line["type"] == kind;
            lines
                .iter()
                .filter(of_kind)
                .any(|line| line.to_string().contains(words))
        };
        // A call runs once the response it stands in is safe, and a response is asked for once the prompt is.
        assert!(said("user", r#""content":"go""#), "{lines:?}");
        assert!(said("assistant", r#""name":"Bash""#), "{lines:?}");
        status.code()
    }

    /// What the hook was told that hears of the session's end.
    fn told_of_its_end(&self) -> Value {
        serde_json::from_str(&self.windlass.file("ended.json")).unwrap()
    }
}

/// A zombie that nobody has collected yet is as good as gone.
fn lives(pid: Pid) -> bool {
    let state = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    state.is_ok_and(|state| !state.contains(") Z "))
}

/// Every line of the one transcript; each of them is whole.
fn transcript(workspace: &Path) -> Vec<Value> {
    let folders = fs::read_dir(workspace.join(".config/projects")).unwrap();
    let files: Vec<PathBuf> = folders
        .flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    let [file] = &files[..] else {
        panic!("{files:?}")
    };
    let text = fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn an_engine_that_is_told_to_end_leaves_nothing_behind() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let mut engine = Engine::in_mid_tool("");
        engine.signal(signal);
        assert_eq!(engine.is_gone(), Some(code));
        let told = engine.told_of_its_end();
        assert_eq!(told["hook_event_name"], "SessionEnd");
        assert_eq!(told["reason"], "other");
        // Where it ends is written down too, for listings.
        let lines = transcript(engine.windlass.workspace.path());
        let last = lines.last().unwrap();
        assert_eq!(last["type"], "last-prompt", "{last}");
        assert_eq!(last["lastPrompt"], "go");
        assert_eq!(told["session_id"], last["sessionId"]);
    }
}

#[test]
fn a_hook_that_hears_of_the_end_cannot_keep_an_engine_from_ending() {
    let mut engine = Engine::with_last_hook("", "echo $$ > hook; exec sleep 600", 3_000);
    engine.signal(Signal::TERM);
    assert_eq!(engine.is_gone(), Some(143));
    let hook = engine.windlass.file("hook");
    let hook = Pid::from_raw(hook.trim().parse().unwrap()).unwrap();
    while lives(hook) {
        std::thread::yield_now();
    }
}

#[test]
fn an_engine_whose_output_nobody_reads_can_be_told_to_end() {
    // The hook of the end is waited for, and has more time than a test.
    let hook = "cat > ended.part; mv ended.part ended.json";
    let mut engine = Engine::with_last_hook("", hook, 1_000_000);
    // More answers than a pipe and all that waits before it can hold.
    let more = json!({"type": "control_request", "request_id": "r".repeat(1000), "request": {"subtype": "none"}});
    for _ in 0..2000 {
        writeln!(engine.stdin, "{more}").unwrap();
    }
    let stdout = engine.stdout.as_ref().unwrap().get_ref();
    let unread = || rustix::io::ioctl_fionread(stdout).unwrap();
    // Lines that come one by one leave a part of every page of the pipe empty.
    while unread() < 40_000 {
        std::thread::yield_now();
    }
    engine.signal(Signal::TERM);
    assert_eq!(engine.is_gone(), Some(143));
}

#[test]
fn an_engine_whose_output_is_closed_ends_in_the_middle_of_a_command() {
    let mut engine = Engine::in_mid_tool("");
    // It has said what there is to say until the command ends, which is never: no write tells it.
    let mut line = String::new();
    while !line.contains(r#""tool_use""#) {
        line.clear();
        engine
            .stdout
            .as_mut()
            .unwrap()
            .read_line(&mut line)
            .unwrap();
    }
    engine.stdout = None;
    assert_eq!(engine.is_gone(), Some(141));
    assert_eq!(engine.told_of_its_end()["reason"], "other");
}

#[test]
fn the_commands_of_an_engine_that_is_killed_end_with_it() {
    // The second does not listen to the polite signal.
    for before in ["", "trap '' TERM;"] {
        let mut engine = Engine::in_mid_tool(before);
        engine.signal(Signal::KILL);
        assert_eq!(engine.is_gone(), None);
    }
}
