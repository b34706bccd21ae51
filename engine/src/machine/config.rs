//! The configuration of sessions: flags, settings and project files, completed by the SDK's `initialize` request.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Value, json};
use windlass_core::{
    RawJson, Spec, context::OutputStyle, initialization::ModelInfo, permission::Source,
    tools::CoreTool,
};

use super::Launch;
use crate::{
    models::{is_available, is_long_alias, offered_models, set_usual_agent_model},
    project::ProjectFiles,
    protocol::{flags::PluginDir, initialize::Initialize, reply::ReplyError},
    settings::{LoadedSettings, PersonalServers, SettingSources, SourcedSettings},
};

/// The core tools that every session has by default, beside the built-in ones.
const CORE_TOOLS: [CoreTool; 8] = [
    CoreTool::Task,
    CoreTool::TaskOutput,
    CoreTool::TaskStop,
    CoreTool::TodoWrite,
    CoreTool::AskUserQuestion,
    CoreTool::ExitPlanMode,
    CoreTool::EnterWorktree,
    // The model is shown it only if there are deferred tool definitions to search for.
    CoreTool::ToolSearch,
];

/// The built-in tools, by name.
pub const BUILTIN_TOOLS: [&str; 9] = [
    "Read",
    "Write",
    "Edit",
    "NotebookEdit",
    "Glob",
    "Grep",
    "Bash",
    "WebFetch",
    "WebSearch",
];

/// The tool names that `--tools` accepts.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    let of_core = CORE_TOOLS.into_iter().map(CoreTool::name);
    BUILTIN_TOOLS.into_iter().chain(["Agent"]).chain(of_core)
}

/// A request to a host to read settings and project files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConfigureRequest {
    /// Settings that replace those of the command line.
    pub settings: Option<RawJson>,
    /// Managed settings, which nothing overrides; they replace those of the command line.
    pub managed_settings: Option<RawJson>,
    /// Further tools to remove.
    pub disallowed_tools: Vec<String>,
    /// Further plugins.
    pub plugins: Vec<PluginDir>,
}

impl ConfigureRequest {
    /// The part of `initialize` that determines which files are read and which rules apply.
    #[must_use]
    pub fn of(initialize: &Initialize) -> Self {
        Self {
            settings: initialize.settings.clone(),
            managed_settings: initialize.managed_settings.clone(),
            disallowed_tools: (initialize.disallowed_tools.iter().flatten().cloned()).collect(),
            plugins: (initialize.plugins.iter().flatten())
                .map(|plugin| plugin.folder().clone())
                .collect(),
        }
    }
}

/// The number of a configuration, assigned by the host that read it.
pub type ConfigNumber = u64;

/// The configuration from flags, environment and files.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// Its number, by which the host that read it finds the tools and hooks that belong to it.
    pub number: ConfigNumber,
    /// The spec for sessions.
    pub spec: Arc<Spec>,
    /// The settings of all sources.
    pub settings: LoadedSettings,
    /// The sources that were read.
    pub sources: SettingSources,
    /// The project's files.
    pub project: Arc<ProjectFiles>,
    /// Whether a person has trusted the project's folder.
    pub is_trusted: bool,
    /// Whether programs that the folder's files start may run: hook commands and MCP servers.
    pub runs_programs: bool,
    /// Variables that the settings add to the environment of programs.
    pub variables: BTreeMap<String, String>,
    /// The hooks that the host runs, by the names under which the core knows them: commands, and components of plugins. All
    /// others are callbacks of the SDK.
    pub hooks_of_host: BTreeSet<String>,
    /// The MCP servers of the user's state file.
    pub personal_servers: PersonalServers,
    /// The MCP servers of the project's own file (`.mcp.json`).
    pub project_servers: BTreeMap<String, RawJson>,
    /// The MCP servers of plugins.
    pub plugin_servers: BTreeMap<String, RawJson>,
    /// The MCP servers of the command line.
    pub given_servers: BTreeMap<String, RawJson>,
    /// Warnings for the user: what was left out, and why.
    pub warnings: Vec<String>,
    /// The number of plugins that could not be loaded; the warnings say why.
    pub failed_plugins: usize,
    /// The model of subagents whose definition and call name none; `None` for that of the session.
    pub usual_agent_model: Option<String>,
    /// The source of the bearer token; `none` if there is none.
    pub token_source: &'static str,
}

/// A completed configuration, ready for sessions.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub(super) config: Configuration,
    pub(super) initialize: Initialize,
}

/// Why the data of `initialize` cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompleteError {
    /// A hook of `initialize` is unusable; without it, more would run than intended.
    #[error("{what} cannot be used, and no session begins without it: {reason}")]
    Hook {
        /// The hook.
        what: String,
        /// Why.
        reason: String,
    },
    /// The agent that the main thread is to run as cannot be used.
    #[error("--agent: {0}")]
    Agent(String),
}

impl Configuration {
    /// A configuration that consists of a spec alone, without files: no trust in a folder is required.
    #[must_use]
    pub fn new(number: ConfigNumber, spec: impl Into<Arc<Spec>>) -> Self {
        Self {
            number,
            spec: spec.into(),
            settings: LoadedSettings::default(),
            sources: SettingSources::NONE,
            project: Arc::default(),
            is_trusted: true,
            runs_programs: true,
            variables: BTreeMap::new(),
            hooks_of_host: BTreeSet::new(),
            personal_servers: PersonalServers::default(),
            project_servers: BTreeMap::new(),
            plugin_servers: BTreeMap::new(),
            given_servers: BTreeMap::new(),
            warnings: Vec::new(),
            failed_plugins: 0,
            usual_agent_model: None,
            token_source: "none",
        }
    }

    /// Completes the configuration with the data of `initialize`.
    ///
    /// # Errors
    /// [`CompleteError`].
    pub fn completed(
        mut self,
        launch: &Launch,
        initialize: &Initialize,
    ) -> Result<Self, CompleteError> {
        if !launch.face.has_lines() {
            // An embedding program sends no `initialize`. The engine itself has to know which prompt is taken in, whether or
            // not a consumer wants prompts to be repeated.
            if !self.spec.stream.replay_prompts {
                Arc::make_mut(&mut self.spec).stream.replay_prompts = true;
            }
            return Ok(self);
        }
        let spec = Arc::make_mut(&mut self.spec);
        let unusable = initialize.apply(spec);
        if let Some(hook) = unusable.iter().find(|it| it.judges) {
            return Err(CompleteError::Hook {
                what: hook.what.clone(),
                reason: hook.reason.clone(),
            });
        }
        self.warnings
            .extend(unusable.iter().map(ToString::to_string));
        offer(launch, spec);
        let of_settings = self.settings.first(|settings| settings.agent.as_deref());
        let managed = self.settings.managed(|settings| settings.agent.as_deref());
        if let Some(name) = managed.or(launch.flags.agent.as_deref()).or(of_settings) {
            let run_as = spec.run_as(name);
            *spec = run_as.map_err(|error| CompleteError::Agent(error.to_string()))?;
        }
        if let Some(model) = &self.usual_agent_model {
            set_usual_agent_model(spec, model);
        }
        let agents = spec.tools.agents.infos().into_iter();
        spec.environment.agents = agents.map(|agent| agent.name).collect();
        spec.environment.skills = spec
            .tools
            .skills
            .iter()
            .map(|skill| skill.name.clone())
            .collect();
        Ok(self)
    }

    /// The models that settings restrict the session to; `None` for all.
    pub(super) fn available_models(&self) -> Option<&[String]> {
        self.settings
            .first(|settings| settings.available_models.as_deref())
    }

    /// The settings of the command line, or those that replaced them.
    pub(super) fn given(&self) -> Option<&SourcedSettings> {
        let mut sources = self.settings.sources.iter();
        sources.find(|sourced| sourced.source == Source::CliArg)
    }

    /// The names of the available output styles: the preset's, the built-in ones, and those of files.
    pub(super) fn style_names(&self) -> Vec<String> {
        let mut names = vec!["default".to_owned()];
        let built_in = OutputStyle::built_in();
        for style in built_in.iter().chain(&self.project.output_styles) {
            if !names.contains(&style.name) {
                names.push(style.name.clone());
            }
        }
        names
    }

    /// The payload of `get_settings`: the effective settings, and those of each source.
    pub(super) fn described_settings(&self) -> (Value, Value) {
        let mut effective = serde_json::Map::new();
        // From the weakest source to the strongest, so that the strongest wins.
        for sourced in self.settings.sources.iter().rev() {
            if let Ok(Value::Object(fields)) = sourced.text.raw().decode() {
                effective.extend(fields);
            }
        }
        let sources = self.settings.sources.iter().map(|sourced| {
            let settings: Value = sourced.text.raw().decode().unwrap_or_default();
            json!({"source": sourced.source, "settings": settings})
        });
        (Value::Object(effective), sources.collect())
    }
}

impl Prepared {
    /// Why a model cannot be chosen by this name, if it cannot.
    pub(super) fn model_refusal(&self, name: &str) -> Option<ReplyError> {
        let spec = &self.config.spec;
        if is_long_alias(spec, name) {
            let text = format!(
                "{name} was not set: the model has its longest context anyway; name it without `[1m]`"
            );
            return Some(ReplyError::coded("alias_1m_unsupported", text));
        }
        if !is_available(spec, self.config.available_models(), name) {
            let text = format!("{name} was not set: the settings (`availableModels`) leave it out");
            return Some(ReplyError::coded("restricted_by_org", text));
        }
        None
    }

    /// The models that the session can choose.
    pub(super) fn models(&self) -> Vec<ModelInfo> {
        offered_models(&self.config.spec, self.config.available_models())
    }

    pub(super) fn spec(&self) -> &Arc<Spec> {
        &self.config.spec
    }
}

/// Adds the core's own tools, as far as they are wanted and usable in this session.
fn offer(launch: &Launch, spec: &mut Spec) {
    let can_ask = spec.policy.permissions.can_ask && launch.has_person;
    let in_git = spec.environment.git_repository == Some(true);
    let has_skills = !spec.tools.skills.is_empty();
    match &launch.flags.tools {
        Some(names) if !is_default(names) => {
            let named = names.iter().filter_map(|name| match name.as_str() {
                "Agent" => Some(CoreTool::Task),
                name => CoreTool::parse(name),
            });
            spec.offer(named);
        }
        _ => {
            spec.offer(CORE_TOOLS.into_iter().filter(|tool| match tool {
                CoreTool::AskUserQuestion | CoreTool::ExitPlanMode => can_ask,
                CoreTool::EnterWorktree => in_git,
                _ => true,
            }));
            spec.offer(has_skills.then_some(CoreTool::Skill));
        }
    }
}

/// Whether a list of tools means the default set.
#[must_use]
pub fn is_default(names: &[String]) -> bool {
    names == ["default"]
}
