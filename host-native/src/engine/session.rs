//! The session that is running, and the task that turns it.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{FutureExt, stream};
use tokio::{sync::mpsc, task::JoinHandle};
use windlass_core::{HostError, Input, Machine, Millis, Now, Output, Session};

use super::{Event, host::EngineHost};
use crate::host::panic_text;

/// A session that is turned by one task and looked at by others. Cloning is cheap.
#[derive(Clone)]
pub(super) struct SharedSession(Arc<Mutex<Session>>);

impl SharedSession {
    /// The session, to look at. The task that turns it waits meanwhile: be quick.
    pub(super) fn look(&self) -> MutexGuard<'_, Session> {
        // A panic in the machine ends its task; what is left to look at is its last state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Machine for SharedSession {
    fn handle(&mut self, now: Now, input: Input) -> Result<(), HostError> {
        self.look().handle(now, input)
    }

    fn poll(&mut self) -> Option<Output> {
        self.look().poll()
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
        session: Session,
        host: EngineHost,
        events: mpsc::UnboundedSender<Event>,
    ) -> Self {
        let session = SharedSession(Arc::new(Mutex::new(session)));
        let (inputs, mut arriving) = mpsc::unbounded_channel();
        let mut machine = session.clone();
        let driver = tokio::spawn(async move {
            let inputs = stream::poll_fn(move |cx| arriving.poll_recv(cx));
            let driving = windlass_core::drive(&mut machine, &host, inputs);
            let fault = match AssertUnwindSafe(driving).catch_unwind().await {
                Ok(Ok(())) => {
                    host.native.session_ended().await;
                    None
                }
                Ok(Err(error)) => Some(error.to_string()),
                Err(panic) => Some(panic_text(&*panic)),
            };
            let _ = events.send(Event::Ended { fault });
        });
        Self {
            session,
            inputs: Some(inputs),
            driver,
        }
    }

    pub(super) fn send(&self, input: Input) {
        if let Some(inputs) = &self.inputs {
            // The driver has ended, and `Event::Ended` says why.
            let _ = inputs.send(input);
        }
    }

    /// Ends at once, and is over when this returns: requests are closed, processes killed.
    pub(super) async fn end(mut self) {
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
        // Dropping the effects ends what they were doing: requests are closed, processes killed.
        self.driver.abort();
    }
}
