//! `simulate [--seeds N] [--from S]`: runs so many seeds on all processors and says what came of them.

mod around;
mod count;
mod found;
mod seeds;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    thread,
};

use lexopt::{Arg, ValueExt as _};
use windlass_testkit::{Faults, Sim, SimFailure};

use self::{
    count::Count,
    seeds::{Seeds, broken},
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HELP: &str = "\
simulate [--seeds N] [--from S] [--threads T] [--all] [--sparse]
  runs N seeds (13000) from S (0) on, on T threads (one for each processor); every fourth in two
  orders of answers as well, and every 500th crashing at each of its steps in turn
  --all     goes on after a seed that breaks a promise, and names every such seed
  --sparse  puts the session away only at the steps before which it is taken up beside the run, not at
            every step: more seeds in the same time
simulate --engine [--seeds N] [--from S] [--threads T] [--all]
  the same for the engine around the loop, every seed twice: both runs write the same
simulate --found
  runs the seeds that have broken a promise before, each in two orders of answers as well";

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

/// What is asked for.
struct Request {
    seeds: Seeds,
    sparse: bool,
    found: bool,
    engine: bool,
}

/// What is run with a seed.
#[derive(Clone, Copy)]
struct Ways {
    permuted: bool,
    crashing: bool,
}

fn main() -> ExitCode {
    let request = match arguments() {
        Ok(Some(request)) => request,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("simulate: {error}\n{HELP}");
            return ExitCode::from(2);
        }
    };
    if request.found {
        return replay();
    }
    if request.engine {
        return around::simulate(request.seeds);
    }
    let (count, failed) = simulate(&request);
    if !failed.is_empty() {
        return broken(&failed);
    }
    println!("{count}");
    if let Some(lacking) = lacking(&count, request.seeds.count) {
        eprintln!("simulate: {lacking}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn arguments() -> Result<Option<Request>, lexopt::Error> {
    let mut request = Request {
        seeds: Seeds {
            from: 0,
            count: SEEDS,
            threads: thread::available_parallelism().map_or(1, usize::from),
            all: false,
        },
        sparse: false,
        found: false,
        engine: false,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("seeds") => request.seeds.count = parser.value()?.parse()?,
            Arg::Long("from") => request.seeds.from = parser.value()?.parse()?,
            Arg::Long("threads") => request.seeds.threads = parser.value()?.parse()?,
            Arg::Long("all") => request.seeds.all = true,
            Arg::Long("sparse") => request.sparse = true,
            Arg::Long("found") => request.found = true,
            Arg::Long("engine") => request.engine = true,
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(request))
}

/// What so many seeds should have met, and did not.
fn lacking(count: &Count, seeds: u64) -> Option<String> {
    if seeds >= SEEDS && count.runs() < LEAST_RUNS {
        return Some(format!(
            "fewer than {LEAST_RUNS} runs: SEEDS must be larger"
        ));
    }
    if seeds < MEET_EVERYTHING {
        return None;
    }
    let missing = count.missing();
    if !missing.is_empty() {
        return Some(format!("these faults never happened: {missing:?}"));
    }
    let unmet = count.unmet();
    (!unmet.is_empty()).then(|| format!("no run met this: {unmet:?}"))
}

/// Runs the seeds that have broken a promise before.
fn replay() -> ExitCode {
    let sim = Sim::generated();
    let ways = Ways {
        permuted: true,
        crashing: false,
    };
    let mut count = Count::default();
    for seed in found::SEEDS {
        if !holds(&sim, *seed, ways, &mut count) {
            return ExitCode::FAILURE;
        }
    }
    println!(
        "{} seeds that were found before: {count}",
        found::SEEDS.len()
    );
    ExitCode::SUCCESS
}

/// Runs the seeds, on all threads: what they came to, and which broke a promise.
fn simulate(request: &Request) -> (Count, Vec<u64>) {
    let is_one = request.seeds.count == 1;
    let (counts, failed) = request.seeds.run(|share| {
        let faults = Faults {
            restore_bytes: !request.sparse,
            ..Faults::everything()
        };
        let sim = Sim::generated().faults(faults);
        let mut count = Count::default();
        share.each(|seed| {
            let ways = Ways {
                permuted: seed.is_multiple_of(PERMUTED) || is_one,
                crashing: seed.is_multiple_of(CRASHING) || is_one,
            };
            holds(&sim, seed, ways, &mut count)
        });
        count
    });
    let mut total = Count::default();
    counts.iter().for_each(|count| total.add(count));
    (total, failed)
}

/// Whether a seed keeps every promise. A panic in the machine breaks one, like anything else.
fn holds(sim: &Sim, seed: u64, ways: Ways, count: &mut Count) -> bool {
    let ran = catch_unwind(AssertUnwindSafe(|| one(sim, seed, ways, count)));
    match ran {
        Ok(Ok(())) => return true,
        Ok(Err(failure)) => eprintln!("{failure}"),
        Err(_) => eprintln!("seed {seed} panicked"),
    }
    eprintln!("again: cargo xtask simulate --seeds 1 --from {seed}");
    false
}

fn one(sim: &Sim, seed: u64, ways: Ways, count: &mut Count) -> Result<(), Box<SimFailure>> {
    let run = sim.run(seed)?;
    count.run(&run);
    if ways.permuted {
        sim.permuted(seed)?
            .iter()
            .for_each(|run| count.permuted(run));
    }
    if ways.crashing {
        for step in 1..=run.steps {
            count.crashed(&sim.crashing_at(seed, step)?);
        }
    }
    Ok(())
}
