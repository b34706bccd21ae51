//! Rules: `Tool` or `Tool(specifier)`, as settings files and options write them.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

/// Allow, ask and deny rules, each in its order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Calls these match run unasked.
    pub allow: Vec<Rule>,
    /// Calls these match are asked about, in every mode.
    pub ask: Vec<Rule>,
    /// Calls these match never run.
    pub deny: Vec<Rule>,
}

impl Rules {
    /// Whether a deny rule closes a tool altogether, whatever it is called with.
    #[must_use]
    pub fn denies_tool(&self, tool: &str) -> bool {
        self.deny
            .iter()
            .any(|rule| rule.specifier == Specifier::Any && rule.names_tool(tool))
    }

    /// Whether a deny rule closes what a tool could be called about.
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
    /// What of the tool's calls it is about.
    pub specifier: Specifier,
}

/// The part in parentheses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Specifier {
    /// Every call.
    Any,
    /// Commands that are exactly this.
    CommandExact(String),
    /// Commands that begin with these words (`npm run:*`, `npm run *`).
    CommandPrefix(Vec<String>),
    /// Files (`Read`, `Edit`): a gitignore-style pattern with its anchor.
    Path(String),
    /// What the call is about, by its name: `Skill(review)`; with a `*` at its end every name that begins so
    /// (`Skill(docs:*)`).
    Subject(String),
}

/// Tools whose calls are commands.
const COMMAND_TOOLS: [&str; 1] = ["Bash"];
/// Tools whose calls are about something that has a name.
const SUBJECT_TOOLS: [&str; 1] = ["Skill"];
/// Names in path rules: `Read` covers every reading tool, `Edit` every writing one.
const PATH_TOOLS: [&str; 2] = ["Read", "Edit"];

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// [`RuleError`] naming the fault: a rule that would parse and do nothing is refused.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let fault = |problem: &str| RuleError {
            rule: text.to_owned(),
            problem: problem.to_owned(),
        };
        let trimmed = text.trim();
        let (tool, specifier) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => {
                let inner = rest
                    .strip_suffix(')')
                    .ok_or_else(|| fault("the parenthesis is not closed at the end"))?;
                (tool, Some(inner.trim()))
            }
        };
        if tool.is_empty() {
            return Err(fault("a tool name is missing"));
        }
        if !tool
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'*'))
            || tool.trim_end_matches('*').contains('*')
            || (tool.ends_with('*') && !tool.starts_with("mcp__"))
        {
            return Err(fault(
                "that is not a tool name; a `*` may only end an mcp__ name",
            ));
        }
        let specifier = match specifier {
            None | Some("*") => Specifier::Any,
            Some("") => return Err(fault("the parentheses are empty: leave them out")),
            Some(inner) if COMMAND_TOOLS.contains(&tool) => command(inner).map_err(fault)?,
            Some(inner) if SUBJECT_TOOLS.contains(&tool) => {
                if inner.trim_end_matches('*').contains(['*', '(', ')', ',']) {
                    return Err(fault("that is not a name; a `*` may only end it"));
                }
                Specifier::Subject(inner.to_owned())
            }
            Some(inner) if PATH_TOOLS.contains(&tool) => Specifier::Path(inner.to_owned()),
            Some(_) if matches!(tool, "Write" | "NotebookEdit") => {
                return Err(fault("file rules for writing are spelled Edit(pattern)"));
            }
            Some(_) if matches!(tool, "Glob" | "Grep") => {
                return Err(fault("file rules for reading are spelled Read(pattern)"));
            }
            Some(_) => return Err(fault("this tool takes no specifier: name it alone")),
        };
        Ok(Self {
            text: trimmed.to_owned(),
            tool: tool.to_owned(),
            specifier,
        })
    }

    /// Whether the tool part names this tool.
    #[must_use]
    pub fn names_tool(&self, tool: &str) -> bool {
        if let Some(prefix) = self.tool.strip_suffix('*') {
            return tool.starts_with(prefix);
        }
        if self.tool == tool {
            return true;
        }
        // `mcp__server` stands for all tools of the server.
        let is_server = self.tool.starts_with("mcp__") && self.tool.matches("__").count() == 1;
        is_server
            && tool
                .strip_prefix(self.tool.as_str())
                .is_some_and(|rest| rest.starts_with("__"))
    }

    /// Whether the name in its parentheses is this one.
    pub(super) fn names_subject(&self, subject: &str) -> bool {
        let Specifier::Subject(name) = &self.specifier else {
            return false;
        };
        match name.strip_suffix('*') {
            Some(beginning) => subject.starts_with(beginning),
            None => subject == name,
        }
    }

    /// Whether it is a file rule for writing tools.
    pub(super) fn is_edit(&self) -> bool {
        self.tool == "Edit"
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn command(inner: &str) -> Result<Specifier, &'static str> {
    let prefix = inner
        .strip_suffix(":*")
        .or_else(|| inner.strip_suffix(" *"));
    if prefix.unwrap_or(inner).contains('*') {
        return Err("a `*` may only end a prefix, as in `npm run:*` or `npm run *`");
    }
    match prefix {
        Some(words) if words.trim().is_empty() => {
            Err("there is no command before the `*`: for every command name the tool alone")
        }
        Some(words) => Ok(Specifier::CommandPrefix(
            words.split_whitespace().map(ToString::to_string).collect(),
        )),
        None => Ok(Specifier::CommandExact(inner.to_owned())),
    }
}

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("permission rule `{rule}`: {problem}")]
pub struct RuleError {
    /// The rule as it was given.
    pub rule: String,
    /// What is wrong with it.
    pub problem: String,
}

impl RuleError {
    /// The same with a place before it (`--allowedTools: …`).
    #[must_use]
    pub fn at(mut self, place: &str) -> Self {
        self.problem = format!("{} (from {place})", self.problem);
        self
    }
}
