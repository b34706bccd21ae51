//! The surroundings of a session as values: the settings of all sources and the project's files, how far they are trusted,
//! and how they are applied to a [`Spec`].
//!
//! Hosts read the files in two steps, because permission rules apply to project files: first the settings, which define the
//! rules ([`ProjectConfig::permissions`]), then the project's files ([`ProjectConfig::apply`]).

mod brought;
mod flags;

use std::collections::{BTreeMap, BTreeSet};

use windlass_core::{
    RawJson, Spec,
    context::OutputStyle,
    permission::{Layer, Layered, Rule, RuleName, Source},
};

pub use self::brought::{Brought, BroughtKind};
pub use self::flags::{FlagFacts, FlagsError, rules_of_unknown_tools};
use crate::{
    models::{is_available, resolved_model, send_as},
    path::TextPath,
    plugin::Plugin,
    project::{PluginFolder, ProjectFiles},
    protocol::flags::effort,
    settings::{
        LoadedSettings, PersonalServers, SandboxSettings, SettingSources, SettingsHooks, is_plain,
        unknown_sandbox_keys,
    },
};

/// Which parts of a project's own files take effect before a user has trusted the folder. Deny and ask rules always do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProjectTrust {
    /// Hooks and MCP servers start, and plain variables that programs do not inherit anyway are set. An application that starts
    /// an engine and lets it read a folder's files trusts the folder to this extent. For SDKs.
    #[default]
    Programs,
    /// Nothing that starts a program or changes the environment, the endpoint or permissions. For the command line.
    Nothing,
    /// Everything: trust was given explicitly at the start.
    Everything,
}

/// Settings and project files of the selected sources.
#[derive(Debug)]
pub struct ProjectConfig {
    /// The settings.
    pub settings: LoadedSettings,
    /// The sources that are read.
    pub sources: SettingSources,
    /// The project's folder.
    pub folder: TextPath,
    /// Whether a user has trusted the folder, so that its files may widen permissions.
    pub is_trusted: bool,
    /// Whether programs that its files start may run: hook commands and MCP servers.
    pub runs_programs: bool,
    /// The project's files; read once the permission rules, which apply to them, are known.
    pub project: ProjectFiles,
    /// The plugins, in the order in which they were named.
    pub plugins: Vec<Plugin>,
    /// The servers of the user's state file, or why it cannot be used.
    pub personal_servers: Result<PersonalServers, String>,
    /// The servers of the project's `.mcp.json`, or why it cannot be used.
    pub servers: Result<BTreeMap<String, RawJson>, String>,
    /// The names of the variables that programs inherit anyway.
    pub inherited: BTreeSet<String>,
    /// Whether there is a shell in which hooks can run.
    pub has_shell: bool,
    /// What the folder's files would do if the folder were trusted.
    pub brought: Vec<Brought>,
    /// Whether settings disable the mode that bypasses permissions.
    pub bypass_disabled: bool,
}

/// The permissions of the settings, as far as they are not part of the spec.
#[derive(Debug, Default)]
pub struct PermissionsOfSettings {
    /// Additional directories of the workspace as written; hosts resolve them.
    pub directories: Vec<String>,
    /// Warnings about what was left out.
    pub warnings: Vec<String>,
}

impl ProjectConfig {
    /// A configuration with these settings, without project files and without a shell.
    #[must_use]
    pub fn new(settings: LoadedSettings, sources: SettingSources, folder: TextPath) -> Self {
        Self {
            settings,
            sources,
            folder,
            is_trusted: false,
            runs_programs: false,
            project: ProjectFiles::default(),
            plugins: Vec::new(),
            personal_servers: Ok(PersonalServers::default()),
            servers: Ok(BTreeMap::new()),
            inherited: BTreeSet::new(),
            has_shell: false,
            brought: Vec::new(),
            bypass_disabled: false,
        }
    }

    /// Sets how far the folder is trusted, by the user and by the caller that starts the session.
    #[must_use]
    pub fn trusted(mut self, by_person: bool, trust: ProjectTrust) -> Self {
        self.is_trusted = by_person || trust == ProjectTrust::Everything;
        self.runs_programs = self.is_trusted || trust == ProjectTrust::Programs;
        self
    }

    /// Writes the permissions of the settings into a spec.
    ///
    /// # Errors
    /// The invalid rules, as text: ignoring them would allow more than intended.
    pub fn permissions(&mut self, spec: &mut Spec) -> Result<PermissionsOfSettings, String> {
        // Permissions that a folder grants itself apply only if the folder is trusted.
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

    /// Writes everything else into a spec whose permissions are complete; flags override it and are applied later. Returns
    /// warnings about what was left out.
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
            if !self.is_trusted {
                warnings.extend(unapplied(&spec.policy.permissions.rules.untrusted));
            }
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
        let ignored = self.project.ignored.iter();
        warnings.extend(ignored.map(|what| format!("without effect: {what}")));
        for sourced in self.settings.sources.iter().rev() {
            send_as(spec, &sourced.settings.model_overrides);
        }
        let available = self.settings.first(|it| it.available_models.as_deref());
        if let Some(model) = self.settings.model()
            && is_available(spec, available, model)
        {
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
            // They are among the effects listed above.
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
        // Users who rely on these hooks have to be told.
        let ignored = hooks.ignored.iter();
        warnings.extend(ignored.map(|what| format!("the settings have {what}: they are not run")));
        match self.has_shell {
            true => spec.policy.hooks.extend(hooks.matchers),
            false => warnings.extend(
                (hooks.commands.iter()).map(|hook| format!("not run: the hook `{}`", hook.command)),
            ),
        }
        for plugin in &self.plugins {
            let ignored = plugin.ignored.iter();
            warnings.extend(
                ignored.map(|what| format!("without effect in the plugin {}: {what}", plugin.name)),
            );
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

    /// The permissions of the settings, as layers.
    #[must_use]
    pub fn layers(&self) -> Vec<Layer> {
        self.settings.layers(self.is_trusted)
    }

    /// The variables that the settings add to the environment of programs.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<&str, &str> {
        self.settings.env(|name| self.may_set(name))
    }

    /// A variable of [`variables`](Self::variables), with the source that sets it.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<(Source, &str)> {
        self.settings.variable(name, |name| self.may_set(name))
    }

    /// Whether the folder's files may set a variable. For an untrusted folder they may only add plain variables that are not
    /// inherited already, and only if its programs may run.
    fn may_set(&self, name: &str) -> bool {
        let adds = || is_plain(name) && !self.inherited.contains(name);
        self.is_trusted || self.runs_programs && adds()
    }

    /// The sandbox settings for commands.
    #[must_use]
    pub fn sandbox(&self, command_line: Option<&SandboxSettings>) -> SandboxSettings {
        self.settings.sandbox(self.is_trusted, command_line)
    }

    /// The hook commands. An application that starts an engine and lets it read a folder's settings trusts the folder to this
    /// extent: a guard that is configured but does not run would be worse than none. What the settings *allow* still requires
    /// the trust of a user.
    #[must_use]
    pub fn hooks(&self) -> SettingsHooks {
        let mut hooks = self.settings.hooks(self.runs_programs);
        if !self.settings.are_hooks_off(self.runs_programs) {
            for plugin in &self.plugins {
                hooks.add(Source::CliArg, &plugin.hooks);
            }
        }
        hooks
    }

    /// The folders of the plugins, for [`ProjectPlaces::load`](crate::project::ProjectPlaces::load).
    #[must_use]
    pub fn plugin_folders(&self) -> Vec<PluginFolder> {
        let plugins = self.plugins.iter().map(|plugin| PluginFolder {
            name: plugin.name.clone(),
            folder: plugin.folder.clone(),
            places: plugin.places.clone(),
        });
        plugins.collect()
    }

    /// Sets the output style by name. The name is reported as written, even if no such style is known.
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

    /// The MCP servers of the project's `.mcp.json`, if the project is a source, except those that the settings disable. An
    /// application that starts an engine and lets it read a folder's files trusts the folder to this extent.
    ///
    /// # Errors
    /// The reason why the file cannot be used.
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

/// What to say of the rules of a folder that do not apply for lack of trust.
fn unapplied(rules: &[Rule]) -> Option<String> {
    let names: Vec<String> = rules
        .iter()
        .map(|rule| RuleName::from(rule).to_string())
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "nobody has trusted this folder, so its settings do not allow {}: `windlass --trust` there trusts it, --allowedTools allows a tool for once",
            names.join(", ")
        )
    })
}
