//! Limits of scanning a line: its length, its nesting depth, and the work it may cause.

use core::cell::Cell;

use crate::Unparsed;

/// The maximum length of a line in bytes. Linux passes no longer text to a program as one argument, so a longer one could not
/// run.
pub(super) const LONGEST: usize = 128 << 10;

/// The maximum nesting depth of substitutions and wrappers.
pub(super) const DEPTH: u32 = 16;

/// How often each character may be examined, on average. A text inside a substitution is scanned once for each level of nesting;
/// everyday lines stay below ten.
const READINGS: usize = 64;

/// The work that any line may cause, whatever its length.
const LEAST: usize = 4 << 10;

/// The remaining work for a line: characters scanned again and words copied. It is proportional to the length of the line, which
/// limits the time.
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

    /// Deducts work from the budget.
    pub(super) fn spend(&self, work: usize) -> Result<(), Unparsed> {
        let left = self.0.get().checked_sub(work);
        self.0.set(left.ok_or(Unparsed::TooDeep)?);
        Ok(())
    }
}
