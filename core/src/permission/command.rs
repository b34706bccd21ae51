//! Command rules against shell lines, command by command.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use super::{Rule, Specifier, judge::workspace_roots};
use crate::{
    shell::{self, SimpleCommand, Word},
    spec::Environment,
};

/// A shell line, taken apart once for all rules.
#[derive(Debug)]
pub(super) struct CommandLine<'a> {
    text: &'a str,
    /// None when it cannot be followed: nothing is known about it then.
    commands: Option<Vec<SimpleCommand>>,
}

/// How sure it is that a rule concerns a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Concern {
    No,
    /// A word of the rule is computed in the line, or stands behind options.
    Perhaps,
    Yes,
}

impl<'a> CommandLine<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            commands: shell::commands(text).ok(),
        }
    }

    pub(super) fn is_readable(&self) -> bool {
        self.commands.is_some()
    }

    /// Whether a rule that denies or asks is about any command of the line.
    pub(super) fn concern(&self, rule: &Rule) -> Concern {
        let wanted = match &rule.specifier {
            Specifier::CommandPrefix(prefix) => prefix.clone(),
            Specifier::CommandExact(text) if self.text.trim() == text => return Concern::Yes,
            Specifier::CommandExact(text) => text.split_whitespace().map(String::from).collect(),
            _ => return Concern::No,
        };
        // How a line begins is known even when the rest cannot be followed.
        let mut words = self.text.split_whitespace();
        let begins = wanted.iter().all(|word| words.next() == Some(word));
        let is_prefix = matches!(rule.specifier, Specifier::CommandPrefix(_));
        if begins && is_prefix {
            return Concern::Yes;
        }
        let all = self.commands.iter().flatten();
        all.map(|command| concern(command, &wanted, is_prefix))
            .max()
            .unwrap_or(Concern::No)
    }

    /// The rules that allow the line, if every command in it is allowed by one.
    pub(super) fn allowed_by(&self, rules: &[&Rule], environment: &Environment) -> Option<String> {
        let exact = |rule: &&&Rule| matches!(&rule.specifier, Specifier::CommandExact(text) if self.text.trim() == text);
        if let Some(rule) = rules.iter().find(exact) {
            return Some(rule.to_string());
        }
        let mut named: Vec<String> = Vec::new();
        for command in self.commands.as_deref()? {
            // A command that writes files, or whose environment is changed, is not the one that was allowed.
            if command.writes_file || !command.assignments.is_empty() || command.words.is_empty() {
                return None;
            }
            match rules.iter().find(|rule| allows(rule, command)) {
                Some(rule) if named.iter().any(|known| *known == rule.to_string()) => {}
                Some(rule) => named.push(rule.to_string()),
                None if command.wraps || is_harmless(command, environment) => {}
                None => return None,
            }
        }
        (!named.is_empty()).then(|| named.join(", "))
    }
}

fn concern(command: &SimpleCommand, wanted: &[String], is_prefix: bool) -> Concern {
    if command.begins_with(wanted) && (is_prefix || command.words.len() == wanted.len()) {
        return Concern::Yes;
    }
    let (Some(program), Some((first, rest))) = (command.program(), wanted.split_first()) else {
        return Concern::No;
    };
    if program != first.rsplit('/').next().unwrap_or(first) {
        return Concern::No;
    }
    if rest.is_empty() {
        // The same program by another path, or an exact rule with more words.
        return if is_prefix { Concern::Yes } else { Concern::No };
    }
    // `git -C dir push` is what a rule for `git push` means; `git $verb` may be.
    let mut rest = rest.iter();
    let mut next = rest.next();
    for word in &command.words[1..] {
        if !word.is_literal() {
            return Concern::Perhaps;
        }
        if next.is_some_and(|wanted| wanted == word.text()) {
            next = rest.next();
        }
    }
    match next {
        None => Concern::Perhaps,
        Some(_) => Concern::No,
    }
}

fn allows(rule: &Rule, command: &SimpleCommand) -> bool {
    match &rule.specifier {
        Specifier::CommandPrefix(prefix) => command.begins_with(prefix),
        Specifier::CommandExact(text) => {
            let words: Vec<&str> = text.split_whitespace().collect();
            command.words.len() == words.len() && command.begins_with(&words)
        }
        _ => false,
    }
}

/// Builtins that change nothing by themselves; `cd` only within the workspace.
fn is_harmless(command: &SimpleCommand, environment: &Environment) -> bool {
    match command.program() {
        Some("true" | "false" | ":" | "pwd") => true,
        Some("cd") => match &command.words[1..] {
            [target] if target.is_literal() => stays_inside(target, environment),
            _ => false,
        },
        _ => false,
    }
}

fn stays_inside(target: &Word, environment: &Environment) -> bool {
    let path = target.text();
    if path.starts_with('-') || path.split('/').any(|part| part == "..") {
        return false;
    }
    !path.starts_with('/') || workspace_roots(environment).any(|root| super::is_under(root, path))
}
