//! The order of judgement: deny rules, ask rules, allow rules, mode, whoever can be asked.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    Mode, Rule, Rules, Specifier,
    command::{CommandLine, Concern},
    glob,
};
use crate::{
    spec::Environment,
    tool::{Access, DenyPattern, ToolDefinition},
    tools::Consent,
};

/// What judging needs to know of a call.
#[derive(Debug, Clone, Copy)]
pub struct CallFacts<'a> {
    /// The tool.
    pub tool: &'a ToolDefinition,
    /// The command, for tools that run one.
    pub command: Option<&'a str>,
    /// The files it names, resolved.
    pub paths: &'a [PathFact],
    /// What rules such as `Skill(name)` compare: the name of what the call is about, where it has one.
    pub subject: Option<&'a str>,
    /// Who must agree, for tools that the core runs.
    pub consent: Consent,
}

/// A file a call names.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PathFact {
    /// Absolute and real.
    pub path: String,
    /// What is done to it.
    pub access: Access,
}

/// A decision and why it was taken. No call runs without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What happens.
    pub verdict: Verdict,
    /// What decided.
    pub cause: Cause,
}

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// What decided.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// A rule, as it is written.
    Rule(String),
    /// The command cannot be compared with the rules for commands.
    UnreadableCommand,
    /// The mode.
    Mode(Mode),
    /// Reading inside the workspace is free here.
    WorkspaceRead,
    /// A path outside the workspace.
    OutsideWorkspace(String),
    /// The call changes nothing outside the session.
    OwnState,
    /// Only a person can answer.
    AsksThePerson,
    /// Nothing covers the call.
    NoRule,
}

impl Cause {
    /// One sentence for people.
    #[must_use]
    pub fn explain(&self) -> String {
        match self {
            Self::Rule(rule) => format!("the rule {rule} says so"),
            Self::UnreadableCommand => {
                "the command cannot be taken apart, so no rule for commands can be applied"
                    .to_owned()
            }
            Self::Mode(mode) => format!("permission mode is {}", mode.name()),
            Self::WorkspaceRead => "reading inside the workspace is free".to_owned(),
            Self::OutsideWorkspace(path) => format!("{path} is outside the workspace"),
            Self::OwnState => "it changes nothing outside the session".to_owned(),
            Self::AsksThePerson => "only a person can answer it".to_owned(),
            Self::NoRule => "no permission rule covers it".to_owned(),
        }
    }
}

/// Judges a call. Pure: the same arguments give the same decision.
#[must_use]
pub fn judge(
    rules: &Rules,
    session_allow: &[Rule],
    mode: Mode,
    free_reads: bool,
    environment: &Environment,
    call: CallFacts<'_>,
) -> Decision {
    let decide = |verdict, cause| Decision { verdict, cause };
    let line = call.command.map(CommandLine::new);
    let cause = |rule: &Rule| Cause::Rule(rule.to_string());
    let concern = |rule: &&Rule| concern(rule, environment, call, line.as_ref());
    if let Some(rule) = rules.deny.iter().find(|r| concern(r) == Concern::Yes) {
        return decide(Verdict::Deny, cause(rule));
    }
    if call.consent == Consent::Person {
        // No rule and no mode answers for a person; where nobody is ever asked there is no answer.
        return match mode {
            Mode::DontAsk => decide(Verdict::Deny, Cause::Mode(mode)),
            _ => decide(Verdict::Ask, Cause::AsksThePerson),
        };
    }
    let is_free = call.consent == Consent::Free;
    if mode == Mode::Plan && !call.tool.annotations.read_only && !is_free {
        return decide(Verdict::Deny, Cause::Mode(mode));
    }
    let mut guards = rules.ask.iter().chain(&rules.deny);
    let ask = guards
        .clone()
        .find(|r| concern(r) != Concern::No)
        .map(cause)
        .or_else(|| {
            let hidden = line.as_ref().is_some_and(|line| !line.is_readable())
                && guards.any(|rule| is_about_commands(rule, call.tool));
            hidden.then_some(Cause::UnreadableCommand)
        });
    if let Some(cause) = ask {
        // A rule that asks is stronger than a mode that does not; but whoever never asks, denies.
        let verdict = if mode == Mode::DontAsk {
            Verdict::Deny
        } else {
            Verdict::Ask
        };
        return decide(verdict, cause);
    }
    if is_free {
        return decide(Verdict::Allow, Cause::OwnState);
    }
    let allow: Vec<&Rule> = rules.allow.iter().chain(session_allow).collect();
    if let Some(rules) = allowed_by(&allow, environment, call, line.as_ref()) {
        return decide(Verdict::Allow, Cause::Rule(rules));
    }
    by_mode(mode, free_reads, environment, call)
}

fn by_mode(
    mode: Mode,
    free_reads: bool,
    environment: &Environment,
    call: CallFacts<'_>,
) -> Decision {
    let decide = |verdict, cause| Decision { verdict, cause };
    if mode == Mode::BypassPermissions {
        return decide(Verdict::Allow, Cause::Mode(mode));
    }
    let outside = call
        .paths
        .iter()
        .find(|fact| !in_workspace(environment, &fact.path));
    let names_files = !call.paths.is_empty() && outside.is_none();
    if names_files && free_reads && call.tool.annotations.read_only {
        return decide(Verdict::Allow, Cause::WorkspaceRead);
    }
    if names_files && mode == Mode::AcceptEdits && call.tool.edits_files() {
        return decide(Verdict::Allow, Cause::Mode(mode));
    }
    match (mode, outside) {
        (Mode::DontAsk, _) => decide(Verdict::Deny, Cause::Mode(mode)),
        (_, Some(fact)) => decide(Verdict::Ask, Cause::OutsideWorkspace(fact.path.clone())),
        (_, None) => decide(Verdict::Ask, Cause::NoRule),
    }
}

/// Whether a rule that denies or asks is about a call: one path or one command is enough.
fn concern(
    rule: &Rule,
    environment: &Environment,
    call: CallFacts<'_>,
    line: Option<&CommandLine<'_>>,
) -> Concern {
    let sure = |yes| if yes { Concern::Yes } else { Concern::No };
    match &rule.specifier {
        Specifier::Any => sure(rule.names_tool(&call.tool.name)),
        Specifier::Path(pattern) => {
            let pattern = absolute_pattern(pattern, environment);
            // A file that must not be read must not be written either.
            sure(call.paths.iter().any(|fact| {
                (fact.access == Access::Write || !rule.is_edit())
                    && glob::covers(&pattern, &fact.path)
            }))
        }
        Specifier::CommandExact(_) | Specifier::CommandPrefix(_) => match line {
            Some(line) if rule.names_tool(&call.tool.name) => line.concern(rule),
            _ => Concern::No,
        },
        Specifier::Subject(_) => sure(is_about_subject(rule, call)),
    }
}

/// The rules that allow a call: all its paths, or all its commands, must be covered.
fn allowed_by(
    rules: &[&Rule],
    environment: &Environment,
    call: CallFacts<'_>,
    line: Option<&CommandLine<'_>>,
) -> Option<String> {
    let covers = |rule: &&&Rule| match &rule.specifier {
        Specifier::Any => rule.names_tool(&call.tool.name),
        Specifier::Path(pattern) => {
            let pattern = absolute_pattern(pattern, environment);
            let wanted = if rule.is_edit() {
                Access::Write
            } else {
                Access::Read
            };
            let covered =
                |fact: &PathFact| fact.access == wanted && glob::covers(&pattern, &fact.path);
            !call.paths.is_empty() && call.paths.iter().all(covered)
        }
        Specifier::Subject(_) => is_about_subject(rule, call),
        Specifier::CommandExact(_) | Specifier::CommandPrefix(_) => false,
    };
    if let Some(rule) = rules.iter().find(covers) {
        return Some(rule.to_string());
    }
    let about_commands: Vec<&Rule> = rules
        .iter()
        .copied()
        .filter(|rule| is_about_commands(rule, call.tool))
        .collect();
    line?.allowed_by(&about_commands, environment)
}

fn is_about_subject(rule: &Rule, call: CallFacts<'_>) -> bool {
    rule.names_tool(&call.tool.name)
        && call
            .subject
            .is_some_and(|subject| rule.names_subject(subject))
}

fn is_about_commands(rule: &Rule, tool: &ToolDefinition) -> bool {
    rule.names_tool(&tool.name)
        && matches!(
            rule.specifier,
            Specifier::CommandExact(_) | Specifier::CommandPrefix(_)
        )
}

/// The workspace: the working directory and the additional ones.
pub(crate) fn workspace_roots(environment: &Environment) -> impl Iterator<Item = &str> {
    core::iter::once(&environment.cwd)
        .chain(&environment.additional_directories)
        .map(String::as_str)
        .filter(|root| !root.is_empty())
}

pub(crate) fn is_under(root: &str, path: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn in_workspace(environment: &Environment, path: &str) -> bool {
    workspace_roots(environment).any(|root| is_under(root, path))
}

/// A path pattern with its anchor resolved: `//absolute`, `~/home`, `/project`, `relative`, `name`.
fn absolute_pattern(pattern: &str, environment: &Environment) -> String {
    // The names of real directories may look like patterns (`[id]`); they are none.
    let cwd = glob::escape(environment.cwd.trim_end_matches('/'));
    if let Some(absolute) = pattern.strip_prefix("//") {
        return format!("/{absolute}");
    }
    if let Some(rest) = pattern.strip_prefix("~/") {
        let home = environment.home.as_deref().unwrap_or("/nonexistent-home");
        return format!("{}/{rest}", glob::escape(home.trim_end_matches('/')));
    }
    if let Some(rest) = pattern
        .strip_prefix("./")
        .or_else(|| pattern.strip_prefix('/'))
    {
        return format!("{cwd}/{rest}");
    }
    // As in gitignore: a name without a slash is meant at any depth.
    if pattern.trim_end_matches('/').contains('/') {
        format!("{cwd}/{pattern}")
    } else {
        format!("{cwd}/**/{pattern}")
    }
}

/// The file deny rules as patterns for the host's resolver: what they cover is unreachable, not
/// merely unasked for.
pub(crate) fn deny_patterns(rules: &Rules, environment: &Environment) -> Vec<DenyPattern> {
    rules
        .deny
        .iter()
        .filter_map(|rule| {
            let access = if rule.is_edit() {
                Access::Write
            } else {
                Access::Read
            };
            match &rule.specifier {
                Specifier::Path(pattern) => Some(DenyPattern {
                    pattern: absolute_pattern(pattern, environment),
                    access,
                }),
                _ => None,
            }
        })
        .collect()
}
