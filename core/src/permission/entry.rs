//! A rule as it is written in a settings file, and its position there.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, de};

use super::{Behavior, Rule, RuleError, Source};
use crate::json::RawJson;

/// A rule in a settings file: its text, or an object with examples.
///
/// ```
/// use windlass_core::permission::RuleEntry;
/// let entry: RuleEntry = serde_json::from_str(
///     r#"{"rule": "Bash(npm run:*)", "match": ["npm run build"], "not_match": ["npm runner"]}"#,
/// )?;
/// assert_eq!(entry.matches, ["npm run build"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleEntry {
    /// The rule.
    pub rule: String,
    /// Calls that it must cover: commands, paths, URLs, names, depending on its tool.
    pub matches: Vec<String>,
    /// Calls that it must not cover.
    pub not_matches: Vec<String>,
}

impl From<&str> for RuleEntry {
    fn from(rule: &str) -> Self {
        Self {
            rule: rule.into(),
            ..Self::default()
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryForm {
    rule: String,
    #[serde(rename = "match", default)]
    matches: Vec<String>,
    #[serde(rename = "not_match", default)]
    not_matches: Vec<String>,
}

impl Serialize for RuleEntry {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.matches.is_empty() && self.not_matches.is_empty() {
            return self.rule.serialize(serializer);
        }
        EntryForm {
            rule: self.rule.clone(),
            matches: self.matches.clone(),
            not_matches: self.not_matches.clone(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RuleEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        if !raw.is_object() {
            let rule = raw.read().map_err(|_| {
                de::Error::custom("a permission rule is a text, or an object with `rule`")
            })?;
            return Ok(Self {
                rule,
                ..Self::default()
            });
        }
        let form: EntryForm = raw.read().map_err(|error| {
            // The position within the entry would be taken for one in the file.
            let (problem, _) =
                (error.reason.rsplit_once(" at line ")).unwrap_or((&error.reason, ""));
            de::Error::custom(problem)
        })?;
        Ok(Self {
            rule: form.rule,
            matches: form.matches,
            not_matches: form.not_matches,
        })
    }
}

/// A rule and its position in a layer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) entry: &'a RuleEntry,
    pub(super) behavior: Behavior,
    pub(super) source: Source,
    pub(super) root: Option<&'a str>,
}

impl Placed<'_> {
    pub(super) fn rule(&self) -> Result<Rule, RuleError> {
        let rule = Rule::parse(&self.entry.rule)?;
        Ok(rule.from_source(self.source).rooted(self.root))
    }
}
