//! From what an engine was told to what its sessions are told.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

use windlass_core::{
    RawJson, Spec,
    agent::{Agent as AgentSpec, AgentDefinition},
    context::{InterruptedAnswer, PlanReminder, SystemPrompt},
    permission::{Mode, Rule, RuleValue, Source, misnamed},
    provider::openai::ChatCompletions,
    spec::{AgentToolName, Thinking},
    tools::CoreTool,
};
use windlass_engine::{
    machine::{
        BUILTIN_TOOLS, CompleteError, ConfigNumber, Configuration, ConfigureRequest, is_default,
        resolved_model,
    },
    protocol::{PROTOCOL_VERSION, flags::Provider, initialize::output_format},
    settings::SettingSources,
};

use super::launch::Launch;
use crate::{
    Agent, BuildError,
    http::Auth,
    sandbox::{Sandbox, SandboxError, in_words},
    settings::SettingsError,
    surroundings::{Surroundings, SurroundingsError, Whereabouts, own_places, read_config},
};

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
    /// A sandbox is required that there is none of.
    #[error(
        "the settings require a sandbox (`sandbox.failIfUnavailable`), and commands cannot be confined here: {0}"
    )]
    NoSandbox(String),
    /// Settings of the sandbox that cannot be understood: without them commands would reach more than was meant.
    #[error("the settings of the sandbox cannot be used: {0}")]
    Sandbox(#[from] SandboxError),
    /// What was brought along cannot be used.
    #[error(transparent)]
    Complete(#[from] CompleteError),
    /// The agent cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl From<SurroundingsError> for StartError {
    fn from(error: SurroundingsError) -> Self {
        match error {
            SurroundingsError::Settings(error) => error.into(),
            SurroundingsError::Permissions(problem) => Self::Permissions(problem),
        }
    }
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

/// What flags, environment and the files on the disk say, for an agent that was built of flags. Of what an SDK brings along
/// only what decides which files are read and which rules there are.
pub(super) fn blueprint(
    launch: &Launch,
    agent: Agent,
    request: &ConfigureRequest,
) -> Result<Blueprint, StartError> {
    let mut warnings = Vec::new();
    let flags = &launch.flags;
    let mut spec = Spec::clone(&agent.spec());
    let mut surroundings = Surroundings::read(whereabouts(launch, request)?)?;
    warnings.extend(surroundings.apply_permissions(&mut spec)?);
    warnings.extend(surroundings.apply(&mut spec));
    warnings.extend(rules_of_unknown_tools(&spec)?);
    warnings.extend(
        flags
            .ignored
            .iter()
            .map(|flag| format!("--{flag} has no effect: there is no such thing here")),
    );
    let named = flags.settings.iter().chain(&flags.mcp_configs).cloned();
    let files: Vec<String> = named
        .filter(|text| !text.trim_start().starts_with('{'))
        .collect();
    let servers = (flags.mcp_configs.iter()).filter_map(|text| read_config(text).ok());
    let servers = servers.flat_map(|servers| servers.into_values());
    warnings.extend(own_places(&surroundings, &files, servers, &mut spec));
    let sandbox = sandbox(launch, &surroundings, &mut spec, &mut warnings)?;
    if let Some(model) = &flags.model {
        spec.model = resolved_model(&spec, model);
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
    spec.fallback_model = fallback.map(|model| resolved_model(&spec, model));
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

/// Where settings and the project's files are.
pub(super) fn whereabouts<'a>(
    launch: &'a Launch,
    request: &'a ConfigureRequest,
) -> Result<Whereabouts<'a>, StartError> {
    let flags = &launch.flags;
    let sources = match &flags.setting_sources {
        None => SettingSources::ALL,
        Some(names) => {
            SettingSources::parse(&names.join(",")).map_err(|error| StartError::Flag {
                flag: "setting-sources",
                reason: error.to_string(),
            })?
        }
    };
    let project = flags.project_config_root.as_ref().map(PathBuf::from);
    let settings = request.settings.as_ref().map(RawJson::get);
    let managed = request.managed_settings.as_ref().map(RawJson::get);
    Ok(Whereabouts {
        config: launch.config.clone(),
        home: launch.home.as_deref(),
        project: project.unwrap_or_else(|| launch.directory()),
        sources,
        trust: launch.trust,
        settings: settings.or(flags.settings.as_deref()),
        managed: managed.or(flags.managed_settings.as_deref()),
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
    /// What the machine is told of it.
    pub(super) fn configuration(self, launch: &Launch, number: ConfigNumber) -> Configuration {
        let Self {
            spec,
            surroundings,
            mut warnings,
            ..
        } = self;
        let project_servers = surroundings.project_servers().unwrap_or_else(|problem| {
            warnings.push(problem);
            BTreeMap::new()
        });
        let mut given_servers = BTreeMap::new();
        for text in &launch.flags.mcp_configs {
            match read_config(text) {
                Ok(more) => given_servers.extend(more),
                Err(problem) => warnings.push(problem),
            }
        }
        let variables = surroundings.variables().into_iter();
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let commands = surroundings.hooks().commands.into_iter();
        Configuration {
            number,
            variables: variables.collect(),
            commands: match cfg!(unix) {
                true => commands.map(|hook| hook.name).collect(),
                false => BTreeSet::new(),
            },
            sources: surroundings.sources,
            is_trusted: surroundings.is_trusted(),
            runs_programs: surroundings.runs_programs(),
            settings: surroundings.settings,
            project: surroundings.project,
            project_servers,
            given_servers,
            warnings,
            spec,
        }
    }
}

/// The agent that flags and environment describe, without these tools.
pub(super) fn agent(launch: &Launch, disallowed: &[String]) -> Result<Agent, StartError> {
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
    deny.extend(disallowed.iter().cloned());
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
        let definition = AgentDefinition::read(&definition).map_err(of_agent)?;
        let agent = AgentSpec::new(&name, definition);
        spec.agents
            .add(agent.map_err(|error| of_agent(error.to_string()))?);
    }
    Ok(())
}
