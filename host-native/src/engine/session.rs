//! The session that is running, and the task that turns it.

use std::{
    collections::VecDeque,
    ops::Deref,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{FutureExt, stream};
use tokio::{sync::mpsc, task::JoinHandle};
use windlass_core::{
    HostError, Input, Machine, Millis, Now, Output, Session, SnapshotError, Spec, testkit::Recorder,
};

use super::{Event, host::EngineHost};
use crate::{agent::JournalSink, host::panic_text};

/// A session, which a journal may be kept of.
pub(super) enum Kept {
    /// Without a journal.
    Plain(Box<Session>),
    /// With one.
    Recorded(Box<Recorder<JournalSink>>),
}

impl Kept {
    /// Without a journal.
    pub(super) fn plain(session: Session) -> Self {
        Self::Plain(Box::new(session))
    }

    /// Whether a journal is kept.
    pub(super) fn is_recorded(&self) -> bool {
        matches!(self, Self::Recorded(_))
    }

    fn machine(&mut self) -> &mut dyn Machine {
        match self {
            Self::Plain(session) => session.as_mut(),
            Self::Recorded(recorder) => recorder.as_mut(),
        }
    }
}

/// To look at.
impl Deref for Kept {
    type Target = Session;

    fn deref(&self) -> &Session {
        match self {
            Self::Plain(session) => session,
            Self::Recorded(recorder) => recorder.session(),
        }
    }
}

/// A session that is turned by one task and looked at by others. Cloning is cheap.
#[derive(Clone)]
pub(super) struct SharedSession {
    session: Arc<Mutex<Kept>>,
    /// Never locked but alone, or after the session.
    said: Arc<Mutex<Said>>,
}

/// What was said to a session and has not reached it.
#[derive(Default)]
struct Said {
    unheard: VecDeque<Input>,
    /// Another session has taken its place: it hears no more.
    is_left: bool,
}

impl SharedSession {
    fn new(session: Kept) -> Self {
        Self {
            session: Arc::new(Mutex::new(session)),
            said: Arc::default(),
        }
    }

    /// The session, to look at. The task that turns it waits meanwhile: be quick.
    pub(super) fn look(&self) -> MutexGuard<'_, Kept> {
        // A panic in the machine ends its task; what is left to look at is its last state.
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session with another spec, and what the old one was told and did not hear: it is the new one that is to hear it.
    ///
    /// # Errors
    /// As for a snapshot and for restoring one; the session goes on then as if nobody had asked.
    pub(super) fn renewed(
        &self,
        spec: Arc<Spec>,
    ) -> Result<(Session, VecDeque<Input>), SnapshotError> {
        let old = self.look();
        let new = Session::restore(spec, &old.snapshot()?)?;
        let mut said = self.said();
        said.is_left = true;
        Ok((new, std::mem::take(&mut said.unheard)))
    }

    /// What was chosen for the conversation that ends, for the one that begins in its place: permissions, model, thinking and
    /// effort, also what it was told of them and did not hear. The session hears no more.
    pub(super) fn left(&self) -> Vec<Input> {
        let old = self.look();
        let mut carried = old.carried_over();
        let mut said = self.said();
        said.is_left = true;
        carried.extend(said.unheard.drain(..).filter(outlives_a_conversation));
        carried
    }
}

/// Whether an input is about more than the conversation in which it comes.
pub(super) fn outlives_a_conversation(input: &Input) -> bool {
    matches!(
        input,
        Input::SetMode(_)
            | Input::UpdatePermissions(_)
            | Input::GuardServer { .. }
            | Input::SetModel(_)
            | Input::SetThinking(_)
            | Input::SetEffort(_)
            | Input::Occurred(_)
    )
}

impl Machine for SharedSession {
    fn handle(&mut self, now: Now, input: Input) -> Result<(), HostError> {
        let mut session = self.look();
        let mut said = self.said();
        if said.is_left {
            return Ok(());
        }
        // The others are the driver's own.
        if !matches!(input, Input::Answer(..) | Input::Tick | Input::End) {
            said.unheard.pop_front();
        }
        drop(said);
        session.machine().handle(now, input)
    }

    fn poll(&mut self) -> Option<Output> {
        self.look().machine().poll()
    }

    fn deadline(&self) -> Option<Millis> {
        self.look().deadline()
    }

    fn is_idle(&self) -> bool {
        self.look().is_idle()
    }
}

/// A session with the task that turns it. Dropping it ends both, and all that they were doing.
pub(super) struct Live {
    pub(super) session: SharedSession,
    /// None when no more is to come: the session ends once it is quiet.
    inputs: Option<mpsc::UnboundedSender<Input>>,
    driver: JoinHandle<()>,
}

impl Live {
    /// Begins to turn a session. When the task ends, [`Event::Ended`] says how.
    pub(super) fn start(
        session: Kept,
        host: EngineHost,
        events: mpsc::UnboundedSender<Event>,
    ) -> Self {
        let session = SharedSession::new(session);
        let (inputs, mut arriving) = mpsc::unbounded_channel();
        let mut machine = session.clone();
        let driver = tokio::spawn(async move {
            let inputs = stream::poll_fn(move |cx| arriving.poll_recv(cx));
            let driving = windlass_core::drive(&mut machine, &host, inputs);
            let fault = match AssertUnwindSafe(driving).catch_unwind().await {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(panic) => Some(panic_text(&*panic)),
            };
            // Of a session that was let go nobody waits for the end: it would be taken for that of the next one.
            if !machine.said().is_left {
                let _ = events.send(Event::Ended { fault });
            }
        });
        Self {
            session,
            inputs: Some(inputs),
            driver,
        }
    }

    pub(super) fn send(&self, input: Input) {
        if let Some(inputs) = &self.inputs {
            // In both in the same order.
            let mut said = self.session.said();
            said.unheard.push_back(input.clone());
            // The driver has ended, and `Event::Ended` says why.
            let _ = inputs.send(input);
        }
    }

    /// Ends at once, and is over when this returns: requests are closed, processes killed.
    pub(super) async fn end(&mut self) {
        self.driver.abort();
        // It was told to: how it ended says nothing.
        let _ = (&mut self.driver).await;
    }

    /// No more is to come.
    pub(super) fn finish(&mut self) {
        self.inputs = None;
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.session.said().is_left = true;
        // Dropping the effects ends what they were doing: requests are closed, processes killed.
        self.driver.abort();
    }
}
