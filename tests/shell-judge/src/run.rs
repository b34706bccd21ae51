//! Runs a form of a line and tells what came of it.

use std::{
    fs::{self, File},
    io,
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    process::{Child, Command, ExitStatus},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use serde::Deserialize;

use crate::{
    deadline::Deadline,
    reading::{Form, Work},
    stage::{Files, Stage, system_program},
};

/// What a line left behind gets so long to end by itself.
const BEHIND: Duration = Duration::from_millis(500);

/// After so long it is looked for the first time whether that has happened, and after twice as long each time: only its new
/// parent is told.
const FIRST_LOOK: Duration = Duration::from_micros(200);

/// The longest time between two looks.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// What git is told by whoever runs a plan, beside what the line says.
const TOLD_TO_GIT: &str =
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.bareRepository GIT_CONFIG_VALUE_0=explicit";

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// bash, without anybody's startup files.
    Bash,
    /// dash.
    Dash,
}

impl Shell {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Dash => "dash",
        }
    }

    fn command(self, text: &str) -> io::Result<Command> {
        let missing = || {
            io::Error::new(
                io::ErrorKind::NotFound,
                format!("{} is not installed", self.name()),
            )
        };
        let mut command = Command::new(system_program(self.name()).ok_or_else(missing)?);
        command.arg0(self.name());
        if self == Self::Bash {
            command.arg("--norc");
        }
        command.arg("-c").arg(text);
        Ok(command)
    }
}

/// What came of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
    /// Its exit status as a shell has it; none when it did not end.
    pub status: Option<i32>,
    /// The programs that ran.
    pub ran: Vec<Ran>,
    /// The files that are new, other or gone.
    pub files: Files,
    /// Rules have held something back when it ran.
    pub withheld: bool,
}

/// A program that ran.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Ran {
    /// Its name if it lies on the path, else its file, from the working directory on.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its working directory, from that of the line on; absolute if it lies elsewhere.
    pub folder: String,
    /// Whether it was started with the path that lines run with.
    pub path_is_whole: bool,
    /// Variables that change how programs are found or started.
    pub variables: String,
}

impl Ran {
    /// Reads the records that the programs of a stage have written.
    pub(crate) fn read_all(mut bytes: &[u8], stage: &Stage) -> Vec<Self> {
        let mut all = Vec::new();
        while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
            let Some((record, rest)) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)
            else {
                break;
            };
            all.extend(Self::read(record, stage));
            bytes = rest;
        }
        all.sort();
        all
    }

    fn read(record: &[u8], stage: &Stage) -> Option<Self> {
        let record = String::from_utf8_lossy(record.strip_suffix(b"\0")?).into_owned();
        let mut fields = record.split('\0').map(str::to_owned);
        let (program, folder, path, variables) = (
            fields.next()?,
            fields.next()?,
            fields.next()?,
            fields.next()?,
        );
        let within = |text: &str, outer: &std::path::Path| {
            let inner = text
                .strip_prefix(&*outer.to_string_lossy())?
                .strip_prefix('/')?;
            Some(inner.to_owned())
        };
        let on_path = within(&program, &stage.programs());
        let in_work = || within(&program, &stage.work()).map(|inner| format!("./{inner}"));
        Some(Self {
            program: on_path.or_else(in_work).unwrap_or(program),
            arguments: fields.collect(),
            folder: match within(&format!("{folder}/"), &stage.work()) {
                Some(inner) => inner,
                None => folder,
            },
            // `env -i` leaves none at all.
            path_is_whole: path.is_empty() || path == stage.programs().to_string_lossy(),
            // What the host tells git is not the line's.
            variables: variables.replace(TOLD_TO_GIT, ""),
        })
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.program, self.arguments)?;
        if !self.folder.is_empty() {
            write!(f, " in {}", self.folder)?;
        }
        if !self.path_is_whole {
            f.write_str(" with another PATH")?;
        }
        if !self.variables.is_empty() {
            write!(f, " with {}", self.variables)?;
        }
        Ok(())
    }
}

/// Runs a form on a stage.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn run(form: &Form, stage: &Stage) -> io::Result<Outcome> {
    match &form.work {
        Work::Shell(shell, text) => run_command(shell.command(text)?, stage),
        Work::InMemory(work) => work(stage),
        Work::Native(work) => {
            let outcome = work(stage)?;
            let finished = finish(outcome.stdout, outcome.stderr, outcome.status, stage)?;
            Ok(Outcome {
                withheld: outcome.withheld,
                ..finished
            })
        }
    }
}

/// Runs a text in bash, as somebody would who types it.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn run_as_written(line: &str, stage: &Stage) -> io::Result<Outcome> {
    run_command(Shell::Bash.command(line)?, stage)
}

fn run_command(mut command: Command, stage: &Stage) -> io::Result<Outcome> {
    let [stdout, stderr] = stage.outputs();
    command
        .env_clear()
        .envs(stage.variables())
        .current_dir(stage.work())
        .stdin(File::open(stage.input())?)
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .process_group(0);
    let mut child = command.spawn()?;
    let status = end_of(&mut child)?;
    let code = status.map(|status| {
        status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
    });
    finish(fs::read(stdout)?, fs::read(stderr)?, code, stage)
}

fn finish(
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: Option<i32>,
    stage: &Stage,
) -> io::Result<Outcome> {
    Ok(Outcome {
        stdout,
        stderr,
        status,
        ran: stage.ran()?,
        files: stage.changes()?,
        withheld: false,
    })
}

/// Waits for a line, and for what it has left running; none when it had to be killed.
fn end_of(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let group = Pid::from_child(child);
    let killed = Arc::new(AtomicBool::new(false));
    let deadline = Deadline::new({
        let killed = Arc::clone(&killed);
        move || {
            killed.store(true, Ordering::Relaxed);
            // It may have ended just now.
            let _ = kill_process_group(group, Signal::KILL);
        }
    });
    let status = child.wait()?;
    drop(deadline);
    reap(group);
    Ok((!killed.load(Ordering::Relaxed)).then_some(status))
}

/// Waits for what has left its process group (`timeout` does), so that it does not write down that it ran when the next line does.
pub(crate) fn reap_strays(stage: &Stage) {
    let start = Instant::now();
    let folder = stage.work();
    let is_here = |process: &Process| {
        let cwd = fs::read_link(format!("/proc/{}/cwd", process.pid));
        cwd.is_ok_and(|cwd| cwd.starts_with(&folder))
    };
    loop {
        let strays: Vec<Process> = running().filter(is_here).collect();
        if strays.is_empty() {
            return;
        }
        if start.elapsed() > BEHIND {
            for pid in strays.iter().filter_map(|stray| Pid::from_raw(stray.pid)) {
                // It may have ended just now.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        thread::sleep(FIRST_LOOK);
    }
}

/// Waits for the rest of a process group, and ends what does not end by itself.
fn reap(group: Pid) {
    let start = Instant::now();
    let mut pause = FIRST_LOOK;
    while test_kill_process_group(group).is_ok() {
        // Who has ended counts until somebody else, in their own time, takes note of it.
        let is_in = |process: Process| process.group == group.as_raw_nonzero().get();
        if pause == LONGEST_PAUSE && !running().any(is_in) {
            return;
        }
        if start.elapsed() > BEHIND {
            let _ = kill_process_group(group, Signal::KILL);
        }
        thread::sleep(pause);
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

/// A process of this machine.
struct Process {
    pid: i32,
    group: i32,
}

/// Those that have not ended.
fn running() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // Behind the name, which may hold anything: state, parent, group (proc(5)).
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let state = fields.next()?;
        let group = fields.nth(1)?.parse().ok()?;
        (!matches!(state, "Z" | "X")).then_some(Process { pid, group })
    })
}
