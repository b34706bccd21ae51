//! What the child of a confined command does before it becomes the program: it enters the namespaces, puts up its view of the
//! files, gives up all rights, and puts rules and filters on itself. Each step only makes system calls.

use std::{io, os::fd::OwnedFd, sync::Arc};

use landlock::RulesetCreated;
use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    io::{Errno, write},
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    },
};
use seccompiler::BpfProgram;

use super::{
    before_exec::{Namespaces as Kind, close_other_handles, unshare},
    landlock::restrict,
    mounts::View,
    namespaces::Namespaces,
};

/// What a child needs, made before it is.
pub(super) struct Entry {
    /// None where there are none to be had, and the settings make do with less.
    pub(super) inside: Option<Inside>,
    /// None on a kernel without Landlock.
    pub(super) rules: Option<RulesetCreated>,
    pub(super) filters: Vec<BpfProgram>,
    /// Where it says which step failed.
    pub(super) failed: OwnedFd,
}

/// The namespaces and what is seen in them.
pub(super) struct Inside {
    pub(super) namespaces: Arc<Namespaces>,
    pub(super) view: View,
}

/// A step, by the number that is told when it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    Namespaces = 1,
    Mounts,
    Handles,
    Rights,
    Rules,
    Filters,
}

impl Step {
    pub(super) const ALL: [Self; 6] = [
        Self::Namespaces,
        Self::Mounts,
        Self::Handles,
        Self::Rights,
        Self::Rules,
        Self::Filters,
    ];

    /// What it does, for people.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Namespaces => "entering the namespaces",
            Self::Mounts => "covering closed files",
            Self::Handles => "closing handles of others",
            Self::Rights => "giving up rights",
            Self::Rules => "Landlock",
            Self::Filters => "filtering system calls",
        }
    }
}

impl Entry {
    /// All steps, once.
    pub(super) fn run(&mut self) -> io::Result<()> {
        let outcome = self.steps();
        if let Err((step, _)) = &outcome {
            let _ = write(&self.failed, &[*step as u8]);
        }
        outcome.map_err(|(_, error)| error)
    }

    fn steps(&mut self) -> Result<(), (Step, io::Error)> {
        let at = |step| move |error: io::Error| (step, error);
        let mut devices = None;
        if let Some(inside) = &mut self.inside {
            inside.namespaces.enter().map_err(at(Step::Namespaces))?;
            unshare(Kind::Mounts).map_err(at(Step::Namespaces))?;
            inside.view.put_up().map_err(at(Step::Mounts))?;
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let opened = openat(CWD, c"/dev", flags, Mode::empty());
            devices = Some(opened.map_err(|error| (Step::Mounts, error.into()))?);
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

/// No right of the superuser is left, and none comes back with a program.
fn give_up_rights() -> io::Result<()> {
    set_no_new_privs(true)?;
    for bit in 0..u64::BITS {
        let right = CapabilitySet::from_bits_retain(1 << bit);
        match remove_capability_from_bounding_set(right) {
            // Beyond the last that the kernel knows; or there are no namespaces, and this user has none to give up.
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
