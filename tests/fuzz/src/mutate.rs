//! Mutations by seed: the same every time, so that what the test command finds is found again.

use windlass_core::Seeded;

/// Pieces that mean something to one of the targets.
const PIECES: [&[u8]; 24] = [
    b"\n\n",
    b"\r",
    b"data: ",
    b"event: error\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b"\\u0000",
    b"null",
    b"1e999",
    b"(",
    b")",
    b"$(",
    b"`",
    b"<<EOF\n",
    b"&&",
    b"*",
    b"..",
    b"\xff\xfe",
    b"\xf0\x9d\x84",
    b"\0",
];

/// Makes variants of bytes.
#[derive(Debug)]
pub struct Mutator {
    dice: Seeded,
}

impl Mutator {
    /// A mutator whose variants depend on the seed alone.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self {
            dice: Seeded::new(bytes),
        }
    }

    /// A variant of one of the seeds.
    ///
    /// # Panics
    /// When there are no seeds.
    pub fn variant(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes, seeds);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(bytes.len() + 1);
        match self.below(8) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => {
                // A part of it twice.
                let end = (at + 1 + self.below(40)).min(bytes.len());
                let part: Vec<u8> = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, part);
            }
            4 => {
                // The rest of another seed.
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            5 => {
                let end = (at + self.below(20)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let piece = PIECES[self.below(PIECES.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        // Below a length that was a usize.
        self.dice.below(bound as u64) as usize
    }
}
