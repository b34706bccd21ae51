//! What the permissions of a session come to, without a session: for people who write rules.

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
    build::{ResolvedConfig, StartError, agent, resolved_config, whereabouts},
    launch::Launch,
};
use crate::{host::resolve_all, project_config::ProjectConfig};

/// Why a call cannot be explained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// No session could begin.
    #[error(transparent)]
    Start(#[from] StartError),
    /// No tool has this name.
    #[error("there is no tool named `{name}`; there are {known}")]
    UnknownTool {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A path that leads nowhere.
    #[error("{0}")]
    Path(String),
}

/// Says what would become of a call in a session with these flags and settings, and why. The call is written as a rule: `Bash(git push)`,
/// `Read(src/main.rs)`, `Task(reviewer)`; or with its input as JSON, `Edit({"file_path": "a"})`. No MCP server is started: of a tool
/// of one (`mcp__server__tool`) nothing is known but its name, which is all that rules about it say.
///
/// # Errors
/// [`ExplainError`]: no session could begin, or the call is none.
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

/// What the files of the folder would do and do not, because nobody has trusted it ([`ProjectTrust::Nothing`]): to ask a person about,
/// whose answer holds for this ([`Launch::agreed`]).
///
/// [`ProjectTrust::Nothing`]: super::ProjectTrust::Nothing
///
/// # Errors
/// [`StartError`]: no session could begin.
pub fn left_out_untrusted(launch: &Launch) -> Result<Vec<Brought>, StartError> {
    // Most folders are trusted: nothing is built for them that is built once more when the session begins.
    if ProjectConfig::read(whereabouts(launch, &ConfigureRequest::default())?)?
        .found
        .runs_programs
    {
        return Ok(Vec::new());
    }
    Ok(read(launch)?.project_config.found.brought)
}

/// What flags and files say, without anybody who brings more along.
fn read(launch: &Launch) -> Result<ResolvedConfig, StartError> {
    resolved_config(launch, agent(launch, &[])?, &ConfigureRequest::default())
}

/// The same with what follows from it.
fn completed(launch: &Launch) -> Result<Configuration, StartError> {
    let configuration = read(launch)?.configuration(launch, 0);
    Ok(configuration.completed(&launch.machine(), &Initialize::default())?)
}

/// Looks through the rules of all settings for those that do nothing, or not what they seem to.
///
/// # Errors
/// [`StartError`]: settings that cannot be read. A single rule that cannot be read is a finding.
pub fn lint_settings(launch: &Launch) -> Result<Vec<Finding>, StartError> {
    let layers = ProjectConfig::read(whereabouts(launch, &ConfigureRequest::default())?)?
        .found
        .layers();
    // Tools are those of a session without any settings: what is wrong with them must not hide what is wrong with the others.
    let mut plain = launch.clone();
    plain.managed_settings = None;
    plain.flags.settings = None;
    plain.flags.managed_settings = None;
    plain.flags.setting_sources = Some(Vec::new());
    let configuration = completed(&plain)?;
    Ok(lint(&layers, &names(&configuration.spec)))
}

fn names(spec: &Spec) -> Vec<&str> {
    spec.offered_tools()
        .map(|tool| tool.name.as_str())
        .collect()
}

/// The input that a text stands for: JSON, or the field that rules of the tool are about.
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
