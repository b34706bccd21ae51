//! The simulation of the engine around the loop.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use windlass_simulate::engine::{Run, run};

/// Seeds that have broken a promise before: they are run first.
const FOUND: [u64; 3] = [15_354, 129_237, 129_526];

/// Runs the seeds on all threads, each twice, and says what came of them.
pub(crate) fn simulate(from: u64, seeds: u64, threads: usize, all: bool) -> ExitCode {
    if FOUND.into_iter().any(|seed| holds(seed).is_none()) {
        return ExitCode::FAILURE;
    }
    let next = AtomicU64::new(from);
    let end = from.saturating_add(seeds);
    let total: Mutex<(u64, Run, Vec<u64>)> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let ran = holds(seed);
                    // A panic while it is held leaves sums that are whole.
                    let mut total = total.lock().unwrap_or_else(|it| it.into_inner());
                    match ran {
                        Some(run) => {
                            total.0 += 2;
                            total.1.steps += 2 * run.steps;
                            total.1.lines += 2 * run.lines;
                            total.1.crashes += 2 * run.crashes;
                        }
                        None => {
                            total.2.push(seed);
                            if !all {
                                next.store(end, Ordering::Relaxed);
                            }
                        }
                    }
                }
            });
        }
    });
    let (runs, sums, failed) = total.into_inner().unwrap_or_else(|it| it.into_inner());
    let Run {
        steps,
        lines,
        crashes,
        ..
    } = sums;
    if failed.is_empty() {
        println!(
            "{runs} runs of the engine, {steps} steps, {lines} lines, {crashes} crashes: every promise kept"
        );
        return ExitCode::SUCCESS;
    }
    let failed: Vec<String> = failed.iter().map(u64::to_string).collect();
    eprintln!("simulate: promises are broken by {}", failed.join(" "));
    ExitCode::FAILURE
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
