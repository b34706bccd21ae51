//! Which repositories git takes orders from when a plan starts it.
//!
//! The configuration of a repository names programs that git runs (`core.fsmonitor`). `.git` is a place that becomes authority; a
//! folder under another name that looks like a repository is one to git as well, and anybody who may write files can make one.
//! A confined command may also make one with that name; so outside of the sandbox git uses only those that were there before.

use std::{ffi::OsString, path::PathBuf};

use super::variables::Variables;

/// How many pairs of names and values the environment holds (git-config(1)).
const COUNT: &str = "GIT_CONFIG_COUNT";

/// Has git use only repositories that are called `.git`, or that are named to it; and of those only some.
pub(super) fn restrict(variables: &mut Variables, only: Option<&[PathBuf]>) {
    let mut settings: Vec<(&str, OsString)> = vec![("safe.bareRepository", "explicit".into())];
    if let Some(folders) = only {
        // Git asks who owns a repository, unless it is one of these; as if none were this user's.
        variables.export("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1".into());
        // The first takes away what a configuration says.
        settings.push(("safe.directory", OsString::new()));
        settings.extend(
            folders
                .iter()
                .map(|folder| ("safe.directory", folder.into())),
        );
    }
    let known = variables.get(COUNT).and_then(|count| count.to_str());
    let mut count: u32 = known.and_then(|count| count.parse().ok()).unwrap_or(0);
    for (name, value) in settings {
        variables.export(&format!("GIT_CONFIG_KEY_{count}"), name.into());
        variables.export(&format!("GIT_CONFIG_VALUE_{count}"), value);
        count = count.saturating_add(1);
    }
    variables.export(COUNT, count.to_string().into());
}
