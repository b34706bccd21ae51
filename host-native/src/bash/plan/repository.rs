//! Limits which repositories git uses when a plan starts it.
//!
//! The configuration of a repository can name programs that git runs (`core.fsmonitor`). `.git` is protected by the
//! permission rules. But git also recognizes a folder of another name as a repository by its contents, and anyone who
//! may write files can create one. A confined command may even create one named `.git`; so outside of the sandbox,
//! git uses only repositories that existed before.

use std::{ffi::OsString, path::PathBuf};

use super::variables::Variables;

/// The number of name-value pairs in the environment (git-config(1)).
const COUNT: &str = "GIT_CONFIG_COUNT";

/// Makes git use only repositories named `.git` or named explicitly, and optionally only those of a list.
pub(super) fn restrict(variables: &mut Variables, only: Option<&[PathBuf]>) {
    let mut settings: Vec<(&str, OsString)> = vec![("safe.bareRepository", "explicit".into())];
    if let Some(folders) = only {
        // Git then checks the owner of each repository that is not listed as safe, as if it belonged to another user.
        variables.export("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1".into());
        // The empty value clears the list from the configuration.
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
