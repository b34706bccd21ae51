//! How the content blocks of one message get ids of their own.
//!
//! The core gives a message one id. To the SDKs, and in transcripts, every content block of a response is a frame and a
//! line by itself, and the two must agree: applications look the `uuid` of a frame up in the file. So both sides ask this
//! one function.

use windlass_core::{Seeded, Uuid};

/// Tells these ids from any others that are drawn from a message's id.
const PURPOSE: [u8; 8] = *b"blockid\0";

/// The id of a message's content block: that of the message for the first one (`index` 0), for each further one a
/// version 4 UUID that follows from message and index alone.
///
/// `index` counts all blocks of the response, also those that an application is not shown.
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
        // Files that were written must go on to fit: these ids never change.
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
