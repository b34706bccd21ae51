//! The shell of pages, npm `just-bash`: what passes runs there as a page would run it, among programs that only record that they ran.
//!
//! It is held to what is judged, and not to what bash makes of a line: what it does not know, it refuses.

use std::{
    cell::RefCell,
    io::{self, BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde::{Deserialize, Serialize};
use windlass_core::permission::CommandLine;
use windlass_shell::print;

use crate::{
    judged::{Approved, approved},
    permissions::Permissions,
    reading::{Form, Reading},
    run::{Outcome, Ran},
    stage::{Files, Stage},
};

/// The program that runs lines; it has npm's packages beside it.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/just-bash.mjs");

/// Judges a line by its rules, and runs what was judged in `just-bash`, without a change to the machine.
#[derive(Debug, Clone, Copy)]
pub struct JustBash;

impl JustBash {
    /// Runs a text as it is, without a judgement.
    ///
    /// # Errors
    /// When Node or what it takes from npm is missing.
    pub fn run_as_written(text: &str, stage: &Stage) -> io::Result<Outcome> {
        run(text, stage)
    }
}

impl Reading for JustBash {
    fn passes(&self, line: &str, permissions: &Permissions, stage: &Stage) -> Option<Vec<Form>> {
        let line = CommandLine::read(line, &stage.work().to_string_lossy());
        let text = match approved(line, permissions, stage)? {
            Approved::Whole(text) => text,
            Approved::Parts(plan) => print(&plan.script, &|_| None),
        };
        let label = format!("just-bash runs {text:?}");
        let run = move |stage: &Stage| run(&text, stage);
        Some(vec![Form::in_memory(label, Box::new(run))])
    }

    fn promises_same_result(&self) -> bool {
        false
    }
}

#[derive(Serialize)]
struct Request<'a> {
    text: &'a str,
    work: String,
    input: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    stdout: String,
    stderr: String,
    status: Option<i32>,
    ran: Vec<Ran>,
    files: std::collections::BTreeMap<String, String>,
}

thread_local! {
    /// The one that this thread asks.
    static RUNNER: RefCell<Option<Runner>> = const { RefCell::new(None) };
}

fn run(text: &str, stage: &Stage) -> io::Result<Outcome> {
    let input = std::fs::read_to_string(stage.input())?;
    let request = Request {
        text,
        work: stage.work().to_string_lossy().into_owned(),
        input: &input,
    };
    let answer = RUNNER.with_borrow_mut(|runner| {
        let asked = match runner {
            Some(running) => running,
            None => runner.insert(Runner::start()?),
        };
        asked.ask(&request)
    })?;
    let bytes = |(name, text): (String, String)| (name, text.into_bytes());
    Ok(Outcome {
        stdout: answer.stdout.into_bytes(),
        stderr: answer.stderr.into_bytes(),
        status: answer.status,
        ran: answer.ran,
        files: answer.files.into_iter().map(bytes).collect::<Files>(),
        withheld: false,
    })
}

/// A Node process that runs lines, one after the other. It ends when nobody asks it any more.
struct Runner {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Runner {
    fn start() -> io::Result<Self> {
        let mut child = Command::new("node")
            .arg(PROGRAM)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("cannot start node: {error}")))?;
        let missing = || io::Error::other("node has no standard streams");
        Ok(Self {
            requests: child.stdin.take().ok_or_else(missing)?,
            answers: BufReader::new(child.stdout.take().ok_or_else(missing)?),
            child,
        })
    }

    fn ask(&mut self, request: &Request<'_>) -> io::Result<Answer> {
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        self.requests.write_all(line.as_bytes())?;
        let mut answer = String::new();
        if self.answers.read_line(&mut answer)? == 0 {
            let told = "just-bash.mjs ended: `cargo xtask setup` installs what it takes from npm";
            return Err(io::Error::other(told));
        }
        Ok(serde_json::from_str(&answer)?)
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
