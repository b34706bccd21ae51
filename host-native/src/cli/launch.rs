//! Builds an engine's launch options from flags and environment.

use std::{collections::BTreeMap, fs, path::PathBuf};

use windlass::engine::{Launch, ProjectTrust, read_servers, tool_names};
use windlass_core::{
    agent::AgentDefinition,
    permission::{Mode, Rule},
};
use windlass_engine::protocol::{
    flags::{Flags, PluginDir, Provider},
    frames::StateFrames,
};

use super::{
    args::{RunArgs, list},
    connection::{check_key_of, flags as connection_flags},
    keys::variable,
    permission_args::PermissionArgs,
    record,
    start_error::StartError,
};

/// Names the time that a model server may send no content, in milliseconds.
const IDLE_VARIABLE: &str = "CLAUDE_STREAM_IDLE_TIMEOUT_MS";

/// The working directory, links resolved, and the launch options of an engine there without any flag.
///
/// # Errors
/// [`StartError`]: the directory is gone, or a variable is malformed.
pub(super) fn here() -> Result<(Launch, PathBuf), StartError> {
    let cwd = fs::canonicalize(".").map_err(|error| StartError::File {
        what: "the working directory",
        path: ".".into(),
        reason: error.to_string(),
    })?;
    Ok((Launch::with_flags(Flags::default(), variable)?, cwd))
}

/// The launch options for these flags. `wants_partial`: the model's stream is shown as it arrives. `has_person`:
/// somebody can be asked.
///
/// # Errors
/// [`StartError`]: the first invalid flag, or a missing key or file.
pub(crate) fn launch(
    args: &RunArgs,
    wants_partial: bool,
    has_person: bool,
) -> Result<Launch, StartError> {
    let mut launch = Launch::with_flags(flags(args, wants_partial)?, variable)?;
    if let Some(idle) = variable(IDLE_VARIABLE)
        && idle.parse::<u32>().is_err()
    {
        return Err(StartError::Usage(format!(
            "{IDLE_VARIABLE} is a number of milliseconds, not `{idle}`"
        )));
    }
    // State frames say when nothing is pending any more.
    launch.states = StateFrames::ForSdk;
    launch.longest_frame = None;
    launch.tells_refusals = false;
    launch.has_person = has_person;
    launch.needs_plugins = true;
    launch.needs_prompt_tool = true;
    launch = with_permissions(launch, &args.permissions);
    check_key_of(args.connection.provider, &launch)?;
    launch.price_files.extend(args.prices.clone());
    if let Some(max_retries) = args.max_retries {
        launch.max_retries = Some(max_retries);
    }
    if let Some(file) = &args.record {
        launch.recording = Some(record::to_file(file)?);
    }
    Ok(launch)
}

/// Launch options for evaluating permissions without running an engine.
///
/// # Errors
/// [`StartError`]: an invalid flag.
pub(crate) fn permissions_only(args: &PermissionArgs) -> Result<Launch, StartError> {
    let launch = Launch::with_flags(permission_flags(args)?, variable)?;
    Ok(with_permissions(launch, args))
}

/// Adds what else follows from the permission arguments.
pub(crate) fn with_permissions(mut launch: Launch, args: &PermissionArgs) -> Launch {
    launch.trust = match args.trust {
        true => ProjectTrust::Everything,
        false => ProjectTrust::Nothing,
    };
    launch.sandbox.clone_from(&args.sandbox);
    launch
}

/// The permission arguments as flags.
pub(crate) fn permission_flags(args: &PermissionArgs) -> Result<Flags, StartError> {
    let names = |names: &String| -> Vec<String> {
        let names = names.split(',').map(|name| name.trim().to_owned());
        names.filter(|name| !name.is_empty()).collect()
    };
    Ok(Flags {
        allowed_tools: rules("--allowedTools", &args.allowed_tools)?,
        disallowed_tools: rules("--disallowedTools", &args.disallowed_tools)?,
        permission_mode: args.permission_mode,
        // Naming the mode on the command line is as explicit as the flag.
        bypass: args.dangerously_skip_permissions
            || args.permission_mode == Some(Mode::BypassPermissions),
        // Even without a person, requests come here, so that the refusal can name the flag that would allow the call.
        permission_prompt_tool: Some("stdio".to_owned()),
        settings: args.settings.clone(),
        setting_sources: args.setting_sources.as_ref().map(names),
        plugin_dirs: (args.plugin_dir.iter())
            .map(|path| PluginDir {
                path: path.display().to_string(),
                without_servers: false,
            })
            .collect(),
        components_only: args.components_only,
        no_plugins: args.no_plugins,
        add_dirs: (args.add_dir.iter())
            .map(|directory| directory.display().to_string())
            .collect(),
        ..Flags::default()
    })
}

fn flags(args: &RunArgs, wants_partial: bool) -> Result<Flags, StartError> {
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let connection = connection_flags(&args.connection);
    if connection.provider == Provider::OpenAi && filled(&args.model).is_none() {
        return Err(StartError::Usage(
            "--provider openai needs --model: servers of this kind have no model in common"
                .to_owned(),
        ));
    }
    let permissions = permission_flags(&args.permissions)?;
    let goes_on = args.continue_session || args.resume.is_some();
    let wrong = |problem: &str| Err(StartError::Usage(problem.to_owned()));
    if args.fork_session && !goes_on {
        return wrong(
            "--fork-session needs --continue or --resume: which session is to be forked?",
        );
    }
    if goes_on && args.session_id.is_some() && !args.fork_session {
        return wrong("a session that goes on keeps its id: --session-id needs --fork-session");
    }
    if goes_on && args.record.is_some() {
        return wrong(
            "--record writes a session from its beginning: it cannot go with --continue or --resume",
        );
    }
    if args.session_id.as_deref() == Some("") {
        return wrong("--session-id takes a UUID");
    }
    for text in &args.mcp_config {
        read_servers(text).map_err(StartError::Usage)?;
    }
    if let Some(json) = filled(&args.agents) {
        let agents = serde_json::from_str::<BTreeMap<String, AgentDefinition>>(&json);
        agents.map_err(|error| StartError::Usage(format!("--agents: {error}")))?;
    }
    Ok(Flags {
        include_partial_messages: wants_partial,
        // Messages contain the model's text of a command; the engine's log contains the form that is run.
        debug: args.debug,
        debug_topics: vec!["commands".to_owned(), "plugins".to_owned()],
        model: filled(&args.model),
        fallback_model: filled(&args.fallback_model),
        betas: list(&args.betas),
        effort: args.effort.map(Into::into),
        system_prompt: args.system_prompt.clone(),
        append_system_prompt: filled(&args.append_system_prompt).into_iter().collect(),
        tools: args.tools.as_deref().map(tools).transpose()?,
        max_turns: args.max_turns,
        max_budget: args.max_budget_usd,
        json_schema: args.json_schema.clone(),
        agent: filled(&args.agent),
        agents: filled(&args.agents),
        continue_session: args.continue_session,
        resume: filled(&args.resume),
        session_id: filled(&args.session_id),
        fork_session: args.fork_session,
        no_session_persistence: args.no_session_persistence,
        mcp_configs: args.mcp_config.clone(),
        strict_mcp_config: args.strict_mcp_config,
        bare: args.bare,
        name: (args.name.clone()).filter(|name| !name.trim().is_empty()),
        permission_prompt_tool: filled(&args.permission_prompt_tool)
            .or(permissions.permission_prompt_tool),
        provider: connection.provider,
        base_url: connection.base_url,
        ca_file: connection.ca_file,
        ..permissions
    })
}

/// The built-in tools to offer.
fn tools(values: &[String]) -> Result<Vec<String>, StartError> {
    let names = list(values);
    if names == ["default"] {
        return Ok(names);
    }
    match (names.iter()).find(|name| !tool_names().any(|known| known == *name)) {
        None => Ok(names),
        Some(name) => Err(StartError::Usage(format!(
            "--tools: there is no built-in tool named `{name}`; there are {}",
            tool_names().collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// The rules of a flag. They are parsed here, so that an error names the flag.
fn rules(flag: &str, values: &[String]) -> Result<Vec<String>, StartError> {
    let rules = list(values);
    for rule in &rules {
        Rule::parse(rule).map_err(|error| StartError::Usage(error.at(flag).to_string()))?;
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_cannot_be_read_names_the_flag() {
        let error = rules("--allowedTools", &["Read,Bash(ls".to_owned()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "permission rule `Bash(ls`: the parenthesis is not closed at the end (from --allowedTools)"
        );
    }
}
