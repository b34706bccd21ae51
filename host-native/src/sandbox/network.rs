//! What of a network confined commands have.

/// Which sockets of the file system may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnixSockets {
    /// None: a program cannot even make one.
    None,
    /// Those that the settings name.
    Some,
    /// All.
    All,
}
