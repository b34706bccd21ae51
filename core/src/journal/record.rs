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

/// A session that is written down: turn it like one, by hand or by [`drive()`](crate::drive()).
///
/// Every line goes to the sink as soon as it is known, without its line end: what was recorded until a crash is a
/// journal.
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
    /// A fresh session ([`Session::new`]) that is written down from its first input on.
    pub fn start(spec: Arc<Spec>, id: SessionId, seed: [u8; 32], mut sink: S) -> Self {
        sink(&header(&spec, id, seed, None));
        Self {
            session: Session::new(spec, id, seed),
            outputs: Outputs::default(),
            sink,
        }
    }

    /// A session that is taken up from a snapshot and written down from there. Its first input must be
    /// [`Input::Resumed`].
    ///
    /// # Errors
    /// [`SnapshotError`]; nothing was written.
    pub fn resume(spec: Arc<Spec>, snapshot: &[u8], mut sink: S) -> Result<Self, SnapshotError> {
        let session = Session::restore(spec.clone(), snapshot)?;
        // It was read as text just now.
        let text = String::from_utf8_lossy(snapshot).into_owned();
        // The snapshot has its own source of ids.
        sink(&header(&spec, session.id(), [0; 32], Some(text)));
        Ok(Self {
            session,
            outputs: Outputs::default(),
            sink,
        })
    }

    /// The session itself.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Ends the recording.
    #[must_use]
    pub fn into_session(self) -> Session {
        self.session
    }

    /// [`Session::handle`], written down.
    ///
    /// # Errors
    /// [`HostError`], which is written down as well.
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

    /// [`Session::configure`], written down.
    ///
    /// # Errors
    /// [`ConfigureError`], which is written down as well.
    pub fn configure(&mut self, spec: Arc<Spec>) -> Result<(), ConfigureError> {
        // It is the session's: only its spec counts.
        (self.sink)(&encode(&ConfigureLine {
            configure: task(&spec, None, [0; 32]),
        }));
        let configured = self.session.configure(spec);
        if let Err(error) = &configured {
            (self.sink)(&Outputs::refused(&alloc::format!("{error}")));
        }
        configured
    }

    /// [`Session::poll`], written down.
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
