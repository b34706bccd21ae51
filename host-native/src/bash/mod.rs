//! Bash: the one tool that is no component, because a shell needs the whole system.
//!
//! It runs with the rights of this process unless it was given a [`Sandbox`], which has the operating system confine it. Each
//! command has a shell and a process group of its own; the group ends with the command.

mod background;
mod capture;
mod exit;
#[cfg(unix)]
mod judged;
mod lasting;
#[cfg(unix)]
pub mod plan;
pub(crate) mod process;

use std::{
    ffi::{OsStr, OsString},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_core::{
    host::CancelSignal,
    json::RawJson,
    tool::{
        Annotations, ApprovedCommand, CommandPlan, ShellState, ToolCall, ToolDefinition, ToolResult,
    },
};

pub(crate) use self::exit::Exit;
use self::{
    lasting::Lasting,
    process::{Finished, Job, Listeners, RunError},
};
use crate::{
    child,
    sandbox::{Sandbox, Spawner},
};

/// How long a command may run when the model does not say, in milliseconds.
pub const DEFAULT_TIMEOUT_MS: u32 = 120_000;

/// The longest time the model may ask for, in milliseconds.
pub const MAX_TIMEOUT_MS: u32 = 600_000;

/// The tool keeps its own time; this is the edge beyond which something is wrong with it.
const EDGE_MS: u32 = MAX_TIMEOUT_MS + 30_000;

/// The field of the input that asks for the command to run outside of the sandbox.
const OUTSIDE: &str = "dangerouslyDisableSandbox";

/// The field of the input that asks for the background.
const BACKGROUND: &str = "run_in_background";

/// Bytes of standard output that are shown; the middle of a longer output is cut.
pub const MAX_STDOUT: usize = 30_000;

/// Bytes of standard error that are shown.
pub const MAX_STDERR: usize = 10_000;

/// The Bash tool.
#[derive(Debug, Clone)]
pub struct Bash {
    shell: OsString,
    hidden: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    sandbox: Option<Sandbox>,
}

impl Default for Bash {
    fn default() -> Self {
        Self {
            shell: "bash".into(),
            hidden: Vec::new(),
            variables: Vec::new(),
            sandbox: None,
        }
    }
}

/// The input as the model writes it (Agent SDK reference, `BashInput`).
#[derive(Debug, Deserialize)]
struct Input {
    command: String,
    timeout: Option<f64>,
    #[serde(default)]
    run_in_background: bool,
}

/// The structured output (Agent SDK reference, `BashOutput`).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    stdout: &'a str,
    stderr: &'a str,
    interrupted: bool,
    is_image: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_code_interpretation: Option<&'a str>,
}

impl Bash {
    /// Bash from the search path, with the environment of this process but for the keys of the model endpoint.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps further environment variables from commands.
    #[must_use]
    pub fn hiding<N: Into<OsString>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.hidden.extend(names.into_iter().map(Into::into));
        self
    }

    /// Gives commands further environment variables, or others in the place of those they have.
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

    /// Has the operating system confine commands, but for calls that say otherwise
    /// ([`ToolCall::outside_sandbox`]).
    #[must_use]
    pub fn confined_by(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// The tool as the model is offered it where commands are not confined.
    #[must_use]
    pub fn definition() -> ToolDefinition {
        Self::described("Has no effect: commands are not sandboxed.")
    }

    /// The tool as the model is offered it where a sandbox confines commands.
    #[must_use]
    pub fn definition_in(sandbox: &Sandbox) -> ToolDefinition {
        Self::described(match sandbox.confinement().allow_outside {
            true => {
                "Runs the command outside of the sandbox, if it may: somebody may be asked. Only for a command that the \
                 sandbox kept from its work (see sandbox_violations in its result)."
            }
            false => "Must not be set: every command runs in the sandbox.",
        })
    }

    fn described(outside: &str) -> ToolDefinition {
        let schema = json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "description": "The command, as bash reads it." },
                "timeout": {
                    "type": "number",
                    "description": "Milliseconds after which the command is stopped; 120000 if not given, 600000 at most."
                },
                "description": { "type": "string", "description": "What the command does, in five to ten words." },
                "run_in_background": {
                    "type": "boolean",
                    "description": "Goes on without waiting for the command, which then has no time limit. TaskOutput reads what it puts out, TaskStop stops it; it ends with the session."
                },
                "dangerouslyDisableSandbox": { "type": "boolean", "description": outside }
            },
            "required": ["command"],
            "additionalProperties": false
        });
        ToolDefinition {
            annotations: Annotations {
                destructive: true,
                open_world: true,
                ..Annotations::default()
            },
            command_param: Some("command".to_owned()),
            background_param: Some(BACKGROUND.to_owned()),
            outside_param: Some(OUTSIDE.to_owned()),
            timeout_ms: Some(EDGE_MS),
            ..ToolDefinition::new(
                "Bash",
                "Runs a command in bash. The first begins in the working directory, each later one where the last ended, if \
                 that is in the workspace; variables last as well. Standard input is empty. Processes left in the background end with the \
                 command: what is to go on has run_in_background. Of long output the beginning and the end are shown. For reading, searching and editing \
                 files use the tools made for it.",
                RawJson::parse(schema.to_string()).unwrap_or_else(|_| RawJson::empty_object()),
            )
        }
    }

    /// Runs a command to its end, to its time limit, or until it is cancelled. Dropping the future kills the
    /// command and its children. One that is to run in the background has no time limit but that of the call.
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
            false => Some(time_limit(input.timeout, call.timeout_ms)),
        };
        let spawner = match self.spawner(call).await {
            Ok(spawner) => spawner,
            Err(reason) => return ToolResult::error(reason),
        };
        let lasting = Lasting::before(call);
        let execution = Execution {
            lasting: &lasting,
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
            Some(ApprovedCommand::Plan(plan)) => match self.session(&lasting) {
                Err(failure) => Err(failure),
                Ok(session) if spawner.is_confined() => {
                    self.run_printed(plan, &session, execution).await
                }
                Ok(session) => self.run_plan(plan, session, execution).await,
            },
        };
        let (result, shell) = match ran {
            Ok((finished, shell)) => (result(&input.command, &finished, time, &spawner), shell),
            Err(Failure::Said(text)) => (ToolResult::error(text), None),
            Err(Failure::Directory(reason)) => {
                let back = &call.grant.cwd;
                let text = format!("{reason} Nothing was run. The next command begins in {back}.");
                (ToolResult::error(text), Some(lasting.back_in(back)))
            }
        };
        ToolResult {
            // Beside others, a command in the background leaves nothing to them.
            shell: shell.filter(|_| !input.run_in_background).map(Box::new),
            ..result
        }
    }

    /// Gives bash the text that was approved.
    async fn run_as_written(
        &self,
        text: &str,
        execution: Execution<'_>,
    ) -> Result<(Finished, Option<ShellState>), Failure> {
        let mut hidden = self.hidden.clone();
        hidden.extend(execution.lasting.removed());
        let mut variables = self.variables.clone();
        variables.retain(|(name, _)| !hidden.contains(name));
        variables.extend(execution.lasting.exported());
        let job = ShellJob {
            text,
            hidden,
            variables,
        };
        self.run_in_bash(job, execution).await
    }

    /// Gives a confined bash what was judged, printed: whatever it opens is opened in the sandbox.
    async fn run_printed(
        &self,
        plan: &CommandPlan,
        session: &plan::Session,
        execution: Execution<'_>,
    ) -> Result<(Finished, Option<ShellState>), Failure> {
        let found = |name: &str| {
            session
                .find(OsStr::new(name))?
                .into_os_string()
                .into_string()
                .ok()
        };
        let job = ShellJob {
            text: &windlass_shell::print(&plan.script, &found),
            // Nothing from which a shell takes orders before the first line, but what it is given here.
            hidden: std::env::vars_os().map(|(name, _)| name).collect(),
            variables: session.environment(),
        };
        self.run_in_bash(job, execution).await
    }

    async fn run_in_bash(
        &self,
        shell_job: ShellJob<'_>,
        execution: Execution<'_>,
    ) -> Result<(Finished, Option<ShellState>), Failure> {
        let Execution {
            lasting,
            time,
            listeners,
            spawner,
            cancel,
        } = execution;
        let handles = lasting
            .handles()
            .map_err(|error| Failure::Said(format!("The command cannot be started: {error}.")))?;
        let mut variables = shell_job.variables;
        variables.push(handles.variable());
        let (handles, reported) = handles.split();
        let job = Job {
            shell: &self.shell,
            command: shell_job.text,
            directory: lasting.directory(),
            hidden: &shell_job.hidden,
            variables: &variables,
            input: None,
            max_stdout: MAX_STDOUT,
            time,
            listeners,
            spawner,
            handles,
        };
        let finished = job.run(cancel).await?;
        let report = match finished.exit {
            Exit::Code(_) => reported.read(),
            // What was stopped leaves all as it was.
            _ => None,
        };
        Ok((finished, lasting.clone().after_shell(report)))
    }

    /// Where a plan begins, and what its programs are told.
    fn session(&self, lasting: &Lasting) -> Result<plan::Session, Failure> {
        let directory = lasting.directory();
        let removed: Vec<OsString> = lasting.removed().collect();
        let given: Vec<(OsString, OsString)> = lasting.exported().collect();
        let mut variables: Vec<_> = std::env::vars_os()
            .filter(|(name, _)| !self.hidden.contains(name))
            .chain(self.variables.iter().cloned())
            .filter(|(name, _)| !removed.contains(name))
            .collect();
        // The later ones hold.
        variables.extend(given);
        let variables = child::without_credentials(variables);
        let session = plan::Session::new(directory, variables)
            .map_err(|error| Failure::Directory(error.to_string()))?;
        // It was judged by its name without links: behind another it is another directory.
        let real = session.directory().ok();
        if real.as_deref() != Some(directory.as_ref()) {
            let text = format!(
                "The directory {directory} is not where it was when the command was judged."
            );
            return Err(Failure::Directory(text));
        }
        Ok(session.with_variables(lasting.unexported()))
    }

    /// Runs what was judged; the text that it was read from is not looked at.
    #[cfg(unix)]
    async fn run_plan(
        &self,
        plan: &CommandPlan,
        session: plan::Session,
        execution: Execution<'_>,
    ) -> Result<(Finished, Option<ShellState>), Failure> {
        let job = judged::JudgedJob {
            plan,
            session,
            max_stdout: MAX_STDOUT,
            time: execution.time,
            listeners: execution.listeners,
        };
        let executed = job.run(execution.cancel).await;
        let executed = executed.map_err(|error| Failure::Said(error.to_string()))?;
        let shell = executed.left.and_then(|left| {
            execution
                .lasting
                .clone()
                .after_plan(left.directory, left.variables)
        });
        Ok((executed.finished, shell))
    }
}

/// How a command is run, whichever way.
struct Execution<'a> {
    lasting: &'a Lasting,
    time: Option<Duration>,
    listeners: Listeners,
    spawner: &'a Spawner,
    cancel: CancelSignal,
}

/// A text for bash, and the environment it has beside the inherited one.
struct ShellJob<'a> {
    text: &'a str,
    hidden: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
}

/// A command that was not run.
enum Failure {
    /// For this reason.
    Said(String),
    /// Because its directory cannot be entered, for this reason.
    Directory(String),
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Directory(_) => Self::Directory(error.to_string()),
            _ => Self::Said(error.to_string()),
        }
    }
}

impl Bash {
    /// What starts the processes of a call.
    async fn spawner(&self, call: &ToolCall) -> Result<Spawner, String> {
        let Some(sandbox) = self.sandbox.clone().filter(|_| !call.outside_sandbox) else {
            return Ok(Spawner::bare());
        };
        let grant = call.grant.clone();
        // It looks through folders.
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

/// What the model asked for, within what may be asked for.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn time_limit(asked: Option<f64>, call: Option<u32>) -> Duration {
    let asked = match asked {
        // In range: the cast only drops a fraction of a millisecond.
        Some(ms) if ms >= 1.0 => ms.min(f64::from(MAX_TIMEOUT_MS)) as u32,
        _ => DEFAULT_TIMEOUT_MS,
    };
    Duration::from_millis(asked.min(call.unwrap_or(u32::MAX)).into())
}

fn result(
    command: &str,
    finished: &Finished,
    time: Option<Duration>,
    spawner: &Spawner,
) -> ToolResult {
    let stdout = finished.stdout.shown();
    let mut stderr = finished.stderr.shown();
    if let Some(violations) = spawner.violations(&stderr) {
        if !stderr.is_empty() && !stderr.ends_with('\n') {
            stderr.push('\n');
        }
        stderr.push_str(&violations);
    }
    let (headline, meaning, is_error) = match finished.exit {
        Exit::Code(0) => (None, None, false),
        Exit::Code(code) => match exit::meaning(command, code) {
            Some(meaning) => (None, Some(meaning), false),
            None => (Some(format!("Exit code {code}")), None, true),
        },
        Exit::Signal(signal) => (Some(format!("Ended by signal {signal}")), None, true),
        Exit::OutOfTime => (
            Some(format!(
                "The command was stopped: it ran out of time after {} ms. Its output until then:",
                time.unwrap_or_default().as_millis()
            )),
            None,
            true,
        ),
        Exit::Cancelled => (
            Some("The command was interrupted. Its output until then:".to_owned()),
            None,
            true,
        ),
    };
    let parts = [headline.as_deref(), Some(&stdout), Some(&stderr), meaning];
    let parts: Vec<&str> = parts
        .into_iter()
        .flatten()
        .map(str::trim_end)
        .filter(|part| !part.is_empty())
        .collect();
    let text = if parts.is_empty() {
        "(no output)".to_owned()
    } else {
        parts.join("\n")
    };
    let structured = RawJson::encode(&Output {
        stdout: &stdout,
        stderr: &stderr,
        interrupted: matches!(finished.exit, Exit::OutOfTime | Exit::Cancelled),
        is_image: false,
        return_code_interpretation: meaning,
    });
    ToolResult {
        is_error,
        // Strings and booleans: encoding cannot fail.
        structured: structured.ok(),
        ..ToolResult::text(text)
    }
}
