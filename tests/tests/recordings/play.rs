//! The engine as a process, and whoever plays the SDK to it.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use windlass::model_server::ModelServer;
use windlass_testkit::Script;
use windlass_tests::artefacts;

use crate::{
    data,
    label::Labels,
    scenario::{After, Scenario, Step},
};

/// After so long without a word somebody waits in vain.
const PATIENCE: Duration = Duration::from_secs(10);

/// What came of it.
pub(crate) struct Played {
    /// Everything that the engine wrote, with names.
    pub(crate) frames: Vec<(String, Value)>,
    pub(crate) exit: Option<i32>,
    /// What somebody waited for in vain.
    pub(crate) hangs: Option<String>,
    /// For whoever looks for the reason of a difference.
    pub(crate) remarks: String,
}

/// A scenario at work.
struct Play<'a> {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    labels: Labels,
    frames: Vec<(String, Value)>,
    answers: &'a BTreeMap<String, Vec<Value>>,
    /// Paths of this run, and what stands for them in scenarios.
    paths: Vec<(String, &'static str)>,
}

/// Plays a scenario, and those before it, in surroundings of their own.
pub(crate) fn play(name: &str, all: &BTreeMap<String, Scenario>) -> Played {
    let root = TempDir::with_prefix("windlass-recording-").unwrap();
    for directory in ["work", "home", "configuration", "temporary"] {
        fs::create_dir(root.path().join(directory)).unwrap();
    }
    play_behind(&root, name, all)
}

fn play_behind(root: &TempDir, name: &str, all: &BTreeMap<String, Scenario>) -> Played {
    if let Some(before) = &all[name].before {
        play_behind(root, before, all);
    }
    play_in(root, &all[name])
}

fn play_in(root: &TempDir, scenario: &Scenario) -> Played {
    let cwd = root.path().canonicalize().unwrap().join("work");
    let scenario = scenario.at(&cwd.to_string_lossy());
    for (path, text) in &scenario.files {
        fs::write(cwd.join(path), text).unwrap();
    }
    let script = Script::parse(&scenario.script()).unwrap();
    let model = ModelServer::start(script).unwrap();
    let complaints = root.path().join("complaints");
    let mut command = Command::new(artefacts::windlass());
    command
        .args(&scenario.flags)
        .current_dir(&cwd)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LANG", "C.UTF-8")
        .env("HOME", root.path().join("home"))
        .env("TMPDIR", root.path().join("temporary"))
        .env("CLAUDE_CONFIG_DIR", root.path().join("configuration"))
        .env("XDG_CACHE_HOME", compiled_components())
        .env("ANTHROPIC_BASE_URL", model.url())
        .env("ANTHROPIC_API_KEY", "test-key")
        .envs(&scenario.environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(File::create(&complaints).unwrap());
    let mut child = command.spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let (sender, lines) = mpsc::channel();
    let reading = thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            // Nobody listens any more: the rest is read so that the process is not held up.
            let _ = sender.send(line);
        }
    });
    let mut play = Play {
        input: child.stdin.take(),
        child,
        lines,
        labels: Labels::default(),
        frames: Vec::new(),
        answers: &scenario.answers,
        paths: vec![
            (cwd.to_string_lossy().into_owned(), "${cwd}"),
            (data("").to_string_lossy().into_owned(), "${here}/"),
        ],
    };
    let mut hangs = None;
    for step in &scenario.steps {
        if let Err(waited_for) = play.step(step) {
            hangs = Some(waited_for);
            break;
        }
    }
    if let Err(waited_for) = play.read_on() {
        hangs.get_or_insert(waited_for);
        play.child.kill().unwrap();
    }
    let status = play.child.wait().unwrap();
    reading.join().unwrap();
    let misses = model.verify().err().map(|unmet| unmet.to_string());
    let complaints = fs::read_to_string(complaints).unwrap();
    Played {
        frames: play.frames,
        exit: status.code(),
        hangs,
        remarks: format!("{complaints}{}", misses.unwrap_or_default()),
    }
}

impl Play<'_> {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        if let Some(After { frame, times }) = &step.after {
            while self
                .frames
                .iter()
                .filter(|(label, _)| label == frame)
                .count()
                < *times
            {
                if !self.listen()? {
                    return Err(format!("{frame} ({times})"));
                }
            }
        }
        if let Some(frame) = &step.say {
            self.labels.heard(frame);
            self.write(&frame.to_string());
        }
        if let Some(line) = &step.raw {
            self.write(line);
        }
        if step.signal {
            let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
            kill_process(pid.unwrap(), Signal::TERM).unwrap();
        }
        if step.end {
            self.input = None;
        }
        Ok(())
    }

    /// Reads what is still written.
    fn read_on(&mut self) -> Result<(), String> {
        while self.listen()? {}
        Ok(())
    }

    /// The next frame; answers it if it is a question. False when nothing more comes.
    fn listen(&mut self) -> Result<bool, String> {
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return Ok(false),
            Err(RecvTimeoutError::Timeout) => {
                let last = self.frames.last().map_or("its start", |(label, _)| label);
                return Err(format!("anything behind {last}"));
            }
        };
        let line = (self.paths.iter()).fold(line, |line, (path, name)| line.replace(path, name));
        let frame: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let label = self.labels.name(&frame);
        if label.starts_with("ask/") {
            self.answer(&label, &frame);
        }
        self.frames.push((label, frame));
        Ok(true)
    }

    fn answer(&mut self, label: &str, question: &Value) {
        let earlier = self.frames.iter().filter(|(other, _)| other == label);
        let mut answer = match self.answers.get(label).map(Vec::as_slice) {
            // Asked by this engine alone: whoever has nothing to say says so.
            None | Some([]) => json!({"subtype": "success", "response": {}}),
            Some(answers @ [.., last]) => answers.get(earlier.count()).unwrap_or(last).clone(),
        };
        if answer.is_null() {
            return; // it was not answered then either
        }
        answer["request_id"] = question["request_id"].clone();
        let asked_as = &question["request"]["message"]["id"];
        if let Some(mcp) = answer.pointer_mut("/response/mcp_response")
            && mcp.get("id").is_some()
        {
            mcp["id"] = asked_as.clone();
        }
        self.write(&json!({"type": "control_response", "response": answer}).to_string());
    }

    fn write(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            // A process that has ended reads no more; what it wrote is looked at all the same.
            let _ = writeln!(input, "{line}").and_then(|()| input.flush());
        }
    }
}

/// The user's cache, so that the file tools are not compiled anew for every test.
fn compiled_components() -> PathBuf {
    let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    std::env::var_os("XDG_CACHE_HOME").map_or_else(|| home.join(".cache"), PathBuf::from)
}
