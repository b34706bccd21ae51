//! What a simulation came to, in numbers.

use std::{collections::BTreeMap, fmt};

use windlass_testkit::{FaultKind, Generated, Restores, SimRun};

/// What was run.
#[derive(Debug, Default)]
pub(crate) struct Count {
    /// Runs of all kinds.
    runs: u64,
    /// Among them, runs in another order of answers, in pairs.
    permuted: u64,
    /// Among them, runs that were made to crash at one step.
    crashed: u64,
    prompts: u64,
    steps: u64,
    restores: Restores,
    faults: BTreeMap<FaultKind, u64>,
    /// In how many runs each of what worlds have beside the loop was met.
    met: BTreeMap<&'static str, u64>,
}

impl Count {
    /// A run of a seed.
    pub(crate) fn run(&mut self, run: &SimRun) {
        self.runs += 1;
        self.prompts += run.prompts as u64;
        self.steps += run.steps;
        self.restores.add(run.restores);
        for (kind, times) in &run.faults {
            *self.faults.entry(*kind).or_default() += times;
        }
        for feature in &run.met {
            *self.met.entry(feature).or_default() += 1;
        }
    }

    /// A run in one of two orders.
    pub(crate) fn permuted(&mut self, run: &SimRun) {
        self.permuted += 1;
        self.run(run);
    }

    /// A run that was made to crash.
    pub(crate) fn crashed(&mut self, run: &SimRun) {
        self.crashed += 1;
        self.run(run);
    }

    /// Adds what another worker counted.
    pub(crate) fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.permuted += other.permuted;
        self.crashed += other.crashed;
        self.prompts += other.prompts;
        self.steps += other.steps;
        self.restores.add(other.restores);
        for (kind, times) in &other.faults {
            *self.faults.entry(*kind).or_default() += times;
        }
        for (feature, times) in &other.met {
            *self.met.entry(feature).or_default() += times;
        }
    }

    /// How many runs there were.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// Faults that never happened, where so many runs should have met each.
    pub(crate) fn missing(&self) -> Vec<FaultKind> {
        let happened = |kind: &FaultKind| self.faults.contains_key(kind);
        FaultKind::ALL
            .into_iter()
            .filter(|kind| !happened(kind))
            .collect()
    }

    /// What worlds have beside the loop, and no run met.
    pub(crate) fn unmet(&self) -> Vec<&'static str> {
        let met = |feature: &&str| self.met.contains_key(feature);
        let all = Generated::features();
        all.into_iter().filter(|feature| !met(feature)).collect()
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "went wrong: {}",
            (self.faults.iter())
                .map(|(kind, times)| format!("{kind:?} {times}"))
                .collect::<Vec<_>>()
                .join(", ")
        )?;
        writeln!(
            f,
            "met, in so many runs: {}",
            (self.met.iter())
                .map(|(feature, runs)| format!("{feature} {runs}"))
                .collect::<Vec<_>>()
                .join(", ")
        )?;
        let Restores {
            fixed_points,
            same_step,
            asked_again,
            configured,
        } = self.restores;
        writeln!(
            f,
            "put away and taken up: at {fixed_points} steps the same bytes, before {same_step} steps the same step, \
             {asked_again} times a response asked for again; {configured} times configured with the same spec"
        )?;
        write!(
            f,
            "{} simulated runs ({} in permuted orders, {} crashing at a given step), {} prompts, {} steps: every promise kept",
            self.runs, self.permuted, self.crashed, self.prompts, self.steps
        )
    }
}
