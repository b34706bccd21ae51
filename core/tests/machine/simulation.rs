//! Thousands of seeded runs in which everything that can go wrong does, at every moment it can:
//! answers in any order, errors, cut streams, interrupts, denials, lost answers, a host that breaks the
//! contract, a session put away and taken up again. After every step the promises of the machine are checked.

mod checks;
mod world;

use std::collections::BTreeSet;

use windlass_core::diagram;

use self::{checks::Rows, world::World};

/// Runs one seed to its end and returns everything that came out.
fn run(seed: u64, rows: &mut Rows) -> String {
    let mut world = World::new(seed);
    world.prompt(rows);
    let steps = 40 + world.dice.below(160);
    for _ in 0..steps {
        world.step(rows);
    }
    world.settle(rows);
    world.check_end();
    world.transcript()
}

fn runs(seeds: std::ops::Range<u64>) -> Rows {
    let mut rows = Rows::default();
    for seed in seeds {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(seed, &mut rows);
        }));
        if let Err(panic) = outcome {
            eprintln!("simulation with seed {seed} failed");
            std::panic::resume_unwind(panic);
        }
    }
    rows
}

#[test]
fn loop_13_whatever_is_interrupted_the_history_stays_valid_and_the_session_usable() {
    runs(0..1_000);
}

#[test]
fn loop_5_every_prompt_has_exactly_one_result_and_it_is_last_whatever_happens() {
    runs(10_000..11_000);
}

#[test]
fn card_1_the_same_inputs_give_the_same_outputs_byte_for_byte() {
    for seed in 20_000..20_300 {
        let first = run(seed, &mut Rows::default());
        let second = run(seed, &mut Rows::default());
        assert_eq!(first, second, "seed {seed}");
        assert!(!first.is_empty());
    }
}

#[test]
fn every_row_of_the_transition_table_is_taken() {
    let taken = runs(30_000..30_600).taken;
    let table: BTreeSet<String> = diagram()
        .lines()
        .filter(|line| line.contains(" : "))
        .map(|line| line.trim().to_owned())
        .collect();
    let missing: Vec<&String> = table.difference(&taken).collect();
    assert!(missing.is_empty(), "rows nobody takes: {missing:#?}");
}
