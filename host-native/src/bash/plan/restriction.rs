//! Restricts what a single program may change, using Landlock.
//!
//! The rules are applied to a thread that only starts the program, which inherits them. They refer to handles: even
//! if files are renamed or replaced while the program runs, it can change nothing outside of the opened ones.

use std::{io, os::fd::OwnedFd, sync::OnceLock};

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError,
};

use super::change::Change;

/// The oldest version that supports moving files between folders.
const NEEDED: ABI = ABI::V2;

/// The newest version whose rights are known here.
const NEWEST: ABI = ABI::V3;

/// Rules for one program.
#[derive(Debug)]
pub(super) struct Restriction(RulesetCreated);

impl Restriction {
    /// Rules that let a program change only what is below these handles; `None` if the kernel does not support it.
    ///
    /// # Errors
    /// The error of the operating system, for example when no descriptors are left.
    pub(super) fn to(changes: Vec<(OwnedFd, Change)>) -> io::Result<Option<Self>> {
        if !is_available() {
            return Ok(None);
        }
        let created = || -> Result<RulesetCreated, RulesetError> {
            let mut rules = Ruleset::default()
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(AccessFs::from_write(NEWEST))?
                .create()?;
            for (handle, change) in changes {
                rules = rules.add_rule(PathBeneath::new(handle, rights(change)))?;
            }
            Ok(rules)
        };
        Ok(Some(Self(created().map_err(io::Error::other)?)))
    }

    /// Runs a closure on a separate thread under these rules.
    pub(super) fn around<T: Send>(self, start: impl FnOnce() -> T + Send) -> io::Result<T> {
        std::thread::scope(|scope| {
            let held = std::thread::Builder::new().spawn_scoped(scope, || {
                self.0.restrict_self().map_err(io::Error::other)?;
                Ok(start())
            })?;
            held.join()
                .unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
        })
    }
}

fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        let create = || {
            Ruleset::default()
                .set_compatibility(CompatLevel::HardRequirement)
                .handle_access(AccessFs::from_write(NEEDED))?
                .create()
        };
        create().is_ok()
    })
}

/// The Landlock rights for a change.
fn rights(change: Change) -> BitFlags<AccessFs> {
    match change {
        Change::Write => AccessFs::WriteFile | AccessFs::Truncate,
        Change::MakeFiles => AccessFs::WriteFile | AccessFs::Truncate | AccessFs::MakeReg,
        Change::MakeFolders => AccessFs::MakeDir.into(),
        Change::Remove => AccessFs::RemoveFile | AccessFs::RemoveDir,
        // The kernel only allows a move if the target folder does not have more rights than the source.
        Change::Take => AccessFs::RemoveFile | AccessFs::RemoveDir | AccessFs::Refer,
        Change::Place => {
            let writing = AccessFs::WriteFile | AccessFs::Truncate;
            AccessFs::from_write(NEWEST) & !writing
        }
        Change::All => AccessFs::from_write(NEWEST),
    }
}
