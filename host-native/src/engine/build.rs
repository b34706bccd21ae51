//! From what an engine was told to what its sessions are told.

use std::{collections::BTreeMap, fs, sync::Arc};

use windlass_core::{
    RawJson, Spec,
    agent::{Agent as AgentSpec, AgentDefinition},
    context::{InterruptedAnswer, PlanReminder, SystemPrompt},
    permission::{Mode, Rule, RuleValue, Source, misnamed},
    provider::openai::ChatCompletions,
    spec::{AgentToolName, Thinking},
    tools::CoreTool,
};
use windlass_engine::protocol::{
    PROTOCOL_VERSION,
    flags::Provider,
    initialize::{Initialize, Unusable, output_format},
};

use super::{
    launch::Launch,
    own_places,
    surroundings::{Surroundings, resolved},
};
use crate::{
    Agent, BuildError,
    http::Auth,
    sandbox::{Sandbox, SandboxError, in_words},
    settings::SettingsError,
};

/// The tools that every session has unless it is told which, beside the built-in ones.
const CORE_TOOLS: [CoreTool; 7] = [
    CoreTool::Task,
    CoreTool::TaskOutput,
    CoreTool::TaskStop,
    CoreTool::TodoWrite,
    CoreTool::AskUserQuestion,
    CoreTool::ExitPlanMode,
    CoreTool::EnterWorktree,
];

/// The built-in tools, by name.
const BUILTIN_TOOLS: [&str; 6] = ["Read", "Write", "Edit", "Glob", "Grep", "Bash"];

/// The tools that `--tools` may name.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    let of_core = CORE_TOOLS.into_iter().map(CoreTool::name);
    BUILTIN_TOOLS.into_iter().chain(["Agent"]).chain(of_core)
}

/// Why an engine cannot start. Nothing was written; it is for standard error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A file that a flag names.
    #[error("--{flag} `{path}`: {reason}")]
    File {
        /// The flag.
        flag: &'static str,
        /// The file.
        path: String,
        /// Why it cannot be used.
        reason: String,
    },
    /// A value that a flag has.
    #[error("--{flag}: {reason}")]
    Flag {
        /// The flag.
        flag: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// The mode is not open to root.
    #[error(
        "--dangerously-skip-permissions cannot be used as root: use another user, or set IS_SANDBOX=1 where the machine is one"
    )]
    BypassAsRoot,
    /// The settings forbid the mode.
    #[error(
        "the mode bypassPermissions is switched off in the settings (`disableBypassPermissionsMode`): leave out the flag, and allow what is needed by rules"
    )]
    BypassDisabled,
    /// A settings file that cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Rules of the settings that cannot be used: without them more would be allowed than was meant to be.
    #[error("the permissions of the settings cannot be used: {0}")]
    Permissions(String),
    /// A hook of `initialize` that cannot be used: without it more would run than was meant to.
    #[error("{} cannot be used, and no session begins without it: {}", .0.what, .0.reason)]
    Hook(Unusable),
    /// A sandbox is required that there is none of.
    #[error(
        "the settings require a sandbox (`sandbox.failIfUnavailable`), and commands cannot be confined here: {0}"
    )]
    NoSandbox(String),
    /// Settings of the sandbox that cannot be understood: without them commands would reach more than was meant.
    #[error("the settings of the sandbox cannot be used: {0}")]
    Sandbox(#[from] SandboxError),
    /// The agent cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// What sessions are made of.
pub(super) struct Blueprint {
    pub(super) agent: Agent,
    pub(super) spec: Spec,
    pub(super) surroundings: Surroundings,
    /// What confines commands, if anything does.
    pub(super) sandbox: Option<Sandbox>,
    /// What was left out, and why: for standard error.
    pub(super) warnings: Vec<String>,
}

/// What flags, environment and the files on the disk say. Of `initialize` only what decides which files are read and
/// which rules there are.
pub(super) fn blueprint(launch: &Launch, initialize: &Initialize) -> Result<Blueprint, StartError> {
    drawn(agent(launch, initialize)?, launch, initialize)
}

fn drawn(agent: Agent, launch: &Launch, initialize: &Initialize) -> Result<Blueprint, StartError> {
    let mut warnings = Vec::new();
    let flags = &launch.flags;
    let mut spec = Spec::clone(&agent.spec());
    let mut surroundings = Surroundings::read(
        launch,
        &launch.directory(),
        initialize.settings.as_ref().map(RawJson::get),
        initialize.managed_settings.as_ref().map(RawJson::get),
    )?;
    warnings.extend(surroundings.apply(&mut spec)?);
    warnings.extend(rules_of_unknown_tools(&spec)?);
    warnings.extend(
        flags
            .ignored
            .iter()
            .map(|flag| format!("--{flag} has no effect: there is no such thing here")),
    );
    warnings.extend(own_places::add(launch, &surroundings, &mut spec));
    let sandbox = sandbox(launch, &surroundings, &mut spec, &mut warnings)?;
    if let Some(model) = &flags.model {
        spec.model = resolved(&spec, model);
    }
    if let Some(effort) = flags.effort {
        spec.effort = Some(effort);
    }
    permissions(launch, surroundings.bypass_disabled, &mut spec)?;
    spec.system = system_prompt(launch)?;
    spec.environment.version = PROTOCOL_VERSION.to_owned();
    spec.environment.api_key_source = match launch.auth {
        Auth::ApiKey(_) => "ANTHROPIC_API_KEY",
        _ => "none",
    }
    .to_owned();
    let fallback = flags.fallback_model.as_deref();
    spec.fallback_model = fallback.map(|model| resolved(&spec, model));
    spec.thinking = Thinking::from_options(flags.thinking, launch.max_thinking_tokens);
    spec.thinking_display = flags.thinking_display;
    spec.task_budget = flags.task_budget;
    spec.plan_reminder = Some(PlanReminder::default());
    spec.interrupted_answer = InterruptedAnswer::Kept;
    spec.max_tokens = launch.max_output_tokens;
    if let Some(retries) = launch.max_retries {
        spec.retry.max_retries = retries;
    }
    if let Some(idle_ms) = launch.response_idle_ms {
        spec.response.idle_ms = idle_ms.into();
    }
    // So that every prompt is told when it is taken in; whether it is written is decided there.
    spec.replay_prompts = true;
    spec.tasks.wake = true;
    spec.tasks.tool_calls_only = true;
    spec.tasks.announce_agents = true;
    spec.tasks.agent_tool = AgentToolName::Agent;
    spec.hook_messages = flags.include_hook_events;
    if let Some(schema) = &flags.json_schema {
        let wrong = |reason: String| StartError::Flag {
            flag: "json-schema",
            reason,
        };
        let schema = RawJson::parse(schema.as_str()).map_err(|error| wrong(error.to_string()))?;
        spec.output = Some(output_format(&schema).map_err(|error| wrong(error.reason))?);
    }
    agents_of_flag(flags.agents.as_deref(), &mut spec)?;
    spec.persist = !flags.no_session_persistence;
    if spec.persist {
        spec.environment.transcript = launch.store().place_of_any();
    }
    Ok(Blueprint {
        agent,
        spec,
        surroundings,
        sandbox,
        warnings,
    })
}

/// The sandbox that the settings ask for, if it can be had; the spec then speaks of it.
fn sandbox(
    launch: &Launch,
    surroundings: &Surroundings,
    spec: &mut Spec,
    warnings: &mut Vec<String>,
) -> Result<Option<Sandbox>, StartError> {
    let settings = surroundings.sandbox(launch.sandbox.as_ref());
    if !settings.is_enabled() {
        return Ok(None);
    }
    let sandbox = Sandbox::new(&settings, &spec.environment)?;
    let lacks = in_words(sandbox.lacks());
    if sandbox.is_available() {
        if !lacks.is_empty() {
            warnings.push(format!("the sandbox is weaker here: {lacks}"));
        }
        spec.permissions.confinement = Some(sandbox.confinement());
        #[cfg(unix)]
        for tool in spec.tools.iter_mut().filter(|tool| tool.name == "Bash") {
            *tool = crate::bash::Bash::definition_in(&sandbox);
        }
        return Ok(Some(sandbox));
    }
    if settings.fail_if_unavailable == Some(true) {
        return Err(StartError::NoSandbox(lacks));
    }
    warnings.push(format!(
        "the settings want a sandbox: commands are not confined here, only rules decide ({lacks})"
    ));
    Ok(None)
}

impl Blueprint {
    /// The same from what the files say by now, and from what the SDK brings along.
    pub(super) fn renewed(
        &self,
        launch: &Launch,
        initialize: &Initialize,
    ) -> Result<Self, StartError> {
        let mut renewed = drawn(self.agent.clone(), launch, initialize)?;
        renewed.complete(launch, initialize)?;
        renewed
            .warnings
            .retain(|warning| !self.warnings.contains(warning));
        Ok(renewed)
    }

    /// Adds what the SDK brings along, and what follows from all of it.
    pub(super) fn complete(
        &mut self,
        launch: &Launch,
        initialize: &Initialize,
    ) -> Result<(), StartError> {
        let spec = &mut self.spec;
        let unusable = initialize.apply(spec);
        if let Some(hook) = unusable.iter().find(|it| it.judges) {
            return Err(StartError::Hook(hook.clone()));
        }
        self.warnings
            .extend(unusable.iter().map(ToString::to_string));
        offer(launch, spec);
        let of_settings = self
            .surroundings
            .settings
            .first(|settings| settings.agent.as_deref());
        if let Some(name) = launch.flags.agent.as_deref().or(of_settings) {
            *spec = spec.run_as(name).map_err(|error| StartError::Flag {
                flag: "agent",
                reason: error.to_string(),
            })?;
        }
        let agents = spec.agents.infos().into_iter();
        spec.environment.agents = agents.map(|agent| agent.name).collect();
        spec.environment.skills = spec.skills.iter().map(|skill| skill.name.clone()).collect();
        Ok(())
    }
}

fn agent(launch: &Launch, initialize: &Initialize) -> Result<Agent, StartError> {
    let flags = &launch.flags;
    let endpoint = launch.endpoint();
    let mut builder = Agent::builder();
    if flags.provider == Provider::OpenAi {
        if flags.model.is_none() {
            return Err(StartError::Flag {
                flag: "provider",
                reason: "openai needs --model: servers of this kind have no model in common"
                    .to_owned(),
            });
        }
        builder = builder.provider(ChatCompletions::at(&endpoint.base_url));
    }
    let mut deny = flags.disallowed_tools.clone();
    deny.extend(initialize.disallowed_tools.iter().flatten().cloned());
    builder = builder
        .endpoint(endpoint)
        .partial_messages(flags.include_partial_messages)
        .free_workspace_reads(true)
        .betas(flags.betas.iter().cloned())
        .allowed_tools(rules("allowedTools", flags.allowed_tools.clone())?)
        .disallowed_tools(rules("disallowedTools", deny)?);
    builder = match &flags.tools {
        None => builder.builtin_tools(),
        Some(names) if is_default(names) => builder.builtin_tools(),
        Some(names) => {
            let known = names
                .iter()
                .filter(|name| BUILTIN_TOOLS.contains(&name.as_str()));
            builder.tools(known.cloned())
        }
    };
    if let Some(turns) = flags.max_turns {
        builder = builder.max_turns(turns);
    }
    if let Some(amount) = flags.max_budget {
        builder = builder.max_budget(amount);
    }
    if let Some(cwd) = &launch.cwd {
        builder = builder.cwd(cwd);
    }
    for directory in &flags.add_dirs {
        builder = builder.add_dir(directory);
    }
    for prices in &launch.price_files {
        builder = builder.prices_file(prices);
    }
    Ok(builder.build()?)
}

fn is_default(names: &[String]) -> bool {
    names == ["default"]
}

/// Rules, all of them: without one it is not known what was meant to run.
fn rules(flag: &'static str, texts: Vec<String>) -> Result<Vec<String>, StartError> {
    match texts.iter().find_map(|text| Rule::parse(text).err()) {
        None => Ok(texts),
        Some(error) => Err(StartError::Flag {
            flag,
            reason: error.to_string(),
        }),
    }
}

/// Rules that deny or ask about a tool that nobody knows: without one whose name is nearly that of a tool more would run than was
/// meant to, and the others are told. Servers and agents bring none but `mcp__` names.
fn rules_of_unknown_tools(spec: &Spec) -> Result<Vec<String>, StartError> {
    let tools: Vec<&str> = spec.tools.iter().map(|tool| tool.name.as_str()).collect();
    let misnamed = misnamed(&spec.permissions.rules, &tools);
    if let Some(rule) = misnamed.iter().find(|rule| rule.meant.is_some()) {
        return Err(StartError::Permissions(rule.finding.to_string()));
    }
    let words = misnamed.iter().map(|rule| rule.finding.to_string());
    Ok(words.collect())
}

fn permissions(launch: &Launch, bypass_disabled: bool, spec: &mut Spec) -> Result<(), StartError> {
    let flags = &launch.flags;
    if launch.is_sandbox {
        spec.environment.is_root = false;
    }
    let mode = match flags.bypass {
        true => Some(Mode::BypassPermissions),
        false => flags.permission_mode.or(Some(spec.permissions.mode)),
    };
    let wants_bypass = mode == Some(Mode::BypassPermissions);
    if wants_bypass && bypass_disabled {
        return Err(StartError::BypassDisabled);
    }
    if wants_bypass && spec.environment.is_root {
        return Err(StartError::BypassAsRoot);
    }
    let policy = &mut spec.permissions;
    policy.allow_bypass = (wants_bypass || flags.allow_bypass || flags.bypass)
        && !spec.environment.is_root
        && !bypass_disabled;
    policy.mode = mode.unwrap_or_default();
    policy.tell_denials = true;
    // Starting a subagent changes nothing: what it does is judged call by call. Rules that deny or ask are above this one.
    let agents = RuleValue::tool(CoreTool::Task.name()).to_rule();
    let agents = agents.map(|rule| rule.from_source(Source::Program));
    policy.rules.allow.extend(agents);
    match flags.permission_prompt_tool.as_deref() {
        // Rules, modes and hooks decide; what would be asked about is denied.
        _ if flags.asks_nobody => {}
        Some("stdio") => policy.can_ask = true,
        Some(tool) => policy.prompt_tool = Some(tool.to_owned()),
        None => {}
    }
    Ok(())
}

fn system_prompt(launch: &Launch) -> Result<SystemPrompt, StartError> {
    let flags = &launch.flags;
    let read = |flag: &'static str, path: &String| {
        fs::read_to_string(path).map_err(|error| StartError::File {
            flag,
            path: path.clone(),
            reason: error.to_string(),
        })
    };
    let text = match &flags.system_prompt_file {
        Some(path) => Some(read("system-prompt-file", path)?),
        None => flags.system_prompt.clone(),
    };
    let mut prompt = match text {
        None => SystemPrompt::Preset { append: None },
        Some(text) if text.is_empty() => SystemPrompt::None,
        Some(text) => SystemPrompt::Text(text),
    };
    for text in &flags.append_system_prompt {
        prompt = prompt.with_appended(text);
    }
    if let Some(path) = &flags.append_system_prompt_file {
        prompt = prompt.with_appended(&read("append-system-prompt-file", path)?);
    }
    Ok(prompt)
}

/// None is left out: another agent of its name, which may do more, would take its place.
fn agents_of_flag(json: Option<&str>, spec: &mut Spec) -> Result<(), StartError> {
    let Some(json) = json else { return Ok(()) };
    let wrong = |reason: String| StartError::Flag {
        flag: "agents",
        reason,
    };
    let definitions: BTreeMap<String, RawJson> =
        serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    for (name, definition) in definitions {
        let of_agent = |reason: String| wrong(format!("the agent {name}: {reason}"));
        let definition = definition
            .decode::<AgentDefinition>()
            .map_err(|error| of_agent(error.to_string()))?;
        let agent = AgentSpec::new(&name, definition);
        spec.agents
            .add(agent.map_err(|error| of_agent(error.to_string()))?);
    }
    Ok(())
}

/// The core's own tools, as far as they are wanted and there is somebody for whom they make sense.
fn offer(launch: &Launch, spec: &mut Spec) {
    let can_ask = spec.permissions.can_ask && launch.has_person;
    let in_git = spec.environment.git_repository == Some(true);
    let has_skills = !spec.skills.is_empty();
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

/// A spec with the tools of MCP servers, each where it belongs, and with what `init` says about the servers.
pub(super) fn with_servers(
    spec: &Spec,
    servers: &super::servers::Servers,
    of_agents: &super::agent_servers::AgentServers,
) -> Arc<Spec> {
    let mut spec = spec.clone();
    for (definition, _) in servers.tools() {
        if spec.tools.iter().all(|known| known.name != definition.name) {
            spec.tools.push(definition);
        }
    }
    of_agents.offer(&mut spec);
    spec.environment.mcp_servers = servers.infos();
    spec.environment.mcp_servers.extend(of_agents.infos());
    Arc::new(spec)
}
