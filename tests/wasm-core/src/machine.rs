//! A session that speaks JSON.

use alloc::{
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::fmt;

use serde::{Deserialize, Serialize};
use windlass_core::{
    HostError, Input, Now, RawJson, Seeded, Session, SnapshotError, Spec, Uuid,
    json::JsonError,
    session_request::{SessionRequest, SessionRequestError},
    transcript::Transcript,
};

/// An input and its time.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// When it came.
    pub now: Now,
    /// What came.
    pub input: Input,
}

/// A line as it is read.
#[derive(Deserialize)]
struct Heard {
    now: Now,
    input: RawJson,
}

/// A session whose inputs and outputs are lines of JSON.
#[derive(Debug)]
pub struct Machine {
    spec: Arc<Spec>,
    session: Session,
}

/// Why a line was refused.
#[derive(Debug)]
pub enum Fault {
    /// The task.
    Request(SessionRequestError),
    /// The line is not an input.
    Line(JsonError),
    /// The session refused the input.
    Host(HostError),
    /// The session cannot be put away, or not be taken up.
    Snapshot(SnapshotError),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(fault) => fault.fmt(f),
            Self::Line(fault) => write!(f, "not an input: {fault}"),
            Self::Host(fault) => fault.fmt(f),
            Self::Snapshot(fault) => fault.fmt(f),
        }
    }
}

impl core::error::Error for Fault {}

impl Machine {
    /// A session from a task ([`SessionRequest::parse`]); its prompt, if it has one, is not given to it.
    ///
    /// # Errors
    /// [`Fault::Request`].
    pub fn start(task: &str) -> Result<Self, Fault> {
        let task = SessionRequest::parse(task).map_err(Fault::Request)?;
        let id = task
            .session_id
            .unwrap_or_else(|| Seeded::new(task.seed).uuid());
        let spec = Arc::new(task.spec);
        let session = Session::new(Arc::clone(&spec), id, task.seed);
        Ok(Self { spec, session })
    }

    /// The session put away ([`Session::snapshot`]).
    ///
    /// # Errors
    /// [`Fault::Snapshot`].
    pub fn snapshot(&self) -> Result<Vec<u8>, Fault> {
        self.session.snapshot().map_err(Fault::Snapshot)
    }

    /// Goes on with a session of the same task that was put away; its next input must be
    /// [`Input::Resumed`].
    ///
    /// # Errors
    /// [`Fault::Snapshot`]; nothing has changed then.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), Fault> {
        let session = Session::restore(Arc::clone(&self.spec), snapshot);
        self.session = session.map_err(Fault::Snapshot)?;
        Ok(())
    }

    /// Goes on with the conversation of a transcript, under its id or another; how often it had to be mended.
    pub fn resume(&mut self, id: Uuid, transcript: &[u8]) -> usize {
        let transcript = Transcript::read(transcript);
        let seed = [1; 32];
        let (session, repairs) =
            Session::resume_transcript(Arc::clone(&self.spec), id, seed, &transcript);
        self.session = session;
        repairs.len()
    }

    /// Goes on with a fork of the session.
    pub fn fork(&mut self, id: Uuid) {
        self.session = self.session.fork(id, [2; 32], None).0;
    }

    /// What the session says of itself before its first turn, as JSON.
    ///
    /// # Errors
    /// None that could be met: strings, numbers and raw JSON only.
    pub fn initialization(&self) -> Result<String, JsonError> {
        Ok(RawJson::encode(&self.spec.initialization())?.to_string())
    }

    /// Takes a [`Line`].
    ///
    /// # Errors
    /// [`Fault::Line`] and [`Fault::Host`]; nothing has changed then.
    pub fn handle(&mut self, line: &str) -> Result<(), Fault> {
        let line: Heard = RawJson::parse(line)
            .and_then(|line| line.decode())
            .map_err(Fault::Line)?;
        let input = Input::parse(line.input.get()).map_err(Fault::Line)?;
        self.session.handle(line.now, input).map_err(Fault::Host)
    }

    /// The next output as a line; none when the session waits.
    pub fn poll(&mut self) -> Option<String> {
        let output = self.session.poll()?;
        // Strings, numbers and raw JSON only: encoding cannot fail, and if it did it must be seen.
        Some(
            RawJson::encode(&output)
                .map_or_else(|error| error.to_string(), |line| line.to_string()),
        )
    }

    /// The session itself.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }
}
