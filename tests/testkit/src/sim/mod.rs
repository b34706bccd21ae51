//! Simulation: a session in a world that does everything a real one might, by the dice.
//!
//! A [`World`] says how the model, the tools, the paths, the people and the hooks answer. [`Sim`] turns a session in it:
//! a scheduler with a seed permutes the order of answers, cuts streams at any byte, injects [`Faults`],
//! lets time pass, interrupts, breaks the contract, and puts the session away and takes it up again at any
//! step. After every step every [oracle](super::oracle) is asked. The same seed gives the same run, byte for byte, on every
//! platform: a failing seed is all that is needed to see it again.
//!
//! - [`Scripted`] is a world for your own agent: a script for the model, closures for tools and people.
//! - [`Generated`] is a world that tries everything: specs, messages and answers by the dice.
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

/// How many steps before the last one a failure shows.
const SHOWN_STEPS: usize = 30;

/// A simulation: a world and what may go wrong in it.
pub struct Sim {
    world: Box<dyn Fn(u64) -> Box<dyn World>>,
    faults: Faults,
    /// How many times rarer they are: one of these for each seed.
    rarities: &'static [u16],
}

/// What happens often ends runs before they get far; what happens rarely meets runs that did.
const WEATHERS: [u16; 4] = [1, 4, 12, 40];

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sim")
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

impl Sim {
    /// A simulation in the world that this makes for a seed, in which nothing goes wrong by itself.
    pub fn new<W: World + 'static>(world: impl Fn(u64) -> W + 'static) -> Self {
        Self {
            world: Box::new(move |seed| Box::new(world(seed))),
            faults: Faults::none(),
            rarities: &[1],
        }
    }

    /// The simulation that windlass tests itself with: everything is generated, and everything goes wrong.
    #[must_use]
    pub fn generated() -> Self {
        Self::new(Generated::new)
            .faults(Faults::everything())
            .in_every_weather()
    }

    /// Of four runs one meets the faults as often as they say, the others 4, 12 and 40 times more rarely: where everything
    /// goes wrong at once, no run gets as far as agents or background work.
    #[must_use]
    pub fn in_every_weather(mut self) -> Self {
        self.rarities = &WEATHERS;
        self
    }

    fn faults_of(&self, seed: u64) -> Faults {
        // Not by the seed's last digits: those choose what else is run with it.
        let bytes = run::seed_bytes(&[seed, 4]);
        let weather = windlass_core::id::Seeded::new(bytes).below(self.rarities.len() as u64);
        let rarity = usize::try_from(weather)
            .ok()
            .and_then(|at| self.rarities.get(at));
        self.faults.rarer(rarity.copied().unwrap_or(1))
    }

    /// What may go wrong.
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

    /// Runs one seed to its end, with one crash more: after this step (counted from 1) the session is put away and taken up
    /// again, and some of its effects are lost. With every step of [`SimRun::steps`] in turn, a run is shown to get over a
    /// crash at any of its steps.
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

    /// Runs one seed in two orders of answers and holds the names of the effects against each other. The session is put away
    /// and taken up again at other steps of each.
    ///
    /// What would have other effects in another order for good reasons is left out, and nothing else:
    ///
    /// - interrupts, and people and hooks that end a run: what is done by then is up to the order. Between prompts, where the
    ///   order has no say, there are interrupts, crashes and other settings;
    /// - crashes that lose effects while a run goes on: another request has another name (its attempt);
    /// - what a person allows for the session: it holds for whoever asks after that;
    /// - what hooks of a notification add: nobody waits for them, so the order decides where it stands;
    /// - a budget that agents share: it is used up by whoever asks first. Sessions without agents keep theirs;
    /// - where something goes on in the background: turns that its end begins, and compaction, as news of an end make the
    ///   conversation longer in one place or another. A world that
    ///   [keeps to the foreground](World::keeps_to_the_foreground) has both.
    ///
    /// A world must do its part ([`Asked::in_any_order`]): one that does not keep to the foreground gives no prompt that
    /// compacts.
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
                    // The same seed gives the same run.
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

    /// A calm run whose order of answers is that of a number of its own.
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

    /// Runs a failed seed again and keeps what it does.
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

/// The last steps before the first of these effects, and it.
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
