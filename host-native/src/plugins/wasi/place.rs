//! A place in a directory that the call at hand was granted.

/// A place. It is worth nothing in another call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The index of the directory tree in the call's reach.
    pub(super) tree: usize,
    /// Relative to the tree; empty for the tree itself.
    pub(super) path: String,
}
