//! Replaying a journal: runs a session with the recorded inputs.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use super::{Journal, JournalCall, line::Outputs};
use crate::{
    id::Seeded,
    session::{Session, SnapshotError},
    spec::Spec,
};

/// How much of a line a difference shows around its position, in characters.
const SHOWN: usize = 160;

/// The result of a replay with equal outputs.
#[derive(Debug)]
pub struct Replayed {
    /// The session at the end.
    pub session: Session,
    /// The number of inputs.
    pub inputs: usize,
    /// The number of outputs compared.
    pub outputs: usize,
}

/// The first difference between a replay and its journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the journal: {}", differing(expected, found))]
pub struct Difference {
    /// The line of the journal, from 1.
    pub line: usize,
    /// The line in the journal; none if the replay gives more outputs.
    pub expected: Option<String>,
    /// The output of the replay; none if it gives fewer outputs.
    pub found: Option<String>,
}

impl Journal {
    /// The session at the start of the recording.
    ///
    /// # Errors
    /// [`SnapshotError`] if the recording began with a snapshot that cannot be restored.
    pub fn session(&self, spec: Arc<Spec>) -> Result<Session, SnapshotError> {
        match &self.snapshot {
            None => {
                let id = self.request.session_id;
                let id = id.unwrap_or_else(|| Seeded::new(self.request.seed).uuid());
                Ok(Session::new(spec, id, self.request.seed))
            }
            Some(snapshot) => Session::restore(spec, snapshot.as_bytes()),
        }
    }

    /// Runs a session with the inputs of the journal and compares its outputs.
    ///
    /// The last input may have fewer outputs than in the replay, since the recording may have ended after any line.
    ///
    /// # Errors
    /// The first [`Difference`].
    pub fn replay(&self) -> Result<Replayed, Difference> {
        self.replay_with(self.request.spec.clone())
    }

    /// The same with another spec: for a custom wire format, or to see the effect of a changed prompt.
    ///
    /// # Errors
    /// The first [`Difference`].
    pub fn replay_with(&self, spec: Spec) -> Result<Replayed, Difference> {
        let provider = Arc::clone(&spec.model.provider);
        let mut session = self.session(Arc::new(spec)).map_err(|error| Difference {
            line: 1,
            expected: Some("a snapshot".to_owned()),
            found: Some(error.to_string()),
        })?;
        let mut encoder = Outputs::default();
        let mut compared = 0;
        for (index, step) in self.steps.iter().enumerate() {
            let mut found = Vec::new();
            let refused = match &step.call {
                JournalCall::Handle { now, input } => {
                    let handled = session.handle(*now, input.clone());
                    handled.err().map(|error| error.to_string())
                }
                JournalCall::Configure(spec) => {
                    let mut spec = Spec::clone(spec);
                    spec.model.provider = Arc::clone(&provider);
                    let configured = session.configure(Arc::new(spec));
                    configured.err().map(|error| error.to_string())
                }
            };
            found.extend(refused.as_deref().map(Outputs::refused));
            while let Some(output) = session.poll() {
                found.push(encoder.line(&output));
            }
            let is_last = index + 1 == self.steps.len();
            let cut = is_last && step.outputs.len() < found.len();
            let lines = match cut {
                true => step.outputs.len(),
                false => step.outputs.len().max(found.len()),
            };
            for at in 0..lines {
                let (expected, found) = (step.outputs.get(at), found.get(at));
                if expected != found {
                    return Err(Difference {
                        line: step.line + 1 + at,
                        expected: expected.cloned(),
                        found: found.cloned(),
                    });
                }
            }
            compared += lines;
        }
        Ok(Replayed {
            session,
            inputs: self.steps.len(),
            outputs: compared,
        })
    }
}

fn differing(expected: &Option<String>, found: &Option<String>) -> String {
    let (expected, found) = (shown(expected, found), shown(found, expected));
    format!("expected {expected}, found {found}")
}

/// The part of a line around the position where it differs from the other.
fn shown(line: &Option<String>, other: &Option<String>) -> String {
    let Some(line) = line else {
        return "nothing more".to_owned();
    };
    let other = other.as_deref().unwrap_or_default();
    let same = (line.chars().zip(other.chars()))
        .take_while(|(a, b)| a == b)
        .count();
    let from = same.saturating_sub(SHOWN / 2);
    let mut part: String = line.chars().skip(from).take(SHOWN).collect();
    if from > 0 {
        part.insert(0, '…');
    }
    if line.chars().count() > from + SHOWN {
        part.push('…');
    }
    part
}
