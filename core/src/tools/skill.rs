//! Skills: instructions for a kind of work. Their descriptions are listed from the start, their texts are loaded when they are
//! invoked.
//!
//! The sources name the tool but specify no schema; this one is ours: `skill` and `args`. Whoever creates the spec provides the
//! skills; `windlass-engine` reads them from `SKILL.md` files.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{Change, CoreToolState, Done, answered};
pub use crate::skill::{DEFAULT_LIST_BUDGET, LONGEST_TEXT, Skill, TextTooLong, within_limit};
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

/// A description that would have to be shortened below this length is left out.
const SHORTEST_DESCRIPTION: usize = 24;

/// The input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillInput {
    /// The skill's name.
    pub skill: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Option<String>,
}

/// The structured output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillOutput {
    /// Always true: a failure is an error result.
    pub success: bool,
    /// The skill's name.
    pub command_name: String,
    /// The rules that apply from now on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
}

/// The skills that the model is told of.
pub(super) fn listed(spec: &Spec) -> impl Iterator<Item = &Skill> {
    let denied = |skill: &Skill| {
        spec.policy
            .permissions
            .rules
            .denies_subject("Skill", &skill.name)
    };
    (spec.tools.skills.iter()).filter(move |skill| skill.for_model && !denied(skill))
}

/// The list of skills within its budget: all descriptions are shortened equally, then left out.
pub(super) fn list(spec: &Spec) -> String {
    let budget = spec.tools.skill_list_budget as usize;
    let length = |text: &str| text.chars().count();
    let lines: Vec<(&str, String)> = listed(spec)
        .map(|skill| (skill.name.as_str(), described(skill)))
        .collect();
    // A line is `- name: description` and a line end.
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

/// The description of a skill on one line.
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

/// The name in an input. People write a slash in front of names, and models copy that.
pub(super) fn name(input: &RawJson) -> Option<String> {
    let given = RawObject::parse(input.get()).ok()?.get_string("skill")?;
    Some(plain_name(&given).to_owned())
}

fn plain_name(given: &str) -> &str {
    given.trim().trim_start_matches('/')
}

fn find<'a>(spec: &'a Spec, name: &str) -> Option<&'a Skill> {
    let name = plain_name(name);
    spec.tools.skills.iter().find(|skill| skill.name == name)
}

/// The error for a skill that does not exist, or is not for the model.
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

pub(super) fn run(input: &SkillInput, spec: &Spec, tool_state: &mut CoreToolState) -> Done {
    let Some(skill) = find(spec, &input.skill) else {
        return Done::failed(format!("There is no skill named {}.", input.skill));
    };
    let text = match skill.text(input.args.as_deref().unwrap_or("")) {
        Ok(text) => text,
        Err(error) => return Done::failed(format!("The skill {}: {error}.", skill.name)),
    };
    if !tool_state.skills.contains(&skill.name) {
        tool_state.skills.push(skill.name.clone());
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
    fn the_list_keeps_its_budget() {
        let mut spec = Spec::default();
        for number in 0..40 {
            let description = "What this skill is good for, told at some length. ".repeat(4);
            spec.tools
                .skills
                .push(Skill::new(format!("skill-{number}"), description, "text"));
        }
        for budget in [16_000, 4_000, 900, 300, 0] {
            spec.tools.skill_list_budget = budget;
            let list = list(&spec);
            let lines = list.strip_prefix("Skills:").unwrap();
            let lines = lines.split("\n(").next().unwrap();
            assert!(lines.chars().count() <= budget as usize, "{budget}: {list}");
            let all = (0..40).all(|n| list.contains(&format!("- skill-{n}")));
            assert_eq!(all, budget >= 900, "{budget}: {list}");
        }
    }
}
