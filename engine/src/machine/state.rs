//! The life cycle of an engine: its states, the transitions, and their diagram in `docs/architecture.md`.

use std::fmt::Write as _;

/// The state of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The session to be resumed is being read. Lines wait.
    Opening,
    /// No session can begin, and the SDK has been told so. The engine waits for the first input, so that the SDK reads the
    /// result.
    Refused,
    /// Nothing has been received yet.
    Fresh,
    /// Settings and project files are read for the first time.
    Preparing,
    /// The configuration is complete, and no session runs.
    Ready,
    /// A session runs.
    Running,
    /// Settings and project files are read again.
    Reconfiguring,
    /// The conversation is being ended; another one begins in its place.
    Clearing,
    /// The input has ended: the session finishes its work.
    Draining,
    /// Everything is answered. Worktrees are removed, hooks are told about the end, servers are shut down.
    Closing,
    /// The same, without waiting for running work: the engine was told to stop, or its reader is gone.
    Stopping,
    /// The final state.
    Ended,
}

/// A step from one state to another.
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

/// All transitions.
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
    /// The state after a step; `None` if the step is not possible in this state.
    pub(super) fn after(self, step: Step) -> Option<Self> {
        let mut transitions = TRANSITIONS.iter();
        let (.., to) = transitions.find(|(from, by, _)| *from == self && *by == step)?;
        Some(*to)
    }

    /// Whether only the shutdown is left to do.
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
        // Writing to a `String` cannot fail.
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
