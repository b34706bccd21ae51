//! Every fuzz target over its committed seeds, and over mutations of them.
#![allow(clippy::unwrap_used)]

use std::panic;

use windlass_fuzz::{Mutator, TARGETS, run, seeds};

/// Variants a target.
const VARIANTS: u64 = 3_000;

fn try_out(target: &str) {
    let seeds = seeds(target).unwrap();
    assert!(!seeds.is_empty(), "no seeds for {target}");
    let check = |bytes: &[u8], what: String| {
        if panic::catch_unwind(|| run(target, bytes)).is_err() {
            panic!(
                "{target}: {what} failed, with {:?}",
                String::from_utf8_lossy(bytes)
            );
        }
    };
    for (number, seed) in seeds.iter().enumerate() {
        check(seed, format!("seed {number}"));
        for cut in 0..seed.len().min(400) {
            check(&seed[..cut], format!("seed {number} cut at {cut}"));
        }
    }
    for number in 0..VARIANTS {
        let variant = Mutator::new(number).variant(&seeds);
        check(&variant, format!("variant {number}"));
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            try_out(stringify!($name));
        })*

        #[test]
        fn every_target_is_tried_out() {
            let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

targets! {
    sse json json_blocks rules shell hook_outputs snapshots journals agents patterns schemas frontmatter settings protocol
    transcripts memory mcp_results
}
