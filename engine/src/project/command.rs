//! Slash commands: prompts that are stored as files.

use windlass_core::{
    initialization::SlashCommand,
    permission::{Rule, RuleError},
    tools::skill::{TextTooLong, within_limit},
};

use super::arguments::filled;
use crate::{
    frontmatter::{Document, FrontmatterError, Mapping},
    path::TextPath,
    settings::SettingSource,
};

/// The maximum length, in characters, of a description that is taken from the text.
const SHORT_DESCRIPTION: usize = 100;

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The name, without the slash. The folders that contain the file precede it, separated by colons (`frontend:test`).
    pub name: String,
    /// The description; by default the first line of the text.
    pub description: String,
    /// A hint about the arguments.
    pub argument_hint: String,
    /// Calls that are allowed once the command was invoked. Must be dropped for an untrusted folder.
    pub allowed_tools: Vec<Rule>,
    /// The model that answers the command, if it names one.
    pub model: Option<String>,
    /// The source that it comes from.
    pub source: SettingSource,
    /// The plugin that it comes from, whose name precedes its own.
    pub plugin: Option<String>,
    /// The names of its arguments, in order.
    arguments: Vec<String>,
    body: String,
}

/// The expansion of a prompt that begins with a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The command's name.
    pub name: String,
    /// The text for the model.
    pub text: String,
    /// Calls that are allowed from now on.
    pub allowed_tools: Vec<Rule>,
    /// The model that answers, where the command names one.
    pub model: Option<String>,
}

/// A command's file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The fields at its head cannot be read.
    #[error(transparent)]
    Fields(#[from] FrontmatterError),
    /// `allowed-tools` contains an invalid rule.
    #[error("allowed-tools: {0}")]
    Rule(#[from] RuleError),
    /// The file has no text.
    #[error("the command has no text: write below the fields what the model is to do")]
    Empty,
    /// The file name is not usable as a command name.
    #[error("a command's name has no blanks: rename the file")]
    Name,
}

impl Command {
    /// Parses a command's file: `description`, `argument-hint`, `allowed-tools`, `model`, `arguments`, and its text. `path` is relative to
    /// the folder of the commands.
    ///
    /// # Errors
    /// [`CommandError`].
    pub fn parse(path: &TextPath, text: &str, source: SettingSource) -> Result<Self, CommandError> {
        let name = name_of(path);
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(CommandError::Name);
        }
        let file = Document::parse(text)?;
        let fields = file.front.unwrap_or_default();
        let body = file.body.trim();
        if body.is_empty() {
            return Err(CommandError::Empty);
        }
        let given = |key: &str| Ok::<_, FrontmatterError>(fields.text(key)?.map(ToOwned::to_owned));
        let rules = fields.list("allowed-tools")?.unwrap_or_default();
        let rules: Result<Vec<Rule>, RuleError> = rules.iter().map(|r| Rule::parse(r)).collect();
        // `[a] [b]` is a hint although it looks like a list.
        let hint = match fields.text("argument-hint") {
            Ok(hint) => hint.unwrap_or_default().to_owned(),
            Err(_) => {
                let items = fields.list("argument-hint")?.unwrap_or_default();
                format!("[{}]", items.join(", "))
            }
        };
        Ok(Self {
            name,
            description: given("description")?.unwrap_or_else(|| first_line(body)),
            argument_hint: hint,
            allowed_tools: rules?,
            model: given("model")?.filter(|model| model != "inherit"),
            source,
            plugin: None,
            arguments: argument_names(&fields)?,
            body: body.to_owned(),
        })
    }

    /// The command as listed to applications.
    #[must_use]
    pub fn listed(&self) -> SlashCommand {
        SlashCommand {
            name: self.name.clone(),
            description: self.description.clone(),
            argument_hint: self.argument_hint.clone(),
        }
    }

    /// Expands the command with arguments. If its text has no place for them, they are appended.
    #[must_use]
    pub fn invoke(&self, args: &str) -> Invocation {
        let args = args.trim();
        let filled = filled(&self.body, args, &self.arguments).and_then(|(mut text, has_place)| {
            if !has_place && !args.is_empty() {
                text.push_str("\n\nARGUMENTS: ");
                text.push_str(args);
            }
            within_limit(text)
        });
        match filled {
            Ok(text) => Invocation {
                name: self.name.clone(),
                text,
                allowed_tools: self.allowed_tools.clone(),
                model: self.model.clone(),
            },
            Err(error) => Invocation::failed(&self.name, error),
        }
    }
}

impl Invocation {
    /// The text for the model if the expansion failed; it allows nothing.
    pub(super) fn failed(name: &str, error: TextTooLong) -> Self {
        Self {
            name: name.to_owned(),
            text: format!("/{name} was called and cannot be used: {error}. Tell this the person."),
            allowed_tools: Vec::new(),
            model: None,
        }
    }
}

/// The names that a command or skill gives its arguments: a list, or a text of words.
pub(super) fn argument_names(fields: &Mapping) -> Result<Vec<String>, FrontmatterError> {
    let listed = fields.list("arguments")?.unwrap_or_default();
    let words = listed.iter().flat_map(|words| words.split_whitespace());
    Ok(words.map(ToOwned::to_owned).collect())
}

/// The command name for a path: its folders and the file name without extension.
fn name_of(path: &TextPath) -> String {
    let mut names: Vec<&str> = path.names().collect();
    if let (Some(last), Some(stem)) = (names.last_mut(), path.file_stem()) {
        *last = stem;
    }
    names.join(":")
}

/// Splits a prompt that begins with a slash command into name and arguments.
pub(crate) fn invoked(prompt: &str) -> Option<(&str, &str)> {
    let rest = prompt.trim_start().strip_prefix('/')?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, args) = rest.split_at(end);
    (!name.is_empty()).then_some((name, args.trim()))
}

fn first_line(body: &str) -> String {
    let line = body.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default().trim_start_matches('#').trim();
    match line.char_indices().nth(SHORT_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
