//! Examples in rules: calls that a rule is meant to cover or not to cover, checked on loading.

use alloc::string::{String, ToString};

use super::{
    Behavior, CallFacts, Mode, PathFact, PolicyContext, Rule, RuleEntry, Rules, Specifier,
    command::{CommandLine, RuleMatch},
    judge, path,
};
use crate::{
    environment::Environment,
    json::RawJson,
    tool::{Access, ToolDefinition},
};

/// An example that is not met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "permission rule `{rule}` {} `{example}`, although it is one of its `{}` examples: change the rule or the example",
    if *covered { "covers" } else { "does not cover" },
    if *covered { "not_match" } else { "match" }
)]
pub struct ExampleError {
    /// The rule.
    pub rule: String,
    /// The example.
    pub example: String,
    /// Whether the rule covers it.
    pub covered: bool,
}

/// Checks the examples of a rule.
pub(super) fn check(
    rule: &Rule,
    behavior: Behavior,
    entry: &RuleEntry,
    environment: &Environment,
) -> Result<(), ExampleError> {
    let wanted = entry.matches.iter().map(|example| (example, true));
    let unwanted = entry.not_matches.iter().map(|example| (example, false));
    for (example, expected) in wanted.chain(unwanted) {
        let covered = rule.covers_example(behavior, example, environment);
        if covered != expected {
            return Err(ExampleError {
                rule: rule.to_string(),
                example: example.clone(),
                covered,
            });
        }
    }
    Ok(())
}

impl Rule {
    /// Whether the rule by itself would decide an example of a call: a command, a path, a URL, the name of a subagent or skill,
    /// or the name of a tool, depending on the rule's tool. An allow rule must cover the whole call; a deny or ask rule any part
    /// of it.
    #[must_use]
    pub fn covers_example(
        &self,
        behavior: Behavior,
        example: &str,
        environment: &Environment,
    ) -> bool {
        let by_name = self.specifier == Specifier::Any
            && (self.tool().starts_with("mcp__") || self.names_tool(example));
        let tool = if by_name { example } else { self.tool() };
        let tool = ToolDefinition::new(tool, "", RawJson::empty_object());
        let rules = Rules::default();
        let policy = PolicyContext::new(&rules, Mode::Default, environment);
        let mut call = CallFacts::of(&tool);
        let mut paths = alloc::vec::Vec::new();
        let line = CommandLine::read(example, &environment.cwd);
        match self.specifier {
            Specifier::Command(_) => {
                call.command = Some(&line);
                // Examples are checked without accessing files.
                paths.extend(line.paths().into_iter().map(|asked| PathFact {
                    path: path::lexical(&environment.cwd, &asked.path),
                    access: asked.access,
                    written: asked.path,
                }));
            }
            Specifier::Domain(_) => call.url = Some(example),
            Specifier::Name(_) => call.name = Some(example),
            Specifier::Path(_) => paths.push(PathFact {
                path: match (example.strip_prefix("~/"), &environment.home) {
                    (Some(rest), Some(home)) => path::lexical(home, rest),
                    _ => path::lexical(&environment.cwd, example),
                },
                access: if self.is_edit() {
                    Access::Write
                } else {
                    Access::Read
                },
                written: example.into(),
            }),
            Specifier::Any => {}
        }
        call.paths = &paths;
        if behavior != Behavior::Allow {
            return judge::rule_match(self, &policy, call) == RuleMatch::Yes;
        }
        judge::allows_whole(self, &policy, call)
            || call.command.is_some_and(|line| {
                let rules = [self];
                line.allowed_by(&rules, &policy, call.paths).is_some()
            })
    }
}
