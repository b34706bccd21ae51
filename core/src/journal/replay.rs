//! Turning a session anew, with the inputs of a journal.

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

/// How much of a line a difference shows around the place where it begins, in characters.
const SHOWN: usize = 160;

/// A journal that was replayed with the same outputs.
#[derive(Debug)]
pub struct Replayed {
    /// The session at the end.
    pub session: Session,
    /// Inputs that were handed in.
    pub inputs: usize,
    /// Outputs that were compared.
    pub outputs: usize,
}

/// The first place at which a replay differs from its journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the journal: {}", differing(expected, found))]
pub struct Difference {
    /// The line of the journal, from 1.
    pub line: usize,
    /// What stands there; none when the replay gives more than the journal has.
    pub expected: Option<String>,
    /// What the replay gives; none when it gives less.
    pub found: Option<String>,
}

impl Journal {
    /// The session as it was when the recording began.
    ///
    /// # Errors
    /// [`SnapshotError`], where it was not fresh and cannot be taken up.
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

    /// Turns a session with the inputs of the journal and compares what it gives.
    ///
    /// The last input may have fewer outputs than the replay: the recording may have been cut after any line.
    ///
    /// # Errors
    /// The first [`Difference`].
    pub fn replay(&self) -> Result<Replayed, Difference> {
        self.replay_with(self.request.spec.clone())
    }

    /// The same with another spec: a wire format of your own, or what a changed prompt would change.
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

/// A line around the place where it begins to differ from the other.
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
