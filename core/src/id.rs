//! Time and identity: the core owns neither a clock nor randomness.

use serde::{Deserialize, Serialize};
pub use uuid::Uuid;

/// Milliseconds of a monotonic clock with an arbitrary zero.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// This time plus a duration in milliseconds; saturates.
    #[must_use]
    pub fn after(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds since an earlier moment; 0 if it is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

/// The current time, passed with every input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// For durations and deadlines.
    pub mono: Millis,
    /// For timestamps.
    pub wall: UnixMillis,
}

/// The id of a session.
pub type SessionId = Uuid;

/// Sixteen random bytes made into a version 4 UUID (RFC 9562, section 5.4): session ids and message ids.
#[must_use]
pub fn uuid_v4(random: [u8; 16]) -> Uuid {
    uuid::Builder::from_random_bytes(random).into_uuid()
}

/// The session's source of ids and jitter: xoshiro256++ over the seed it was given.
///
/// Not for secrets. It makes the same inputs give the same outputs. It is implemented here because it is part of a snapshot:
/// `rand_xoshiro` exposes its state only through a serde that requires the standard library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeded {
    state: [u64; 4],
}

impl Seeded {
    /// A generator from 32 bytes.
    #[must_use]
    pub fn new(seed: [u8; 32]) -> Self {
        // Expanded by SplitMix64, so that a seed of zeros is as good as any other.
        let mut mix: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut state = [0u64; 4];
        for (slot, chunk) in state.iter_mut().zip(seed.chunks_exact(8)) {
            let mut word = [0u8; 8];
            word.copy_from_slice(chunk);
            mix = mix.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ u64::from_le_bytes(word);
            let mut z = mix;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *slot = z ^ (z >> 31);
        }
        Self { state }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// A number below `bound`; 0 when the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            0
        } else {
            self.next_u64() % bound
        }
    }

    /// A fresh version 4 UUID.
    pub fn uuid(&mut self) -> Uuid {
        let mut bytes = [0u8; 16];
        bytes[..8].copy_from_slice(&self.next_u64().to_be_bytes());
        bytes[8..].copy_from_slice(&self.next_u64().to_be_bytes());
        uuid_v4(bytes)
    }
}
