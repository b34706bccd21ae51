//! Skills: instructions for a kind of work. Their descriptions are there from the start, their texts only once
//! they are invoked.
//!
//! The sources name the tool but give no schema for it; this is ours: `skill` and `args`. Where skills come from
//! is the business of whoever makes the spec; `windlass-engine` reads them from `SKILL.md` files.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{Change, Done, Notes, answered};
use crate::{
    json::{RawJson, RawObject},
    permission::Rule,
    spec::Spec,
};

pub(super) const DESCRIPTION: &str = "Fetches the instructions of a skill. When a task is what one of the skills below is for, \
call this before anything else and follow what it says; do not guess what a skill contains. Words behind the name of a skill go into `args`.";

pub(super) const INPUT_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "skill": { "type": "string", "minLength": 1, "description": "The name of the skill" },
    "args": { "type": "string", "description": "What the skill is to be applied to" }
  },
  "required": ["skill"]
}"#;

/// Characters that the list of skills may take when nothing else is said.
pub const DEFAULT_LIST_BUDGET: u32 = 16_000;
/// A description that would have to be shorter than this is left out.
const SHORTEST_DESCRIPTION: usize = 24;

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

/// The input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillInput {
    /// The skill's name.
    pub skill: String,
    /// What it is to be applied to.
    #[serde(default)]
    pub args: Option<String>,
}

/// The structured output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillOutput {
    /// Always true: what fails is an error.
    pub success: bool,
    /// The skill's name.
    pub command_name: String,
    /// The rules that hold since.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
}

/// The skills that the model reads about.
pub(super) fn listed(spec: &Spec) -> impl Iterator<Item = &Skill> {
    let denied = |skill: &Skill| spec.permissions.rules.denies_subject("Skill", &skill.name);
    (spec.skills.iter()).filter(move |skill| skill.for_model && !denied(skill))
}

/// The list of skills within its budget: descriptions are shortened alike, then left out.
pub(super) fn list(spec: &Spec) -> String {
    let budget = spec.skill_list_budget as usize;
    let length = |text: &str| text.chars().count();
    let lines: Vec<(&str, String)> = listed(spec)
        .map(|skill| (skill.name.as_str(), described(skill)))
        .collect();
    // A line is `- name: description` and its end.
    let names: usize = lines.iter().map(|(name, _)| length(name) + 3).sum();
    let full: usize = names
        + lines
            .iter()
            .map(|(_, text)| length(text) + 2)
            .sum::<usize>();
    let each = match full <= budget {
        true => usize::MAX,
        false => (budget.saturating_sub(names) / lines.len().max(1)).saturating_sub(2),
    };
    let (mut list, mut used, mut left) = (String::from("Skills:"), 0, 0usize);
    for (name, text) in &lines {
        let line = match each {
            each if each < SHORTEST_DESCRIPTION => format!("\n- {name}"),
            each => format!("\n- {name}: {}", shortened(text, each)),
        };
        used += length(&line);
        if used > budget {
            left += 1;
        } else {
            list.push_str(&line);
        }
    }
    if left > 0 {
        list.push_str(&format!("\n({left} more do not fit here)"));
    }
    list
}

/// What is said about a skill, on one line.
fn described(skill: &Skill) -> String {
    let words: Vec<&str> = skill.description.split_whitespace().collect();
    match &skill.argument_hint {
        Some(hint) => format!("{} (args: {hint})", words.join(" ")),
        None => words.join(" "),
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(most.saturating_sub(1)).collect();
            format!("{}…", kept.trim_end())
        }
    }
}

/// The name in an input: people write a slash before the names of what they invoke, and models copy it.
pub(super) fn name(input: &RawJson) -> Option<String> {
    let given = RawObject::parse(input.get()).ok()?.get_string("skill")?;
    Some(plain_name(&given).to_owned())
}

fn plain_name(given: &str) -> &str {
    given.trim().trim_start_matches('/')
}

fn find<'a>(spec: &'a Spec, name: &str) -> Option<&'a Skill> {
    let name = plain_name(name);
    spec.skills.iter().find(|skill| skill.name == name)
}

/// A skill that is not there, or not for the model.
pub(super) fn fault(input: &RawJson, spec: &Spec) -> Option<String> {
    let input: SkillInput = match input.read() {
        Ok(input) => input,
        Err(error) => return Some(format!("The input cannot be used: {error}")),
    };
    match find(spec, &input.skill) {
        Some(skill) if skill.for_model => None,
        Some(skill) => Some(format!(
            "The skill {} can be invoked by the person only.",
            skill.name
        )),
        None => {
            let names: Vec<&str> = listed(spec).map(|skill| skill.name.as_str()).collect();
            Some(format!(
                "There is no skill named {}. The skills are: {}.",
                input.skill.trim(),
                names.join(", ")
            ))
        }
    }
}

pub(super) fn run(input: &SkillInput, spec: &Spec, notes: &mut Notes) -> Done {
    let Some(skill) = find(spec, &input.skill) else {
        return Done::failed(format!("There is no skill named {}.", input.skill));
    };
    let text = match skill.text(input.args.as_deref().unwrap_or("")) {
        Ok(text) => text,
        Err(error) => return Done::failed(format!("The skill {}: {error}.", skill.name)),
    };
    if !notes.skills.contains(&skill.name) {
        notes.skills.push(skill.name.clone());
    }
    let output = SkillOutput {
        success: true,
        command_name: skill.name.clone(),
        allowed_tools: skill.allowed_tools.iter().map(Rule::to_string).collect(),
    };
    let mut changes = Vec::new();
    if !skill.allowed_tools.is_empty() {
        changes.push(Change::Allow(skill.allowed_tools.clone()));
    }
    Done {
        result: answered(text, &output),
        changes,
    }
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

    #[test]
    fn the_list_keeps_its_budget() {
        let mut spec = Spec::default();
        for number in 0..40 {
            let description = "What this skill is good for, told at some length. ".repeat(4);
            spec.skills
                .push(Skill::new(format!("skill-{number}"), description, "text"));
        }
        for budget in [16_000, 4_000, 900, 300, 0] {
            spec.skill_list_budget = budget;
            let list = list(&spec);
            let lines = list.strip_prefix("Skills:").unwrap();
            let lines = lines.split("\n(").next().unwrap();
            assert!(lines.chars().count() <= budget as usize, "{budget}: {list}");
            let all = (0..40).all(|n| list.contains(&format!("- skill-{n}")));
            assert_eq!(all, budget >= 900, "{budget}: {list}");
        }
    }
}
