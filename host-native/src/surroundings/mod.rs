//! What a session finds on the disk: settings, and what a project brings along.

mod commands;
mod own_places;
mod project_files;
mod server_config;
mod started;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use windlass_core::{
    RawJson, Spec,
    agent::AgentSource,
    context::OutputStyle,
    permission::{Layer, Layered, Rule, RuleName},
};
use windlass_engine::{
    machine::{inline_servers, resolved_model},
    project::{ProjectFiles, ProjectPlaces},
    protocol::flags::effort,
    settings::{
        LoadedSettings, SandboxSettings, SettingSources, SettingsHooks, is_plain,
        unknown_sandbox_keys,
    },
};

#[cfg(feature = "engine")]
pub use self::server_config::read_config;
pub(crate) use self::{commands::Commands, own_places::own_places, started::Words};
use self::{project_files::ProjectFilesReader, server_config::read_project_config};
use crate::{
    settings::{SettingsError, SettingsPlaces, is_trusted},
    store::ConfigDir,
    text_path::{lossy, text_path},
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

/// Where the files are, and which of them are read.
pub(crate) struct Whereabouts<'a> {
    /// The person's.
    pub(crate) config: ConfigDir,
    pub(crate) home: Option<&'a Path>,
    /// The project's.
    pub(crate) project: PathBuf,
    pub(crate) sources: SettingSources,
    pub(crate) trust: ProjectTrust,
    /// Further settings, a file or JSON.
    pub(crate) settings: Option<&'a str>,
    /// The organisation's, JSON.
    pub(crate) managed: Option<&'a str>,
}

/// What cannot be used of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SurroundingsError {
    /// A settings file.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Rules of the settings: without them more would be allowed than was meant to be.
    #[error("the permissions of the settings cannot be used: {0}")]
    Permissions(String),
}

/// Settings and project files, as far as the flags let them be read.
pub(crate) struct Surroundings {
    pub(crate) places: SettingsPlaces,
    pub(crate) settings: LoadedSettings,
    /// What the project brings along, once the rules are known: they hold for it too.
    pub(crate) project: ProjectFiles,
    project_places: ProjectPlaces,
    /// Which sources are read.
    pub(crate) sources: SettingSources,
    /// A person has trusted the project's folder: what its files widen counts.
    is_trusted: bool,
    /// What its files start runs: commands that are hooks, MCP servers.
    runs_programs: bool,
    /// What its files would do, if anybody trusted it and they do not because nobody has: phrases behind "they".
    pub(crate) left_out: Vec<String>,
    /// Some settings forbid the mode that bypasses permissions.
    pub(crate) bypass_disabled: bool,
}

impl Surroundings {
    /// Reads them.
    pub(crate) fn read(at: Whereabouts<'_>) -> Result<Self, SurroundingsError> {
        let Whereabouts {
            config,
            home,
            project,
            sources,
            trust,
            settings,
            managed,
        } = at;
        let is_trusted = trust == ProjectTrust::Everything || is_trusted(&config, home, &project);
        let project_places = ProjectPlaces {
            config: text_path(config.root()).ok(),
            // Of no other name is an agent built.
            cwd: lossy(&project),
            home: home.and_then(|home| text_path(home).ok()),
        };
        let places = SettingsPlaces {
            config,
            project,
            policy: None,
        };
        let settings = places.load(sources, settings, managed)?;
        Ok(Self {
            places,
            settings,
            project: ProjectFiles::default(),
            project_places,
            sources,
            is_trusted,
            runs_programs: is_trusted || trust == ProjectTrust::Programs,
            left_out: Vec::new(),
            bypass_disabled: false,
        })
    }

    /// Writes the permissions of the settings into a spec. What was left out comes back.
    pub(crate) fn apply_permissions(
        &mut self,
        spec: &mut Spec,
    ) -> Result<Vec<String>, SurroundingsError> {
        let mut warnings = Vec::new();
        // What a folder allows itself counts only once a person has trusted it.
        let layered = Layered::of(&self.settings.layers(self.is_trusted), &spec.environment)
            .map_err(|faults| {
                let words: Vec<String> = faults.iter().map(ToString::to_string).collect();
                SurroundingsError::Permissions(words.join("; "))
            })?;
        warnings.extend(layered.unusable.iter().map(ToString::to_string));
        let rules = &mut spec.permissions.rules;
        rules.untrusted.extend(layered.rules.untrusted);
        rules.allow.extend(layered.rules.allow);
        rules.ask.extend(layered.rules.ask);
        rules.deny.extend(layered.rules.deny);
        if let Some(mode) = layered.mode {
            spec.permissions.mode = mode;
        }
        self.bypass_disabled = layered.bypass_disabled;
        for directory in layered.directories {
            match std::fs::canonicalize(&directory) {
                Ok(real) => spec
                    .environment
                    .additional_directories
                    .push(real.display().to_string()),
                Err(error) => warnings.push(format!(
                    "the additional directory {directory} is left out: {error}"
                )),
            }
        }
        Ok(warnings)
    }

    /// Writes what else they say into a spec whose permissions are complete; flags are stronger and come behind. What was left out
    /// comes back.
    pub(crate) fn apply(&mut self, spec: &mut Spec) -> Vec<String> {
        let mut warnings = Vec::new();
        // Settings, transcripts, agents: what is there decides about later sessions.
        let own = self.places.config.root();
        if let Ok(own) = std::fs::canonicalize(own)
            && !std::path::Path::new(&spec.environment.cwd).starts_with(&own)
        {
            let own = own.display().to_string();
            spec.environment.own_directories.push(own);
        }
        if self.project_places.config.is_none() {
            let folder = self.places.config.root().display();
            warnings.push(format!("left out: {folder}: its name is not UTF-8"));
        }
        let reader = ProjectFilesReader::new(spec);
        self.project = self.project_places.load(self.sources, &reader);
        let grants = match self.is_trusted {
            true => Vec::new(),
            false => (self.project).without_grants_of(&self.project_places.cwd),
        };
        if self.runs_programs {
            warnings.extend(grants.iter().map(|name| {
                format!(
                    "nobody has trusted this folder, so what /{name} asks for is not allowed by it"
                )
            }));
        } else {
            let untrusted = &spec.permissions.rules.untrusted;
            self.left_out = self.untrusted(untrusted, &grants);
            warnings.extend(self.left_out.iter().map(|what| {
                format!(
                    "nobody has trusted this folder, so its files do not {what}: --trust lets them"
                )
            }));
        }
        let problems = self.project.problems.iter();
        warnings.extend(problems.map(|problem| format!("left out: {problem}")));
        if let Some(model) = self.settings.model() {
            spec.model = resolved_model(spec, model);
        }
        if let Some(name) = self
            .settings
            .first(|settings| settings.effort_level.as_deref())
        {
            match effort(name) {
                Some(effort) => spec.effort = Some(effort),
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
            let unknown = unknown_sandbox_keys(&sourced.raw);
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
        match cfg!(unix) {
            true => spec.hooks.extend(hooks.matchers),
            false => warnings.extend(
                (hooks.commands.iter()).map(|hook| format!("not run: the hook `{}`", hook.command)),
            ),
        }
        self.style(spec);
        for agent in &self.project.agents {
            spec.agents.add(agent.clone());
        }
        for (name, source) in &self.project.unusable_agents {
            spec.agents.close(name, *source);
        }
        spec.skills.clone_from(&self.project.skills);
        spec.memory.clone_from(&self.project.memory);
        spec.environment.commands = self.project.slash_commands();
        warnings
    }

    /// The permissions of the settings.
    pub(crate) fn layers(&self) -> Vec<Layer> {
        self.settings.layers(self.is_trusted)
    }

    /// The variables that the settings add to the environment of programs.
    pub(crate) fn variables(&self) -> BTreeMap<&str, &str> {
        self.settings.env(|name| self.may_set(name))
    }

    /// Whether the folder's files may set a variable. Before a person has trusted the folder they may add to the environment what
    /// is their own, and change nothing that is there; nor that, where they start nothing either.
    fn may_set(&self, name: &str) -> bool {
        let adds = || is_plain(name) && std::env::var_os(name).is_none();
        self.is_trusted || self.runs_programs && adds()
    }

    /// What the folder's files would do once a person has trusted it, as phrases.
    fn untrusted(&self, rules: &[Rule], grants: &[String]) -> Vec<String> {
        let of_folder = || {
            let sources = self.settings.sources.iter();
            sources.filter(|sourced| sourced.source.belongs_to_folder())
        };
        let ours = self.settings.hooks(false).commands;
        let hooks = self.settings.hooks(true).commands.into_iter();
        let hooks = hooks.filter(|hook| !ours.contains(hook));
        let servers = self.servers_of_project().unwrap_or_default();
        let variables = self.settings.env_left_out(|_| false).into_iter();
        let variables = variables.flat_map(|(_, names)| names);
        let agents = self.project.agents.iter().filter(|agent| {
            agent.source == AgentSource::Project && !inline_servers(agent).is_empty()
        });
        let mut phrases: Vec<String> = hooks
            .map(|hook| format!("run the hook `{}`", hook.command))
            .chain(
                servers
                    .keys()
                    .map(|name| format!("start the MCP server {name}")),
            )
            .chain(agents.map(|agent| format!("start the MCP servers of the agent {}", agent.name)))
            .chain(variables.map(|name| format!("set the variable {name}")))
            .chain(
                rules
                    .iter()
                    .map(|rule| format!("allow {}", RuleName::from(rule))),
            )
            .chain(
                grants
                    .iter()
                    .map(|name| format!("allow what /{name} asks for")),
            )
            .collect();
        for sourced in of_folder() {
            let settings = &sourced.settings;
            let mode = settings.permissions.default_mode;
            phrases.extend(mode.map(|mode| format!("begin in the mode {}", mode.name())));
            let directories = settings.permissions.additional_directories.iter();
            phrases.extend(directories.map(|directory| format!("open the directory {directory}")));
            if settings.sandbox.is_some() {
                phrases.push("open the sandbox as they say".to_owned());
            }
            if settings.disable_all_hooks == Some(true) {
                phrases.push("turn hooks off".to_owned());
            }
        }
        phrases
    }

    /// A person has trusted the folder.
    pub(crate) fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    /// The confinement of commands.
    pub(crate) fn sandbox(&self, command_line: Option<&SandboxSettings>) -> SandboxSettings {
        self.settings.sandbox(self.is_trusted, command_line)
    }

    /// The commands that are hooks. Whoever starts an engine for a program, and lets it read a folder's settings, trusts the
    /// folder so far: a guard that is written there and does not run would be worse than none. What the settings *allow* still needs
    /// the word of a person.
    pub(crate) fn hooks(&self) -> SettingsHooks {
        self.settings.hooks(self.runs_programs)
    }

    /// Whether what the folder's files start runs.
    pub(crate) fn runs_programs(&self) -> bool {
        self.runs_programs
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
        spec.output_style = own.or_else(built_in);
    }

    /// The MCP servers of the project's `.mcp.json`, where the project is a source and but for those that the settings switch off.
    /// Whoever starts an engine for a program and lets it read a folder's files trusts the folder so far.
    pub(crate) fn project_servers(&self) -> Result<BTreeMap<String, RawJson>, String> {
        match self.runs_programs {
            true => self.servers_of_project(),
            false => Ok(BTreeMap::new()),
        }
    }

    fn servers_of_project(&self) -> Result<BTreeMap<String, RawJson>, String> {
        if !self.sources.project {
            return Ok(BTreeMap::new());
        }
        let mut servers = read_project_config(&self.places.project.join(".mcp.json"))?;
        for sourced in &self.settings.sources {
            for name in &sourced.settings.disabled_mcpjson_servers {
                servers.remove(name);
            }
        }
        Ok(servers)
    }
}
