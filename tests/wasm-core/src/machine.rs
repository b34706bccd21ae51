//! A session that speaks JSON.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_core::{HostError, Input, Now, Seeded, Session, task::Task, task::TaskError};

/// An input and its time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    /// When it came.
    pub now: Now,
    /// What came.
    pub input: Input,
}

/// A session whose inputs and outputs are lines of JSON.
#[derive(Debug)]
pub struct Machine(Session);

/// Why a line was refused.
#[derive(Debug)]
pub enum Fault {
    /// The task.
    Task(TaskError),
    /// The line is not an input.
    Line(serde_json::Error),
    /// The session refused the input.
    Host(HostError),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Task(fault) => fault.fmt(f),
            Self::Line(fault) => write!(f, "not an input: {fault}"),
            Self::Host(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Fault {}

impl Machine {
    /// A session from a task ([`Task::parse`]); its prompt, if it has one, is not given to it.
    ///
    /// # Errors
    /// [`Fault::Task`].
    pub fn start(task: &str) -> Result<Self, Fault> {
        let task = Task::parse(task).map_err(Fault::Task)?;
        let id = task
            .session_id
            .unwrap_or_else(|| Seeded::new(task.seed).uuid());
        Ok(Self(Session::new(Arc::new(task.spec), id, task.seed)))
    }

    /// Takes a [`Line`].
    ///
    /// # Errors
    /// [`Fault::Line`] and [`Fault::Host`]; nothing has changed then.
    pub fn handle(&mut self, line: &str) -> Result<(), Fault> {
        let line: Line = serde_json::from_str(line).map_err(Fault::Line)?;
        self.0.handle(line.now, line.input).map_err(Fault::Host)
    }

    /// The next output as a line; none when the session waits.
    pub fn poll(&mut self) -> Option<String> {
        let output = self.0.poll()?;
        // Strings, numbers and raw JSON only: encoding cannot fail, and if it did it must be seen.
        Some(serde_json::to_string(&output).unwrap_or_else(|error| error.to_string()))
    }

    /// The session itself.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.0
    }
}
