//! Writing a journal.

use alloc::{string::String, sync::Arc};
use core::fmt;

use super::line::{ConfigureLine, Header, InputLine, Outputs, encode, task};
use crate::{
    drive::Machine,
    effect::{Input, Output},
    id::{Millis, Now, SessionId},
    session::{ConfigureError, HostError, Session, SnapshotError},
    spec::Spec,
};

/// A session that is recorded: run it like a session, directly or with [`drive()`](crate::drive()).
///
/// Every line goes to the sink as soon as it is known, without its line end. What was recorded before a crash is a valid journal.
pub struct Recorder<S> {
    session: Session,
    outputs: Outputs,
    sink: S,
}

impl<S> fmt::Debug for Recorder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

impl<S: FnMut(&str)> Recorder<S> {
    /// Creates a session ([`Session::new`]) and records it from its first input on.
    pub fn start(spec: Arc<Spec>, id: SessionId, seed: [u8; 32], mut sink: S) -> Self {
        sink(&header(&spec, id, seed, None));
        Self {
            session: Session::new(spec, id, seed),
            outputs: Outputs::default(),
            sink,
        }
    }

    /// Restores a session from a snapshot and records it from there. Its first input must be [`Input::Resumed`].
    ///
    /// # Errors
    /// [`SnapshotError`]; nothing was recorded.
    pub fn resume(spec: Arc<Spec>, snapshot: &[u8], mut sink: S) -> Result<Self, SnapshotError> {
        let session = Session::restore(spec.clone(), snapshot)?;
        // It was parsed as text just now.
        let text = String::from_utf8_lossy(snapshot).into_owned();
        // The state of the id generator is in the snapshot.
        sink(&header(&spec, session.id(), [0; 32], Some(text)));
        Ok(Self {
            session,
            outputs: Outputs::default(),
            sink,
        })
    }

    /// The recorded session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Ends the recording and returns the session.
    #[must_use]
    pub fn into_session(self) -> Session {
        self.session
    }

    /// Calls [`Session::handle`] and records it.
    ///
    /// # Errors
    /// [`HostError`], which is recorded as well.
    pub fn handle(&mut self, now: Now, input: Input) -> Result<(), HostError> {
        (self.sink)(&encode(&InputLine {
            now,
            input: input.clone(),
        }));
        let handled = self.session.handle(now, input);
        if let Err(error) = &handled {
            (self.sink)(&Outputs::refused(&alloc::format!("{error}")));
        }
        handled
    }

    /// Calls [`Session::configure`] and records it.
    ///
    /// # Errors
    /// [`ConfigureError`], which is recorded as well.
    pub fn configure(&mut self, spec: Arc<Spec>) -> Result<(), ConfigureError> {
        // Only the spec is used when the line is replayed.
        (self.sink)(&encode(&ConfigureLine {
            configure: task(&spec, None, [0; 32]),
        }));
        let configured = self.session.configure(spec);
        if let Err(error) = &configured {
            (self.sink)(&Outputs::refused(&alloc::format!("{error}")));
        }
        configured
    }

    /// Calls [`Session::poll`] and records the output.
    pub fn poll(&mut self) -> Option<Output> {
        let output = self.session.poll()?;
        (self.sink)(&self.outputs.line(&output));
        Some(output)
    }
}

impl<S: FnMut(&str)> Machine for Recorder<S> {
    fn handle(&mut self, now: Now, input: Input) -> Result<(), HostError> {
        Self::handle(self, now, input)
    }

    fn poll(&mut self) -> Option<Output> {
        Self::poll(self)
    }

    fn deadline(&self) -> Option<Millis> {
        self.session.deadline()
    }

    fn is_idle(&self) -> bool {
        self.session.is_idle()
    }
}

fn header(spec: &Spec, id: SessionId, seed: [u8; 32], snapshot: Option<String>) -> String {
    encode(&Header::new(task(spec, Some(id), seed), snapshot))
}
