//! Which repositories git takes orders from when a plan starts it.
//!
//! The configuration of a repository names programs that git runs (`core.fsmonitor`). `.git` is a place that becomes authority; a
//! folder under another name that looks like a repository is one to git as well, and anybody who may write files can make one.

use super::variables::Variables;

/// How many pairs of names and values the environment holds (git-config(1)).
const COUNT: &str = "GIT_CONFIG_COUNT";

/// Has git use only repositories that are called `.git`, or that are named to it.
pub(super) fn only_by_name(variables: &mut Variables) {
    let known = variables.get(COUNT).and_then(|count| count.to_str());
    let count: u32 = known.and_then(|count| count.parse().ok()).unwrap_or(0);
    for (name, value) in [
        (format!("GIT_CONFIG_KEY_{count}"), "safe.bareRepository"),
        (format!("GIT_CONFIG_VALUE_{count}"), "explicit"),
    ] {
        variables.export(&name, value.into());
    }
    variables.export(COUNT, count.saturating_add(1).to_string().into());
}
