//! Unique ids and random seeds.

use windlass_core::{Seeded, Uuid};

/// A unique id.
pub(crate) fn fresh_uuid() -> Uuid {
    Seeded::new(random_seed()).uuid()
}

/// A random seed.
pub(crate) fn random_seed() -> [u8; 32] {
    let mut seed = [0; 32];
    if getrandom::fill(&mut seed).is_err() {
        // Fallback without system randomness: ids need to be unique, not secret. A version 4 UUID guarantees no secrecy either.
        let moment = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        seed[..16].copy_from_slice(&moment.as_nanos().to_le_bytes());
        seed[16..20].copy_from_slice(&std::process::id().to_le_bytes());
    }
    seed
}
