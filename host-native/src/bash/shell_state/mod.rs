//! Shell state that persists between commands: the directory and variables; for commands run as written, also
//! functions and options.
//!
//! No shell process persists. The state that a command leaves is a value ([`ShellState`]) stored in the session. A
//! plan uses only its variables, without those that change how programs are found or started. Variables set by a
//! confined command apply to confined commands only.

mod declared;
mod report;

use std::{collections::BTreeMap, ffi::OsString};

use windlass_core::tool::{ApprovedCommand, ShellState, ShellVariable, ToolCall};
use windlass_engine::settings::changes_programs;
use windlass_shell::is_made_by_the_shell;

pub(crate) use self::report::{Handles, Report, Reported};

/// The maximum size of persisted variables, in bytes; beyond it, the largest are dropped.
const MOST_VARIABLES: usize = 32 * 1024;

/// The maximum size of persisted definitions, in bytes; beyond it, all are dropped.
const MOST_DEFINITIONS: usize = 64 * 1024;

/// The state after a command, for the following ones.
#[derive(Debug)]
pub(super) struct StateAfter {
    pub(super) state: ShellState,
    /// What was dropped because it is too large, for messages.
    pub(super) too_large: Vec<String>,
}

/// The state persisted from the commands before a call.
#[derive(Debug, Clone)]
pub(super) struct PersistedState {
    state: ShellState,
    /// The variables that apply to this command.
    variables: Vec<ShellVariable>,
    /// Whether this command runs as written and gets the whole state.
    is_as_written: bool,
    is_confined: bool,
}

impl PersistedState {
    /// The initial state of a call that runs inside or outside of the sandbox.
    pub(super) fn before(call: &ToolCall, is_confined: bool) -> Self {
        let first = || ShellState {
            directory: call.grant.cwd.clone(),
            ..ShellState::default()
        };
        let mut state = call.shell.as_deref().cloned().unwrap_or_else(first);
        // The plan was checked for the directory that it names.
        if let Some(ApprovedCommand::Plan(plan)) = &call.command {
            state.directory.clone_from(&plan.directory);
        }
        let mut variables = state.variables.clone();
        if is_confined {
            set_all(&mut variables, state.confined_variables.iter().cloned());
        }
        Self {
            state,
            variables,
            is_as_written: matches!(call.command, Some(ApprovedCommand::AsWritten)),
            is_confined,
        }
    }

    /// The directory in which the command starts.
    pub(super) fn directory(&self) -> &str {
        &self.state.directory
    }

    /// The exported variables.
    pub(super) fn exported(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        self.given(true)
    }

    /// Shell variables that are not exported.
    pub(super) fn unexported(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        self.given(false)
    }

    fn given(&self, exported: bool) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        let variables = self.variables.iter();
        variables
            .filter(move |variable| variable.exported == exported && self.may_have(&variable.name))
            .filter_map(|variable| {
                Some((
                    variable.name.as_str().into(),
                    variable.value.as_ref()?.into(),
                ))
            })
    }

    /// Variables of the environment that were unset.
    pub(super) fn removed(&self) -> impl Iterator<Item = OsString> + '_ {
        let variables = self.variables.iter();
        variables
            .filter(|variable| variable.value.is_none() && self.may_have(&variable.name))
            .map(|variable| variable.name.as_str().into())
    }

    fn may_have(&self, name: &str) -> bool {
        self.is_as_written || !changes_programs(name)
    }

    /// Whether the environment contains the whole state: no startup file is needed, and there are no exported functions.
    pub(super) fn is_in_environment(&self) -> bool {
        let is_function = |name: &OsString| name.to_string_lossy().starts_with("BASH_FUNC_");
        // A printed plan uses none of these.
        let reads_more = self.is_as_written
            && (!self.state.definitions.is_empty()
                || self.startup_file().is_some()
                || std::env::vars_os().any(|(name, _)| is_function(&name)));
        let mut exported = self.exported();
        !reads_more
            && self.unexported().next().is_none()
            && !exported.any(|(name, _)| is_function(&name))
    }

    /// The file descriptors for a shell: the startup file that restores the state, and the file for its report.
    ///
    /// # Errors
    /// The error of the operating system.
    pub(super) fn handles(&self) -> std::io::Result<Handles> {
        let definitions = match self.is_as_written {
            true => self.state.definitions.as_str(),
            false => "",
        };
        // A shell that runs an approved plan must not read any other startup file.
        let startup_file = self.is_as_written.then(|| self.startup_file()).flatten();
        let file = startup_file.as_deref();
        Handles::new(|to| report::startup(self.unexported(), definitions, file, to))
    }

    /// The startup file that bash would read.
    fn startup_file(&self) -> Option<String> {
        let set = self.exported().find(|(name, _)| name == "BASH_ENV");
        match set {
            Some((_, file)) => file.into_string().ok(),
            None => std::env::var("BASH_ENV").ok(),
        }
    }

    /// The state after a plan: its directory, and the variables that it has set.
    pub(super) fn after_plan(
        mut self,
        directory: Option<String>,
        set: Vec<ShellVariable>,
    ) -> Option<StateAfter> {
        let kept = set.into_iter().filter(|variable| is_kept(&variable.name));
        set_all(&mut self.variables, kept);
        self.state.directory = directory?;
        Some(self.state_after())
    }

    /// The state after a shell, from its report. `None` if there is no report: the shell was replaced by another
    /// program, or killed.
    ///
    /// Any process that the shell starts can write the report. Outside of the sandbox this gives it no additional
    /// power. Of a confined command's report, commands outside of the sandbox use the directory only.
    pub(super) fn after_shell(mut self, report: Option<Report>) -> Option<StateAfter> {
        let Report {
            directory,
            before,
            after,
        } = report?;
        let real = std::fs::canonicalize(&directory).ok()?;
        if real != std::path::Path::new(&directory) {
            return None;
        }
        self.state.directory = directory;
        let known: BTreeMap<String, ShellVariable> = std::mem::take(&mut self.variables)
            .into_iter()
            .map(|variable| (variable.name.clone(), variable))
            .collect();
        let may_change_programs = self.is_as_written && !self.is_confined;
        let withheld = |name: &str| !may_change_programs && changes_programs(name);
        let mut variables: BTreeMap<String, ShellVariable> = BTreeMap::new();
        for (name, found) in &after.variables {
            let as_before = before.variables.get(name) == Some(found);
            let lasts = !as_before || known.get(name).is_some_and(|it| it.value.is_some());
            if is_kept(name) && lasts && !withheld(name) {
                let variable = ShellVariable {
                    name: name.clone(),
                    value: Some(found.value.clone()),
                    exported: found.exported,
                };
                variables.insert(name.clone(), variable);
            }
        }
        for name in before.variables.keys().chain(known.keys()) {
            let is_gone = !after.variables.contains_key(name);
            let was_removed = before.variables.contains_key(name)
                || known.get(name).is_some_and(|it| it.value.is_none());
            if is_kept(name) && is_gone && was_removed && !withheld(name) {
                let removed = ShellVariable {
                    name: name.clone(),
                    value: None,
                    exported: false,
                };
                variables.insert(name.clone(), removed);
            }
        }
        // Variables that this command did not get are unchanged.
        variables.extend(known.into_iter().filter(|(name, _)| withheld(name)));
        self.variables = variables.into_values().collect();
        if may_change_programs {
            self.state.definitions = after.definitions(&before);
        }
        Some(self.state_after())
    }

    /// The state after a directory could not be entered: the next command starts in the working directory.
    pub(super) fn back_in(mut self, directory: &str) -> ShellState {
        self.state.directory = directory.to_owned();
        self.state
    }

    /// The state for the following commands.
    fn state_after(self) -> StateAfter {
        let mut state = self.state;
        let mut variables = self.variables;
        let mut too_large = Vec::new();
        if self.is_confined {
            variables.retain(|variable| !state.variables.contains(variable));
        }
        shrink(&mut variables, &mut too_large);
        match self.is_confined {
            true => state.confined_variables = variables,
            false => state.variables = variables,
        }
        if state.definitions.len() > MOST_DEFINITIONS {
            state.definitions.clear();
            too_large.push("functions, arrays and options".to_owned());
        }
        StateAfter { state, too_large }
    }
}

/// Sets variables, replacing those of the same name.
fn set_all(all: &mut Vec<ShellVariable>, set: impl Iterator<Item = ShellVariable>) {
    for variable in set {
        match all.iter_mut().find(|known| known.name == variable.name) {
            Some(known) => *known = variable,
            None => all.push(variable),
        }
    }
}

/// Drops the largest variables until the rest fits, and records their names.
fn shrink(variables: &mut Vec<ShellVariable>, too_large: &mut Vec<String>) {
    let size = |variable: &ShellVariable| {
        variable.name.len() + variable.value.as_ref().map_or(0, String::len)
    };
    let mut sizes: usize = variables.iter().map(size).sum();
    while sizes > MOST_VARIABLES {
        let places = 0..variables.len();
        let Some(largest) = places.max_by_key(|place| size(&variables[*place])) else {
            break;
        };
        let variable = variables.remove(largest);
        sizes -= size(&variable);
        too_large.push(format!("the variable {}", variable.name));
    }
}

/// Whether a variable is persisted. Variables that a shell sets itself are not.
fn is_kept(name: &str) -> bool {
    // These are only read by a shell or the dynamic loader.
    let is_read = matches!(name, "BASH_ENV" | "CDPATH" | "ENV" | "GLOBIGNORE")
        || name.starts_with("LD_")
        || name.starts_with("DYLD_");
    let is_withheld = crate::credentials::is_withheld(name);
    let is_made = is_made_by_the_shell(name) || matches!(name, "PWD" | "OLDPWD" | "SHLVL");
    !is_withheld && (is_read || !is_made)
}
