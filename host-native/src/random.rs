//! Ids and seeds that nothing else has.

use windlass_core::{Seeded, Uuid};

/// An id that nothing else has.
pub(crate) fn fresh_uuid() -> Uuid {
    Seeded::new(random_seed()).uuid()
}

/// The seed of what is drawn from now on.
pub(crate) fn random_seed() -> [u8; 32] {
    let mut seed = [0; 32];
    if getrandom::fill(&mut seed).is_err() {
        // A system without randomness: ids must differ, not be secret. A version 4 UUID is no promise either.
        let moment = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        seed[..16].copy_from_slice(&moment.as_nanos().to_le_bytes());
        seed[16..20].copy_from_slice(&std::process::id().to_le_bytes());
    }
    seed
}
