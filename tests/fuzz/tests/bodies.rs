//! Every fuzz target over its committed seeds, and over mutations of them. `WINDLASS_ATTACK_ROUNDS` says of how many
//! mutations, for all targets together.
#![allow(clippy::unwrap_used)]

use std::panic;

use windlass_fuzz::{Mutator, TARGETS, run, seeds};

/// Variants a target in the test command.
const VARIANTS: u64 = 3_000;

fn try_out(target: &str) {
    let rounds = std::env::var("WINDLASS_ATTACK_ROUNDS");
    let variants = rounds.map_or(VARIANTS, |all| {
        all.parse::<u64>().unwrap() / TARGETS.len() as u64
    });
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
    for number in 0..variants {
        let variant = Mutator::new(number).variant(&seeds);
        check(&variant, format!("variant {number}"));
    }
    eprintln!("tried: {variants} variants of inputs");
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
