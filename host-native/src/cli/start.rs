//! From flags and environment to an agent.

use std::{io, path::PathBuf};

use reqwest::Url;
use tokio::sync::mpsc;
use windlass::{
    Agent, BuildError,
    core::{
        permission::{Mode, Rule, RuleName},
        provider::openai::ChatCompletions,
        spec::{ResponseLimits, RetryPolicy},
    },
    http::{Auth, DEFAULT_BASE_URL, EndpointConfig, is_this_machine},
};

use super::{
    args::{ConnectionArgs, ProviderArg, RunArgs, list},
    keys::variable,
    question::Question,
    record,
    settings::Settings,
};

/// What the model is told unless `--system-prompt` says something else.
pub(crate) const SYSTEM_PROMPT: &str = include_str!("system_prompt.md");

/// Says for how many milliseconds a model server may send nothing of its response.
const IDLE_VARIABLE: &str = "CLAUDE_STREAM_IDLE_TIMEOUT_MS";

/// OpenAI's own server.
const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

/// Why nothing was started: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// No key for a server that surely wants one.
    #[error("there is no API key: set {}. `windlass demo` shows the agent without one.", key_variables(*.0))]
    MissingKey(ProviderArg),
    /// Standard input cannot be the prompt.
    #[error("standard input cannot be used as the prompt: {0}")]
    StandardInput(String),
    /// Settings that cannot be used.
    #[error("{0}")]
    Settings(String),
    /// A file cannot be used.
    #[error("{what} `{}`: {reason}", .path.display())]
    File {
        /// What the file is for.
        what: &'static str,
        /// The file as it was named.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The agent cannot be built.
    #[error(transparent)]
    Build(BuildError),
    /// The runtime or a signal handler cannot be set up.
    #[error("the system refuses what the program needs to run: {0}")]
    Runtime(io::Error),
    /// Something this command needs does not work.
    #[error("{0}")]
    Unable(String),
}

impl From<BuildError> for StartError {
    /// The builder speaks of its methods; people here know flags.
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::MissingKey | BuildError::NoKeyInEnvironment => {
                Self::MissingKey(ProviderArg::Anthropic)
            }
            BuildError::UnknownTool { name, known } => Self::Usage(format!(
                "--tools: there is no built-in tool named `{name}`; there are {known}"
            )),
            BuildError::Directory { place: "add_dir", path, reason } => {
                Self::File { what: "--add-dir", path, reason }
            }
            BuildError::Directory { path, reason, .. } => {
                Self::File { what: "the working directory", path, reason }
            }
            BuildError::PriceFile { path, reason } => Self::File { what: "--prices", path, reason },
            BuildError::PriceFileForm { path, error } => {
                Self::File { what: "--prices", path, reason: error.to_string() }
            }
            BuildError::PermissionSettings(_) | BuildError::BypassDisabled => {
                Self::Settings(error.to_string())
            }
            BuildError::Sandbox(error) => Self::Usage(format!("--sandbox: {error}")),
            BuildError::BypassAsRoot => Self::Usage(
                "as root, nothing runs unasked: use another user, or allow what is needed with --allowedTools".to_owned(),
            ),
            other => Self::Build(other),
        }
    }
}

/// The agent that the flags describe, and the questions it will ask.
pub(crate) fn agent(
    args: &RunArgs,
    partial_messages: bool,
) -> Result<(Agent, mpsc::UnboundedReceiver<Question>), StartError> {
    let (asking, questions) = mpsc::unbounded_channel();
    let endpoint = endpoint(&args.connection)?;
    let mut builder = Agent::builder();
    if args.connection.provider == ProviderArg::Openai {
        if args.model.as_deref().is_none_or(str::is_empty) {
            return Err(StartError::Usage(
                "--provider openai needs --model: servers of this kind have no model in common"
                    .to_owned(),
            ));
        }
        builder = builder.provider(ChatCompletions::at(&endpoint.base_url));
    }
    builder = builder
        .endpoint(endpoint)
        .partial_messages(partial_messages)
        .free_workspace_reads(true)
        .allowed_tools(rules("--allowedTools", &args.allowed_tools)?)
        .disallowed_tools(rules("--disallowedTools", &args.disallowed_tools)?)
        .betas(list(&args.betas))
        .system_prompt(
            args.system_prompt
                .as_deref()
                .unwrap_or(SYSTEM_PROMPT.trim_end()),
        )
        .on_permission(move |request| Question::put(asking.clone(), request));
    builder = match args.tools.as_deref().map(list) {
        None => builder.builtin_tools(),
        Some(names) if names == ["default"] => builder.builtin_tools(),
        Some(names) => builder.tools(names),
    };
    let mode = match args.dangerously_skip_permissions {
        true => Some(Mode::BypassPermissions),
        false => args.permission_mode,
    };
    if let Some(mode) = mode {
        // The mode by its name on the command line is as explicit as the flag.
        let bypass = mode == Mode::BypassPermissions;
        builder = builder
            .permission_mode(mode)
            .allow_dangerously_skip_permissions(bypass);
    }
    if let Some(model) = args.model.as_deref().filter(|model| !model.is_empty()) {
        builder = builder.model(model);
    }
    if let Some(text) = args
        .append_system_prompt
        .as_deref()
        .filter(|text| !text.is_empty())
    {
        builder = builder.append_system_prompt(text);
    }
    if let Some(effort) = args.effort {
        builder = builder.effort(effort.into());
    }
    if let Some(rounds) = args.max_turns {
        builder = builder.max_turns(rounds);
    }
    if let Some(amount) = args.max_budget_usd {
        builder = builder.max_budget(amount);
    }
    if let Some(max_retries) = args.max_retries {
        builder = builder.retry(RetryPolicy {
            max_retries,
            ..RetryPolicy::default()
        });
    }
    let settings = Settings::read(args)?;
    builder = builder
        .permission_layers(settings.layers())
        .sandbox(settings.sandbox(args.sandbox.as_ref()))
        .own_directory(settings.config_dir());
    if let Some(idle) = variable(IDLE_VARIABLE) {
        let idle_ms = idle.parse().map_err(|_| {
            StartError::Usage(format!(
                "{IDLE_VARIABLE} is a number of milliseconds, not `{idle}`"
            ))
        })?;
        builder = builder.response_limits(ResponseLimits {
            idle_ms,
            ..ResponseLimits::default()
        });
    }
    for directory in &args.add_dir {
        builder = builder.add_dir(directory);
    }
    if let Some(prices) = &args.prices {
        builder = builder.prices_file(prices);
    }
    if let Some(file) = &args.record {
        builder = record::to_file(builder, file)?;
    }
    let agent = builder.build()?;
    for rule in &agent.spec().permissions.rules.untrusted {
        anstream::eprintln!(
            "windlass: nobody has trusted this folder, so its settings do not allow {}: --trust lets them",
            RuleName::from(rule)
        );
    }
    for lack in agent.sandbox_lacks() {
        anstream::eprintln!("windlass: the sandbox: {lack}");
    }
    if agent.spec().permissions.confinement.is_none() && !agent.sandbox_lacks().is_empty() {
        anstream::eprintln!("windlass: commands are not confined here, only rules decide");
    }
    Ok((agent, questions))
}

/// Where the model is and who asks.
pub(crate) fn endpoint(args: &ConnectionArgs) -> Result<EndpointConfig, StartError> {
    let (variable_name, usual) = match args.provider {
        ProviderArg::Anthropic => ("ANTHROPIC_BASE_URL", DEFAULT_BASE_URL),
        ProviderArg::Openai => ("OPENAI_BASE_URL", OPENAI_BASE_URL),
    };
    let base_url = (args.base_url.clone().filter(|url| !url.is_empty()))
        .or_else(|| variable(variable_name))
        .unwrap_or_else(|| usual.to_owned());
    let may_lack_key = |url: &Url| match args.provider {
        ProviderArg::Anthropic => is_this_machine(url),
        // Whoever names another server knows whether it wants one: most that are one's own do not.
        ProviderArg::Openai => base_url != OPENAI_BASE_URL,
    };
    let mut endpoint = EndpointConfig::new(base_url.clone(), auth_from_environment(args.provider));
    let url = endpoint.url().map_err(BuildError::from)?;
    if matches!(endpoint.auth, Auth::None) && !may_lack_key(&url) {
        return Err(StartError::MissingKey(args.provider));
    }
    match &args.ca_file {
        Some(file) => endpoint.extra_ca.push(file.clone()),
        None => endpoint = endpoint.with_extra_ca_of_environment(),
    }
    Ok(endpoint)
}

/// The key, or the bearer token, or nothing.
pub(crate) fn auth_from_environment(provider: ProviderArg) -> Auth {
    let bearer = |name| variable(name).map(|token| Auth::Bearer(token.into()));
    let auth = match provider {
        ProviderArg::Anthropic => variable("ANTHROPIC_API_KEY")
            .map(|key| Auth::ApiKey(key.into()))
            .or_else(|| bearer("ANTHROPIC_AUTH_TOKEN")),
        ProviderArg::Openai => bearer("OPENAI_API_KEY"),
    };
    auth.unwrap_or(Auth::None)
}

/// The variables that hold a key, as a complaint names them.
pub(crate) fn key_variables(provider: ProviderArg) -> &'static str {
    match provider {
        ProviderArg::Anthropic => "ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN for a bearer token)",
        ProviderArg::Openai => "OPENAI_API_KEY",
    }
}

/// The rules of a flag. Each is read here, so that a complaint names the flag.
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
    fn servers_on_this_machine_are_told_by_their_address() {
        for url in [
            "http://127.0.0.1:8080",
            "http://localhost",
            "http://[::1]:9/x",
            "https://127.1.2.3",
        ] {
            assert!(is_this_machine(&Url::parse(url).unwrap()), "{url}");
        }
        for url in [
            "https://api.anthropic.com",
            "http://localhost.example.org",
            "http://10.0.0.1",
            "nonsense",
        ] {
            assert!(
                !Url::parse(url).is_ok_and(|url| is_this_machine(&url)),
                "{url}"
            );
        }
    }

    #[test]
    fn a_rule_that_cannot_be_read_names_the_flag() {
        let error = rules("--allowedTools", &["Read,Bash(ls".to_owned()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "permission rule `Bash(ls`: the parenthesis is not closed at the end (from --allowedTools)"
        );
    }
}
