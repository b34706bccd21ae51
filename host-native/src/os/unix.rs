//! The Unix code of the crate.

use std::{
    fs, io,
    os::unix::fs::{self as fs_ext, DirBuilderExt, MetadataExt, PermissionsExt},
    path::Path,
    process::ExitStatus,
};

use cap_std::fs::{OpenOptions, OpenOptionsExt};
use rustix::{
    fs::OFlags,
    process::{Pid, Signal, geteuid, kill_process_group},
};

use super::orphans;

/// Makes opening a pipe without a writer return at once instead of blocking forever.
pub(crate) fn open_without_waiting(options: &mut OpenOptions) {
    options.custom_flags(OFlags::NONBLOCK.union(OFlags::NOCTTY).bits().cast_signed());
}

/// The same for opening by path. Optionally refuses a symbolic link at the path.
pub(crate) fn open_at_once(options: &mut fs::OpenOptions, refuses_links: bool) {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, refuses_links);
    fs_ext::OpenOptionsExt::custom_flags(options, flags.bits().cast_signed());
}

/// Creates files that only their owner can open, until their final mode is set.
pub(crate) fn owner_only(options: &mut OpenOptions) {
    options.mode(0o600);
}

/// Whether the system gives a relative path a special meaning (drive letters, device names): never on Unix.
pub(crate) fn is_special_path(_path: &str) -> bool {
    false
}

/// Creates a directory and its parents, accessible only to the owner.
///
/// # Errors
/// The error of the operating system; `PermissionDenied` if it exists and belongs to or is accessible to others.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)?;
    if is_private(&fs::symlink_metadata(path)?) {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it belongs to another user or is open to others",
        ))
    }
}

/// Whether a file or directory belongs to this user, is not a link, and can be changed by nobody else.
pub(crate) fn is_private(metadata: &fs::Metadata) -> bool {
    !metadata.is_symlink()
        && metadata.uid() == geteuid().as_raw()
        && metadata.permissions().mode() & 0o022 == 0
}

/// Whether a file belongs to this user and can be read and changed by nobody else.
pub(crate) fn is_secret(metadata: &fs::Metadata) -> bool {
    is_private(metadata) && metadata.permissions().mode() & 0o077 == 0
}

/// Whether the owner of a file may run it.
pub(crate) fn is_executable(metadata: &fs::Metadata) -> bool {
    metadata.permissions().mode() & 0o100 != 0
}

/// Makes a file accessible to its owner alone, as a program or not.
///
/// # Errors
/// The error of the operating system.
pub(crate) fn set_private(path: &Path, is_executable: bool) -> io::Result<()> {
    let mode = if is_executable { 0o700 } else { 0o600 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// The signals that end programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kill {
    /// SIGTERM: asks to end.
    Ask,
    /// SIGKILL: kills.
    Force,
}

/// A process group led by a program that this process started. Dropping the value kills what is left of it.
#[derive(Debug)]
pub(crate) struct Group(Option<u32>);

impl Group {
    /// Must be called before a group is started: prepares what ends it if this process is killed.
    pub(crate) fn expect() {
        orphans::watch();
    }

    /// The group of a program just started; empty if it has exited. The group ends at the latest with this process,
    /// even if that is killed.
    pub(crate) fn new(leader: Option<u32>) -> Self {
        if let Some(leader) = leader {
            orphans::begun(leader);
        }
        Self(leader)
    }

    /// Signals the group. Returns whether any process of it is left.
    pub(crate) fn signal(&mut self, how: Kill) -> bool {
        let Some(leader) = self.0 else {
            return false;
        };
        let is_left = signal_group(leader, how);
        if !is_left {
            self.forget();
        }
        is_left
    }

    /// Forgets a group that is gone, since its id may be reused.
    fn forget(&mut self) {
        if let Some(leader) = self.0.take() {
            orphans::ended(leader);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Kill::Force);
        self.forget();
    }
}

/// Signals every process of a group; false if none is left.
fn signal_group(leader: u32, how: Kill) -> bool {
    let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) else {
        return false;
    };
    let signal = match how {
        Kill::Ask => Signal::TERM,
        Kill::Force => Signal::KILL,
    };
    // The only errors are "no such group" and "not permitted", and nothing can be done about either.
    kill_process_group(group, signal).is_ok()
}

/// The signal that ended a process, if one did.
pub(crate) fn ending_signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

/// Whether this process has the rights of the superuser.
pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// Whether this thread may read the memory of processes with more rights, or its children could get that right.
pub(crate) fn may_trace() -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CapabilitySet, capabilities};
        capabilities(None).is_ok_and(|sets| {
            let held = sets.permitted | sets.inheritable;
            held.contains(CapabilitySet::SYS_PTRACE)
        })
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Drops that right permanently, for this thread and everything it starts.
///
/// # Errors
/// The error of the operating system.
pub(crate) fn give_up_tracing() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{
            CapabilitySet, capabilities, configure_capability_in_ambient_set,
            remove_capability_from_bounding_set, set_capabilities,
        };
        let right = CapabilitySet::SYS_PTRACE;
        // Requires `CAP_SETPCAP`. Without it, programs that run as root can get the right again; everything else still applies.
        let _ = remove_capability_from_bounding_set(right);
        configure_capability_in_ambient_set(right, false)?;
        let mut sets = capabilities(None)?;
        sets.effective.remove(right);
        sets.permitted.remove(right);
        sets.inheritable.remove(right);
        set_capabilities(None, sets)?;
    }
    Ok(())
}

/// Makes the memory and environment of this process inaccessible to other processes of the same user. Also disables core dumps.
///
/// # Errors
/// The error of the operating system.
pub(crate) fn close_memory() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}
