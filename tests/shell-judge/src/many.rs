//! Many generated lines, tried on all processors.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use crate::{
    lines::Line,
    reading::Reading,
    stage::Stage,
    trial::{Fault, Tried, try_line},
};

/// Lines that are tried at the same time, for each processor.
const WORKERS_PER_CORE: usize = 2;

/// What came of many lines.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many were tried.
    pub tried: u64,
    /// How many of them passed.
    pub passed: u64,
    /// How many were tried and passed with each permissions.
    pub by_permissions: BTreeMap<&'static str, (u64, u64)>,
    /// Those that did something else than what was judged, in the order of their seeds.
    pub faulty: Vec<(Line, Fault)>,
}

/// Whether a text may define a function. One that calls itself twice is never run by chance.
fn defines_function(text: &str) -> bool {
    let text: String = text.replace("\\\n", "").split_whitespace().collect();
    text.contains("()") || text.contains("function")
}

/// Tries so many generated lines from a seed on, on all processors. It ends early after so many faults, and hands each
/// over when it is found.
///
/// # Errors
/// When a stage cannot be set up or used.
pub fn run_many(
    reading: &dyn Reading,
    line_of: &(dyn Fn(u64) -> Line + Sync),
    lines: u64,
    from: u64,
    most_faults: usize,
    found: &(dyn Fn(&Line, &Fault) + Sync),
) -> io::Result<Tally> {
    let next = AtomicU64::new(from);
    let tally = Mutex::new(Tally::default());
    // Most of the time a worker waits for what it has started.
    let workers = WORKERS_PER_CORE * thread::available_parallelism().map_or(1, usize::from);
    let work = || -> io::Result<()> {
        let stage = Stage::new()?;
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= from.saturating_add(lines) {
                return Ok(());
            }
            let line = line_of(seed);
            let is_safe = line.permissions.forbidden.is_empty() && reading.promises_same_result()
                || !defines_function(&line.text);
            let tried = if is_safe {
                try_line(&line, reading, &stage)?
            } else {
                Tried::Asked
            };
            let mut tally = tally
                .lock()
                .map_err(|_| io::Error::other("another worker panicked"))?;
            tally.tried += 1;
            tally.passed += u64::from(!matches!(tried, Tried::Asked));
            let counts = tally
                .by_permissions
                .entry(line.permissions.name)
                .or_default();
            counts.0 += 1;
            counts.1 += u64::from(!matches!(tried, Tried::Asked));
            if let Tried::Faulty(fault) = tried {
                found(&line, &fault);
                tally.faulty.push((line, fault));
                if tally.faulty.len() >= most_faults {
                    next.store(u64::MAX / 2, Ordering::Relaxed);
                    return Ok(());
                }
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            let panicked = |_| io::Error::other("a worker panicked");
            worker.join().map_err(panicked)?
        })
    })?;
    let mut tally = tally
        .into_inner()
        .map_err(|_| io::Error::other("a worker panicked"))?;
    tally.faulty.sort_by_key(|(line, _)| line.seed);
    Ok(tally)
}
