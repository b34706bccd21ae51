//! Builds the specs of an engine's sessions from its launch options.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use windlass_core::{RawJson, Spec, UnixMillis, price::Caching, spec::ToolSearchSetting};
use windlass_engine::{
    machine::{ConfigNumber, Configuration, ConfigureRequest, is_default, tool_names},
    models::ModelVariables,
    project_config::{FlagFacts, rules_of_unknown_tools},
    settings::{PersonalServers, SettingSources},
};

use super::{
    agent::{agent, changed_components},
    launch::Launch,
    model_access::ModelAccess,
    model_key::{KeySources, ModelKey},
    start_error::StartError,
};
use crate::{
    Agent,
    agent::default_plugin_host,
    plugin_dir::PluginOnDisk,
    plugins::LogSink,
    project_config::{ProjectConfig, Whereabouts, own_places, read_config},
    sandbox::{Sandbox, in_words},
};

/// What sessions are built from.
pub(super) struct ResolvedConfig {
    pub(super) agent: Agent,
    pub(super) spec: Spec,
    pub(super) project_config: ProjectConfig,
    /// The sandbox for commands, if there is one.
    pub(super) sandbox: Option<Sandbox>,
    /// What is added to requests to the model server.
    pub(super) access: ModelAccess,
    /// Where the bearer token comes from.
    token_source: &'static str,
    /// The model of subagents that name none.
    usual_agent_model: Option<String>,
    /// The model for small tasks, such as reading a page; that of the conversation if there is none.
    pub(super) small_fast_model: Option<String>,
    /// What was left out, and why; for standard error.
    pub(super) warnings: Vec<String>,
    /// The number of plugins that could not be loaded.
    pub(super) failed_plugins: usize,
}

/// Combines flags, environment and the files on the disk, for an agent built from the flags. From an SDK's request,
/// only what determines which files are read and which rules exist.
pub(super) fn resolved_config(
    launch: &Launch,
    agent: Agent,
    request: &ConfigureRequest,
    (plugins, left_out): (Vec<PluginOnDisk>, Vec<String>),
) -> Result<ResolvedConfig, StartError> {
    let mut warnings = Vec::new();
    let flags = &launch.flags;
    let mut spec = Spec::clone(&agent.spec());
    let mut project_config = ProjectConfig::read(whereabouts(launch, request)?)?;
    let (variables, access) = variables(launch, &project_config);
    warnings.extend(variables.warnings.iter().chain(&access.warnings).cloned());
    variables.apply(&mut spec);
    spec.environment.platform = platform();
    spec.environment.date = today();
    let found = &project_config.found;
    if found.settings.are_hooks_off(found.runs_programs) {
        // So far there are those of plugins' components only.
        spec.policy.hooks.clear();
    }
    warnings.extend(project_config.apply_permissions(&mut spec)?);
    spec.environment.plugins.clear();
    let failed_plugins = left_out.len();
    warnings.extend(left_out);
    warnings.extend(changed_components(&plugins));
    for plugin in plugins {
        // What is started later is read from there. Whoever works in a plugin's own folder is its author.
        let is_edited = || Path::new(&spec.environment.cwd).starts_with(&plugin.info.path);
        if !plugin.is_closed && !is_edited() {
            (spec.environment.own_directories).push(plugin.info.path.clone());
        }
        spec.environment.plugins.push(plugin.info);
        let Some(plugin) = plugin.plugin else {
            continue;
        };
        warnings.extend(plugin.runs().map(|what| {
            format!(
                "the plugin {} has {what}, which run with your rights: --components-only leaves that out",
                plugin.name
            )
        }));
        project_config.found.plugins.push(plugin);
    }
    warnings.extend(project_config.apply(&mut spec));
    if launch.agreed.is_some() {
        let found = &mut project_config.found;
        found.brought = found.brought_once_trusted(&spec.environment);
    }
    let of_unknown_tools = rules_of_unknown_tools(&spec, &project_config.found.settings);
    warnings.extend(of_unknown_tools.map_err(StartError::Permissions)?);
    warnings.extend(
        flags
            .ignored
            .iter()
            .map(|flag| format!("--{flag} has no effect: there is no such thing here")),
    );
    warnings.extend(unknown_tools(launch));
    let named = flags.settings.iter().chain(&flags.mcp_configs).cloned();
    let files: Vec<String> = named
        .filter(|text| !text.trim_start().starts_with('{'))
        .collect();
    let servers = (flags.mcp_configs.iter()).filter_map(|text| read_config(text).ok());
    let servers = servers.flat_map(|servers| servers.into_values());
    warnings.extend(own_places(&project_config, &files, servers, &mut spec));
    let sandbox = sandbox(launch, &project_config, &mut spec, &mut warnings)?;
    let usual_agent_model = variables.subagent.clone();
    let small_fast_model = variables.small_fast.clone();
    let tool_search = variables.tool_search.clone();
    let facts = facts(launch, access.key.sources, variables)?;
    project_config.found.apply_flags(flags, &facts, &mut spec)?;
    match tool_search.as_deref().map(ToolSearchSetting::parse) {
        None => {}
        Some(Ok(setting)) => spec.tools.search = setting,
        Some(Err(error)) => warnings.push(format!("ENABLE_TOOL_SEARCH: {error}")),
    }
    Ok(ResolvedConfig {
        agent,
        spec,
        project_config,
        sandbox,
        token_source: access.key.sources.token,
        access,
        usual_agent_model,
        small_fast_model,
        warnings,
        failed_plugins,
    })
}

/// The same without an SDK's request, for what needs a session's configuration and is none: its components log nowhere.
pub(super) fn resolved_for_no_session(
    launch: &Launch,
    plugins: (Vec<PluginOnDisk>, Vec<String>),
) -> Result<ResolvedConfig, StartError> {
    let request = ConfigureRequest::default();
    let host = default_plugin_host(LogSink::default());
    let agent = agent(launch, &request, &plugins.0, &host)?;
    resolved_config(launch, agent, &request, plugins)
}

/// What is to be said of tools that were named and are not there.
fn unknown_tools(launch: &Launch) -> Option<String> {
    let names = launch
        .flags
        .tools
        .as_ref()
        .filter(|names| !is_default(names))?;
    let is_unknown = |name: &&String| {
        !name.starts_with("mcp__") && !tool_names().any(|known| known == name.as_str())
    };
    let unknown: Vec<&str> = names
        .iter()
        .filter(is_unknown)
        .map(String::as_str)
        .collect();
    let names = unknown.join(", ");
    (!unknown.is_empty())
        .then(|| format!("--tools: there is no built-in tool {names} here, so it is not offered"))
}

/// What the environment and the settings' own variables say about models and the way to them.
fn variables(launch: &Launch, project_config: &ProjectConfig) -> (ModelVariables, ModelAccess) {
    let settings = project_config.found.variables();
    let variable = launch.variables.below(&settings);
    let mut variables = ModelVariables::read(&variable);
    variables.max_retries = launch.max_retries.or(variables.max_retries);
    let key = ModelKey::read(launch, &project_config.found);
    if key.is_subscription {
        variables.caching.entry("").or_insert(Caching::Hour);
    }
    (variables, ModelAccess::read(launch, key, variable))
}

/// The locations of settings and project files.
pub(super) fn whereabouts<'a>(
    launch: &'a Launch,
    request: &'a ConfigureRequest,
) -> Result<Whereabouts<'a>, StartError> {
    let flags = &launch.flags;
    let sources = match flags.sources() {
        None => SettingSources::ALL,
        Some(names) => {
            SettingSources::parse(&names.join(",")).map_err(|error| StartError::Flag {
                flag: "setting-sources",
                reason: error.to_string(),
            })?
        }
    };
    let settings = request.settings.as_ref().map(RawJson::get);
    let managed = request.managed_settings.as_ref().map(RawJson::get);
    Ok(Whereabouts {
        config: launch.config.clone(),
        home: launch.home.as_deref(),
        project: launch.project(),
        sources,
        trust: launch.trust,
        settings: settings.or(flags.settings.as_deref()),
        managed_file: launch.managed_settings.clone(),
        managed: managed.or(flags.managed_settings.as_deref()),
    })
}

/// The sandbox of the settings, if available. Also sets it in the spec.
fn sandbox(
    launch: &Launch,
    project_config: &ProjectConfig,
    spec: &mut Spec,
    warnings: &mut Vec<String>,
) -> Result<Option<Sandbox>, StartError> {
    let settings = project_config.found.sandbox(launch.sandbox.as_ref());
    if !settings.is_enabled() {
        return Ok(None);
    }
    let sandbox = Sandbox::new(&settings, &spec.environment)?;
    let lacks = in_words(sandbox.lacks());
    if sandbox.is_available() {
        if !lacks.is_empty() {
            warnings.push(format!("the sandbox is weaker here: {lacks}"));
        }
        spec.policy.permissions.confinement = Some(sandbox.confinement());
        #[cfg(unix)]
        for tool in spec
            .tools
            .definitions
            .iter_mut()
            .filter(|tool| tool.name == "Bash")
        {
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

impl ResolvedConfig {
    /// The configuration for the engine machine.
    pub(super) fn configuration(self, launch: &Launch, number: ConfigNumber) -> Configuration {
        let Self {
            agent,
            spec,
            project_config,
            mut warnings,
            failed_plugins,
            usual_agent_model,
            token_source,
            ..
        } = self;
        let of_components = agent.spec();
        let of_components = of_components.policy.hooks.iter();
        let hooks_of_components: Vec<String> =
            of_components.flat_map(|hook| hook.hooks.clone()).collect();
        let project_config = project_config.found;
        let project_servers = project_config.project_servers().unwrap_or_else(|problem| {
            warnings.push(problem);
            BTreeMap::new()
        });
        let personal_servers = project_config.personal_servers.clone();
        let personal_servers = personal_servers.unwrap_or_else(|problem| {
            warnings.push(problem);
            PersonalServers::default()
        });
        let mut given_servers = BTreeMap::new();
        let plugins = project_config.plugins.iter();
        let plugin_servers = plugins.flat_map(|plugin| plugin.servers.clone()).collect();
        for text in &launch.flags.mcp_configs {
            match read_config(text) {
                Ok(more) => given_servers.extend(more),
                Err(problem) => warnings.push(problem),
            }
        }
        let variables = project_config.variables().into_iter();
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let commands = project_config.hooks().commands.into_iter();
        let commands = commands.map(|hook| hook.name).filter(|_| cfg!(unix));
        Configuration {
            number,
            variables: variables.collect(),
            hooks_of_host: commands.chain(hooks_of_components).collect(),
            sources: project_config.sources,
            is_trusted: project_config.is_trusted,
            runs_programs: project_config.runs_programs,
            settings: project_config.settings,
            project: Arc::new(project_config.project),
            personal_servers,
            project_servers,
            plugin_servers,
            given_servers,
            warnings,
            failed_plugins,
            usual_agent_model,
            token_source,
            spec: Arc::new(spec),
        }
    }
}

/// Facts from environment and files beside the flags.
fn facts(
    launch: &Launch,
    sources: KeySources,
    variables: ModelVariables,
) -> Result<FlagFacts, StartError> {
    let flags = &launch.flags;
    let read = |flag: &'static str, path: &Option<String>| {
        let Some(path) = path else {
            return Ok(None);
        };
        let text = fs::read_to_string(path).map_err(|error| StartError::File {
            flag,
            path: path.clone(),
            reason: error.to_string(),
        });
        text.map(Some)
    };
    Ok(FlagFacts {
        api_key_source: sources.api_key.to_owned(),
        system_prompt_file: read("system-prompt-file", &flags.system_prompt_file)?,
        append_system_prompt_file: read(
            "append-system-prompt-file",
            &flags.append_system_prompt_file,
        )?,
        variables,
        is_sandbox: launch.is_sandbox,
        transcripts: launch.store().place_of_any(),
    })
}

/// The system and the shell of commands, in words.
fn platform() -> String {
    // Only Linux has the file.
    let version = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let system = match version.trim() {
        "" => String::new(),
        version => format!(" {version}"),
    };
    let shell = if cfg!(unix) { ", shell bash" } else { "" };
    format!("{}{system}{shell}", std::env::consts::OS)
}

/// The date in UTC: `2026-11-28`.
fn today() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = UnixMillis(u64::try_from(since.as_millis()).unwrap_or_default());
    let text = now.to_rfc3339();
    text.split('T').next().unwrap_or_default().to_owned()
}
