//! What came of a run.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    vec::Vec,
};

use windlass_core::{Phase, effect::EffectId, message::Message, tool::ToolCall};

use crate::{
    Digest, render,
    sim::{FaultKind, Restores},
};

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SimRun {
    /// Its seed.
    pub seed: u64,
    /// Inputs that were handed in.
    pub steps: u64,
    /// Prompts among them.
    pub prompts: usize,
    /// A number for everything that came out: equal runs have equal numbers.
    pub digest: Digest,
    /// The names of all effects.
    pub effects: BTreeSet<EffectId>,
    /// Every message.
    pub messages: Vec<Message>,
    /// Every tool call, in the order they were issued.
    pub calls: Vec<ToolCall>,
    /// The ways between phases that were taken.
    pub phases: Vec<PhaseChange>,
    /// What went wrong or was out of the ordinary, and beside what.
    pub incidents: BTreeSet<Incident>,
    /// How often what went wrong.
    pub faults: BTreeMap<FaultKind, u64>,
    /// What the world met of what it has beside the loop ([`World::met`](crate::World::met)).
    pub met: BTreeSet<&'static str>,
    /// How often the session was put away and taken up again to see that nothing changes.
    pub restores: Restores,
    /// The conversation at the end, one message of the API a line.
    pub history: Vec<String>,
}

impl SimRun {
    /// Of a run in which nothing has happened yet.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            steps: 0,
            prompts: 0,
            digest: Digest::default(),
            effects: BTreeSet::new(),
            messages: Vec::new(),
            calls: Vec::new(),
            phases: Vec::new(),
            incidents: BTreeSet::new(),
            faults: BTreeMap::new(),
            met: BTreeSet::new(),
            restores: Restores::default(),
            history: Vec::new(),
        }
    }

    /// Takes note of something that went wrong.
    pub(super) fn went_wrong(&mut self, kind: FaultKind) {
        *self.faults.entry(kind).or_insert(0) += 1;
    }

    /// The messages as text ([`render()`]).
    #[must_use]
    pub fn transcript(&self) -> String {
        render(&self.messages)
    }
}

/// The phases before and after an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseChange {
    /// Before.
    pub from: Phase,
    /// After; there may have been others between, in which there was nothing to wait for.
    pub to: Phase,
    /// Whether the input was one that stops the run.
    pub stopped: bool,
}

/// Something that a run should get over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Incident {
    /// What happened.
    pub kind: IncidentKind,
    /// Where, or beside what.
    pub scene: Scene,
}

/// What can happen to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IncidentKind {
    /// The run was interrupted.
    Interrupted,
    /// The session was put away and taken up again.
    Restored,
    /// The answer of a model broke off.
    Cut,
    /// A hook had its time, and was stopped.
    HookTimedOut,
    /// An effect came to its end before another that was asked for before it.
    Overtaken,
}

/// Who is at work in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scene {
    /// The conversation itself.
    Conversation,
    /// A subagent that the conversation waits for.
    Agent,
    /// A subagent in the background.
    BackgroundAgent,
    /// A call in the background.
    BackgroundCall,
}

impl Scene {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Conversation,
        Self::Agent,
        Self::BackgroundAgent,
        Self::BackgroundCall,
    ];
}

impl IncidentKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Interrupted,
        Self::Restored,
        Self::Cut,
        Self::HookTimedOut,
        Self::Overtaken,
    ];
}
