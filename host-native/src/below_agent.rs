//! Whether an agent started this program, itself or through others: what only a person may do, such a program does not do.
//!
//! An agent leaves two traces. Programs that it starts for a session have a variable in their environment, which a program can take
//! out again for those that it starts. And as long as it lives, an agent holds a name that tells its process id, so that a program
//! finds it among its ancestors whatever is in the environment (Linux). Only a program that does both, leaves its ancestors and takes
//! the variable out, shows no trace. Whoever may run any program unconfined can write the files of the user by itself anyway.

/// The variable in the environment of every program that an agent starts for a session.
pub(crate) const VARIABLE: &str = "WINDLASS_AGENT";

pub(crate) use system::announce;

/// Whether this program was started by an agent, or by a program that was.
#[must_use]
pub(crate) fn is_below_agent() -> bool {
    std::env::var_os(VARIABLE).is_some() || system::has_agent_above()
}

#[cfg(target_os = "linux")]
mod system {
    use std::{
        fs, io,
        os::{
            linux::net::SocketAddrExt as _,
            unix::net::{SocketAddr, UnixListener},
        },
        sync::OnceLock,
    };

    use super::VARIABLE;

    /// The most ancestors that are looked at; nobody nests programs that deeply.
    const MOST_ANCESTORS: usize = 1000;

    /// Held as long as this process runs.
    static NAME: OnceLock<io::Result<UnixListener>> = OnceLock::new();

    /// Makes this process known as an agent, before it starts a program for a session.
    pub(crate) fn announce() {
        NAME.get_or_init(|| listen(std::process::id()));
    }

    /// Takes the name of a process: one in the abstract namespace, which leaves no file and ends with the process.
    fn listen(process: u32) -> io::Result<UnixListener> {
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(name(process))?)
    }

    fn name(process: u32) -> String {
        // Ids are counted anew in each namespace of processes.
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        format!("windlass agent {process} of {}", namespace.display())
    }

    /// Whether an ancestor is an agent, or was started by one that is gone.
    pub(super) fn has_agent_above() -> bool {
        let taken = taken();
        ancestors().any(|process| is_agent(process, taken.as_deref()) || has_variable(process))
    }

    /// The names that are taken, a line each: nothing is taken to find out.
    fn taken() -> Option<String> {
        let names = fs::read("/proc/net/unix").ok()?;
        Some(String::from_utf8_lossy(&names).into_owned())
    }

    /// The parent of this process, its parent, and so on.
    fn ancestors() -> impl Iterator<Item = u32> {
        let parents = std::iter::successors(parent("self"), |process| parent(&process.to_string()));
        parents.take(MOST_ANCESTORS)
    }

    /// The parent of a process; none where that is in no namespace that can be seen here.
    fn parent(process: &str) -> Option<u32> {
        let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The name of the program stands in parentheses and may have any character in it.
        let (_, fields) = stat.rsplit_once(')')?;
        let parent = fields.split_whitespace().nth(1)?.parse().ok()?;
        (parent != 0).then_some(parent)
    }

    /// Whether the name of this process is taken. Where the list of names cannot be read it is tried, which two programs must not do
    /// at one time: each would find the other.
    fn is_agent(process: u32, taken: Option<&str>) -> bool {
        let Some(taken) = taken else {
            return listen(process).is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse);
        };
        let name = format!(" @{}", name(process));
        taken.lines().any(|line| line.ends_with(&name))
    }

    /// Whether the process was started with the variable: shells that take it out had it.
    fn has_variable(process: u32) -> bool {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|variable| {
            let rest = variable.strip_prefix(VARIABLE.as_bytes());
            rest.is_some_and(|rest| rest.starts_with(b"="))
        })
    }

    #[cfg(test)]
    #[allow(clippy::unwrap_used)]
    mod tests {
        use super::*;

        #[test]
        fn a_name_that_is_held_tells_of_an_agent_and_one_that_is_given_back_does_not() {
            // No process has such a number.
            let nobody = u32::MAX - std::process::id();
            let is_agent = || [is_agent(nobody, taken().as_deref()), is_agent(nobody, None)];
            assert_eq!(is_agent(), [false, false]);
            let held = listen(nobody).unwrap();
            assert_eq!(is_agent(), [true, true]);
            drop(held);
            assert_eq!(is_agent(), [false, false]);
        }

        #[test]
        fn ancestors_lead_to_a_process_that_has_no_parent() {
            let ancestors: Vec<u32> = ancestors().collect();
            assert_eq!(
                ancestors.first(),
                Some(&std::os::unix::process::parent_id())
            );
            assert!(ancestors.len() < MOST_ANCESTORS, "{ancestors:?}");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    /// Agents are known by the variable alone.
    pub(crate) fn announce() {}

    /// Nothing says which processes are ancestors.
    pub(super) fn has_agent_above() -> bool {
        false
    }
}
