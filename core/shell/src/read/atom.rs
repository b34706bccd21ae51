//! Pieces of words.

use alloc::string::String;

use crate::Part;

/// A piece of a word before brace lists, the tilde and patterns are recognised.
#[derive(Debug, Clone)]
pub(super) enum Atom {
    /// An unquoted character.
    Plain(char),
    /// Quoted text.
    Quoted(String),
    /// An expansion.
    Part(Part),
}
