//! Running other programs: shown before they start, and an error that names the command when they fail.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use wait_timeout::ChildExt;

use crate::progress;

/// Shows and runs a command with our own input and output, and gives back how it ended.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    progress::command(command);
    command.status().with_context(|| could_not_start(command))
}

/// As [`status`], and an exit code other than zero is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    if status.success() {
        return Ok(());
    }
    bail!("`{}` ended with {status}", name(command))
}

/// As [`run`], but the command is killed after `limit`.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Result<()> {
    progress::command(command);
    let mut child = command.spawn().with_context(|| could_not_start(command))?;
    match child.wait_timeout(limit)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("`{}` ended with {status}", name(command)),
        None => {
            child.kill()?;
            child.wait()?;
            bail!(
                "`{}` did not finish within {}",
                name(command),
                progress::seconds(limit)
            )
        }
    }
}

/// Runs a command unseen and gives back what it wrote to standard output.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| could_not_start(command))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "`{}` ended with {}: {}",
            name(command),
            output.status,
            said.trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Shows and runs a command whose standard output is passed on line by line and also given to `line`.
pub(crate) fn tee(command: &mut Command, mut line: impl FnMut(&str)) -> Result<ExitStatus> {
    progress::command(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| could_not_start(command))?;
    if let Some(output) = child.stdout.take() {
        for read in BufReader::new(output).split(b'\n') {
            let read = read?;
            let text = String::from_utf8_lossy(&read);
            println!("{text}");
            line(&text);
        }
    }
    Ok(child.wait()?)
}

/// The first of `names` that can be run: a path that is a file, or a name found on `PATH`.
pub(crate) fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    names.iter().find_map(|name| {
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(|path| path.is_file());
        }
        std::env::split_paths(&path)
            .map(|directory| directory.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
            .find(|path| path.is_file())
    })
}

/// The exit code of a program as our own; death by a signal becomes failure.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The command line, cut where it gets long: enough to recognise it among those shown.
fn name(command: &Command) -> String {
    const LONGEST: usize = 100;
    let mut line = progress::command_line(command);
    if let Some((cut, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(cut);
        line.push_str(" …");
    }
    line
}

fn could_not_start(command: &Command) -> String {
    format!(
        "cannot start `{}`: is it installed and on PATH?",
        command.get_program().display()
    )
}
