//! The steps of a confined command's child before exec: it enters the namespaces, sets up its mounts, drops its
//! capabilities, and applies Landlock rules and seccomp filters. Each step only makes system calls.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    sync::Arc,
};

use landlock::RulesetCreated;
use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    io::{Errno, write},
    mount::{MountFlags, mount},
    process::{Signal, set_parent_process_death_signal},
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    },
};
use seccompiler::BpfProgram;

use super::{
    before_exec::{Namespaces as Kind, close_other_handles, fork, hold_signals, unshare},
    first_process::{Ends, be_first, stand_for},
    landlock::restrict,
    mounts::View,
    namespaces::Namespaces,
    step::Step,
};

/// Everything the child needs, prepared before the fork.
pub(super) struct Entry {
    /// `None` if namespaces are not available and the settings accept that.
    pub(super) inside: Option<Inside>,
    /// `None` on a kernel without Landlock.
    pub(super) rules: Option<RulesetCreated>,
    pub(super) filters: Vec<BpfProgram>,
    /// The socket on which the child reports a failed step and sends a handle to its first process.
    pub(super) told: OwnedFd,
}

/// The namespaces and the file system view in them.
pub(super) struct Inside {
    pub(super) namespaces: Arc<Namespaces>,
    pub(super) view: View,
    /// Carries the exit status of the program.
    pub(super) ends: Ends,
}

impl Entry {
    /// Runs all steps.
    pub(super) fn run(&mut self) -> io::Result<()> {
        let outcome = self.steps();
        if let Err((step, _)) = &outcome {
            let _ = write(&self.told, &[*step as u8]);
        }
        outcome.map_err(|(_, error)| error)
    }

    fn steps(&mut self) -> Result<(), (Step, io::Error)> {
        let at = |step| move |error: io::Error| (step, error);
        let mut devices = None;
        if let Some(inside) = &mut self.inside {
            inside.namespaces.enter().map_err(at(Step::Namespaces))?;
            unshare(Kind::OfCommand).map_err(at(Step::Namespaces))?;
            let signals = hold_signals().map_err(at(Step::Namespaces))?;
            // This process stays outside of the PID namespace; the process it forks is the first one inside.
            if let Some(first) = fork().map_err(at(Step::Namespaces))? {
                stand_for(first, &self.told, &inside.ends);
            }
            end_with_parent().map_err(at(Step::Namespaces))?;
            inside.view.put_up().map_err(at(Step::Mounts))?;
            show_own_processes();
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let opened = openat(CWD, c"/dev", flags, Mode::empty());
            devices = Some(opened.map_err(|error| (Step::Mounts, error.into()))?);
            if let Some(program) = fork().map_err(at(Step::Namespaces))? {
                be_first(program, inside.ends.told.as_fd());
            }
            signals.restore().map_err(at(Step::Namespaces))?;
        }
        close_other_handles().map_err(at(Step::Handles))?;
        give_up_rights().map_err(at(Step::Rights))?;
        if let Some(rules) = self.rules.take() {
            restrict(rules, devices).map_err(at(Step::Rules))?;
        }
        for filter in &self.filters {
            let applied = seccompiler::apply_filter(filter);
            applied.map_err(|_| (Step::Filters, io::ErrorKind::PermissionDenied.into()))?;
        }
        Ok(())
    }
}

/// If the process outside is killed, the first process inside is killed as well, and with it all others in the namespace.
fn end_with_parent() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Mounts a `/proc` that shows only the processes of the namespace. If the system covers parts of `/proc` (as
/// containers do), the existing one stays, which lists all processes.
fn show_own_processes() {
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let _ = mount(c"proc", c"/proc", c"proc", flags, None);
}

/// Drops all capabilities, and prevents exec from regaining them.
fn give_up_rights() -> io::Result<()> {
    set_no_new_privs(true)?;
    for bit in 0..u64::BITS {
        let right = CapabilitySet::from_bits_retain(1 << bit);
        match remove_capability_from_bounding_set(right) {
            // `INVAL`: beyond the last capability that the kernel knows. `PERM`: there are no namespaces, and this
            // user has no capabilities to drop.
            Err(Errno::INVAL | Errno::PERM) => break,
            other => other?,
        }
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    Ok(())
}
