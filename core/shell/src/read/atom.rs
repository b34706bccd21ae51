//! Pieces of words.

use alloc::string::String;

use crate::Part;

/// A piece of a word before brace lists, the tilde and patterns are recognised.
#[derive(Debug, Clone)]
pub(super) enum Atom {
    /// A character that was not quoted.
    Plain(char),
    /// Text that was quoted.
    Quoted(String),
    /// An expansion.
    Part(Part),
}
