//! Simulation: a session in a world that behaves in all the ways in which a real one might, at random.
//!
//! A [`World`] defines how the model, the tools, the paths, the people and the hooks answer. [`Sim`] runs a session in it: a
//! seeded scheduler permutes the order of answers, cuts streams at any byte, injects [`Faults`], advances time, interrupts,
//! violates the contract, and saves and restores the session at any step. After every step every [oracle](super::oracle) is
//! checked. The same seed gives the same run, byte for byte, on every platform: a failing seed is sufficient to reproduce a
//! failure.
//!
//! - [`Scripted`] is a world for your own agent: a script for the model, closures for tools and people.
//! - [`Generated`] is a world that covers everything: specs, messages and answers are generated at random.
//!
//! ```
//! use windlass_core::{RawJson, Spec, tool::{ToolDefinition, ToolResult}};
//! use windlass_testkit::{Faults, Script, Scripted, Sim};
//!
//! let script = Script::parse(r#"{"exchanges": [
//!     {"respond": {"content": [{"type": "tool_use", "name": "Add", "input": {"a": 1, "b": 2}}]}},
//!     {"respond": "It is 3."}
//! ]}"#)?;
//! let spec = Spec::with_tools([
//!     ToolDefinition::new("Add", "Adds.", RawJson::parse(r#"{"type":"object"}"#)?),
//! ]);
//! let sim = Sim::new(move |_seed| {
//!     Scripted::new(spec.clone(), script.clone())
//!         .prompt("What is 1 + 2?")
//!         .tool("Add", |_call| ToolResult::text("3"))
//!         .allow_all()
//! })
//! // Lost connections, full servers and crashes: whatever an agent should get over without anybody noticing.
//! .faults(Faults::survivable());
//! for seed in 0..50 {
//!     let run = sim.run(seed)?;
//!     assert!(run.transcript().contains("assistant text \"It is 3.\""), "{}", run.transcript());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod exchange;
mod failure;
mod faults;
mod generated;
mod run;
mod scripted;
mod twin;
mod world;

use alloc::{boxed::Box, format, string::String, vec::Vec};
use core::fmt;

use windlass_core::effect::EffectId;

use self::run::{Failed, Pace, Running};
pub use self::{
    failure::SimFailure,
    faults::{FaultKind, Faults},
    generated::Generated,
    run::{Incident, IncidentKind, PhaseChange, Scene, SimRun},
    scripted::Scripted,
    twin::Restores,
    world::{Asked, World},
};
use super::oracle::Violation;

/// The number of steps before the last one that a failure shows.
const SHOWN_STEPS: usize = 30;

/// A simulation: a world and its faults.
pub struct Sim {
    world: Box<dyn Fn(u64) -> Box<dyn World>>,
    faults: Faults,
    /// Divisors for the probabilities of faults; a seed selects one of them.
    rarities: &'static [u16],
}

/// Frequent faults end runs early; rare faults affect runs that have come further.
const WEATHERS: [u16; 4] = [1, 4, 12, 40];

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sim")
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

impl Sim {
    /// A simulation in the world that this function creates for a seed, without faults.
    pub fn new<W: World + 'static>(world: impl Fn(u64) -> W + 'static) -> Self {
        Self {
            world: Box::new(move |seed| Box::new(world(seed))),
            faults: Faults::none(),
            rarities: &[1],
        }
    }

    /// The simulation with which windlass tests itself: everything is generated, with all faults.
    #[must_use]
    pub fn generated() -> Self {
        Self::new(Generated::new)
            .faults(Faults::everything())
            .in_every_weather()
    }

    /// Reduces faults by seed: a quarter of the runs has them at the given probability, the others 4, 12 and 40 times less
    /// often. With frequent faults no run gets as far as agents or background tasks.
    #[must_use]
    pub fn in_every_weather(mut self) -> Self {
        self.rarities = &WEATHERS;
        self
    }

    fn faults_of(&self, seed: u64) -> Faults {
        // Not derived from the last digits of the seed, which select other variants of a run.
        let bytes = run::seed_bytes(&[seed, 4]);
        let weather = windlass_core::id::Seeded::new(bytes).below(self.rarities.len() as u64);
        let rarity = usize::try_from(weather)
            .ok()
            .and_then(|at| self.rarities.get(at));
        self.faults.rarer(rarity.copied().unwrap_or(1))
    }

    /// Sets the faults.
    #[must_use]
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Runs one seed to its end.
    ///
    /// # Errors
    /// [`SimFailure`] with the broken promise and the steps that led to it.
    pub fn run(&self, seed: u64) -> Result<SimRun, Box<SimFailure>> {
        let mut world = (self.world)(seed);
        let faults = self.faults_of(seed);
        let pace = Pace::Eventful {
            seed,
            crash_at: None,
        };
        let run = Running::new(seed, &mut *world, &faults, pace, false);
        run.finish().map_err(|_| Box::new(self.explain(seed, None)))
    }

    /// Runs one seed to its end, with an additional crash: after this step (counted from 1) the session is saved and
    /// restored, and some of its effects are lost. Applied to every step of [`SimRun::steps`], this shows that a run recovers
    /// from a crash at any step.
    ///
    /// ```
    /// use windlass_testkit::Sim;
    /// let sim = Sim::generated();
    /// for step in 1..=sim.run(3)?.steps.min(20) {
    ///     sim.crashing_at(3, step)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SimFailure`] with the broken promise and the steps that led to it.
    pub fn crashing_at(&self, seed: u64, step: u64) -> Result<SimRun, Box<SimFailure>> {
        let mut world = (self.world)(seed);
        let faults = self.faults_of(seed);
        let crash_at = Some(step);
        let pace = Pace::Eventful { seed, crash_at };
        let run = Running::new(seed, &mut *world, &faults, pace, false);
        run.finish()
            .map_err(|_| Box::new(self.explain(seed, crash_at)))
    }

    /// Runs one seed with two orders of answers and compares the names of the effects. Each run saves and restores the
    /// session at different steps.
    ///
    /// Only what legitimately leads to other effects in another order is left out:
    ///
    /// - interrupts, and people and hooks that end a run: the order determines what has been done by then. Between prompts,
    ///   where the order has no influence, there are interrupts, crashes and changes of settings;
    /// - crashes that lose effects during a run: a repeated request has another name (its attempt);
    /// - permissions that a person grants for the session: they apply to every later call;
    /// - context added by hooks of a notification: they are not waited for, so the order determines its position;
    /// - a budget that agents share: whoever asks first uses it up. Sessions without agents keep their budget;
    /// - if there are background tasks: turns that are started by their end, and compaction, because notifications make the
    ///   conversation longer at different positions. A world that
    ///   [keeps to the foreground](World::keeps_to_the_foreground) has both.
    ///
    /// The world has to cooperate ([`Asked::in_any_order`]): one that does not keep to the foreground must not give prompts
    /// that compact.
    ///
    /// # Errors
    /// [`SimFailure`] with the broken promise.
    pub fn permuted(&self, seed: u64) -> Result<[SimRun; 2], Box<SimFailure>> {
        let both = [seed, seed ^ 0x5eed].map(|order| self.in_order(seed, order, false));
        let (first, second) = match both {
            [Ok((first, _)), Ok((second, _))] => (first, second),
            [first, _] => {
                let order = if first.is_err() { seed } else { seed ^ 0x5eed };
                return Err(Box::new(match self.in_order(seed, order, true) {
                    Err(failed) => SimFailure::new(seed, *failed, SHOWN_STEPS),
                    // Cannot happen, because the same seed gives the same run.
                    Ok(_) => SimFailure::vanished(seed),
                }));
            }
        };
        if first.effects == second.effects {
            return Ok([first, second]);
        }
        let only = |of: &SimRun, other: &SimRun| -> Vec<_> {
            of.effects.difference(&other.effects).copied().collect()
        };
        let (only_first, only_second) = (only(&first, &second), only(&second, &first));
        let (order, shown) = match only_first.is_empty() {
            true => (seed ^ 0x5eed, &only_second),
            false => (seed, &only_first),
        };
        let trace = match self.in_order(seed, order, true) {
            Ok((_, trace)) => leading_to(shown, trace),
            Err(_) => return Err(Box::new(SimFailure::vanished(seed))),
        };
        let violation = Violation::Permutation {
            only_first,
            only_second,
        };
        Err(Box::new(SimFailure {
            trace,
            ..SimFailure::between(seed, violation)
        }))
    }

    /// A calm run whose order of answers is determined by a separate number.
    fn in_order(
        &self,
        seed: u64,
        order: u64,
        traced: bool,
    ) -> Result<(SimRun, Vec<String>), Box<Failed>> {
        let faults = self.faults_of(seed).independent_of_order();
        let mut world = (self.world)(seed);
        Running::new(seed, &mut *world, &faults, Pace::Calm { order }, traced).finish_traced()
    }

    /// Runs a failed seed again with a trace.
    fn explain(&self, seed: u64, crash_at: Option<u64>) -> SimFailure {
        let mut world = (self.world)(seed);
        let faults = self.faults_of(seed);
        let pace = Pace::Eventful { seed, crash_at };
        match Running::new(seed, &mut *world, &faults, pace, true).finish() {
            Err(failed) => SimFailure {
                crash_at,
                ..SimFailure::new(seed, *failed, SHOWN_STEPS)
            },
            Ok(_) => SimFailure::vanished(seed),
        }
    }
}

/// The last steps before the first of these effects, and its own step.
fn leading_to(effects: &[EffectId], mut trace: Vec<String>) -> Vec<String> {
    let names: Vec<[String; 2]> = (effects.iter())
        .map(|id| [format!("{id:?}"), format!("{id} a request")])
        .collect();
    let is_one = |line: &String| (names.iter().flatten()).any(|name| line.contains(name.as_str()));
    let end = trace.iter().position(is_one).map_or(0, |at| at + 1);
    trace.truncate(end);
    trace.drain(..end.saturating_sub(SHOWN_STEPS));
    trace
}
