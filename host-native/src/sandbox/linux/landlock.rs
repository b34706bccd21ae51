//! The second layer for files: with Landlock, the kernel checks for every access whether the path lies below a
//! writable folder, however it was reached.

use std::{io, os::fd::OwnedFd, path::PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

/// The newest Landlock ABI whose rights are known here.
const NEWEST: ABI = ABI::V7;

/// The rights that change files and folders.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_write(NEWEST)
}

/// Whether the kernel supports Landlock.
pub(super) fn is_available() -> bool {
    let create = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(ABI::V1))?
            .create()
    };
    create().is_ok()
}

/// Rules for a command: writes only below these folders, and no signals or abstract sockets to processes outside of
/// its confinement.
///
/// Rights that the kernel does not know yet are left out: this is the layer behind the mounts.
///
/// # Errors
/// The kernel refuses a rule.
pub(super) fn rules(writable: &[PathBuf], bind: bool) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writing())?
        .scope(Scope::from_all(NEWEST))?;
    if !bind {
        rules = rules.handle_access(AccessNet::BindTcp)?;
    }
    let mut rules = rules.create()?;
    for path in writable {
        // A folder that no longer exists cannot be written to.
        if let Ok(open) = PathFd::new(path) {
            let rights = match path.is_dir() {
                true => writing(),
                false => writing() & AccessFs::from_file(NEWEST),
            };
            rules = rules.add_rule(PathBeneath::new(open, rights))?;
        }
    }
    Ok(rules)
}

/// Applies the rules to the calling process. The folder of devices, which differs per command, is made writable.
pub(super) fn restrict(rules: RulesetCreated, devices: Option<OwnedFd>) -> io::Result<()> {
    let refused = |_: RulesetError| io::Error::from(io::ErrorKind::PermissionDenied);
    let rules = match devices {
        Some(devices) => rules
            .add_rule(PathBeneath::new(devices, writing()))
            .map_err(refused)?,
        None => rules,
    };
    rules.restrict_self().map_err(refused)?;
    Ok(())
}
