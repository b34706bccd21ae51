//! The second layer for files: Landlock, by which the kernel asks for every path whether it lies below an open folder, however
//! it was reached.

use std::{io, os::fd::OwnedFd, path::PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

/// The newest version whose rights are known here.
const NEWEST: ABI = ABI::V7;

/// What changes files and folders.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_write(NEWEST)
}

/// Whether the kernel has it.
pub(super) fn is_available() -> bool {
    let create = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_write(ABI::V1))?
            .create()
    };
    create().is_ok()
}

/// Rules for a command: writing below these folders, and nothing sent to processes that are not confined with it.
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
        // What has gone by now cannot be written to either.
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

/// Puts the rules on the calling process, with the folder of devices, which is another for each command.
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
