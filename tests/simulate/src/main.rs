//! `simulate --seeds N [--from S]`: runs so many seeds on all processors and says what came of them.

mod count;

use std::{
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use lexopt::{Arg, ValueExt as _};
use windlass_core::testkit::{Sim, SimFailure};

use self::count::Count;

const HELP: &str = "\
simulate [--seeds N] [--from S]
  runs N seeds (13000) from S (0) on; every fourth in two orders of answers as well, and every
  500th crashing at each of its steps in turn";

/// Seeds when nothing is said: with what is run beside them, more than 20,000 runs.
const SEEDS: u64 = 13_000;

/// What that many seeds must come to.
const LEAST_RUNS: u64 = 20_000;

/// Every so many seeds, the order of answers is permuted too.
const PERMUTED: u64 = 4;

/// Every so many seeds, the run crashes at each of its steps in turn.
const CRASHING: u64 = 500;

/// So many seeds meet every fault, and all that worlds have beside the loop.
const MEET_EVERYTHING: u64 = 2_000;

fn main() -> ExitCode {
    let (seeds, from) = match arguments() {
        Ok(Some(chosen)) => chosen,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("simulate: {error}\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match simulate(seeds, from) {
        Ok(count) => {
            println!("{count}");
            if seeds >= SEEDS && count.runs() < LEAST_RUNS {
                eprintln!("simulate: fewer than {LEAST_RUNS} runs: SEEDS must be larger");
                return ExitCode::FAILURE;
            }
            let missing = count.missing();
            if seeds >= MEET_EVERYTHING && !missing.is_empty() {
                eprintln!("simulate: these faults never happened: {missing:?}");
                return ExitCode::FAILURE;
            }
            let unmet = count.unmet();
            if seeds >= MEET_EVERYTHING && !unmet.is_empty() {
                eprintln!("simulate: no run met this: {unmet:?}");
                return ExitCode::FAILURE;
            }
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{failure}");
            eprintln!(
                "again: cargo xtask simulate --seeds 1 --from {}",
                failure.seed
            );
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Result<Option<(u64, u64)>, lexopt::Error> {
    let (mut seeds, mut from) = (SEEDS, 0);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("seeds") => seeds = parser.value()?.parse()?,
            Arg::Long("from") => from = parser.value()?.parse()?,
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some((seeds, from)))
}

/// Runs the seeds on all processors. Of several failures it gives the one with the smallest seed.
fn simulate(seeds: u64, from: u64) -> Result<Count, Box<SimFailure>> {
    let next = AtomicU64::new(from);
    let end = from.saturating_add(seeds);
    let failed: Mutex<Option<Box<SimFailure>>> = Mutex::new(None);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut total = Count::default();
    thread::scope(|scope| {
        let work = || {
            let sim = Sim::generated();
            let mut count = Count::default();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= end {
                    return count;
                }
                if let Err(failure) = one(&sim, seed, seeds, &mut count) {
                    next.store(end, Ordering::Relaxed);
                    if let Ok(mut failed) = failed.lock()
                        && failed
                            .as_ref()
                            .is_none_or(|known| failure.seed < known.seed)
                    {
                        *failed = Some(failure);
                    }
                    return count;
                }
            }
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            // A panic in the machine is a failure like any other, and says where.
            match worker.join() {
                Ok(count) => total.add(&count),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    match failed.into_inner() {
        Ok(Some(failure)) => Err(failure),
        _ => Ok(total),
    }
}

fn one(sim: &Sim, seed: u64, seeds: u64, count: &mut Count) -> Result<(), Box<SimFailure>> {
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sim.run(seed)));
    let run = match run {
        Ok(run) => run?,
        Err(panic) => {
            eprintln!("seed {seed} panicked; again: cargo xtask simulate --seeds 1 --from {seed}");
            std::panic::resume_unwind(panic);
        }
    };
    count.run(&run);
    if seed.is_multiple_of(PERMUTED) || seeds == 1 {
        sim.permuted(seed)?
            .iter()
            .for_each(|run| count.permuted(run));
    }
    if seed.is_multiple_of(CRASHING) || seeds == 1 {
        for step in 1..=run.steps {
            count.crashed(&sim.crashing_at(seed, step)?);
        }
    }
    Ok(())
}
