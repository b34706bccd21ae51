//! Slash commands: prompts that are stored as files.

use windlass_core::{
    initialization::SlashCommand,
    permission::{Rule, RuleError},
    tools::skill::{LONGEST_TEXT, TextTooLong, within_limit},
};

use crate::{
    frontmatter::{Document, FrontmatterError},
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
    /// Parses a command's file: `description`, `argument-hint`, `allowed-tools`, `model`, and its text. `path` is relative to
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

    /// Expands the command with arguments. `$ARGUMENTS` is replaced by everything after the command's name, `$1`, `$2` … by
    /// its words (quotes group words), and `$ARGUMENTS[0]` by the first of them. If the text has no such placeholder, the
    /// arguments are appended.
    #[must_use]
    pub fn invoke(&self, args: &str) -> Invocation {
        let args = args.trim();
        let filled = filled(&self.body, args).and_then(|(mut text, has_place)| {
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

/// Replaces the placeholders in one pass; placeholders inside arguments are not replaced.
fn filled(body: &str, args: &str) -> Result<(String, bool), TextTooLong> {
    const ALL: &str = "$ARGUMENTS";
    let words = words(args);
    let word = |index: usize| words.get(index).map_or("", String::as_str);
    let mut out = String::with_capacity(body.len() + args.len());
    let (mut rest, mut has_place) = (body, false);
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        if out.len() > LONGEST_TEXT {
            return Err(TextTooLong);
        }
        let place = &rest[at..];
        if let Some(after) = place.strip_prefix(ALL) {
            has_place = true;
            let numbered = after
                .strip_prefix('[')
                .and_then(|inside| inside.split_once(']'))
                .and_then(|(number, after)| Some((number.parse::<usize>().ok()?, after)));
            rest = match numbered {
                Some((number, after)) => {
                    out.push_str(word(number));
                    after
                }
                None => {
                    out.push_str(args);
                    after
                }
            };
            continue;
        }
        let digits = place[1..].bytes().take_while(u8::is_ascii_digit).count();
        match place[1..=digits].parse::<usize>() {
            Ok(number @ 1..) => {
                has_place = true;
                out.push_str(word(number - 1));
                rest = &place[1 + digits..];
            }
            _ => {
                out.push('$');
                rest = &place[1..];
            }
        }
    }
    out.push_str(rest);
    Ok((out, has_place))
}

/// Splits arguments into words like a shell: quotes group words.
pub(crate) fn words(args: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in args.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn first_line(body: &str) -> String {
    let line = body.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default().trim_start_matches('#').trim();
    match line.char_indices().nth(SHORT_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
