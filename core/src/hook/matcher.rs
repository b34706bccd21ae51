//! Which tools a hook is for.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{pattern::Pattern, permission::other_tool_name};

/// A hook's matcher (Agent SDK reference, `HookCallbackMatcher.matcher`).
///
/// - Absent, empty or `*`: everything.
/// - Names joined by `|` (`Edit|Write`): exactly these. `Bash` is not `BashOutput`.
/// - Anything else: a regular expression ([`Pattern`]) that is searched for anywhere in the name
///   (`^mcp__`, `Notebook.*`).
///
/// The tool that starts subagents is matched by both its names, `Task` and `Agent`.
#[derive(Debug, Clone, Default)]
pub struct Matcher {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, Default)]
enum Kind {
    #[default]
    Everything,
    Names(Vec<String>),
    Expression(Pattern),
}

impl Matcher {
    /// Matches everything.
    #[must_use]
    pub fn everything() -> Self {
        Self::default()
    }

    /// Reads a matcher.
    ///
    /// # Errors
    /// [`MatcherError`] with the place in the text.
    pub fn parse(text: &str) -> Result<Self, MatcherError> {
        let text = text.trim();
        let error = |problem: String| MatcherError {
            matcher: text.to_owned(),
            problem,
        };
        let kind = if text.is_empty() || text == "*" {
            Kind::Everything
        } else if text.chars().all(|c| is_name_char(c) || c == '|') {
            let names: Vec<String> = text.split('|').map(ToOwned::to_owned).collect();
            if names.iter().any(String::is_empty) {
                return Err(error(
                    "a name is missing beside `|`; for every tool write `*`".to_owned(),
                ));
            }
            Kind::Names(names)
        } else {
            Kind::Expression(Pattern::new(text).map_err(|fault| error(fault.to_string()))?)
        };
        Ok(Self {
            text: text.to_owned(),
            kind,
        })
    }

    /// Whether it is about this name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.matches_as_written(name)
            || other_tool_name(name).is_some_and(|other| self.matches_as_written(other))
    }

    fn matches_as_written(&self, name: &str) -> bool {
        match &self.kind {
            Kind::Everything => true,
            Kind::Names(names) => names.iter().any(|known| known == name),
            Kind::Expression(pattern) => pattern.is_match(name),
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Matcher {}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Matcher {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Matcher {
    /// A text; null is everything.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: Option<String> = Option::deserialize(deserializer)?;
        Self::parse(&text.unwrap_or_default())
            .map_err(|error| serde::de::Error::custom(error.to_string()))
    }
}

/// A matcher that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hook matcher `{matcher}` is not usable: {problem}")]
pub struct MatcherError {
    /// The matcher as it is written.
    pub matcher: String,
    /// What is wrong, where, and what would be right.
    pub problem: String,
}

#[cfg(test)]
mod tests {
    use super::Matcher;

    #[test]
    fn hook_2_a_matcher_is_names_or_a_regular_expression_on_the_tool_name() {
        for (matcher, name, expected) in [
            ("", "Bash", true),
            ("*", "Bash", true),
            (".*", "Bash", true),
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("Edit|Write", "Write", true),
            ("Edit|Write", "NotebookEdit", false),
            ("Edit.*|Write", "NotebookEdit", true),
            ("^Edit", "NotebookEdit", false),
            ("mcp__.*", "mcp__github__list", true),
            ("mcp__my-server__list", "mcp__my-server__list", true),
            ("^mcp__(github|gitlab)__", "mcp__gitlab__x", true),
            ("^mcp__(github|gitlab)__", "mcp__gitea__x", false),
            ("Read$|^Glob$", "Globe", false),
            ("^(?!Bash)", "Read", true),
            ("^(?!Bash)", "Bash", false),
        ] {
            let read = Matcher::parse(matcher).unwrap();
            assert_eq!(read.matches(name), expected, "{matcher} on {name}");
        }
    }

    #[test]
    fn an_unusable_matcher_is_refused() {
        for matcher in ["Edit||Write", "|", "(Edit", "[a-", "*.x", r"(a)\1"] {
            let error = Matcher::parse(matcher).unwrap_err();
            assert_eq!(error.matcher, matcher);
        }
    }
}
