//! Rules: `Tool` or `Tool(specifier)`, as in settings files and options.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Source, command::CommandPattern, domain::DomainPattern, glob, tool_name};

/// Allow, ask and deny rules, each list in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Calls these match run without asking.
    pub allow: Vec<Rule>,
    /// Calls these match need permission, in every mode.
    pub ask: Vec<Rule>,
    /// Calls these match never run.
    pub deny: Vec<Rule>,
    /// Allow rules that do not count, because nobody has trusted the folder they come from. They are kept to explain why
    /// permission is asked for.
    pub untrusted: Vec<Rule>,
}

impl Rules {
    /// Whether a deny rule denies all calls of a tool.
    #[must_use]
    pub fn denies_tool(&self, tool: &str) -> bool {
        self.deny
            .iter()
            .any(|rule| rule.specifier == Specifier::Any && rule.names_tool(tool))
    }

    /// Whether a deny rule denies all calls of a tool about this subject.
    #[must_use]
    pub fn denies_subject(&self, tool: &str, subject: &str) -> bool {
        (self.deny.iter()).any(|rule| rule.names_tool(tool) && rule.names_subject(subject))
    }
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    text: String,
    tool: String,
    /// Which of the tool's calls it applies to.
    pub specifier: Specifier,
    source: Source,
    root: Option<String>,
}

/// The part in parentheses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Specifier {
    /// Every call.
    Any,
    /// Commands: exactly one, those with a prefix (`npm run:*`), or a pattern (`git * main`).
    Command(CommandPattern),
    /// Files (`Read`, `Edit`): a gitignore-style pattern with its anchor.
    Path(String),
    /// URLs of a domain (`WebFetch`).
    Domain(DomainPattern),
    /// A subagent (`Task`) or a skill (`Skill`) by name.
    Name(NamePattern),
}

/// A name, or with a `*` at its end all names with this prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern {
    start: String,
    open: bool,
}

impl NamePattern {
    pub(super) fn covers(&self, name: &str) -> bool {
        if self.open {
            name.starts_with(&self.start)
        } else {
            name == self.start
        }
    }

    pub(super) fn includes(&self, other: &Self) -> bool {
        self.covers(&other.start) && (self.open || !other.open)
    }
}

/// A rule in its parts (Agent SDK reference, `PermissionRuleValue`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleValue {
    /// The tool.
    pub tool_name: String,
    /// The part in parentheses; absent for every call. `null` is not accepted.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub rule_content: Option<String>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

impl RuleValue {
    /// A rule for every call of a tool.
    pub fn tool(name: impl Into<String>) -> Self {
        Self {
            tool_name: name.into(),
            rule_content: None,
        }
    }

    /// A rule for some calls of a tool.
    pub fn some(name: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            rule_content: Some(content.into()),
            ..Self::tool(name)
        }
    }

    /// Converts it to a rule.
    ///
    /// # Errors
    /// [`RuleError`] as from [`Rule::parse`]; also if the name contains parentheses.
    pub fn to_rule(&self) -> Result<Rule, RuleError> {
        Rule::of_parts(
            &self.to_string(),
            &self.tool_name,
            self.rule_content.as_deref(),
        )
    }
}

impl fmt::Display for RuleValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule_content {
            None => f.write_str(&self.tool_name),
            Some(content) => write!(f, "{}({content})", self.tool_name),
        }
    }
}

/// Tools whose calls are commands.
const COMMAND_TOOLS: [&str; 1] = ["Bash"];
/// Tool names in path rules: `Read` covers every reading tool, `Edit` every writing one.
const PATH_TOOLS: [&str; 2] = ["Read", "Edit"];

impl Rule {
    /// Reads a rule.
    ///
    /// ```
    /// use windlass_core::permission::Rule;
    /// assert!(Rule::parse("Bash(npm run:*)")?.names_tool("Bash"));
    /// assert!(Rule::parse("mcp__github")?.names_tool("mcp__github__list_issues"));
    /// let error = Rule::parse("Write(src/**)").unwrap_err();
    /// assert!(error.to_string().contains("Edit(src/**)"));
    /// # Ok::<(), windlass_core::permission::RuleError>(())
    /// ```
    ///
    /// # Errors
    /// [`RuleError`] with the fault. A rule that would parse but have no effect is refused.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let trimmed = text.trim();
        if trimmed.len() > LONGEST_LINE + LONGEST {
            let begin = trimmed.chars().take(40).collect::<String>() + "…";
            return Err(RuleError::new(&begin, "no command line is so long"));
        }
        match trimmed.split_once('(') {
            None => Self::of_parts(trimmed, trimmed, None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(inner) => Self::of_parts(trimmed, tool, Some(inner)),
                None => Err(RuleError::new(
                    trimmed,
                    "the parenthesis is not closed at the end",
                )),
            },
        }
    }

    fn of_parts(text: &str, tool: &str, content: Option<&str>) -> Result<Self, RuleError> {
        let fault = |problem: &str| RuleError::new(text, problem);
        if tool.is_empty() {
            return Err(fault(
                "a tool name is missing: write it first, as in Bash(npm test)",
            ));
        }
        if !is_tool_name(tool) {
            return Err(fault(
                "that is not a tool name: write it as the tool is called, such as Read; a `*` may only end an mcp__ name",
            ));
        }
        Ok(Self {
            text: text.to_owned(),
            tool: tool.to_owned(),
            specifier: specifier(tool, content).map_err(|problem| fault(&problem))?,
            source: Source::default(),
            root: None,
        })
    }

    /// Sets the source of the rule.
    #[must_use]
    pub fn from_source(mut self, source: Source) -> Self {
        self.source = source;
        self
    }

    /// Sets the folder from which patterns with a single `/` start: for a folder's settings, that folder. Without one it is the
    /// working directory.
    #[must_use]
    pub fn rooted(mut self, directory: Option<&str>) -> Self {
        self.root = directory.map(ToOwned::to_owned);
        self
    }

    /// The source of the rule.
    #[must_use]
    pub fn source(&self) -> Source {
        self.source
    }

    /// The folder from which patterns with a single `/` start, if it is not the working directory.
    #[must_use]
    pub fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }

    /// The tool part as it is written.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The rule in its parts.
    #[must_use]
    pub fn value(&self) -> RuleValue {
        let content = self.text.split_once('(');
        RuleValue {
            tool_name: self.tool.clone(),
            rule_content: content
                .map(|(_, rest)| rest.strip_suffix(')').unwrap_or(rest).to_owned()),
        }
    }

    /// Whether the tool part names this tool: by its name, by an old name, or as one of several tools: `Read` stands for every
    /// tool that reads files, `Edit` for every one that writes them, `mcp__server` for all tools of a server.
    #[must_use]
    pub fn names_tool(&self, tool: &str) -> bool {
        if let Some(prefix) = self.tool.strip_suffix('*') {
            return tool.starts_with(prefix);
        }
        if tool_name::same(&self.tool, tool) || tool_name::covered(&self.tool).contains(&tool) {
            return true;
        }
        // `mcp__server` stands for all tools of the server.
        match (tool_name::of_server(&self.tool), tool_name::of_server(tool)) {
            (Some((server, None)), Some(_)) => tool
                .strip_prefix("mcp__")
                .and_then(|rest| rest.strip_prefix(server))
                .is_some_and(|rest| rest.starts_with("__")),
            _ => false,
        }
    }

    /// Whether it names the subject of a call.
    pub(super) fn names_subject(&self, subject: &str) -> bool {
        matches!(&self.specifier, Specifier::Name(pattern) if pattern.covers(subject))
    }

    /// Whether it is a file rule for writing tools.
    pub(super) fn is_edit(&self) -> bool {
        self.tool == "Edit"
    }

    /// Whether it applies to reading files.
    pub(super) fn is_read(&self) -> bool {
        self.tool == "Read"
    }

    /// The pattern of a rule for files: of every tool that reads or writes them, not of one tool only.
    pub(super) fn file_pattern(&self) -> Option<&str> {
        match &self.specifier {
            Specifier::Path(pattern) if self.is_read() || self.is_edit() => Some(pattern),
            _ => None,
        }
    }

    /// The pattern of a rule for the files that a call of this tool names.
    pub(super) fn file_pattern_for(&self, tool: &str) -> Option<&str> {
        match &self.specifier {
            Specifier::Path(pattern) => {
                (self.file_pattern().is_some() || self.names_tool(tool)).then_some(pattern)
            }
            _ => None,
        }
    }

    /// Whether another rule means the same, whatever its source.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        tool_name::same(&self.tool, &other.tool)
            && self.specifier == other.specifier
            && self.root == other.root
    }
}

fn is_tool_name(tool: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'*');
    tool.bytes().all(plain)
        && !tool.trim_end_matches('*').contains('*')
        && (!tool.ends_with('*') || tool.starts_with("mcp__"))
}

/// The longest pattern in bytes: as long as the longest path.
const LONGEST: usize = 4096;

/// The longest command line in bytes that can be run.
const LONGEST_LINE: usize = 128 << 10;

fn specifier(tool: &str, content: Option<&str>) -> Result<Specifier, String> {
    let owned = |problem: &str| problem.to_owned();
    let inner = match content.map(str::trim) {
        None | Some("*") => return Ok(Specifier::Any),
        Some("") => return Err(owned("the parentheses are empty: leave them out")),
        Some(inner) => inner,
    };
    // A rule for one line may be as long as a line. All others are patterns, which are searched for in long texts.
    let is_line = COMMAND_TOOLS.contains(&tool) && !inner.contains('*');
    if inner.len() > LONGEST && !is_line {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    match tool {
        _ if COMMAND_TOOLS.contains(&tool) => {
            let pattern = CommandPattern::parse(inner).map_err(owned)?;
            Ok(Specifier::Command(pattern))
        }
        _ if PATH_TOOLS.contains(&tool) => path(inner),
        "Write" | "NotebookEdit" | "MultiEdit" => Err(format!(
            "file rules for writing are spelled Edit(pattern): Edit({inner})"
        )),
        "Glob" | "Grep" | "LS" | "NotebookRead" => Err(format!(
            "file rules for reading are spelled Read(pattern): Read({inner})"
        )),
        "WebFetch" => match inner.strip_prefix("domain:") {
            Some(domain) => Ok(Specifier::Domain(
                DomainPattern::parse(domain).map_err(owned)?,
            )),
            None => Err(owned(
                "rules for addresses name a domain: WebFetch(domain:example.com)",
            )),
        },
        // `Skill(deploy *)`: the skill with any arguments.
        "Skill" => name(inner.strip_suffix(" *").unwrap_or(inner).trim_end())
            .map(Specifier::Name)
            .map_err(owned),
        "Task" | "Agent" => name(inner).map(Specifier::Name).map_err(owned),
        // Only the official engine has these tools: the rule has no effect here, but is not an error.
        "PowerShell" | "SlashCommand" => Ok(Specifier::Name(NamePattern {
            start: inner.to_owned(),
            open: false,
        })),
        // A tool of a plugin that names files. A command or a name for a tool that is not known is rather a misspelt tool.
        _ if !tool_name::is_reserved_tool_name(tool) && is_anchored(inner) => path(inner),
        _ => Err(owned(
            "this tool takes no specifier: name it alone, or with a path that begins with `/`, `~/`, `./` or `*`",
        )),
    }
}

/// Whether a pattern of files shows by its beginning that it is one.
fn is_anchored(pattern: &str) -> bool {
    matches!(
        pattern.as_bytes(),
        [b'/' | b'*', ..] | [b'~' | b'.', b'/', ..]
    )
}

fn path(pattern: &str) -> Result<Specifier, String> {
    let Some(patterns) = glob::alternatives(pattern) else {
        return Err("the braces stand for too many patterns: at most 64".to_owned());
    };
    match patterns.iter().find_map(|pattern| glob::fault(pattern)) {
        Some(fault) => Err(fault.to_owned()),
        None => Ok(Specifier::Path(pattern.to_owned())),
    }
}

fn name(inner: &str) -> Result<NamePattern, &'static str> {
    let (start, open) = match inner.strip_suffix('*') {
        Some(start) => (start, true),
        None => (inner, false),
    };
    if start.contains('*') || start.contains(char::is_whitespace) {
        return Err("that is not a name; a `*` may only end one");
    }
    Ok(NamePattern {
        start: start.to_owned(),
        open,
    })
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// An invalid rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("permission rule `{rule}`: {problem}")]
pub struct RuleError {
    /// The rule as it was given.
    pub rule: String,
    /// What is wrong with it.
    pub problem: String,
}

impl RuleError {
    fn new(rule: &str, problem: &str) -> Self {
        Self {
            rule: rule.to_owned(),
            problem: problem.to_owned(),
        }
    }

    /// Adds the place of the rule to the message (`--allowedTools: …`).
    #[must_use]
    pub fn at(mut self, place: &str) -> Self {
        self.problem = format!("{} (from {place})", self.problem);
        self
    }
}
