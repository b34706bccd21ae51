//! Skills from Markdown files: `.claude/skills/*/SKILL.md`.

use windlass_core::{
    permission::{Rule, RuleError},
    tools::skill::Skill,
};

use super::{arguments::spelled_out, command::argument_names};
use crate::frontmatter::{Document, FrontmatterError};

/// The maximum length of a name, in bytes.
const LONGEST_NAME: usize = 64;

/// Parses a `SKILL.md`: `name` (by default `folder`, the name of its folder), `description`, `allowed-tools`,
/// `argument-hint`, `arguments`, `disable-model-invocation`, `user-invocable`. Other fields are ignored.
///
/// # Errors
/// [`SkillFileError`] naming the field; nothing of the file is used.
pub fn parse_skill_file(text: &str, folder: &str) -> Result<Skill, SkillFileError> {
    let file = Document::parse(text)?;
    let fields = file.front.unwrap_or_default();
    let given = |key: &str| Ok::<_, SkillFileError>(fields.text(key)?.map(ToOwned::to_owned));
    let name = given("name")?.unwrap_or_else(|| folder.to_owned());
    if !is_skill_name(&name) {
        return Err(SkillFileError::Name { name });
    }
    let Some(description) = given("description")?.filter(|text| !text.trim().is_empty()) else {
        return Err(SkillFileError::NoDescription { name });
    };
    let allowed = fields.list("allowed-tools")?.unwrap_or_default();
    let allowed_tools: Result<Vec<Rule>, RuleError> =
        allowed.iter().map(|rule| Rule::parse(rule)).collect();
    let arguments = argument_names(&fields)?;
    Ok(Skill {
        argument_hint: given("argument-hint")?,
        allowed_tools: allowed_tools.map_err(|e| SkillFileError::Rule(e.at("allowed-tools")))?,
        for_model: !fields.flag("disable-model-invocation")?.unwrap_or(false),
        for_person: fields.flag("user-invocable")?.unwrap_or(true),
        ..Skill::new(name, description, spelled_out(file.body.trim(), &arguments))
    })
}

/// A skill's file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillFileError {
    /// The fields at its head cannot be parsed.
    #[error(transparent)]
    Fields(#[from] FrontmatterError),
    /// An invalid name.
    #[error(
        "`{name}` is not a skill's name: it takes 1 to {LONGEST_NAME} small letters, digits and single hyphens"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The description is missing.
    #[error(
        "the skill {name} has no description, and without one nobody knows when to use it: add a line `description: …`"
    )]
    NoDescription {
        /// The skill.
        name: String,
    },
    /// An invalid rule in `allowed-tools`.
    #[error(transparent)]
    Rule(RuleError),
}

/// Names become part of rules and lists, so their characters are restricted.
fn is_skill_name(name: &str) -> bool {
    let is_name = |name: &str| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        (1..=LONGEST_NAME).contains(&name.len())
            && name.chars().all(plain)
            && !name.starts_with('-')
            && !name.ends_with('-')
            && !name.contains("--")
    };
    match name.split_once(':') {
        Some((plugin, skill)) => is_name(plugin) && is_name(skill),
        None => is_name(name),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const FILE: &str = "---\nname: release-notes\ndescription: Writes release notes.\nargument-hint: \"[version]\"\nallowed-tools: Read, Bash(git log:*)\nlicense: MIT\n---\n\nNotes for $ARGUMENTS[0].\n";

    #[test]
    fn a_file_is_read_with_its_fields() {
        let skill = parse_skill_file(FILE, "folder").unwrap();
        assert_eq!(skill.name, "release-notes");
        assert_eq!(skill.argument_hint.as_deref(), Some("[version]"));
        assert_eq!(skill.allowed_tools.len(), 2);
        assert!(skill.for_model && skill.for_person);
        assert_eq!(skill.text("1.2 draft").unwrap(), "Notes for 1.2.");
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named() {
        for (text, named) in [
            ("---\nname: Bad,Name\ndescription: d\n---\nx", "Bad,Name"),
            ("---\nname: a--b\ndescription: d\n---\nx", "a--b"),
            ("no fields at all", "no description"),
            (
                "---\ndescription: d\nallowed-tools: Bash(\n---\nx",
                "allowed-tools",
            ),
            (
                "---\ndescription: d\nuser-invocable: 3\n---\nx",
                "user-invocable",
            ),
            ("---\ndescription: d\n", "never closed"),
        ] {
            let error = parse_skill_file(text, "folder").unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
        let named_by_folder = parse_skill_file("---\ndescription: d\n---\nx", "a-folder").unwrap();
        assert_eq!(named_by_folder.name, "a-folder");
    }

    #[test]
    fn a_malformed_file_says_what_would_be_right() {
        for (text, expected) in [
            (
                "---\nname: Not A Name\ndescription: x\n---\nText",
                &["`Not A Name`", "small letters"][..],
            ),
            (
                "---\nname: a\n---\nText",
                &["the skill a", "add a line `description: …`"],
            ),
            (
                "---\nname: a\ndescription: b\nallowed-tools: Bash(\n---\nText",
                &["not closed", "allowed-tools"],
            ),
        ] {
            let said = parse_skill_file(text, "folder").unwrap_err().to_string();
            for words in expected {
                assert!(said.contains(words), "{words} in {said}");
            }
        }
    }
}
