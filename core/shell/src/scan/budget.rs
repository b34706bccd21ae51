//! How much of a line is followed: how long it may be, how deep it may nest, and how much work it may make.

use core::cell::Cell;

use crate::Unparsed;

/// The longest line, in bytes. Linux hands no longer text to a program as one argument, so none could be run.
pub(super) const LONGEST: usize = 128 << 10;

/// Substitutions in substitutions, wrappers in wrappers; nobody writes more.
pub(super) const DEPTH: u32 = 16;

/// How often each character may be looked at, on average. A text inside a substitution is read once for each level it
/// stands in, and everyday lines stay below ten.
const READINGS: usize = 64;

/// Work that a line may make whatever its length.
const LEAST: usize = 4 << 10;

/// What is left of the work that a line may make: characters read again and words copied. It is in proportion to the
/// length of the line, so no line takes longer than that.
#[derive(Debug)]
pub(super) struct Budget(Cell<usize>);

impl Budget {
    /// The budget of a line.
    pub(super) fn of(line: &str) -> Result<Self, Unparsed> {
        if line.len() > LONGEST {
            return Err(Unparsed::TooLong);
        }
        Ok(Self(Cell::new(LEAST + READINGS * line.len())))
    }

    /// Takes work from the budget.
    pub(super) fn spend(&self, work: usize) -> Result<(), Unparsed> {
        let left = self.0.get().checked_sub(work);
        self.0.set(left.ok_or(Unparsed::TooDeep)?);
        Ok(())
    }
}
