//! Skills: instructions for a kind of work, with places for arguments. The tool that fetches them is
//! [`tools::skill`](crate::tools::skill).

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::permission::Rule;

/// Characters that the list of skills may take when nothing else is said.
pub const DEFAULT_LIST_BUDGET: u32 = 16_000;

/// A skill. In a session request it is an object with these fields; all but the first three may be left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skill {
    /// Its name: small letters, digits and hyphens; a plugin's name and a colon may stand before it.
    pub name: String,
    /// What it is for, and when to use it.
    pub description: String,
    /// The instructions.
    pub content: String,
    /// The folder it came from: what its text refers to lies there.
    #[serde(default)]
    pub directory: Option<String>,
    /// What its arguments are, in a word or two (`[file]`).
    #[serde(default)]
    pub argument_hint: Option<String>,
    /// Calls that are allowed for the rest of the session once it was invoked. Leave these out for a skill from a
    /// folder that the person has not trusted.
    #[serde(default)]
    pub allowed_tools: Vec<Rule>,
    /// Whether the model may invoke it, and reads about it.
    #[serde(default = "crate::json::yes")]
    pub for_model: bool,
    /// Whether the person may invoke it by its name.
    #[serde(default = "crate::json::yes")]
    pub for_person: bool,
}

impl Skill {
    /// A skill that anybody may invoke.
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

    /// The same with the folder it came from.
    #[must_use]
    pub fn in_directory(mut self, directory: impl Into<String>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Its text with the arguments in their places: `$ARGUMENTS` for all of them, `$ARGUMENTS[0]` for the first word.
    /// Where the text has no such place they stand at its end. `${CLAUDE_SKILL_DIR}` is its folder.
    ///
    /// # Errors
    /// [`TextTooLong`]: the places multiply what stands in them.
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

/// Stands for a skill's folder.
const DIRECTORY: &str = "${CLAUDE_SKILL_DIR}";

/// The longest text that the places of a skill or command are filled to, in bytes.
pub const LONGEST_TEXT: usize = 1 << 20;

/// The text of a skill or command with its arguments is longer than [`LONGEST_TEXT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "its text with these arguments is longer than {LONGEST_TEXT} bytes: give it fewer, or take places for them out of it"
)]
pub struct TextTooLong;

/// A text, if it is not too long.
///
/// # Errors
/// [`TextTooLong`].
pub fn within_limit(text: String) -> Result<String, TextTooLong> {
    match text.len() > LONGEST_TEXT {
        true => Err(TextTooLong),
        false => Ok(text),
    }
}

/// Appends a text with its `$ARGUMENTS` replaced; whether there were any.
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
