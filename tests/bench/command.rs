//! Commands of the Bash tool: confined, against `bash -c` with the same line.

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
    tool::{Access, ApprovedCommand, FsGrant, GrantRoot, ToolCall},
};

use crate::table::{Goal, Table, median};

/// Commands in one measurement.
const COMMANDS: usize = 200;

const LINE: &str = "true";

const FIGURE: &str = "a confined command, more than `bash -c`";

pub(crate) fn measure(table: &mut Table) {
    let folder = tempfile::tempdir().expect("a folder");
    let environment = Environment {
        cwd: folder.path().display().to_string(),
        ..Environment::default()
    };
    let sandbox = Sandbox::new(&SandboxSettings::on(), &environment).expect("plain settings");
    if !sandbox.is_available() {
        return table.skipped(FIGURE, "commands cannot be confined here");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let bash = Bash::new().confined_by(sandbox);
    let call = call(folder.path());
    let confined = || {
        let start = Instant::now();
        let result = runtime.block_on(bash.call(&call, CancelSignal::new()));
        assert!(!result.is_error, "{}", result.joined_text());
        start.elapsed().as_secs_f64() * 1e3
    };
    let (mut more, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..COMMANDS {
        let (ours, bare) = (confined(), bare(folder.path()));
        more.push(ours - bare);
        whole.push(ours);
    }
    table.value("a confined command", "ms", median(whole), Goal::None);
    table.value(FIGURE, "ms", median(more), Goal::AtMost(3.0));
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
        shell: None,
    }
}
