//! Bash: the only built-in tool that is not a component, because a shell needs the whole system.
//!
//! It runs with the rights of this process unless it is given a [`Sandbox`], by which the operating system confines
//! it. Each command is its own process group, which ends with it; the state that persists between commands is data
//! (`shell_state`).

pub(crate) mod background;
mod capture;
mod definition;
mod execution;
mod exit;
mod image;
#[cfg(unix)]
pub mod plan;
#[cfg(unix)]
mod plan_job;
pub(crate) mod process;
mod result;
mod saved;
mod shell_state;
mod time_limits;

use std::ffi::OsString;

use serde::Deserialize;
use windlass_core::{
    host::CancelSignal,
    tool::{ApprovedCommand, ResultBlock, ToolCall, ToolResult},
};

pub use self::time_limits::TimeLimits;
use self::{
    execution::{Execution, Failure},
    process::Listeners,
    result::result,
    shell_state::PersistedState,
};
pub(crate) use self::{exit::Exit, saved::OutputDirectory};
use crate::sandbox::{Sandbox, Spawner};

/// The default timeout of a command, in milliseconds.
pub const DEFAULT_TIMEOUT_MS: u32 = 120_000;

/// The longest timeout that the model may request, in milliseconds.
pub const MAX_TIMEOUT_MS: u32 = 600_000;

/// The tool applies the timeout itself; this is the margin after which something is wrong with it.
const EDGE_MS: u32 = MAX_TIMEOUT_MS + 30_000;

/// The input field that requests a command to run outside of the sandbox.
const OUTSIDE: &str = "dangerouslyDisableSandbox";

/// The input field that requests the background.
const BACKGROUND: &str = "run_in_background";

/// The number of bytes of standard output that are shown unless another is asked for; the middle of a longer output is cut.
pub const MAX_STDOUT: usize = 30_000;

/// The most bytes of standard output that may be shown.
const MOST_STDOUT: usize = 150_000;

/// The number of bytes of standard error that are shown.
pub const MAX_STDERR: usize = 10_000;

/// The Bash tool.
#[derive(Debug, Clone)]
pub struct Bash {
    shell: OsString,
    hidden: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    sandbox: Option<Sandbox>,
    limits: TimeLimits,
    max_stdout: usize,
    outputs: Option<OutputDirectory>,
}

impl Default for Bash {
    fn default() -> Self {
        Self {
            shell: "bash".into(),
            hidden: Vec::new(),
            variables: Vec::new(),
            sandbox: None,
            limits: TimeLimits::default(),
            max_stdout: MAX_STDOUT,
            outputs: None,
        }
    }
}

/// The input from the model (Agent SDK reference, `BashInput`).
#[derive(Debug, Deserialize)]
struct Input {
    command: String,
    timeout: Option<f64>,
    #[serde(default)]
    run_in_background: bool,
}

impl Bash {
    /// Uses the `bash` of the search path, with the environment of this process except the keys of the model endpoint.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Hides further environment variables from commands.
    #[must_use]
    pub fn hiding<N: Into<OsString>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.hidden.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets environment variables for commands.
    #[must_use]
    pub fn with_variables<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let variables = variables.into_iter();
        self.variables
            .extend(variables.map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Sets how long commands may run.
    #[must_use]
    pub fn with_time_limits(mut self, limits: TimeLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Confines commands by the operating system, except for calls marked otherwise ([`ToolCall::outside_sandbox`]).
    #[must_use]
    pub fn confined_by(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Shows so many bytes of standard output (`BASH_MAX_OUTPUT_LENGTH`), 150,000 at most.
    #[must_use]
    pub fn showing(mut self, bytes: usize) -> Self {
        self.max_stdout = bytes.min(MOST_STDOUT);
        self
    }

    /// Saves output that is too long to be shown in files there.
    #[must_use]
    pub(crate) fn saving_in(mut self, directory: OutputDirectory) -> Self {
        self.outputs = Some(directory);
        self
    }

    /// Runs a command until it ends, reaches its time limit, or is cancelled. Dropping the future kills the command
    /// and its children. A background command has only the time limit of the call.
    pub async fn call(&self, call: &ToolCall, cancel: CancelSignal) -> ToolResult {
        self.run(call, cancel, Listeners::default()).await
    }

    async fn run(&self, call: &ToolCall, cancel: CancelSignal, listeners: Listeners) -> ToolResult {
        let input: Input = match call.input.decode() {
            Ok(input) => input,
            Err(error) => return ToolResult::error(format!("The input of Bash is {error}.")),
        };
        let time = match input.run_in_background {
            true => background::time_limit(call.timeout_ms),
            false => Some(self.limits.time(input.timeout, call.timeout_ms)),
        };
        let spawner = match self.spawner(call).await {
            Ok(spawner) => spawner,
            Err(reason) => return ToolResult::error(reason),
        };
        let persisted = PersistedState::before(call, spawner.is_confined());
        let execution = Execution {
            persisted: &persisted,
            time,
            listeners,
            spawner: &spawner,
            cancel,
        };
        let ran = match &call.command {
            None => Err(Failure::Said(
                "The call of Bash says nothing about what of its command was approved, so nothing was run.".to_owned(),
            )),
            Some(ApprovedCommand::AsWritten) => {
                self.run_as_written(&input.command, execution).await
            }
            Some(ApprovedCommand::Plan(plan)) => match self.session(&persisted) {
                Err(failure) => Err(failure),
                Ok(session) if spawner.is_confined() => {
                    self.run_printed(plan, &session, execution).await
                }
                Ok(session) => {
                    let session = self.among_known_repositories(session, call);
                    self.run_plan(plan, session, execution).await
                }
            },
        };
        // A background command runs beside others, so its state is not kept.
        let leaves = !input.run_in_background;
        let (result, shell) = match ran {
            Ok((finished, after)) => {
                let after = after.filter(|_| leaves);
                let lost = after.iter().flat_map(|after| &after.too_large);
                let lost: Vec<&str> = lost.map(String::as_str).collect();
                let result = result(&input.command, &finished, time, &spawner);
                (with_note(result, &lost), after.map(|after| after.state))
            }
            Err(Failure::Said(text)) => (ToolResult::error(text), None),
            Err(Failure::Directory(reason)) => {
                let back = &call.grant.cwd;
                let text = format!("{reason} Nothing was run. The next command begins in {back}.");
                (ToolResult::error(text), Some(persisted.back_in(back)))
            }
        };
        ToolResult {
            shell: shell.filter(|_| leaves).map(Box::new),
            ..result
        }
    }
}

impl Bash {
    /// Prepares to start the processes of a call.
    async fn spawner(&self, call: &ToolCall) -> Result<Spawner, String> {
        let Some(sandbox) = self.sandbox.clone().filter(|_| !call.outside_sandbox) else {
            return Ok(Spawner::bare());
        };
        let grant = call.grant.clone();
        // This walks folders, so it blocks.
        let found = tokio::task::spawn_blocking(move || sandbox.spawner(&grant)).await;
        match found {
            Ok(Ok(spawner)) => Ok(spawner),
            Ok(Err(error)) => Err(format!(
                "The command was not run, because it cannot be confined: {error}."
            )),
            Err(error) => Err(format!(
                "The command was not run, because it cannot be confined: {error}."
            )),
        }
    }
}

/// Adds a note about state that was not kept.
fn with_note(mut result: ToolResult, lost: &[&str]) -> ToolResult {
    if !lost.is_empty() {
        let note = format!(
            "Too large to be kept for the next command: {}.",
            lost.join(", ")
        );
        // On its own line, since readers concatenate blocks.
        match result.content.last_mut() {
            Some(ResultBlock::Text { text }) => {
                text.push('\n');
                text.push_str(&note);
            }
            _ => result.content.push(ResultBlock::Text { text: note }),
        }
    }
    result
}
