//! Derives a separate id for each content block of a message.
//!
//! The core gives a message one id. The SDKs and transcripts represent every content block of a response as a frame or line
//! of its own, and the ids on both sides must match: applications look up the `uuid` of a frame in the transcript file. Both
//! sides therefore use this function.

use windlass_core::{Seeded, Uuid};

/// Domain separator: keeps these ids distinct from any others derived from a message's id.
const PURPOSE: [u8; 8] = *b"blockid\0";

/// The id of a message's content block: the message's own id for the first block (`index` 0), and for each further block a
/// version 4 UUID derived only from the message id and the index.
///
/// `index` counts all blocks of the response, including those that are not shown to an application.
#[must_use]
pub fn block_uuid(message: Uuid, index: usize) -> Uuid {
    if index == 0 {
        return message;
    }
    let mut seed = [0; 32];
    seed[..16].copy_from_slice(message.as_bytes());
    seed[16..24].copy_from_slice(&(index as u64).to_be_bytes());
    seed[24..].copy_from_slice(&PURPOSE);
    Seeded::new(seed).uuid()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use windlass_core::uuid_v4;

    use super::*;

    fn message(n: u128) -> Uuid {
        uuid_v4(n.to_be_bytes())
    }

    #[test]
    fn the_first_block_keeps_the_id_of_its_message() {
        assert_eq!(block_uuid(message(7), 0), message(7));
    }

    #[test]
    fn further_blocks_have_ids_that_stay_the_same_over_versions() {
        // These ids must never change: existing transcript files refer to them.
        assert_eq!(
            block_uuid(message(7), 1).to_string(),
            "4d40f865-b10c-441e-832b-f008d03b4fc8"
        );
        assert_eq!(
            block_uuid(message(7), 2).to_string(),
            "85bb1a60-47ba-44a5-809f-ef3f68c6a6e7"
        );
    }

    #[test]
    fn no_two_blocks_share_an_id_and_all_are_of_version_4() {
        let ids: BTreeSet<Uuid> = (0..100)
            .flat_map(|m| (0..100).map(move |block| block_uuid(message(m), block)))
            .collect();
        assert_eq!(ids.len(), 10_000);
        let is_v4 = |id: &Uuid| id.to_string().as_bytes()[14] == b'4';
        assert!(ids.iter().all(is_v4));
    }
}
