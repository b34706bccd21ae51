//! The ways to run a command: the original text, the approved plan printed for a confined bash, or the plan without a shell.

use std::{collections::BTreeMap, ffi::OsString, time::Duration};

use windlass_core::{
    host::CancelSignal,
    tool::{CommandPlan, ToolCall},
};
use windlass_shell::leaves_shell_alone;

#[cfg(unix)]
use super::plan_job;
use super::{
    Bash, Exit, plan,
    process::{Finished, Job, Listeners, RunError},
    shell_state::{PersistedState, Reported, StateAfter},
};
use crate::{child, sandbox::Spawner};

/// What all ways of running a command need.
pub(super) struct Execution<'a> {
    pub(super) persisted: &'a PersistedState,
    pub(super) time: Option<Duration>,
    pub(super) listeners: Listeners,
    pub(super) spawner: &'a Spawner,
    pub(super) cancel: CancelSignal,
}

/// A text for bash, and the environment variables to set or hide.
struct ShellJob<'a> {
    text: &'a str,
    /// It changes neither directory, variables nor other shell state.
    leaves_nothing: bool,
    hidden: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
}

/// Why a command was not run.
pub(super) enum Failure {
    /// For this reason.
    Said(String),
    /// Its directory cannot be entered, for this reason.
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
    /// Runs the approved text in bash.
    pub(super) async fn run_as_written(
        &self,
        text: &str,
        execution: Execution<'_>,
    ) -> Result<(Finished, Option<StateAfter>), Failure> {
        let mut hidden = self.hidden.clone();
        hidden.extend(execution.persisted.removed());
        let mut variables = self.variables.clone();
        variables.retain(|(name, _)| !hidden.contains(name));
        variables.extend(execution.persisted.exported());
        let read = windlass_shell::read(text).ok();
        let read = read.filter(|line| line.obstacle.is_none() && !line.evaluates);
        let job = ShellJob {
            text,
            leaves_nothing: read.is_some_and(|line| leaves_shell_alone(&line.script)),
            hidden,
            variables,
        };
        self.run_in_bash(job, execution).await
    }

    /// Runs the approved plan, printed as text, in a confined bash: all files are opened inside of the sandbox.
    pub(super) async fn run_printed(
        &self,
        plan: &CommandPlan,
        session: &plan::Session,
        execution: Execution<'_>,
    ) -> Result<(Finished, Option<StateAfter>), Failure> {
        let job = ShellJob {
            text: &windlass_shell::print(&plan.script, &|name| session.find_text(name)),
            leaves_nothing: leaves_shell_alone(&plan.script),
            // Only the variables given here: others could make a shell run something before the first line.
            hidden: std::env::vars_os().map(|(name, _)| name).collect(),
            variables: session.environment(),
        };
        self.run_in_bash(job, execution).await
    }

    async fn run_in_bash(
        &self,
        shell_job: ShellJob<'_>,
        execution: Execution<'_>,
    ) -> Result<(Finished, Option<StateAfter>), Failure> {
        let Execution {
            persisted,
            time,
            listeners,
            spawner,
            cancel,
        } = execution;
        let mut variables = shell_job.variables;
        let (mut handles, mut reported) = (Vec::new(), None);
        // If nothing must be reported, bash can exec its last program.
        if !(shell_job.leaves_nothing && persisted.is_in_environment()) {
            let made = persisted.handles();
            let made = made.map_err(|error| {
                Failure::Said(format!("The command cannot be started: {error}."))
            })?;
            variables.push(made.variable());
            let (given, report) = made.split();
            (handles, reported) = (given, Some(report));
        }
        let job = Job {
            shell: &self.shell,
            command: shell_job.text,
            directory: persisted.directory(),
            hidden: &shell_job.hidden,
            variables: &variables,
            input: None,
            max_stdout: self.max_stdout,
            save_in: self.outputs.as_ref(),
            time,
            listeners,
            spawner,
            handles,
        };
        let finished = job.run(cancel).await?;
        let report = match finished.exit {
            Exit::Code(_) => reported.and_then(Reported::read),
            // A stopped command changes no state.
            _ => None,
        };
        Ok((finished, persisted.clone().after_shell(report)))
    }

    /// The directory and environment in which a plan starts.
    pub(super) fn session(&self, persisted: &PersistedState) -> Result<plan::Session, Failure> {
        let directory = persisted.directory();
        let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os()
            .filter(|(name, _)| !self.hidden.contains(name))
            .chain(self.variables.iter().cloned())
            .collect();
        for name in persisted.removed() {
            variables.remove(&name);
        }
        variables.extend(persisted.exported());
        let variables = child::without_credentials(variables);
        let session = plan::Session::new(directory, variables)
            .map_err(|error| Failure::Directory(error.to_string()))?;
        // The permission check used the directory's real path. If a link now leads elsewhere, it is another directory.
        let real = session.directory().ok();
        if real.as_deref() != Some(directory.as_ref()) {
            let text = format!(
                "The directory {directory} is not where it was when the command was judged."
            );
            return Err(Failure::Directory(text));
        }
        Ok(session.with_variables(persisted.unexported()))
    }

    /// Outside of the sandbox, limits git to the repositories that were not created inside of it.
    #[cfg(unix)]
    pub(super) fn among_known_repositories(
        &self,
        session: plan::Session,
        call: &ToolCall,
    ) -> plan::Session {
        match &self.sandbox {
            None => session,
            Some(sandbox) => session.with_repositories(sandbox.repositories(&call.grant)),
        }
    }

    /// Runs the approved plan; the original text is not used.
    #[cfg(unix)]
    pub(super) async fn run_plan(
        &self,
        plan: &CommandPlan,
        session: plan::Session,
        execution: Execution<'_>,
    ) -> Result<(Finished, Option<StateAfter>), Failure> {
        let job = plan_job::PlanJob {
            plan,
            session,
            max_stdout: self.max_stdout,
            save_in: self.outputs.as_ref(),
            time: execution.time,
            listeners: execution.listeners,
        };
        let executed = job.run(execution.cancel).await;
        let executed = executed.map_err(|error| Failure::Said(error.to_string()))?;
        let after = executed.end_state.and_then(|end| {
            execution
                .persisted
                .clone()
                .after_plan(end.directory, end.variables)
        });
        Ok((executed.finished, after))
    }
}
