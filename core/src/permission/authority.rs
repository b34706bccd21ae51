//! Protected places ("authority"): files from which programs, shells or later sessions take instructions.
//!
//! A party that may edit the workspace must not thereby change what is allowed, started or trusted there tomorrow. Changing such
//! a place requires a person's permission in every mode except an explicit bypass. The only rule that allows it is one that a
//! person wrote outside of the folder and that names the place.

use alloc::string::String;

use super::{
    CallFacts, Mode, PathFact, PolicyContext, Rule, Source, Specifier, glob,
    path::lexical,
    path_pattern,
    protected_place::{is_place, lies_in},
};
use crate::tool::Access;

/// The protected place that a call may change without a person having allowed it.
pub(super) fn changed_by(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Option<String> {
    if !is_guarded(policy, call) {
        return None;
    }
    let is_approved = is_approved_line(policy, call);
    let mut facts = (call.paths.iter()).filter(|fact| fact.access == Access::Write);
    let by_path = facts.find_map(|fact| {
        let written = written_name(fact, policy);
        let names = || [&fact.path].into_iter().chain(&written);
        let is_place = |path: &&String| is_place(path, policy.environment);
        let place = match fact.is_brought() {
            true => &fact.path,
            false => names().find(is_place)?,
        };
        let mut allow = policy.rules.allow.iter();
        let is_named = allow.any(|rule| names().any(|path| names_path(rule, path, policy, call)))
            || is_approved && is_written_as_the_place(fact, policy);
        (!is_named).then(|| place.clone())
    });
    if by_path.is_some() {
        return by_path;
    }
    match is_approved {
        true => None,
        false => call.command?.names_authority(policy),
    }
}

/// Whether a call needs permission for protected places: in every mode except an explicit bypass.
pub(super) fn is_guarded(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> bool {
    policy.mode_for(&call.tool.name) != Mode::BypassPermissions
}

/// Whether a person's rule is exactly the line of a call: its author has seen the places named in it.
pub(super) fn is_approved_line(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> bool {
    let Some(line) = call.command else {
        return false;
    };
    policy.rules.allow.iter().any(|rule| {
        is_a_persons(rule) && rule.names_tool(&call.tool.name) && line.is_allowed_line(rule, policy)
    })
}

/// The absolute path under which a call names a file: if a link's own path is protected, it is so wherever the link leads. None
/// for files that are affected only as part of a folder.
fn written_name(fact: &PathFact, policy: &PolicyContext<'_>) -> Option<String> {
    (!fact.is_brought()).then(|| lexical(&policy.environment.cwd, &fact.written))
}

/// Whether a line names the protected place that it changes itself, rather than reaching it through a link or as part of a
/// folder.
fn is_written_as_the_place(fact: &PathFact, policy: &PolicyContext<'_>) -> bool {
    let name = |path: &str| String::from(path.rsplit('/').next().unwrap_or_default());
    written_name(fact, policy).is_some_and(|written| {
        is_place(&written, policy.environment) && name(&written) == name(&fact.path)
    })
}

/// The program's own file or folder that a call reads or changes although it is closed to tools.
pub(super) fn closed_place(policy: &PolicyContext<'_>, call: CallFacts<'_>) -> Option<String> {
    let closed = &policy.environment.private_paths;
    if closed.is_empty() {
        return None;
    }
    let fact = call.paths.iter().find(|fact| lies_in(&fact.path, closed));
    match fact {
        Some(fact) => Some(fact.path.clone()),
        None => call.command?.names_any_of(closed, policy),
    }
}

/// Whether a person wrote the rule outside of the folder's own settings.
fn is_a_persons(rule: &Rule) -> bool {
    matches!(
        rule.source(),
        Source::UserSettings | Source::PolicySettings | Source::CliArg | Source::Session
    )
}

/// Whether a person's rule allows a protected place by its name, not only as part of a folder.
fn names_path(rule: &Rule, path: &str, policy: &PolicyContext<'_>, call: CallFacts<'_>) -> bool {
    let Specifier::Path(pattern) = &rule.specifier else {
        return false;
    };
    let patterns = path_pattern::absolute(rule, pattern, policy);
    let is_for_writing = rule.is_edit() || !rule.is_read() && rule.names_tool(&call.tool.name);
    is_for_writing
        && is_a_persons(rule)
        && patterns.iter().any(|pattern| {
            glob::covers(pattern, path) && is_place(&written_out(pattern), policy.environment)
        })
}

/// The names of a pattern up to the first with a wildcard; `**` is skipped.
fn written_out(pattern: &str) -> String {
    let mut out = String::new();
    for segment in pattern
        .split('/')
        .filter(|segment| !segment.is_empty() && *segment != "**")
    {
        let mut escaped = false;
        let is_wild = segment.chars().any(|c| {
            let wild = !escaped && matches!(c, '*' | '?' | '[');
            escaped = !escaped && c == '\\';
            wild
        });
        if is_wild {
            break;
        }
        out.push('/');
        out.extend(segment.chars().filter(|c| *c != '\\'));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_written_out_up_to_its_first_wildcard() {
        for (pattern, expected) in [
            ("/w/**/.mcp.json", "/w/.mcp.json"),
            ("/w/.claude/commands/**", "/w/.claude/commands"),
            ("/w/*/.claude/**", "/w"),
            ("/w\\[1\\]/.git/config", "/w[1]/.git/config"),
        ] {
            assert_eq!(written_out(pattern), expected, "{pattern}");
        }
    }
}
