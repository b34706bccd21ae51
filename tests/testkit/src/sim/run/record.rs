//! The results of a run.

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

/// The results of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SimRun {
    /// Its seed.
    pub seed: u64,
    /// The number of inputs.
    pub steps: u64,
    /// The number of prompts.
    pub prompts: usize,
    /// A digest of all outputs: equal runs have equal digests.
    pub digest: Digest,
    /// The names of all effects.
    pub effects: BTreeSet<EffectId>,
    /// Every message.
    pub messages: Vec<Message>,
    /// Every tool call, in the order they were issued.
    pub calls: Vec<ToolCall>,
    /// The phase transitions that occurred.
    pub phases: Vec<PhaseChange>,
    /// The faults and unusual events, each with its scene.
    pub incidents: BTreeSet<Incident>,
    /// The number of faults, by kind.
    pub faults: BTreeMap<FaultKind, u64>,
    /// The features of the world that were exercised ([`World::met`](crate::World::met)).
    pub met: BTreeSet<&'static str>,
    /// How often the session was saved and restored to check that nothing changes.
    pub restores: Restores,
    /// The conversation at the end, one API message per line.
    pub history: Vec<String>,
}

impl SimRun {
    /// The results of a run in which nothing has happened yet.
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

    /// Counts a fault.
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
    /// The phase before.
    pub from: Phase,
    /// The phase after; transient phases in between are not recorded.
    pub to: Phase,
    /// Whether the input was one that stops the run.
    pub stopped: bool,
}

/// An event from which a run should recover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Incident {
    /// The kind of event.
    pub kind: IncidentKind,
    /// The scene of the event.
    pub scene: Scene,
}

/// The kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IncidentKind {
    /// The run was interrupted.
    Interrupted,
    /// The session was saved and restored.
    Restored,
    /// A response of a model broke off.
    Cut,
    /// A hook was stopped by its timeout.
    HookTimedOut,
    /// An effect completed before one that was issued earlier.
    Overtaken,
}

/// The part of a session that is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scene {
    /// The main conversation.
    Conversation,
    /// A subagent in the foreground.
    Agent,
    /// A subagent in the background.
    BackgroundAgent,
    /// A call that runs in the background.
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
