//! Reading a journal.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use serde::Deserialize;

use super::{
    JOURNAL_VERSION,
    line::{ConfigureLine, Header, InputLine},
};
use crate::{
    effect::{Answer, EffectId, Input},
    id::Now,
    session_request::{SessionRequest, SessionRequestError},
    spec::Spec,
};

/// A journal that was read.
#[derive(Debug, Clone)]
pub struct Journal {
    /// What started the session.
    pub request: SessionRequest,
    /// The session as it was when the recording began, if it was not fresh.
    pub snapshot: Option<String>,
    /// What happened.
    pub steps: Vec<JournalStep>,
}

/// What was done to a session, with what came of it.
#[derive(Debug, Clone)]
pub struct JournalStep {
    /// The line on which it stands, from 1. Its outputs are on the lines after it.
    pub line: usize,
    /// What was done.
    pub call: JournalCall,
    /// The lines of its outputs, as they stand in the journal.
    pub outputs: Vec<String>,
}

/// What is done to a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum JournalCall {
    /// [`Session::handle`](crate::Session::handle).
    Handle {
        /// When.
        now: Now,
        /// The input.
        input: Input,
    },
    /// [`Session::configure`](crate::Session::configure).
    Configure(Box<Spec>),
}

/// A text that is no journal of this version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The first line is not a journal's header.
    #[error(
        "line 1: this is no windlass journal: it begins with a line such as {{\"windlass\":\"journal\",\"version\":{JOURNAL_VERSION},…}}"
    )]
    NotAJournal,
    /// A journal of another version.
    #[error(
        "line 1: the journal has version {found}, and this version of windlass reads {JOURNAL_VERSION}: replay it with the version that wrote it"
    )]
    Version {
        /// The version found.
        found: u32,
    },
    /// The task in the header cannot be started.
    #[error("line 1: {0}")]
    Request(SessionRequestError),
    /// A line that is neither an input nor an output.
    #[error("line {line} of the journal cannot be read: {reason}; {remedy}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
        /// What to do about it.
        remedy: &'static str,
    },
}

impl Journal {
    /// Reads a journal.
    ///
    /// # Errors
    /// [`JournalError`] with the line and the remedy; nothing of it is taken.
    pub fn parse(text: &str) -> Result<Self, JournalError> {
        #[derive(Deserialize)]
        struct Versioned {
            windlass: String,
            version: u32,
        }
        let mut lines = text.lines().enumerate();
        let first = lines.next().map(|(_, line)| line).unwrap_or_default();
        let known: Versioned =
            crate::json::read::from_str(first).map_err(|_| JournalError::NotAJournal)?;
        if known.windlass != "journal" {
            return Err(JournalError::NotAJournal);
        }
        if known.version != JOURNAL_VERSION {
            return Err(JournalError::Version {
                found: known.version,
            });
        }
        let header: Header = crate::json::read::from_str(first)
            .map_err(|error| broken(1, error.to_string(), text))?;
        let request = SessionRequest::parse(header.task.get()).map_err(JournalError::Request)?;
        let mut steps: Vec<JournalStep> = Vec::new();
        for (index, line) in lines {
            let number = index + 1;
            if line.trim().is_empty() {
                continue;
            }
            if is_output(line) {
                let Some(step) = steps.last_mut() else {
                    let reason = "an output before the first input".to_owned();
                    return Err(broken(number, reason, text));
                };
                step.outputs.push(line.to_owned());
                continue;
            }
            let call = call(line).map_err(|reason| broken(number, reason, text))?;
            steps.push(JournalStep {
                line: number,
                call,
                outputs: Vec::new(),
            });
        }
        Ok(Self {
            request,
            snapshot: header.snapshot,
            steps,
        })
    }

    /// What was answered to each effect, in order: the decisions of the model and of people, and what tools gave.
    #[must_use]
    pub fn answers(&self) -> BTreeMap<EffectId, Vec<Answer>> {
        let mut answers: BTreeMap<EffectId, Vec<Answer>> = BTreeMap::new();
        for step in &self.steps {
            if let JournalCall::Handle {
                input: Input::Answer(id, answer),
                ..
            } = &step.call
            {
                answers.entry(*id).or_default().push(answer.clone());
            }
        }
        answers
    }
}

/// What a line says was done.
fn call(line: &str) -> Result<JournalCall, String> {
    if line.starts_with("{\"configure\":") {
        let ConfigureLine { configure } =
            crate::json::read::from_str(line).map_err(|error| error.to_string())?;
        let task = SessionRequest::parse(configure.get()).map_err(|error| error.to_string())?;
        return Ok(JournalCall::Configure(Box::new(task.spec)));
    }
    let InputLine { now, input } =
        crate::json::read::from_str(line).map_err(|error| error.to_string())?;
    Ok(JournalCall::Handle { now, input })
}

/// Whether a line is what a session gave: judged by how it begins, and that it is JSON.
fn is_output(line: &str) -> bool {
    (line.starts_with("{\"output\":") || line.starts_with("{\"refused\":"))
        && crate::json::read::from_str::<serde::de::IgnoredAny>(line).is_ok()
}

fn broken(line: usize, reason: String, text: &str) -> JournalError {
    let is_last = line == text.lines().count();
    JournalError::Line {
        line,
        reason,
        remedy: match is_last && !text.ends_with('\n') {
            true => "the recording was cut here: delete this line to replay what is before it",
            false => "every line is as the recorder wrote it: take the file that it wrote",
        },
    }
}
