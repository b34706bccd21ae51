//! Path rules and the anchors of their patterns.

use alloc::{format, string::String, vec::Vec};

use super::{PolicyContext, Rule, Rules, glob};
use crate::{
    environment::Environment,
    permission::ResolvePath,
    tool::{Access, DenyPattern},
};

/// A rule's pattern as absolute patterns, with its anchor resolved: `//absolute`, `~/home`, `/from the rule's own folder`,
/// `./from the working directory`, or a name at any depth of the workspace. Alternatives in braces become separate patterns.
pub(super) fn absolute(rule: &Rule, pattern: &str, policy: &PolicyContext<'_>) -> Vec<String> {
    // Names of real directories may contain pattern characters (`[id]`), which must be escaped.
    let literal = |directory: &str| glob::escape(directory.trim_end_matches('/'));
    let cwds = || core::iter::once(&policy.environment.cwd).chain(policy.left);
    let anchored: Vec<String> = if let Some(absolute) = pattern.strip_prefix("//") {
        alloc::vec![format!("/{absolute}")]
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        // Without a home directory the rule has no meaning.
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
        // As in gitignore, a name without a slash matches at any depth.
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

/// The patterns that a person's pattern stands for, in the form that is compared with resolved paths: one for each alternative in
/// braces, without `.`, `..` and repeated slashes. Every pattern that excludes files is produced here, wherever it is compared.
///
/// # Errors
/// What is invalid: a pattern that would exclude nothing must not be accepted as one that does.
pub fn normal_patterns(pattern: &str) -> Result<Vec<String>, &'static str> {
    let alternatives = glob::alternatives(pattern)
        .ok_or("it holds more alternatives in braces than are compared")?;
    if let Some(fault) = alternatives.iter().find_map(|one| glob::fault(one)) {
        return Err(fault);
    }
    let normal = alternatives.iter().filter_map(|one| glob::normal(one));
    Ok(normal.collect())
}

/// Escapes a text as a pattern that matches exactly this text, since file names may contain pattern characters.
#[must_use]
pub fn literal_pattern(text: &str) -> String {
    glob::escape(text)
}

/// The deny rules for files as patterns for the host's resolver: what they cover is inaccessible, whether or not the call was
/// approved.
#[must_use]
pub fn deny_patterns(policy: &PolicyContext<'_>) -> Vec<DenyPattern> {
    patterns_of(policy, None)
}

/// What deny rules close to a run of a component that is no call of a tool, so that no rule decides about it as a whole: the same
/// files, and all of them where a rule denies all reading or all changes.
#[must_use]
pub fn denied_to_components(policy: &PolicyContext<'_>) -> Vec<DenyPattern> {
    let mut patterns = deny_patterns(policy);
    patterns.extend(denied_altogether(policy.rules));
    patterns
}

/// All files as patterns, where a rule denies all reading or all changes: for components, which reach some without a call that
/// names them.
pub fn denied_altogether(rules: &Rules) -> impl Iterator<Item = DenyPattern> {
    let all = [("Read", Access::Read), ("Edit", Access::Write)].into_iter();
    let denied = all.filter(|(tool, _)| rules.denies_tool(tool));
    denied.map(|(_, access)| DenyPattern {
        pattern: String::from("/**"),
        access,
    })
}

/// The patterns for a call of one tool, which has deny rules of its own.
pub(crate) fn deny_patterns_for(policy: &PolicyContext<'_>, tool: &str) -> Vec<DenyPattern> {
    patterns_of(policy, Some(tool))
}

fn patterns_of(policy: &PolicyContext<'_>, tool: Option<&str>) -> Vec<DenyPattern> {
    let mut patterns = Vec::new();
    for rule in policy.deny_rules() {
        // No tool is called so.
        let Some(pattern) = rule.file_pattern_for(tool.unwrap_or_default()) else {
            continue;
        };
        let access = if rule.is_edit() {
            Access::Write
        } else {
            Access::Read
        };
        let absolute = absolute(rule, pattern, policy).into_iter();
        patterns.extend(absolute.map(|pattern| DenyPattern { pattern, access }));
    }
    patterns
}

/// The program's own files that are closed to tools, as patterns for the host's resolver.
pub(crate) fn closed_patterns(environment: &Environment) -> impl Iterator<Item = DenyPattern> {
    let places = environment.private_paths.iter();
    places.map(|place| DenyPattern {
        pattern: glob::escape(place),
        access: Access::Read,
    })
}

/// The patterns of files to which this access is denied: by these deny rules, because they are the program's own files, and (for
/// writing) because they are in its own directories. Protected places known by name are not included. Files that may be read may
/// be copied.
#[must_use]
pub fn closed_to(
    access: Access,
    deny: &[DenyPattern],
    private_paths: &[String],
    own_directories: &[String],
) -> Vec<String> {
    let closes = |deny: &&DenyPattern| access == Access::Write || deny.access == Access::Read;
    let rules = deny.iter().filter(closes).map(|deny| deny.pattern.clone());
    let own = own_directories.iter().filter(|_| access == Access::Write);
    let places = private_paths.iter().chain(own);
    rules
        .chain(places.map(|place| glob::escape(place)))
        .collect()
}

/// Makes the host search folders that are copied, moved or removed for files excluded by deny rules.
pub fn look_for_closed(paths: &mut [ResolvePath], policy: &PolicyContext<'_>) {
    if !paths.iter().any(|asked| asked.carried) {
        return;
    }
    let deny = deny_patterns(policy);
    for asked in paths.iter_mut().filter(|asked| asked.carried) {
        let environment = policy.environment;
        let (places, own) = (&environment.private_paths, &environment.own_directories);
        asked.closed = closed_to(asked.access, &deny, places, own);
    }
}
