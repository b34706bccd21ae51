//! The environment variables that child processes inherit: all but the credentials, and the secrets of plugins.

#[cfg(unix)]
use std::ffi::OsString;
use std::{ffi::OsStr, process::Command};

use crate::credentials;

/// Set when the program re-executes itself without credentials; the value is its process id. Not passed to children.
#[doc(hidden)]
pub const HANDED_OVER: &str = "WINDLASS_HANDED_OVER";

/// A command that inherits the environment of this process except the credentials ([`credentials::VARIABLES`]) and the variables
/// that plugins were granted as secrets.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for name in credentials::withheld() {
        command.env_remove(name);
    }
    command.env_remove(HANDED_OVER);
    command
}

/// Filters variables that are to be added to those of [`command`]: removes those that [`command`] removes.
#[cfg(unix)]
pub(crate) fn without_credentials<V>(
    variables: impl IntoIterator<Item = (OsString, V)>,
) -> impl Iterator<Item = (OsString, V)> {
    let is_kept = |name: &OsString| {
        let is_withheld = name.to_str().is_some_and(credentials::is_withheld);
        !(is_withheld || name == HANDED_OVER)
    };
    let variables = variables.into_iter();
    variables.filter(move |(name, _)| is_kept(name))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn credentials_are_taken_out_of_the_environment() {
        let command = command("true");
        let removed: Vec<_> = command
            .get_envs()
            .filter(|(_, value)| value.is_none())
            .collect();
        for name in credentials::VARIABLES {
            assert!(
                removed.iter().any(|(removed, _)| *removed == name),
                "{name}"
            );
        }
    }

    #[test]
    #[cfg(unix)]
    fn what_settings_add_holds_no_credentials() {
        let given = [
            ("ANTHROPIC_API_KEY", "key"),
            (HANDED_OVER, "1"),
            ("MORE", "more"),
        ];
        let given = given.map(|(name, value)| (OsString::from(name), value));
        let kept: Vec<_> = without_credentials(given).collect();
        assert_eq!(kept, [(OsString::from("MORE"), "more")]);
    }

    #[test]
    #[cfg(all(unix, feature = "plugins"))]
    fn card_5_a_secret_that_a_plugin_was_granted_is_withheld_from_then_on() {
        let name = "WINDLASS_TEST_OF_A_GRANTED_SECRET";
        let is_removed = || {
            let command = command("true");
            let mut changed = command.get_envs();
            changed.any(|(removed, value)| removed == name && value.is_none())
        };
        assert!(!is_removed());
        credentials::withhold(name);
        assert!(is_removed());
        let given = [(OsString::from(name), "value")];
        assert_eq!(without_credentials(given).count(), 0);
        // Of this process itself nothing is known by that.
        assert!(!credentials::is_credential(name));
    }

    /// A process that is started in another way would inherit the keys.
    #[test]
    fn every_program_is_started_through_this_module() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut places = Vec::new();
        look(&sources, &mut places);
        assert_eq!(places, ["child_env.rs"]);

        fn look(folder: &Path, places: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    // Processes started by tests inherit the environment of the tests.
                    if !path.ends_with("tests") {
                        look(&path, places);
                    }
                    continue;
                }
                let text = fs::read_to_string(&path).unwrap();
                if text
                    .replace("HookCommand::", "")
                    .replace("FileCommand::", "")
                    .contains("Command::new(")
                {
                    places.push(path.file_name().unwrap().display().to_string());
                }
            }
        }
    }
}
