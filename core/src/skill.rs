//! Skills: instructions for a kind of work, with placeholders for arguments. The tool that loads them is
//! [`tools::skill`](crate::tools::skill).

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::permission::Rule;

/// The default maximum length of the list of skills in characters.
pub const DEFAULT_LIST_BUDGET: u32 = 16_000;

/// A skill. In a session request it is an object with these fields; all but the first three are optional.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// Its name: lower-case letters, digits and hyphens, optionally with the name of a plugin and a colon in front.
    pub name: String,
    /// What it is for, and when to use it.
    pub description: String,
    /// The instructions.
    pub content: String,
    /// The folder it was loaded from. Relative references in its text point there.
    #[serde(default)]
    pub directory: Option<String>,
    /// Its arguments, in a word or two (`[file]`).
    #[serde(default)]
    pub argument_hint: Option<String>,
    /// Calls that are allowed for the rest of the session after the skill was invoked. Leave these out for a skill from a folder
    /// that the user has not trusted.
    #[serde(default)]
    pub allowed_tools: Vec<Rule>,
    /// Whether the model is told of the skill and may invoke it.
    #[serde(default = "crate::json::yes")]
    pub for_model: bool,
    /// Whether the user may invoke it by name.
    #[serde(default = "crate::json::yes")]
    pub for_person: bool,
}

impl Skill {
    /// A skill that both the model and the user may invoke.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        content: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            content: content.into(),
            directory: None,
            argument_hint: None,
            allowed_tools: Vec::new(),
            for_model: true,
            for_person: true,
        }
    }

    /// Sets the folder it was loaded from.
    #[must_use]
    pub fn in_directory(mut self, directory: impl Into<String>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Its text with the arguments inserted: `$ARGUMENTS` is replaced by all of them, `$ARGUMENTS[0]` by the first word.
    /// Arguments without a placeholder in the text are appended. `${CLAUDE_SKILL_DIR}` is replaced by the skill's folder.
    ///
    /// # Errors
    /// [`TextTooLong`]: the text with the inserted arguments is too long.
    pub fn text(&self, args: &str) -> Result<String, TextTooLong> {
        let args = args.trim();
        let mut text = String::new();
        if let Some(directory) = &self.directory {
            text.push_str(&format!("The files of this skill are in {directory}.\n\n"));
        }
        let directory = self.directory.as_deref().unwrap_or("");
        let places = self.content.matches(DIRECTORY).count();
        if places.saturating_mul(directory.len()) > LONGEST_TEXT {
            return Err(TextTooLong);
        }
        let content = self.content.replace(DIRECTORY, directory);
        let has_place = fill(&mut text, &content, args)?;
        if !has_place && !args.is_empty() {
            text.push_str(&format!("\n\nARGUMENTS: {args}"));
        }
        within_limit(text)
    }
}

/// The placeholder for the skill's folder.
const DIRECTORY: &str = "${CLAUDE_SKILL_DIR}";

/// The longest text of a skill or command after its placeholders are replaced, in bytes.
pub const LONGEST_TEXT: usize = 1 << 20;

/// The text of a skill or command with its arguments is longer than [`LONGEST_TEXT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "its text with these arguments is longer than {LONGEST_TEXT} bytes: give it fewer, or take places for them out of it"
)]
pub struct TextTooLong;

/// Checks the length of a text.
///
/// # Errors
/// [`TextTooLong`].
pub fn within_limit(text: String) -> Result<String, TextTooLong> {
    match text.len() > LONGEST_TEXT {
        true => Err(TextTooLong),
        false => Ok(text),
    }
}

/// Appends a text with its `$ARGUMENTS` replaced; returns whether there were any.
fn fill(out: &mut String, mut content: &str, args: &str) -> Result<bool, TextTooLong> {
    const PLACE: &str = "$ARGUMENTS";
    let words: Vec<&str> = args.split_whitespace().collect();
    let mut has_place = false;
    while let Some((before, after)) = content.split_once(PLACE) {
        has_place = true;
        out.push_str(before);
        if out.len() > LONGEST_TEXT {
            return Err(TextTooLong);
        }
        let numbered = after
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
            .and_then(|(number, rest)| Some((number.parse::<usize>().ok()?, rest)));
        match numbered {
            Some((number, rest)) => {
                out.push_str(words.get(number).unwrap_or(&""));
                content = rest;
            }
            None => {
                out.push_str(args);
                content = after;
            }
        }
    }
    out.push_str(content);
    Ok(has_place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_without_a_place_stand_at_the_end() {
        let skill = Skill::new("s", "d", "Do it.").in_directory("/skills/s");
        assert_eq!(
            skill.text(" now ").unwrap(),
            "The files of this skill are in /skills/s.\n\nDo it.\n\nARGUMENTS: now"
        );
        assert!(skill.text("").unwrap().ends_with("Do it."));
        let twice = Skill::new("s", "d", "$ARGUMENTS, $ARGUMENTS[x] and $ARGUMENTS[7]!");
        assert_eq!(twice.text("a b").unwrap(), "a b, a b[x] and !");
        let many = Skill::new("s", "d", "$ARGUMENTS".repeat(9_000));
        assert_eq!(many.text(&"x".repeat(90_000)), Err(TextTooLong));
        let folders = Skill::new("s", "d", DIRECTORY.repeat(9_000)).in_directory("/x".repeat(900));
        assert_eq!(folders.text(""), Err(TextTooLong));
    }
}
