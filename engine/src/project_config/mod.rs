//! What a session finds around it, as values: settings of all sources and what a project brings along, how far they are trusted, and
//! what they make of a [`Spec`].
//!
//! Hosts read the files, in two steps, because rules hold for what a project brings along: settings first, which say what the rules
//! are ([`ProjectConfig::permissions`]), then the project's files ([`ProjectConfig::apply`]).

mod brought;
mod flags;

use std::collections::{BTreeMap, BTreeSet};

use windlass_core::{
    RawJson, Spec,
    context::OutputStyle,
    permission::{Layer, Layered},
};

pub use self::brought::{Brought, BroughtKind};
pub use self::flags::{FlagFacts, FlagsError, rules_of_unknown_tools};
use crate::{
    machine::resolved_model,
    path::TextPath,
    project::ProjectFiles,
    protocol::flags::effort,
    settings::{
        LoadedSettings, SandboxSettings, SettingSources, SettingsHooks, is_plain,
        unknown_sandbox_keys,
    },
};

/// What of a project's own files takes effect before a person has trusted the folder. Its deny and ask rules always do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProjectTrust {
    /// What starts programs (hooks, MCP servers) does, and variables that change no others: whoever starts an engine for a
    /// program, and lets it read a folder's files, trusts the folder so far. For SDKs.
    #[default]
    Programs,
    /// Nothing that starts a program, or changes environment, endpoint or what is allowed. For the command line.
    Nothing,
    /// Everything: somebody said so when they started it.
    Everything,
}

/// Settings and project files, as far as the sources let them be read.
#[derive(Debug)]
pub struct ProjectConfig {
    /// What settings say.
    pub settings: LoadedSettings,
    /// Which sources are read.
    pub sources: SettingSources,
    /// The project's folder.
    pub folder: TextPath,
    /// A person has trusted it: what its files widen counts.
    pub is_trusted: bool,
    /// What its files start runs: commands that are hooks, MCP servers.
    pub runs_programs: bool,
    /// What the project brings along, once the rules are known: they hold for it too.
    pub project: ProjectFiles,
    /// The servers of the project's `.mcp.json`, or why it cannot be used.
    pub servers: Result<BTreeMap<String, RawJson>, String>,
    /// The names of the variables that programs have anyway.
    pub inherited: BTreeSet<String>,
    /// There is a shell in which hooks can run.
    pub has_shell: bool,
    /// What the folder's files do once a person has trusted it, and do not because nobody has.
    pub brought: Vec<Brought>,
    /// Some settings forbid the mode that bypasses permissions.
    pub bypass_disabled: bool,
}

/// What came of the permissions of settings, beside what stands in the spec.
#[derive(Debug, Default)]
pub struct PermissionsOfSettings {
    /// Further directories of the workspace, as they are written: hosts say where they lead.
    pub directories: Vec<String>,
    /// What was left out, and why.
    pub warnings: Vec<String>,
}

impl ProjectConfig {
    /// Of settings that were read. Nothing of the project is known yet, and no shell.
    #[must_use]
    pub fn new(settings: LoadedSettings, sources: SettingSources, folder: TextPath) -> Self {
        Self {
            settings,
            sources,
            folder,
            is_trusted: false,
            runs_programs: false,
            project: ProjectFiles::default(),
            servers: Ok(BTreeMap::new()),
            inherited: BTreeSet::new(),
            has_shell: false,
            brought: Vec::new(),
            bypass_disabled: false,
        }
    }

    /// How far the folder is trusted, by a person and by whoever starts the session.
    #[must_use]
    pub fn trusted(mut self, by_person: bool, trust: ProjectTrust) -> Self {
        self.is_trusted = by_person || trust == ProjectTrust::Everything;
        self.runs_programs = self.is_trusted || trust == ProjectTrust::Programs;
        self
    }

    /// Writes the permissions of the settings into a spec.
    ///
    /// # Errors
    /// Rules that cannot be used, in words: without them more would be allowed than was meant to be.
    pub fn permissions(&mut self, spec: &mut Spec) -> Result<PermissionsOfSettings, String> {
        // What a folder allows itself counts only once a person has trusted it.
        let layered = Layered::of(&self.layers(), &spec.environment).map_err(|faults| {
            let words = faults.iter().map(|fault| self.settings.complaint(fault));
            words.collect::<Vec<String>>().join("; ")
        })?;
        let unusable = layered.unusable.iter();
        let warnings = unusable
            .map(|fault| self.settings.complaint(fault))
            .collect();
        let rules = &mut spec.policy.permissions.rules;
        rules.untrusted.extend(layered.rules.untrusted);
        rules.allow.extend(layered.rules.allow);
        rules.ask.extend(layered.rules.ask);
        rules.deny.extend(layered.rules.deny);
        if let Some(mode) = layered.mode {
            spec.policy.permissions.mode = mode;
        }
        self.bypass_disabled = layered.bypass_disabled;
        Ok(PermissionsOfSettings {
            directories: layered.directories,
            warnings,
        })
    }

    /// Writes what else they say into a spec whose permissions are complete; flags are stronger and come behind. What was left out
    /// comes back.
    pub fn apply(&mut self, spec: &mut Spec) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.runs_programs {
            self.brought = self.brought_along(&spec.policy.permissions.rules.untrusted);
        }
        let grants = match self.is_trusted {
            true => Vec::new(),
            false => self.project.without_grants_of(&self.folder),
        };
        if self.runs_programs {
            warnings.extend(grants.iter().map(|name| {
                format!(
                    "nobody has trusted this folder, so what /{name} asks for is not allowed by it"
                )
            }));
        } else {
            self.project.keep_own_agents();
            warnings.extend(self.brought.iter().map(|what| {
                format!(
                    "nobody has trusted this folder, so its files do not {what}: --trust lets them"
                )
            }));
        }
        let problems = self.project.problems.iter();
        warnings.extend(problems.map(|problem| format!("left out: {problem}")));
        if let Some(model) = self.settings.model() {
            spec.model.name = resolved_model(spec, model);
        }
        if let Some(name) = self
            .settings
            .first(|settings| settings.effort_level.as_deref())
        {
            match effort(name) {
                Some(effort) => spec.model.effort = Some(effort),
                None => warnings.push(format!("the effort {name} of the settings is not known")),
            }
        }
        let unset = match self.runs_programs {
            true => self.settings.env_left_out(|name| self.may_set(name)),
            // They are named with all that does not count.
            false => Vec::new(),
        };
        for (source, names) in unset {
            warnings.push(format!(
                "left out of `env` in the {}, because nobody has trusted this folder and they are not among the few that change nothing but how a program talks: {}",
                source.words(),
                names.join(", ")
            ));
        }
        for sourced in &self.settings.sources {
            let unknown = unknown_sandbox_keys(sourced.text.raw());
            if !unknown.is_empty() {
                warnings.push(format!(
                    "without effect in the {}, because nobody knows such keys: {}",
                    sourced.source.words(),
                    unknown.join(", ")
                ));
            }
        }
        let hooks = self.hooks();
        // Whoever relies on them must hear of it.
        let ignored = hooks.ignored.iter();
        warnings.extend(ignored.map(|what| format!("the settings have {what}: they are not run")));
        match self.has_shell {
            true => spec.policy.hooks.extend(hooks.matchers),
            false => warnings.extend(
                (hooks.commands.iter()).map(|hook| format!("not run: the hook `{}`", hook.command)),
            ),
        }
        self.style(spec);
        for agent in &self.project.agents {
            spec.tools.agents.add(agent.clone());
        }
        for (name, source) in &self.project.unusable_agents {
            spec.tools.agents.close(name, *source);
        }
        spec.tools.skills.clone_from(&self.project.skills);
        spec.prompt.memory.clone_from(&self.project.memory);
        spec.environment.commands = self.project.slash_commands();
        warnings
    }

    /// The permissions of the settings.
    #[must_use]
    pub fn layers(&self) -> Vec<Layer> {
        self.settings.layers(self.is_trusted)
    }

    /// The variables that the settings add to the environment of programs.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<&str, &str> {
        self.settings.env(|name| self.may_set(name))
    }

    /// Whether the folder's files may set a variable. Before a person has trusted the folder they may add to the environment what
    /// is their own, and change nothing that is there; nor that, where they start nothing either.
    fn may_set(&self, name: &str) -> bool {
        let adds = || is_plain(name) && !self.inherited.contains(name);
        self.is_trusted || self.runs_programs && adds()
    }

    /// The confinement of commands.
    #[must_use]
    pub fn sandbox(&self, command_line: Option<&SandboxSettings>) -> SandboxSettings {
        self.settings.sandbox(self.is_trusted, command_line)
    }

    /// The commands that are hooks. Whoever starts an engine for a program, and lets it read a folder's settings, trusts the
    /// folder so far: a guard that is written there and does not run would be worse than none. What the settings *allow* still needs
    /// the word of a person.
    #[must_use]
    pub fn hooks(&self) -> SettingsHooks {
        self.settings.hooks(self.runs_programs)
    }

    /// The output style by its name: told as it is written, also where nobody knows it.
    fn style(&self, spec: &mut Spec) {
        let Some(name) = self.settings.output_style() else {
            return;
        };
        name.clone_into(&mut spec.environment.output_style);
        let own = self
            .project
            .output_styles
            .iter()
            .find(|style| style.name == name)
            .cloned();
        let built_in = || {
            OutputStyle::built_in()
                .into_iter()
                .find(|style| style.name == name)
        };
        spec.prompt.output_style = own.or_else(built_in);
    }

    /// The MCP servers of the project's `.mcp.json`, where the project is a source and but for those that the settings switch off.
    /// Whoever starts an engine for a program and lets it read a folder's files trusts the folder so far.
    ///
    /// # Errors
    /// Why the file cannot be used.
    pub fn project_servers(&self) -> Result<BTreeMap<String, RawJson>, String> {
        match self.runs_programs {
            true => self.servers_of_project(),
            false => Ok(BTreeMap::new()),
        }
    }

    fn servers_of_project(&self) -> Result<BTreeMap<String, RawJson>, String> {
        let mut servers = self.servers.clone()?;
        for sourced in &self.settings.sources {
            for name in &sourced.settings.disabled_mcpjson_servers {
                servers.remove(name);
            }
        }
        Ok(servers)
    }
}
