//! Choices by seed.

use windlass_core::Seeded;

/// Chooses, the same for the same seed.
#[derive(Debug)]
pub(crate) struct Dice(Seeded);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(Seeded::new(bytes))
    }

    /// A number below the bound, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound.max(1) as u64) as usize
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
