//! What lasts from one command to the next: the directory and variables, and functions and options for those who may have them.
//!
//! No shell lives on between commands. What a command leaves behind is a value ([`ShellState`]), which the session keeps. A
//! plan reads its variables only, and none of those that change how programs are found or started. The variables that a confined
//! command leaves are for confined commands only.

mod declared;
mod report;

use std::{collections::BTreeMap, ffi::OsString};

use windlass_core::tool::{ApprovedCommand, ShellState, ShellVariable, ToolCall};
use windlass_engine::settings::changes_programs;
use windlass_shell::is_made_by_the_shell;

pub(crate) use self::report::{Handles, Report, Reported};

/// Bytes of variables that last; beyond, the largest do not.
const MOST_VARIABLES: usize = 32 * 1024;

/// Bytes of definitions that last; beyond, none of them do.
const MOST_DEFINITIONS: usize = 64 * 1024;

/// What a command leaves behind.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) state: ShellState,
    /// What it does not leave because that is too large, in words.
    pub(super) too_large: Vec<String>,
}

/// What the commands before a call left behind.
#[derive(Debug, Clone)]
pub(super) struct Lasting {
    state: ShellState,
    /// The variables that this command has of it.
    variables: Vec<ShellVariable>,
    /// Whether this command is one that may have everything.
    is_as_written: bool,
    is_confined: bool,
}

impl Lasting {
    /// What a call is to begin with, which runs in the sandbox or outside.
    pub(super) fn before(call: &ToolCall, is_confined: bool) -> Self {
        let first = || ShellState {
            directory: call.grant.cwd.clone(),
            ..ShellState::default()
        };
        let mut state = call.shell.as_deref().cloned().unwrap_or_else(first);
        // A plan was judged from where it says.
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

    /// Where the command begins.
    pub(super) fn directory(&self) -> &str {
        &self.state.directory
    }

    /// Variables that its programs are given.
    pub(super) fn exported(&self) -> impl Iterator<Item = (OsString, OsString)> + '_ {
        self.given(true)
    }

    /// Variables that only the shell knows.
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

    /// Variables of the environment that were taken out.
    pub(super) fn removed(&self) -> impl Iterator<Item = OsString> + '_ {
        let variables = self.variables.iter();
        variables
            .filter(|variable| variable.value.is_none() && self.may_have(&variable.name))
            .map(|variable| variable.name.as_str().into())
    }

    fn may_have(&self, name: &str) -> bool {
        self.is_as_written || !changes_programs(name)
    }

    /// Whether a shell has all that lasts from its environment: there is nothing to be read before the command, and no function of
    /// the environment has a say.
    pub(super) fn is_in_environment(&self) -> bool {
        let is_function = |name: &OsString| name.to_string_lossy().starts_with("BASH_FUNC_");
        // A printed line has none of these.
        let reads_more = self.is_as_written
            && (!self.state.definitions.is_empty()
                || self.startup_file().is_some()
                || std::env::vars_os().any(|(name, _)| is_function(&name)));
        let mut exported = self.exported();
        !reads_more
            && self.unexported().next().is_none()
            && !exported.any(|(name, _)| is_function(&name))
    }

    /// What a shell reads before the command, so that it has what lasts and reports what it leaves.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn handles(&self) -> std::io::Result<Handles> {
        let definitions = match self.is_as_written {
            true => self.state.definitions.as_str(),
            false => "",
        };
        // Of a shell that runs what was judged nobody else says what it reads.
        let startup_file = self.is_as_written.then(|| self.startup_file()).flatten();
        let file = startup_file.as_deref();
        Handles::new(|to| report::startup(self.unexported(), definitions, file, to))
    }

    /// What bash would read first by itself.
    fn startup_file(&self) -> Option<String> {
        let set = self.exported().find(|(name, _)| name == "BASH_ENV");
        match set {
            Some((_, file)) => file.into_string().ok(),
            None => std::env::var("BASH_ENV").ok(),
        }
    }

    /// What a plan leaves behind: its directory, and the variables that it has set.
    pub(super) fn after_plan(
        mut self,
        directory: Option<String>,
        set: Vec<ShellVariable>,
    ) -> Option<Left> {
        let kept = set.into_iter().filter(|variable| is_kept(&variable.name));
        set_all(&mut self.variables, kept);
        self.state.directory = directory?;
        Some(self.left())
    }

    /// What a shell leaves behind, as it reported it. `None` when it reported nothing: another program took its place, or it
    /// was ended.
    ///
    /// Whatever a shell starts can write to the handle of the report. That is no more than it may do anyway, but in the sandbox: of what
    /// a confined command leaves, one that runs outside has the directory alone.
    pub(super) fn after_shell(mut self, report: Option<Report>) -> Option<Left> {
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
        // What this command was not given is as it was.
        variables.extend(known.into_iter().filter(|(name, _)| withheld(name)));
        self.variables = variables.into_values().collect();
        if may_change_programs {
            self.state.definitions = after.definitions(&before);
        }
        Some(self.left())
    }

    /// After a directory that cannot be entered: the next command begins in the working directory.
    pub(super) fn back_in(mut self, directory: &str) -> ShellState {
        self.state.directory = directory.to_owned();
        self.state
    }

    /// What the commands after this one have.
    fn left(self) -> Left {
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
        Left { state, too_large }
    }
}

/// Puts variables in the place of those of the same name.
fn set_all(all: &mut Vec<ShellVariable>, set: impl Iterator<Item = ShellVariable>) {
    for variable in set {
        match all.iter_mut().find(|known| known.name == variable.name) {
            Some(known) => *known = variable,
            None => all.push(variable),
        }
    }
}

/// Takes out the largest variables until the others may last, and says which.
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

/// Whether a variable lasts: what a shell makes itself, it makes anew.
fn is_kept(name: &str) -> bool {
    // A shell or a loader only reads these.
    let is_read = matches!(name, "BASH_ENV" | "CDPATH" | "ENV" | "GLOBIGNORE")
        || name.starts_with("LD_")
        || name.starts_with("DYLD_");
    let is_credential = crate::credentials::is_credential(name);
    let is_made = is_made_by_the_shell(name) || matches!(name, "PWD" | "OLDPWD" | "SHLVL");
    !is_credential && (is_read || !is_made)
}
