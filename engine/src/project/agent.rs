//! Agents from Markdown files: `.claude/agents/*.md`.

use windlass_core::{
    agent::{AgentDefinition, AgentError, AgentMcpServer, AgentProfile, AgentSource},
    permission::Mode,
};

use super::ignored::HOOKS;
use crate::frontmatter::{Document, Field, FrontmatterError, Mapping, Problem, Value};

/// Parses an agent's file: fields at its head, followed by its prompt.
///
/// `name` and `description` are required; `tools`, `disallowedTools` and `skills` are lists, or names separated by commas;
/// `model`, `maxTurns`, `permissionMode`, `mcpServers` and `criticalSystemReminder_EXPERIMENTAL` are as in
/// [`AgentDefinition`]. Other fields are ignored, but for `hooks`: a guard that does not run is refused. `file` is the file's name, for errors. Hosts read these files once, when a
/// session starts.
///
/// # Errors
/// [`AgentFileError`] with file and line; nothing of the file is used.
///
/// ```
/// use windlass_core::agent::AgentSource;
/// use windlass_engine::project::parse_agent_file;
/// let text = "---\nname: reviewer\ndescription: Reviews changes.\ntools: Read, Grep\n---\nYou review code.\n";
/// let agent = parse_agent_file(".claude/agents/reviewer.md", text, AgentSource::Project)?;
/// assert_eq!(agent.definition.prompt, "You review code.");
/// # Ok::<(), windlass_engine::project::AgentFileError>(())
/// ```
pub fn parse_agent_file(
    file: &str,
    text: &str,
    source: AgentSource,
) -> Result<AgentProfile, AgentFileError> {
    let document = Document::parse(text).ok();
    let fields = document.and_then(|document| document.front);
    let hooks = fields.as_ref().and_then(|fields| fields.get(HOOKS));
    match hooks {
        Some(hooks) => Err(AgentFileError {
            file: file.to_owned(),
            line: hooks.line,
            problem: AgentFileProblem::Hooks,
        }),
        None => parse_plugin_agent(file, text, source),
    }
}

/// The same for an agent of a plugin, whose `hooks` have no effect: a plugin has its hooks in files of their own.
///
/// # Errors
/// As [`parse_agent_file`].
pub(super) fn parse_plugin_agent(
    file: &str,
    text: &str,
    source: AgentSource,
) -> Result<AgentProfile, AgentFileError> {
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
    AgentProfile::from_source(&name, definition, source).map_err(|error| {
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
    // It is a field of Claude Code, and only looks like one that is misspelt.
    let keys = keys.filter(|key| *key != HOOKS);
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
                wanted: "a permission mode: default, acceptEdits, auto, plan, dontAsk or bypassPermissions",
            },
        )),
    }
}

/// Server names, or names with inline configurations.
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
        Value::Map(fields) => Ok(vec![inline(fields)]),
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
    /// The line, counted from 1.
    pub line: u32,
    /// The problem on that line, and how to fix it.
    pub problem: AgentFileProblem,
}

/// The problems of an agent's file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentFileProblem {
    /// The file does not begin with fields.
    #[error(
        "an agent's file begins with its fields: put `---`, `name: …`, `description: …` and `---` above the prompt, one a line"
    )]
    NoFields,
    /// A field cannot be parsed.
    #[error(transparent)]
    Fields(#[from] Problem),
    /// It has hooks.
    #[error(
        "`hooks` of an agent are not run here: put them into the settings, where they hold for every agent, and remove the field"
    )]
    Hooks,
    /// There is no prompt after the fields.
    #[error("the agent has no prompt: write it below the fields")]
    NoPrompt,
    /// The fields do not form a valid agent.
    #[error(transparent)]
    Definition(AgentError),
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sub_1_an_agents_file_is_fields_and_a_prompt() {
        let text = "---\nname: reviewer\ndescription: \"Reviews: changes\"\ntools: Read, Grep\n\
                    disallowedTools: [Edit]\nmodel: claude-x\nmaxTurns: 4\nskills:\n- pdf\n\
                    mcpServers:\n  - github\n  - files:\n      command: files\ncolor: blue\n\
                    criticalSystemReminder_EXPERIMENTAL: Be kind.\n---\n\nYou review.\n\n---\nAlways.\n";
        let agent = parse_agent_file("reviewer.md", text, AgentSource::User).unwrap();
        assert_eq!(
            (agent.name.as_str(), agent.source),
            ("reviewer", AgentSource::User)
        );
        assert_eq!(
            serde_json::to_value(&agent.definition).unwrap(),
            json!({
                "description": "Reviews: changes", "tools": ["Read", "Grep"], "disallowedTools": ["Edit"],
                "prompt": "You review.\n\n---\nAlways.", "model": "claude-x", "skills": ["pdf"], "maxTurns": 4,
                "mcpServers": ["github", {"files": {"command": "files"}}],
                "criticalSystemReminder_EXPERIMENTAL": "Be kind.",
            })
        );
    }

    #[test]
    fn sub_1_an_agents_file_that_cannot_be_used_says_where_and_what_to_do() {
        for (text, line, words) in [
            ("You review.", 1, "begins with its fields"),
            ("---\ndescription: d\n---\np", 1, "`name` is missing"),
            (
                "---\nname: a\ndescription:\n---\np",
                3,
                "`description` is missing",
            ),
            (
                "---\nname: a\ndescription: >\n\nmodel: haiku\n---\np",
                3,
                "`description` is missing",
            ),
            (
                "---\nname: ' '\ndescription: d\n---\np",
                2,
                "`name` is missing",
            ),
            ("---\nname: a\ndescription: d\n---\n\n", 5, "no prompt"),
            (
                "---\nname: a\ndescription: d\nmaxTurns: many\n---\np",
                4,
                "whole number",
            ),
            (
                "---\nname: a\ndescription: d\nmaxTurns: 0\n---\np",
                4,
                "at least 1",
            ),
            (
                "---\nname: a\ndescription: d\ntools: {a: b}\n---\np",
                4,
                "must be a list",
            ),
            (
                "---\nname: a\ndescription: d\ntools: Bash(git *)\n---\np",
                4,
                "disallowedTools",
            ),
            (
                "---\nname: a\ndescription: d\ndisallowedTools: 'Read('\n---\np",
                4,
                "disallowedTools",
            ),
            (
                "---\nname: a\ndescription: d\ndisallowedTools: bash\n---\np",
                4,
                "did you mean Bash?",
            ),
            (
                "---\nname: a\ndescription: d\ndisallowed-tools: Write\n---\np",
                4,
                "did you mean `disallowedTools`?",
            ),
            (
                "---\nname: a\ndescription: d\npermissionMode: plam\n---\np",
                4,
                "a permission mode",
            ),
            (
                "---\nname: a\ndescription: d\nmcpServers: [[x]]\n---\np",
                4,
                "server names",
            ),
            ("---\nname: a\n\tx: y\n---\np", 3, "use blanks"),
        ] {
            let error = parse_agent_file("dir/a.md", text, AgentSource::Project).unwrap_err();
            let said = error.to_string();
            assert!(
                said.starts_with(&format!("dir/a.md, line {line}: ")),
                "{said}"
            );
            assert!(said.contains(words), "{said}");
        }
        let error = parse_agent_file("a.md", "", AgentSource::Project).unwrap_err();
        assert_eq!(error.problem, AgentFileProblem::NoFields);
    }

    #[test]
    fn a_malformed_file_says_where_and_what_would_be_right() {
        for (text, expected) in [
            ("Just words.", &["a.md, line 1", "put `---`"][..]),
            (
                "---\nname: a\n",
                &["a.md, line", "put a line `---` behind them"],
            ),
            (
                "---\nname: a\n---\nPrompt.",
                &["a.md, line", "`description`", "add a line"],
            ),
            (
                "---\nname: a\ndescription: b\n---\n",
                &["a.md, line", "write it below the fields"],
            ),
            (
                "---\nname: a\ndescription: b\nmaxTurns: many\n---\nPrompt.",
                &["a.md, line 4", "`maxTurns` must be"],
            ),
        ] {
            let said = parse_agent_file("a.md", text, AgentSource::Project)
                .unwrap_err()
                .to_string();
            for words in expected {
                assert!(said.contains(words), "{words} in {said}");
            }
        }
    }
}
