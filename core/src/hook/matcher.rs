//! Matchers: which tools a hook runs for.

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
/// - Names joined by `|` or `,` (`Edit|Write`, `Bash, Read`): exactly these. `Bash` does not match `BashOutput`.
/// - Anything else: a regular expression ([`Pattern`]) that is searched for anywhere in the name (`^mcp__`, `Notebook.*`). An
///   expression that requires a comma, or a space next to `|`, is refused: it would never match.
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
    /// A matcher for everything.
    #[must_use]
    pub fn everything() -> Self {
        Self::default()
    }

    /// Parses a matcher.
    ///
    /// # Errors
    /// [`MatcherError`] with the position in the text.
    pub fn parse(text: &str) -> Result<Self, MatcherError> {
        let text = text.trim();
        let error = |problem: String| MatcherError {
            matcher: text.to_owned(),
            problem,
        };
        let kind = if text.is_empty() || text == "*" {
            Kind::Everything
        } else if let Some(names) = names(text) {
            if names.iter().any(String::is_empty) {
                return Err(error(
                    "a name is missing beside `|` or `,`; for every tool write `*`".to_owned(),
                ));
            }
            Kind::Names(names)
        } else if asks_for_a_comma(text) {
            return Err(error(
                "no name holds a comma, so it would never match: in an expression, write `|` between alternatives"
                    .to_owned(),
            ));
        } else if text.contains(" |") || text.contains("| ") {
            return Err(error(
                "no name begins or ends with a space, so what stands there would never match: leave the spaces beside `|` out"
                    .to_owned(),
            ));
        } else {
            Kind::Expression(Pattern::new(text).map_err(|fault| error(fault.to_string()))?)
        };
        Ok(Self {
            text: text.to_owned(),
            kind,
        })
    }

    /// Whether it matches this name.
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

/// The names in a text that is a list of names.
fn names(text: &str) -> Option<Vec<String>> {
    let names = text.split(['|', ',']).map(str::trim);
    names
        .map(|name| name.chars().all(is_name_char).then(|| name.to_owned()))
        .collect()
}

/// Whether an expression contains a literal comma: one outside of `{2,3}` and `[a,b]`.
fn asks_for_a_comma(text: &str) -> bool {
    let (mut in_class, mut in_count, mut escaped) = (false, false, false);
    for c in text.chars() {
        match c {
            _ if escaped => {
                escaped = false;
                continue;
            }
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '{' if !in_class => in_count = true,
            '}' => in_count = false,
            ',' if !in_class && !in_count => return true,
            _ => {}
        }
    }
    false
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
    /// Reads a text; null matches everything.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: Option<String> = Option::deserialize(deserializer)?;
        Self::parse(&text.unwrap_or_default())
            .map_err(|error| serde::de::Error::custom(error.to_string()))
    }
}

/// An invalid matcher.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hook matcher `{matcher}` is not usable: {problem}")]
pub struct MatcherError {
    /// The matcher as written.
    pub matcher: String,
    /// What is wrong, where, and what would be valid.
    pub problem: String,
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

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
            // A list with commas, which would never match as an expression.
            ("Bash,PowerShell", "Bash", true),
            ("Bash,PowerShell", "PowerShell", true),
            ("Bash, PowerShell", "PowerShell", true),
            ("Bash,PowerShell", "BashOutput", false),
            ("Edit | Write", "Write", true),
            // A hyphen does not turn a name into an expression.
            ("code-reviewer", "code-reviewer", true),
            ("code-reviewer", "senior-code-reviewer", false),
            ("mcp__my-server", "mcp__my-server__list", false),
            ("^mcp__.{1,3}__", "mcp__git__list", true),
            ("^[M,m]cp__", "mcp__git__list", true),
        ] {
            let read = Matcher::parse(matcher).unwrap();
            assert_eq!(read.matches(name), expected, "{matcher} on {name}");
        }
    }

    #[test]
    fn an_unusable_matcher_is_refused_and_told_what_to_write() {
        for (matcher, words) in [
            ("Edit||Write", "for every tool write `*`"),
            ("|", "for every tool write `*`"),
            ("Bash,", "for every tool write `*`"),
            ("(Edit", "not closed"),
            ("[a-", ""),
            ("*.x", ""),
            (r"(a)\1", ""),
            ("Edit,mcp__.*", "write `|` between alternatives"),
            ("^(Bash, Read)$", "write `|` between alternatives"),
            ("mcp__.* | Bash", "leave the spaces beside `|` out"),
        ] {
            let error = Matcher::parse(matcher).unwrap_err();
            assert_eq!(error.matcher, matcher);
            assert!(error.to_string().contains(matcher), "{error}");
            assert!(error.problem.contains(words), "{error}");
        }
    }
}
