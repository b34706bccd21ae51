//! The simulation of the engine around the loop.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
};

use windlass_simulate::engine::{Run, run};

use crate::seeds::{Seeds, broken};

/// Seeds that have broken a promise before: they are run first.
const FOUND: [u64; 3] = [15_354, 129_237, 129_526];

/// What a thread has run.
#[derive(Default)]
struct Sums {
    runs: u64,
    steps: u64,
    lines: u64,
    crashes: u64,
}

impl Sums {
    /// Both runs of a seed.
    fn add_twice(&mut self, run: &Run) {
        self.runs += 2;
        self.steps += 2 * run.steps;
        self.lines += 2 * run.lines;
        self.crashes += 2 * run.crashes;
    }
}

/// Runs the seeds on all threads, each twice, and says what came of them.
pub(crate) fn simulate(seeds: Seeds) -> ExitCode {
    if FOUND.into_iter().any(|seed| holds(seed).is_none()) {
        return ExitCode::FAILURE;
    }
    let (sums, failed) = seeds.run(|share| {
        let mut sums = Sums::default();
        share.each(|seed| {
            let ran = holds(seed);
            ran.iter().for_each(|run| sums.add_twice(run));
            ran.is_some()
        });
        sums
    });
    if !failed.is_empty() {
        return broken(&failed);
    }
    let sum = |of: fn(&Sums) -> u64| sums.iter().map(of).sum::<u64>();
    println!(
        "{} runs of the engine, {} steps, {} lines, {} crashes: every promise kept",
        sum(|it| it.runs),
        sum(|it| it.steps),
        sum(|it| it.lines),
        sum(|it| it.crashes)
    );
    ExitCode::SUCCESS
}

/// Whether a seed keeps every promise, and says the same when it is run again.
fn holds(seed: u64) -> Option<Run> {
    let both = catch_unwind(AssertUnwindSafe(|| (run(seed), run(seed))));
    let problem = match both {
        Ok((Ok(first), Ok(second))) if first == second => return Some(first),
        Ok((Ok(_), Ok(_))) => format!("seed {seed}: another run of it says something else"),
        Ok((Err(broken), _) | (_, Err(broken))) => broken.to_string(),
        Err(_) => format!("seed {seed} panicked"),
    };
    eprintln!("{problem}\nagain: cargo xtask simulate --engine --seeds 1 --from {seed}");
    None
}
