//! The types that stand for the resources of `windlass:host` in the generated bindings.

/// Represents the resource `directory`: the handle is the index of a tree in the call's reach.
#[derive(Debug)]
#[allow(unreachable_pub)] // The generated code re-exports it.
pub struct Tree;

/// Represents the resource `body`: the handle is the number of an answer that the call has not read to its end.
#[derive(Debug)]
#[allow(unreachable_pub)] // As above.
pub struct Body;
