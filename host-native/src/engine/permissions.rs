//! Evaluates permissions without a session, for people who write rules.

use serde_json::json;
use windlass_core::{
    RawJson, Spec,
    permission::{
        CallSubject, Explanation, Finding, PolicyContext, RuleValue, explain, lint,
        look_for_closed, names_servers_tool,
    },
    tool::ToolDefinition,
};
use windlass_engine::{
    machine::{Configuration, ConfigureRequest},
    project_config::Brought,
    protocol::initialize::Initialize,
};

use super::{
    agent::plugins,
    build::{ResolvedConfig, resolved_for_no_session, whereabouts},
    launch::Launch,
    start_error::StartError,
};
use crate::{host::resolve_all, plugin_dir::PluginOnDisk, project_config::ProjectConfig};

/// Why a call cannot be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// No session could start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// There is no tool of this name.
    #[error("there is no tool named `{name}`; there are {known}")]
    UnknownTool {
        /// The name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A path cannot be resolved.
    #[error("{0}")]
    Path(String),
}

/// Explains what would happen to a call in a session with these flags and settings, and why. The call is written as a
/// rule: `Bash(git push)`, `Read(src/main.rs)`, `Task(reviewer)`; or with its input as JSON,
/// `Edit({"file_path": "a"})`. MCP servers are not started: of their tools (`mcp__server__tool`), only the name is known,
/// which is all that rules can match.
///
/// # Errors
/// [`ExplainError`]: no session could start, or the call is invalid.
pub fn explain_call(launch: &Launch, call: &RuleValue) -> Result<Explanation, ExplainError> {
    let spec = &completed(launch)?.spec;
    let name = &call.tool_name;
    let of_server = names_servers_tool(name)
        .then(|| ToolDefinition::new(name, String::new(), RawJson::empty_object()));
    let tool = spec.tool(name).or(of_server.as_ref());
    let tool = tool.ok_or_else(|| ExplainError::UnknownTool {
        name: name.clone(),
        known: names(spec).join(", "),
    })?;
    let input = input(tool, call.rule_content.as_deref());
    let cwd = &spec.environment.cwd;
    let subject = CallSubject::of(tool, &input, cwd);
    let policy = &spec.policy.permissions;
    let context = PolicyContext {
        free_workspace_reads: policy.free_workspace_reads,
        confinement: policy.confinement.as_ref(),
        ..PolicyContext::new(&policy.rules, policy.mode, &spec.environment)
    };
    let paths = subject.resolved_paths(tool, &input, cwd, |asked| {
        let mut asked = [asked.clone()];
        look_for_closed(&mut asked, &context);
        let mut resolved = resolve_all(cwd, &asked).into_iter();
        resolved
            .next()
            .unwrap_or_else(|| Err(asked[0].path.clone()))
    });
    let paths = paths.map_err(ExplainError::Path)?;
    Ok(explain(&context, subject.facts(tool, &paths), None))
}

/// What the folder's files provide but is ignored because nobody has trusted the folder ([`ProjectTrust::Nothing`]).
/// A person can be asked about it; their answer applies to exactly this ([`Launch::agreed`]).
///
/// [`ProjectTrust::Nothing`]: super::ProjectTrust::Nothing
///
/// # Errors
/// [`StartError`]: no session could start.
pub fn left_out_untrusted(launch: &Launch) -> Result<Vec<Brought>, StartError> {
    // Most folders are trusted; then nothing is built here that the session start would build again.
    if ProjectConfig::read(whereabouts(launch, &ConfigureRequest::default())?)?
        .found
        .runs_programs
    {
        return Ok(Vec::new());
    }
    Ok(read(launch)?.project_config.found.brought)
}

/// Reads flags and files, without an SDK's request.
fn read(launch: &Launch) -> Result<ResolvedConfig, StartError> {
    let plugins = plugins(launch, &ConfigureRequest::default())?;
    resolved_for_no_session(launch, plugins)
}

/// The same, with the resulting configuration.
fn completed(launch: &Launch) -> Result<Configuration, StartError> {
    let configuration = read(launch)?.configuration(launch, 0);
    Ok(configuration.completed(&launch.machine(), &Initialize::default())?)
}

/// Checks the rules of all settings for those that have no effect, or another one than they seem to.
///
/// # Errors
/// [`StartError`]: the settings cannot be read. A single invalid rule is a finding, not an error.
pub fn lint_settings(launch: &Launch) -> Result<Vec<Finding>, StartError> {
    let layers = ProjectConfig::read(whereabouts(launch, &ConfigureRequest::default())?)?
        .found
        .layers();
    // Uses the tools of a session without settings, so that an error in some rules does not hide errors in others.
    let mut plain = launch.clone();
    plain.managed_settings = None;
    plain.flags.settings = None;
    plain.flags.managed_settings = None;
    plain.flags.setting_sources = Some(Vec::new());
    let configuration = completed(&plain)?;
    // Installed plugins are the user's, as the settings are that were left out.
    let (plugins, _) = plugins(launch, &ConfigureRequest::default())?;
    let mut known = names(&configuration.spec);
    known.extend(plugins.iter().flat_map(PluginOnDisk::tools));
    Ok(lint(&layers, &known))
}

fn names(spec: &Spec) -> Vec<&str> {
    spec.offered_tools()
        .map(|tool| tool.name.as_str())
        .collect()
}

/// The input for a text: JSON, or the value of the field that rules of the tool match.
fn input(tool: &ToolDefinition, content: Option<&str>) -> RawJson {
    let Some(content) = content else {
        return RawJson::empty_object();
    };
    if let Some(json) = RawJson::parse(content).ok().filter(RawJson::is_object) {
        return json;
    }
    let of_path = tool.paths.first().map(|path| path.field.as_str());
    let field = tool.command_param.as_deref().or(of_path);
    let field = field.unwrap_or(match tool.name.as_str() {
        "Task" | "Agent" => "subagent_type",
        "Skill" => "skill",
        "WebFetch" => "url",
        _ => "input",
    });
    RawJson::encode(&json!({ field: content })).unwrap_or_else(|_| RawJson::empty_object())
}
