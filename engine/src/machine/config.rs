//! What sessions are made of: what flags, settings and project files say, completed by what the SDK brings along.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Value, json};
use windlass_core::{
    RawJson, Spec, agent::AgentModel, context::OutputStyle, permission::Source, tools::CoreTool,
};

use super::{Face, Launch, io::ConfigNumber};
use crate::{
    project::ProjectFiles,
    protocol::initialize::Initialize,
    settings::{LoadedSettings, SettingSources, SourcedSettings},
};

/// The tools that every session has unless it is told which, beside the built-in ones.
const CORE_TOOLS: [CoreTool; 8] = [
    CoreTool::Task,
    CoreTool::TaskOutput,
    CoreTool::TaskStop,
    CoreTool::TodoWrite,
    CoreTool::AskUserQuestion,
    CoreTool::ExitPlanMode,
    CoreTool::EnterWorktree,
    // The model is shown it only where definitions wait to be searched for.
    CoreTool::ToolSearch,
];

/// The built-in tools, by name.
pub const BUILTIN_TOOLS: [&str; 6] = ["Read", "Write", "Edit", "Glob", "Grep", "Bash"];

/// The tools that `--tools` may name.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    let of_core = CORE_TOOLS.into_iter().map(CoreTool::name);
    BUILTIN_TOOLS.into_iter().chain(["Agent"]).chain(of_core)
}

/// What a host is told that reads settings and project files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConfigureRequest {
    /// Settings as if they had been on the command line, in the place of those that are.
    pub settings: Option<RawJson>,
    /// Settings that nothing overrides, likewise.
    pub managed_settings: Option<RawJson>,
    /// Further tools that are not to be there.
    pub disallowed_tools: Vec<String>,
}

impl ConfigureRequest {
    /// What an SDK brings along that decides which files are read and which rules there are.
    #[must_use]
    pub fn of(initialize: &Initialize) -> Self {
        Self {
            settings: initialize.settings.clone(),
            managed_settings: initialize.managed_settings.clone(),
            disallowed_tools: (initialize.disallowed_tools.iter().flatten().cloned()).collect(),
        }
    }
}

/// What flags, environment and files say.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// Its number, by which whoever read it knows the tools and hooks that belong to it.
    pub number: ConfigNumber,
    /// What sessions are told.
    pub spec: Arc<Spec>,
    /// The settings of all sources.
    pub settings: LoadedSettings,
    /// Which sources were read.
    pub sources: SettingSources,
    /// What the project brings along.
    pub project: Arc<ProjectFiles>,
    /// A person has trusted the project's folder.
    pub is_trusted: bool,
    /// What the folder's files start runs: commands that are hooks, MCP servers.
    pub runs_programs: bool,
    /// What the settings add to the environment of programs.
    pub variables: BTreeMap<String, String>,
    /// The hooks that are commands, by the names under which the core knows them.
    pub commands: BTreeSet<String>,
    /// The MCP servers of the project's own file.
    pub project_servers: BTreeMap<String, RawJson>,
    /// Those of the command line.
    pub given_servers: BTreeMap<String, RawJson>,
    /// What was left out, and why: for the person.
    pub warnings: Vec<String>,
}

/// What sessions are made of.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub(super) config: Configuration,
    pub(super) initialize: Initialize,
}

/// Why what the SDK brings along cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompleteError {
    /// A hook of `initialize`: without it more would run than was meant to.
    #[error("{what} cannot be used, and no session begins without it: {reason}")]
    Hook {
        /// The hook.
        what: String,
        /// Why.
        reason: String,
    },
    /// The agent as which the main thread is to run.
    #[error("--agent: {0}")]
    Agent(String),
}

impl Configuration {
    /// A spec, and nothing that stands in files: nobody is asked whether a folder is trusted.
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
            commands: BTreeSet::new(),
            project_servers: BTreeMap::new(),
            given_servers: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// The same with what the SDK brings along, and what follows from all of it.
    ///
    /// # Errors
    /// [`CompleteError`].
    pub fn completed(
        mut self,
        launch: &Launch,
        initialize: &Initialize,
    ) -> Result<Self, CompleteError> {
        if launch.face == Face::Program {
            // The program has said everything. Which prompt is taken in has to be known here, whoever wants to read it.
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

    /// The settings that came on the command line, or as if they had.
    pub(super) fn given(&self) -> Option<&SourcedSettings> {
        let mut sources = self.settings.sources.iter();
        sources.find(|sourced| sourced.source == Source::CliArg)
    }

    /// The names of the output styles there are: that of the preset, built-in ones, those of files.
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

    /// The settings, as `get_settings` shows them: what holds, and what each source says.
    pub(super) fn described_settings(&self) -> (Value, Value) {
        let mut effective = serde_json::Map::new();
        // The strongest come first and win.
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
    pub(super) fn spec(&self) -> &Arc<Spec> {
        &self.config.spec
    }
}

/// The core's own tools, as far as they are wanted and there is somebody for whom they make sense.
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

/// Whether a list of tools stands for those that every session has.
#[must_use]
pub fn is_default(names: &[String]) -> bool {
    names == ["default"]
}

/// A model by its own name or by the short one of its family.
#[must_use]
pub fn resolved_model(spec: &Spec, name: &str) -> String {
    AgentModel::from(name.to_owned())
        .resolve(&spec.model.name, &spec.model.aliases)
        .to_owned()
}
