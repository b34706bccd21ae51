//! Agents from Markdown files: `.claude/agents/*.md`.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};

use super::{Agent, AgentDefinition, AgentError, AgentMcpServer, AgentSource};
use crate::{
    frontmatter::{Document, Field, FrontmatterError, Mapping, Problem, Value},
    permission::Mode,
};

/// Reads an agent's file: fields at its head, its prompt below.
///
/// `name` and `description` must be there; `tools`, `disallowedTools` and `skills` are lists or names with commas
/// between; `model`, `maxTurns`, `permissionMode`, `mcpServers` and `criticalSystemReminder_EXPERIMENTAL` are as in
/// [`AgentDefinition`]. Other fields are for other readers. `file` is the file's name, for errors. Hosts read these
/// files when a session starts, and not again.
///
/// # Errors
/// [`AgentFileError`] with file and line; nothing of the file is used.
///
/// ```
/// use windlass_core::agent::{AgentSource, parse_agent_file};
/// let text = "---\nname: reviewer\ndescription: Reviews changes.\ntools: Read, Grep\n---\nYou review code.\n";
/// let agent = parse_agent_file(".claude/agents/reviewer.md", text, AgentSource::Project)?;
/// assert_eq!(agent.definition.prompt, "You review code.");
/// # Ok::<(), windlass_core::agent::AgentFileError>(())
/// ```
pub fn parse_agent_file(
    file: &str,
    text: &str,
    source: AgentSource,
) -> Result<Agent, AgentFileError> {
    let at = |line, problem| AgentFileError {
        file: file.to_owned(),
        line,
        problem,
    };
    let fields_fault = |error: FrontmatterError| at(error.line, error.problem.into());
    let document = Document::parse(text).map_err(fields_fault)?;
    let fields = (document.front).ok_or_else(|| at(1, AgentFileProblem::NoFields))?;
    let (name, definition) = read(&fields, document.body).map_err(fields_fault)?;
    if definition.prompt.is_empty() {
        let last = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        return Err(at(last, AgentFileProblem::NoPrompt));
    }
    Agent::from_source(&name, definition, source).map_err(|error| {
        let line = fields.get(error.field).map_or(1, |field| field.line);
        at(line, AgentFileProblem::Definition(error))
    })
}

fn read(fields: &Mapping, body: &str) -> Result<(String, AgentDefinition), FrontmatterError> {
    let text = |key: &str| Ok(fields.text(key)?.map(ToOwned::to_owned));
    let needed = |key: &'static str| {
        let given = text(key)?.filter(|text| !text.trim().is_empty());
        given.ok_or_else(|| {
            let line = fields.get(key).map_or(1, |field| field.line);
            FrontmatterError::at(line, Problem::Missing { key })
        })
    };
    let keys = fields.fields().iter().map(|field| field.key.as_str());
    if let Some((key, meant)) = AgentDefinition::misspelt(keys) {
        let line = fields.get(key).map_or(1, |field| field.line);
        return Err(FrontmatterError::at(
            line,
            Problem::Misspelt {
                key: key.to_string(),
                meant,
            },
        ));
    }
    let definition = AgentDefinition {
        description: needed("description")?,
        tools: fields.list("tools")?,
        disallowed_tools: fields.list("disallowedTools")?,
        prompt: body.trim().to_owned(),
        model: text("model")?.map(Into::into),
        mcp_servers: fields.get("mcpServers").map(servers).transpose()?,
        skills: fields.list("skills")?,
        max_turns: fields.number("maxTurns")?,
        permission_mode: mode(fields)?,
        critical_system_reminder: text("criticalSystemReminder_EXPERIMENTAL")?,
    };
    Ok((needed("name")?, definition))
}

fn mode(fields: &Mapping) -> Result<Option<Mode>, FrontmatterError> {
    let key = "permissionMode";
    let Some(field) = fields.get(key) else {
        return Ok(None);
    };
    let (text, line) = (fields.text(key)?.unwrap_or_default(), field.line);
    match Mode::parse(text) {
        Some(mode) => Ok(Some(mode)),
        None => Err(FrontmatterError::at(
            line,
            Problem::WrongKind {
                key: key.to_string(),
                wanted: "a permission mode: default, acceptEdits, plan, dontAsk or bypassPermissions",
            },
        )),
    }
}

/// Names, or names with their configurations.
fn servers(field: &Field) -> Result<Vec<AgentMcpServer>, FrontmatterError> {
    let inline = |fields: &Mapping| {
        let servers = fields.fields().iter();
        AgentMcpServer::Inline(
            servers
                .map(|s| (s.key.clone(), s.value.to_json()))
                .collect(),
        )
    };
    match &field.value {
        Value::Map(fields) => Ok(alloc::vec![inline(fields)]),
        Value::List(items) => items
            .iter()
            .map(|item| match item {
                Value::Plain(name) | Value::Quoted(name) => Ok(AgentMcpServer::Named(name.clone())),
                Value::Map(fields) => Ok(inline(fields)),
                Value::List(_) => Err(FrontmatterError::at(
                    field.line,
                    Problem::WrongKind {
                        key: field.key.clone(),
                        wanted: "a list of server names, or of names with their configurations",
                    },
                )),
            })
            .collect(),
        Value::Plain(names) | Value::Quoted(names) => Ok(names
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(|name| AgentMcpServer::Named(name.to_string()))
            .collect()),
    }
}

/// An agent's file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {problem}")]
pub struct AgentFileError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong there, and what would be right.
    pub problem: AgentFileProblem,
}

/// What can be wrong with an agent's file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentFileProblem {
    /// The file does not begin with fields.
    #[error(
        "an agent's file begins with its fields: put `---`, `name: …`, `description: …` and `---` above the prompt, one a line"
    )]
    NoFields,
    /// A field cannot be read.
    #[error(transparent)]
    Fields(#[from] Problem),
    /// Nothing stands behind the fields.
    #[error("the agent has no prompt: write it below the fields")]
    NoPrompt,
    /// The fields make no agent.
    #[error(transparent)]
    Definition(AgentError),
}
