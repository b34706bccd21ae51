//! Runs other programs: commands are printed before they start, and errors name the command.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use wait_timeout::ChildExt;

use crate::progress;

/// Prints and runs a command with inherited input and output, and returns its exit status.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    progress::command(command);
    command.status().with_context(|| could_not_start(command))
}

/// As [`status`], but an exit code other than zero is an error.
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

/// Runs a command silently and returns its standard output.
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

/// Prints and runs a command; each line of its standard output is printed and passed to `line`.
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

/// The exit code of a program; a signal counts as failure.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The command line, shortened if it is long, but recognizable among those printed.
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_failure_names_the_command_and_how_it_ended() {
        let error = run(&mut shell("exit 3"))
            .expect_err("it exits with 3")
            .to_string();
        assert!(
            error.contains("sh -c 'exit 3'") && error.contains("exit status: 3"),
            "{error}"
        );
    }

    #[test]
    fn a_missing_program_is_named_with_what_to_do() {
        let error = run(&mut Command::new("no-such-program-here"))
            .expect_err("it cannot start")
            .to_string();
        assert!(
            error.contains("`no-such-program-here`") && error.contains("PATH"),
            "{error}"
        );
    }

    #[test]
    fn a_command_that_takes_too_long_is_killed() {
        let error = run_within(&mut shell("exec sleep 600"), Duration::from_millis(1))
            .expect_err("it is killed");
        assert!(
            error.to_string().contains("did not finish within"),
            "{error}"
        );
    }

    #[test]
    fn output_is_given_line_by_line_and_the_exit_code_kept() {
        let mut lines = Vec::new();
        let status = tee(&mut shell("echo one; printf two; exit 4"), |line| {
            lines.push(line.to_owned())
        });
        assert_eq!(status.expect("it runs").code(), Some(4));
        assert_eq!(lines, ["one", "two"]);
    }
}
