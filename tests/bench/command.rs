//! Commands of the Bash tool: judged and confined, against `bash -c` with the same line.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

use windlass::{
    bash::Bash,
    sandbox::{Sandbox, SandboxSettings},
};
use windlass_core::{
    RawJson,
    host::CancelSignal,
    spec::Environment,
    tool::{Access, ApprovedCommand, CommandPlan, DenyPattern, FsGrant, GrantRoot, ToolCall},
};

use crate::table::{Goal, Table, median};

/// Commands in one measurement.
const COMMANDS: usize = 200;

/// A program, so that the shell has something to start as well.
const LINE: &str = "ls";

const FIGURE: &str = "a confined command, more than `bash -c`";

const PRINTED: &str = "a confined command that was judged, more than `bash -c`";

const WRITTEN: &str = "a command as it is written, more than `bash -c`";

const JUDGED: &str = "a judged command, more than `bash -c`";

pub(crate) fn measure(table: &mut Table) {
    let folder = tempfile::tempdir().expect("a folder");
    judged(table, folder.path());
    written(table, folder.path());
    confined(table, &folder);
}

/// A command that rules let pass: no shell runs.
fn judged(table: &mut Table, folder: &Path) {
    let call = ToolCall {
        command: Some(ApprovedCommand::Plan(plan(folder))),
        ..call(folder)
    };
    table.value(
        JUDGED,
        "ms",
        more_than_bash(&Bash::new(), &call, folder),
        Goal::AtMost(1.0),
    );
}

fn plan(folder: &Path) -> CommandPlan {
    CommandPlan {
        script: windlass_core::shell::read(LINE)
            .expect("a plain line")
            .script,
        directory: folder.display().to_string(),
        ..CommandPlan::default()
    }
}

/// A command that was approved as a whole: a shell runs it.
fn written(table: &mut Table, folder: &Path) {
    let more = more_than_bash(&Bash::new(), &call(folder), folder);
    table.value(WRITTEN, "ms", more, Goal::None);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

fn confined(table: &mut Table, folder: &tempfile::TempDir) {
    let environment = Environment {
        cwd: folder.path().display().to_string(),
        ..Environment::default()
    };
    let sandbox = Sandbox::new(&SandboxSettings::on(), &environment).expect("plain settings");
    if !sandbox.is_available() {
        table.skipped(FIGURE, "commands cannot be confined here");
        return table.skipped(PRINTED, "commands cannot be confined here");
    }
    let bash = Bash::new().confined_by(sandbox);
    let written = call(folder.path());
    let (more, whole) = measured(&bash, &written, folder.path());
    table.value("a confined command", "ms", whole, Goal::None);
    table.value(FIGURE, "ms", more, Goal::AtMost(3.0));
    // With the rules that people have, whose files are looked for before each command.
    let mut judged = call(folder.path());
    judged.grant.deny = deny(folder.path());
    judged.command = Some(ApprovedCommand::Plan(CommandPlan {
        deny: judged.grant.deny.clone(),
        ..plan(folder.path())
    }));
    table.value(
        PRINTED,
        "ms",
        more_than_bash(&bash, &judged, folder.path()),
        Goal::AtMost(3.0),
    );
}

/// The median of the milliseconds that a call takes beyond those of the shell.
fn more_than_bash(bash: &Bash, call: &ToolCall, folder: &Path) -> f64 {
    measured(bash, call, folder).0
}

/// The same, and the median of all milliseconds of it.
fn measured(bash: &Bash, call: &ToolCall, folder: &Path) -> (f64, f64) {
    let runtime = runtime();
    let (mut more, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..COMMANDS {
        let start = Instant::now();
        let result = runtime.block_on(bash.call(call, CancelSignal::new()));
        let ours = start.elapsed().as_secs_f64() * 1e3;
        assert!(!result.is_error, "{}", result.joined_text());
        more.push(ours - bare(folder));
        whole.push(ours);
    }
    (median(more), median(whole))
}

fn deny(folder: &Path) -> Vec<DenyPattern> {
    let patterns = ["**/.env", "secrets/**", "**/*.pem"];
    let in_folder = patterns.map(|pattern| DenyPattern {
        pattern: format!("{}/{pattern}", folder.display()),
        access: Access::Read,
    });
    in_folder.into()
}

/// What the shell costs that the line would be given to.
fn bare(folder: &Path) -> f64 {
    let start = Instant::now();
    let output = Command::new("bash")
        .args(["-c", LINE])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("bash");
    assert!(output.status.success());
    start.elapsed().as_secs_f64() * 1e3
}

fn call(folder: &Path) -> ToolCall {
    let path = folder.display().to_string();
    ToolCall {
        tool_use_id: "toolu_1".into(),
        name: "Bash".into(),
        input: RawJson::parse(format!(r#"{{"command":"{LINE}"}}"#)).expect("JSON"),
        grant: FsGrant {
            cwd: path.clone(),
            roots: vec![GrantRoot {
                path,
                access: Access::Write,
            }],
            deny: Vec::new(),
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
