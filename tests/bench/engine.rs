//! The stdio engine against the original engine of the official SDKs, where that could be fetched.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike as _,
};
use serde::{Deserialize, Serialize};

use crate::{
    server::{BenchServer, Call},
    start,
    table::{Goal, Table, in_turns, median},
};

const ROUNDS: usize = 9;
const TURNS: usize = 50;
/// How long nothing runs before an engine is started.
const QUIET: Duration = Duration::from_millis(200);
/// Engines that run at once, each with a session that waits for its person.
const CROWD: usize = 100;

/// What `cargo xtask bench` fetched.
const ORIGINAL: &str = "WINDLASS_ORIGINAL_ENGINE";

pub(crate) fn measure(table: &mut Table) {
    let Some(ours) = start::binary() else {
        table.skipped("the stdio engine", "the windlass binary was not built");
        return;
    };
    let original = std::env::var_os(ORIGINAL).map(PathBuf::from);
    match &original {
        Some(original) => against(&ours, original, table),
        None => table.skipped(
            "the original engine",
            "its package could not be installed from the npm registry",
        ),
    }
    crowd(&ours, table);
}

fn against(ours: &Path, original: &Path, table: &mut Table) {
    let cache = tempfile::tempdir().expect("a directory");
    let cache = cache.path();
    let server = BenchServer::start(0);
    let (a, b) = in_turns(
        ROUNDS,
        || first_request_ms(ours, &server, cache),
        || first_request_ms(original, &server, cache),
    );
    let figure = "start of the engine to the first request (original engine)";
    table.pair(figure, "ms", a, b, Goal::AtMost(1.0 / 20.0));

    let (mut ours_once, mut original_once) = (Vec::new(), Vec::new());
    let (a, b) = in_turns(
        ROUNDS,
        || remember(&mut ours_once, report(ours, &server, cache)),
        || remember(&mut original_once, report(original, &server, cache)),
    );
    let figure = "peak memory of a query of one turn (original engine)";
    table.pair(figure, "MiB", a, b, Goal::AtMost(1.0 / 8.0));

    let world = World::new(cache);
    let read = Call {
        name: "Read",
        input: serde_json::json!({ "file_path": world.note() }).to_string(),
    };
    let server = BenchServer::with_calls(TURNS, &[read]);
    let (a, b) = in_turns(
        ROUNDS.div_ceil(2),
        || report(ours, &server, cache).cpu_ms,
        || report(original, &server, cache).cpu_ms,
    );
    // What a turn adds: the start is a figure of its own.
    let per_turn = |many: f64, once: Vec<f64>| (many - median(once)) / TURNS as f64;
    let figure = "CPU per turn, 50 turns with a call of Read (original engine)";
    let (a, b) = (per_turn(a, ours_once), per_turn(b, original_once));
    table.pair(figure, "ms", a, b, Goal::AtMost(1.0 / 20.0));
}

/// Keeps the CPU time of a round and passes its memory on.
fn remember(cpu: &mut Vec<f64>, report: Report) -> f64 {
    cpu.push(report.cpu_ms);
    report.peak_mib
}

fn first_request_ms(program: &Path, server: &BenchServer, cache: &Path) -> f64 {
    let world = World::new(cache);
    server.take_gaps();
    // What the engine before left to be cleared away, such as its threads and memory, is not what this one costs.
    thread::sleep(QUIET);
    let begun = Instant::now();
    let engine = Engine::start(program, &server.url, &world);
    let arrived = server.first_request();
    engine.finish();
    arrived.map_or(f64::NAN, |at| (at - begun).as_secs_f64() * 1e3)
}

/// A hundred engines at once: what they take together, shared pages counted once.
fn crowd(program: &Path, table: &mut Table) {
    let cache = tempfile::tempdir().expect("a directory");
    let server = BenchServer::start(0);
    let world = World::new(cache.path());
    let engines: Vec<Engine> = (0..CROWD)
        .map(|_| {
            let mut engine = Engine::start(program, &server.url, &world);
            engine.read_result();
            engine
        })
        .collect();
    let kib: u64 = engines
        .iter()
        .filter_map(|engine| engine.proc_kib("smaps_rollup", "Pss:"))
        .sum();
    for engine in engines {
        engine.finish();
    }
    table.value(
        "a hundred engines at once, each after a turn (PSS)",
        "MiB",
        kib as f64 / 1024.0,
        Goal::AtMost(2048.0),
    );
}

/// What a query cost the engine, its own children included.
#[derive(Serialize, Deserialize)]
struct Report {
    cpu_ms: f64,
    peak_mib: f64,
}

/// Runs a query in a process of its own, whose only child is the engine: the operating system tells what the children
/// of a process have cost, not what one of them has.
fn report(program: &Path, server: &BenchServer, cache: &Path) -> Report {
    // The conversation starts anew with each engine.
    server.take_gaps();
    let output = Command::new(std::env::current_exe().expect("this program has a path"))
        .arg("engine")
        .arg(program)
        .arg(&server.url)
        .arg(cache)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("a client process starts");
    serde_json::from_slice(&output.stdout).expect("the client reports")
}

/// The client process: `engine PROGRAM URL CACHE`.
pub(crate) fn client(program: &str, url: &str, cache: &str) -> ExitCode {
    let world = World::new(Path::new(cache));
    let mut engine = Engine::start(Path::new(program), url, &world);
    engine.read_result();
    let peak = engine.proc_kib("status", "VmHWM:").expect("a high mark");
    engine.finish();
    let used = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the usage of children");
    let report = Report {
        cpu_ms: (used.user_time() + used.system_time()).num_microseconds() as f64 / 1e3,
        peak_mib: peak as f64 / 1024.0,
    };
    println!("{}", serde_json::to_string(&report).expect("numbers"));
    ExitCode::SUCCESS
}

/// A project with one file, and a home without settings.
struct World {
    directory: tempfile::TempDir,
    /// What programs keep from one run to the next, as on anybody's machine: ours the compiled tools.
    cache: PathBuf,
}

impl World {
    fn new(cache: &Path) -> Self {
        let world = Self {
            directory: tempfile::tempdir().expect("a directory"),
            cache: cache.to_owned(),
        };
        for part in ["home", "project"] {
            fs::create_dir(world.directory.path().join(part)).expect("a directory");
        }
        let line = "0123456789abcde\n";
        fs::write(world.note(), line.repeat(128)).expect("a file of 2 KB");
        world
    }

    fn project(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    fn note(&self) -> PathBuf {
        self.project().join("note.txt")
    }
}

/// A running engine that was given one prompt the way the TypeScript SDK does it: without waiting in between.
struct Engine {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Engine {
    fn start(program: &Path, url: &str, world: &World) -> Self {
        let home = world.directory.path().join("home");
        let mut child = Command::new(program)
            .args(["--input-format", "stream-json"])
            .args(["--output-format", "stream-json", "--verbose"])
            .args(["--tools", "Read", "--allowedTools", "Read"])
            .args(["--setting-sources=", "--model", "claude-sonnet-4-6"])
            .current_dir(world.project())
            .env("HOME", &home)
            .env("XDG_CACHE_HOME", &world.cache)
            // Where the key is by which it knows what it has compiled.
            .env("XDG_DATA_HOME", world.cache.join("data"))
            .env("CLAUDE_CONFIG_DIR", home.join(".claude"))
            .env("CLAUDE_CODE_ENTRYPOINT", "sdk-ts")
            // The original engine would also call home.
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("ANTHROPIC_BASE_URL", url)
            .env("ANTHROPIC_API_KEY", "bench")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the engine starts");
        let mut input = child.stdin.take().expect("its input is a pipe");
        let output = BufReader::new(child.stdout.take().expect("its output is a pipe"));
        let initialize =
            r#"{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}"#;
        let prompt = r#"{"type":"user","session_id":"","parent_tool_use_id":null,"message":{"role":"user","content":"Go on until you are done."}}"#;
        writeln!(input, "{initialize}\n{prompt}").expect("the engine reads");
        Self {
            child,
            input,
            output,
        }
    }

    /// Reads until the prompt is answered.
    fn read_result(&mut self) {
        #[derive(Deserialize)]
        struct Frame<'a> {
            #[serde(borrow, rename = "type")]
            kind: std::borrow::Cow<'a, str>,
            #[serde(default)]
            is_error: bool,
        }
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.output.read_line(&mut line).expect("UTF-8");
            assert!(read > 0, "the engine ended before its result");
            let frame: Frame<'_> = serde_json::from_str(&line).expect("a frame");
            if frame.kind == "result" {
                assert!(!frame.is_error, "the query failed: {line}");
                return;
            }
        }
    }

    /// Closes its input, reads what is left and waits for the end.
    fn finish(self) {
        let Self {
            mut child,
            input,
            mut output,
        } = self;
        drop(input);
        std::io::copy(&mut output, &mut std::io::sink()).expect("the rest of the output");
        child.wait().expect("the engine ends");
    }

    /// A line of a file below /proc that counts in KiB.
    fn proc_kib(&self, file: &str, name: &str) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }
}
