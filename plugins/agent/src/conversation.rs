//! The exported resource: one session, which advances when the next message is requested.

use std::{
    cell::RefCell,
    future::Future,
    pin::Pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use windlass_core::{
    HostError, Seeded, Session, Spec, drive, session_request::SessionRequest, tool::ToolDefinition,
};
use windlass_plugin::{bindings::windlass::host::filesystem, log};

use crate::{
    bindings::exports::windlass::agent::conversation, host::ImportHost, shared_state::SharedState,
    tools,
};

/// A session and its driver.
pub struct Conversation {
    driving: RefCell<Option<Driving>>,
    shared: Rc<SharedState>,
}

type Driving = Pin<Box<dyn Future<Output = Result<(), HostError>>>>;

impl Conversation {
    /// A session for a task.
    ///
    /// # Errors
    /// One sentence: what is wrong with the task, and where.
    fn new(task: &str) -> Result<Self, String> {
        let task = SessionRequest::parse(task).map_err(|error| error.to_string())?;
        let prompt = task.prompt.ok_or("the task has no `prompt`")?;
        let spec = Arc::new(with_tools(task.spec, tools::definitions()?)?);
        let id = task
            .session_id
            .unwrap_or_else(|| Seeded::new(task.seed).uuid());
        let shared = Rc::new(SharedState::default());
        let inputs = Rc::clone(&shared).inputs(prompt);
        let host = ImportHost::new(&spec, Rc::clone(&shared));
        let mut session = Session::new(spec, id, task.seed);
        let driving = Box::pin(async move { drive(&mut session, &host, inputs).await });
        Ok(Self {
            driving: RefCell::new(Some(driving)),
            shared,
        })
    }

    /// Runs the driver until there is a message; `None` if there are no more.
    fn next_message(&self) -> Option<String> {
        loop {
            if let Some(message) = self.shared.next_message() {
                return Some(message);
            }
            let woken = Arc::new(Woken::default());
            let waker = Waker::from(Arc::clone(&woken));
            let mut driving = self.driving.borrow_mut();
            let polled = driving
                .as_mut()?
                .as_mut()
                .poll(&mut Context::from_waker(&waker));
            let ended = match polled {
                Poll::Ready(Ok(())) => true,
                Poll::Ready(Err(error)) => {
                    log::log(log::Level::Error, &format!("the session stopped: {error}"));
                    true
                }
                // Every import blocks until it has an answer, so a driver that neither said nor
                // woke anything would wait for ever.
                Poll::Pending => !woken.0.load(Ordering::Relaxed) && !self.shared.has_messages(),
            };
            if ended {
                *driving = None;
            }
        }
    }
}

/// Records that the driver asked to be polled again at once.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The spec with the component's own tools, and without permission questions.
fn with_tools(mut spec: Spec, tools: Vec<ToolDefinition>) -> Result<Spec, String> {
    if !spec.tools.definitions.is_empty() {
        return Err(
            "the session request is not usable: `spec.tools` must be left out, because the component brings its tools along; \
             close those that are not wanted by deny rules"
                .to_owned(),
        );
    }
    spec.tools.definitions = tools;
    spec.policy.permissions.can_ask = false;
    spec.policy.persist = false;
    if spec.environment.cwd.is_empty() {
        spec.environment.cwd = filesystem::working_directory();
    }
    Ok(spec)
}

impl conversation::GuestSession for Conversation {
    fn start(task: String) -> Result<conversation::Session, String> {
        Self::new(&task).map(conversation::Session::new)
    }

    fn next(&self) -> Option<String> {
        self.next_message()
    }

    fn interrupt(&self) {
        self.shared.interrupt();
    }
}
