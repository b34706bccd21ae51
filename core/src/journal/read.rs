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

/// A parsed journal.
#[derive(Debug, Clone)]
pub struct Journal {
    /// The request that started the session.
    pub request: SessionRequest,
    /// The session at the start of the recording, if it was not new.
    pub snapshot: Option<String>,
    /// The steps, in order.
    pub steps: Vec<JournalStep>,
}

/// A call on a session, with its outputs.
#[derive(Debug, Clone)]
pub struct JournalStep {
    /// Its line, from 1. Its outputs are on the lines after it.
    pub line: usize,
    /// The call.
    pub call: JournalCall,
    /// The lines of its outputs, as in the journal.
    pub outputs: Vec<String>,
}

/// A call on a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum JournalCall {
    /// [`Session::handle`](crate::Session::handle).
    Handle {
        /// The time of the input.
        now: Now,
        /// The input.
        input: Input,
    },
    /// [`Session::configure`](crate::Session::configure).
    Configure(Box<Spec>),
}

/// An invalid journal, or one of another version.
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
    /// The session request in the header is invalid.
    #[error("line 1: {0}")]
    Request(SessionRequestError),
    /// A line that is neither an input nor an output.
    #[error("line {line} of the journal cannot be read: {reason}; {remedy}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
        /// How to fix it.
        remedy: &'static str,
    },
}

impl Journal {
    /// Parses a journal.
    ///
    /// # Errors
    /// [`JournalError`] with the line and a remedy.
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

    /// The answers to each effect, in order: model responses, permission decisions and tool results.
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

/// The call on a line.
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

/// Whether a line is an output of a session, judged by its beginning and whether it is JSON.
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
