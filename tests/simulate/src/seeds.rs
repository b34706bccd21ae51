//! Seeds that are run on several threads.

use std::{
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

/// Which seeds are run, and how.
#[derive(Clone, Copy)]
pub(crate) struct Seeds {
    pub(crate) from: u64,
    pub(crate) count: u64,
    pub(crate) threads: usize,
    /// A seed that breaks a promise does not end the others.
    pub(crate) all: bool,
}

impl Seeds {
    /// Runs them: `work` runs on each thread, with the seeds that come to it. What it came to there, and the seeds that broke a
    /// promise.
    pub(crate) fn run<T: Send>(
        self,
        work: impl Fn(&mut Share<'_>) -> T + Sync,
    ) -> (Vec<T>, Vec<u64>) {
        let next = AtomicU64::new(self.from);
        let on_thread = || {
            let mut share = Share {
                next: &next,
                end: self.from.saturating_add(self.count),
                all: self.all,
                failed: Vec::new(),
            };
            (work(&mut share), share.failed)
        };
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.threads.max(1))
                .map(|_| scope.spawn(on_thread))
                .collect();
            for thread in threads {
                match thread.join() {
                    Ok((of_thread, mut broken)) => {
                        done.push(of_thread);
                        failed.append(&mut broken);
                    }
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
        failed.sort_unstable();
        (done, failed)
    }
}

/// The seeds that come to one thread.
pub(crate) struct Share<'a> {
    next: &'a AtomicU64,
    end: u64,
    all: bool,
    failed: Vec<u64>,
}

impl Share<'_> {
    /// Runs each; `holds` says whether it kept every promise.
    pub(crate) fn each(&mut self, mut holds: impl FnMut(u64) -> bool) {
        loop {
            let seed = self.next.fetch_add(1, Ordering::Relaxed);
            if seed >= self.end {
                return;
            }
            if !holds(seed) {
                self.failed.push(seed);
                if !self.all {
                    self.next.store(self.end, Ordering::Relaxed);
                    return;
                }
            }
        }
    }
}

/// Says which seeds broke a promise.
pub(crate) fn broken(failed: &[u64]) -> ExitCode {
    let seeds: Vec<String> = failed.iter().map(u64::to_string).collect();
    eprintln!("simulate: promises are broken by {}", seeds.join(" "));
    ExitCode::FAILURE
}
