//! Path rules: where their patterns are anchored.

use alloc::{format, string::String, vec::Vec};

use super::{PolicyContext, Rule, Specifier, glob};
use crate::{
    environment::Environment,
    permission::ResolvePath,
    tool::{Access, DenyPattern},
};

/// A rule's pattern over absolute paths, with its anchor resolved: `//absolute`, `~/home`, `/from the rule's
/// own folder`, `./from the working directory`, and a name at any depth of the workspace. Alternatives
/// in braces become patterns of their own.
pub(super) fn absolute(rule: &Rule, pattern: &str, policy: &PolicyContext<'_>) -> Vec<String> {
    // The names of real directories may look like patterns (`[id]`); they are none.
    let literal = |directory: &str| glob::escape(directory.trim_end_matches('/'));
    let cwds = || core::iter::once(&policy.environment.cwd).chain(policy.left);
    let anchored: Vec<String> = if let Some(absolute) = pattern.strip_prefix("//") {
        alloc::vec![format!("/{absolute}")]
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        // Without a home there is nothing that the rule could mean.
        let home = policy.environment.home.as_deref();
        home.map(|home| format!("{}/{rest}", literal(home)))
            .into_iter()
            .collect()
    } else if let Some(rest) = pattern.strip_prefix('/') {
        match rule.root() {
            Some(root) => alloc::vec![format!("{}/{rest}", literal(root))],
            None => (cwds().map(|cwd| format!("{}/{rest}", literal(cwd)))).collect(),
        }
    } else if let Some(rest) = pattern.strip_prefix("./") {
        (cwds().map(|cwd| format!("{}/{rest}", literal(cwd)))).collect()
    } else if pattern.trim_end_matches('/').contains('/') {
        (cwds().map(|cwd| format!("{}/{pattern}", literal(cwd)))).collect()
    } else {
        // As in gitignore: a name without a slash is meant at any depth.
        let roots = policy.workspace_roots();
        roots
            .chain(policy.left.iter().map(String::as_str))
            .map(|root| format!("{}/**/{pattern}", literal(root)))
            .collect()
    };
    anchored
        .iter()
        .flat_map(|pattern| normal_patterns(pattern).unwrap_or_default())
        .collect()
}

/// The patterns that a pattern of a person stands for, as they are compared with the real paths of files: one for each of its
/// alternatives in braces, without `.`, `..` and repeated slashes. All that close files are made here, whoever compares them.
///
/// # Errors
/// What cannot be understood, in words: a pattern that would close nothing must not pass for one that does.
pub fn normal_patterns(pattern: &str) -> Result<Vec<String>, &'static str> {
    let alternatives = glob::alternatives(pattern)
        .ok_or("it holds more alternatives in braces than are compared")?;
    if let Some(fault) = alternatives.iter().find_map(|one| glob::fault(one)) {
        return Err(fault);
    }
    let normal = alternatives.iter().filter_map(|one| glob::normal(one));
    Ok(normal.collect())
}

/// Text as a pattern that means just this text: the names of files may look like patterns.
#[must_use]
pub fn literal_pattern(text: &str) -> String {
    glob::escape(text)
}

/// The file deny rules as patterns for the host's resolver: what they cover is unreachable, not
/// merely unasked for.
#[must_use]
pub fn deny_patterns(policy: &PolicyContext<'_>) -> Vec<DenyPattern> {
    let mut patterns = Vec::new();
    for rule in policy.deny_rules() {
        if let Specifier::Path(pattern) = &rule.specifier {
            let access = if rule.is_edit() {
                Access::Write
            } else {
                Access::Read
            };
            let absolute = absolute(rule, pattern, policy);
            patterns.extend(
                absolute
                    .into_iter()
                    .map(|pattern| DenyPattern { pattern, access }),
            );
        }
    }
    patterns
}

/// The files of the program itself that are closed to tools, as patterns for the host's resolver.
pub(crate) fn closed_patterns(environment: &Environment) -> impl Iterator<Item = DenyPattern> {
    let places = environment.closed_places.iter();
    places.map(|place| DenyPattern {
        pattern: glob::escape(place),
        access: Access::Read,
    })
}

/// The patterns of what nobody may do this to: of these deny rules, of the files of the program itself, and of places that become
/// authority and are not known by their names. What may be read may be copied.
#[must_use]
pub fn closed_to(
    access: Access,
    deny: &[DenyPattern],
    closed_places: &[String],
    own_directories: &[String],
) -> Vec<String> {
    let closes = |deny: &&DenyPattern| access == Access::Write || deny.access == Access::Read;
    let rules = deny.iter().filter(closes).map(|deny| deny.pattern.clone());
    let own = own_directories.iter().filter(|_| access == Access::Write);
    let places = closed_places.iter().chain(own);
    rules
        .chain(places.map(|place| glob::escape(place)))
        .collect()
}

/// Has the host look for what is closed below the folders among these paths that are copied, moved or removed.
pub fn look_for_closed(paths: &mut [ResolvePath], policy: &PolicyContext<'_>) {
    if !paths.iter().any(|asked| asked.carried) {
        return;
    }
    let deny = deny_patterns(policy);
    for asked in paths.iter_mut().filter(|asked| asked.carried) {
        let environment = policy.environment;
        let (places, own) = (&environment.closed_places, &environment.own_directories);
        asked.closed = closed_to(asked.access, &deny, places, own);
    }
}

pub(crate) fn is_under(root: &str, path: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A path as it is written, made absolute without looking at any file: only for what the host has not
/// resolved.
pub(crate) fn lexical(base: &str, path: &str) -> String {
    let from_base = if path.starts_with('/') { "" } else { base };
    let mut out = String::with_capacity(from_base.len() + path.len() + 2);
    for part in from_base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => out.truncate(out.rfind('/').unwrap_or(0)),
            part => {
                out.push('/');
                out.push_str(part);
            }
        }
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}
