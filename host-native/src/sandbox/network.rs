//! The network access of confined commands.

/// Which Unix sockets in the file system can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnixSockets {
    /// None: a program cannot even create one.
    None,
    /// Those named by the settings.
    Some,
    /// All.
    All,
}
