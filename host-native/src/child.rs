//! Programs that are started: what they are given of this process, and what not.
//!
//! Every program in this crate is started through [`command`], so that none is given a key; those that run for a session by
//! `spawn`, so that none may read the memory of processes that have more rights than itself.

#[cfg(unix)]
use std::ffi::OsString;
use std::{ffi::OsStr, io, process::Command};

use tokio::process::Child;

use crate::{credentials, os};

/// Says to a process that took the place of another which one: of no use to children.
#[doc(hidden)]
pub const HANDED_OVER: &str = "WINDLASS_HANDED_OVER";

/// A program with the environment of this process, but for the credentials ([`credentials::VARIABLES`]).
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for name in credentials::VARIABLES.into_iter().chain([HANDED_OVER]) {
        command.env_remove(name);
    }
    command
}

/// Of these variables those that a program may be given beside those of [`command`], or in their place: all but those that it takes
/// out.
#[cfg(unix)]
pub(crate) fn without_credentials<V>(
    variables: impl IntoIterator<Item = (OsString, V)>,
) -> impl Iterator<Item = (OsString, V)> {
    let is_kept = |name: &OsString| {
        let is_credential = name.to_str().is_some_and(credentials::is_credential);
        !(is_credential || name == HANDED_OVER)
    };
    let variables = variables.into_iter();
    variables.filter(move |(name, _)| is_kept(name))
}

/// Starts a program. It and whatever it starts cannot be given the right to read the memory of any process (`CAP_SYS_PTRACE`),
/// where this process has the right to see to that; what this process itself may do stays as it is.
///
/// Must be called inside a tokio runtime.
///
/// # Errors
/// What the system says.
pub(crate) fn spawn(command: &mut tokio::process::Command) -> io::Result<Child> {
    if !os::may_trace() {
        return command.spawn();
    }
    // A thread of its own, because what a thread gives up it never gets back. Children begin with what their thread has.
    let runtime = tokio::runtime::Handle::current();
    std::thread::scope(|scope| {
        let spawning = scope.spawn(|| {
            let _inside = runtime.enter();
            os::give_up_tracing()?;
            command.spawn()
        });
        spawning
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
    })
}

/// Keeps this whole process from the programs that it starts, and from others of the same user: on Linux they can neither read its
/// memory and environment nor attach a debugger, and no core dump is written. Elsewhere nothing is done.
///
/// For programs that are an agent and nothing else, at their start: of threads that run already only the one that calls gives up
/// its rights. The library never does this by itself. A process that was started by root in another way, and is not confined, can
/// still read everything.
///
/// # Errors
/// What the system says.
pub fn protect_process() -> io::Result<()> {
    os::give_up_tracing()?;
    os::close_memory()
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

    /// A program that is started in another way would be given the keys.
    #[test]
    fn every_program_is_started_through_this_module() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut places = Vec::new();
        look(&sources, &mut places);
        assert_eq!(places, ["child.rs"]);

        fn look(folder: &Path, places: &mut Vec<String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    // What tests start is given what the tests have.
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
