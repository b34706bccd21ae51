//! The life of an engine: its states, what leads from one to another, and the diagram of it in `docs/architecture.md`.

use std::fmt::Write as _;

/// Where an engine stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The session that is to go on is read. Lines wait.
    Opening,
    /// There is no session to begin, and the SDK was told so: its first words are waited for, so that it hears it.
    Refused,
    /// Nothing was said yet.
    Fresh,
    /// Settings and project files are read for the first time.
    Preparing,
    /// What sessions are made of is known, and none runs.
    Ready,
    /// A session runs.
    Running,
    /// Settings and project files are read again.
    Reconfiguring,
    /// The conversation ends, and another begins in its place.
    Clearing,
    /// No more is to come: the session works off what it has.
    Draining,
    /// All is answered: worktrees, hooks of the end, servers.
    Closing,
    /// The same in a hurry: somebody wants the engine to end, or nobody reads it.
    Stopping,
    /// Nothing happens any more.
    Ended,
}

/// What leads from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Opened,
    NotOpened,
    Prepare,
    Prepared,
    Unprepared,
    Begin,
    SessionEnded,
    Reconfigure,
    GoneBack,
    Clear,
    Cleared,
    Drain,
    Close,
    Stop,
    End,
}

/// Every transition there is.
const TRANSITIONS: [(State, Step, State); 31] = {
    use State::*;
    use Step::*;
    [
        (Opening, Opened, Fresh),
        (Opening, NotOpened, Refused),
        (Opening, Step::Stop, Stopping),
        (Refused, End, Ended),
        (Refused, Step::Stop, Ended),
        (Fresh, Prepare, Preparing),
        (Fresh, Close, Closing),
        (Fresh, Step::Stop, Stopping),
        (Preparing, Step::Prepared, Ready),
        (Preparing, Unprepared, Fresh),
        (Preparing, Step::Stop, Stopping),
        (Ready, Begin, Running),
        (Ready, Reconfigure, Reconfiguring),
        (Ready, Clear, Clearing),
        (Ready, Close, Closing),
        (Ready, Step::Stop, Stopping),
        (Running, SessionEnded, Ready),
        (Running, Reconfigure, Reconfiguring),
        (Running, Clear, Clearing),
        (Running, Drain, Draining),
        (Running, Step::Stop, Stopping),
        (Reconfiguring, GoneBack, Ready),
        (Reconfiguring, Step::Stop, Stopping),
        (Clearing, Cleared, Ready),
        (Clearing, Step::Stop, Stopping),
        (Draining, SessionEnded, Ready),
        (Draining, Close, Closing),
        (Draining, Step::Stop, Stopping),
        (Closing, End, Ended),
        (Closing, Step::Stop, Stopping),
        (Stopping, End, Ended),
    ]
};

impl State {
    /// The state that a step leads to; none where there is no such step from here.
    pub(super) fn after(self, step: Step) -> Option<Self> {
        let mut transitions = TRANSITIONS.iter();
        let (.., to) = transitions.find(|(from, by, _)| *from == self && *by == step)?;
        Some(*to)
    }

    /// Whether nothing but the end is left to do.
    pub(super) fn is_over(self) -> bool {
        matches!(
            self,
            Self::Refused | Self::Closing | Self::Stopping | Self::Ended
        )
    }
}

/// The transitions as a Mermaid diagram.
#[must_use]
pub fn diagram() -> String {
    let mut text = String::from("stateDiagram-v2\n    [*] --> Opening\n");
    for (from, step, to) in TRANSITIONS {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "    {from:?} --> {to:?} : {step:?}");
    }
    text.push_str("    Ended --> [*]\n");
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_state_is_reached_and_every_one_leads_to_the_end() {
        let mut reached = BTreeSet::from([State::Opening]);
        let all: BTreeSet<State> = TRANSITIONS.iter().flat_map(|it| [it.0, it.2]).collect();
        for _ in 0..all.len() {
            for (from, _, to) in TRANSITIONS {
                if reached.contains(&from) {
                    reached.insert(to);
                }
            }
        }
        assert_eq!(reached, all);
        let mut ends = BTreeSet::from([State::Ended]);
        for _ in 0..all.len() {
            for (from, _, to) in TRANSITIONS {
                if ends.contains(&to) {
                    ends.insert(from);
                }
            }
        }
        assert_eq!(ends, all);
    }

    #[test]
    fn a_step_leads_to_one_state() {
        let steps: BTreeSet<(State, Step)> = TRANSITIONS.iter().map(|it| (it.0, it.1)).collect();
        assert_eq!(steps.len(), TRANSITIONS.len());
    }
}
