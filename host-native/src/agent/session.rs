//! A conversation: an engine, the task that drives it, and the handle for the application.

use std::{
    fmt,
    panic::AssertUnwindSafe,
    path::Path,
    sync::{Arc, OnceLock},
};

use futures_util::{FutureExt, StreamExt, stream::BoxStream};
use tokio::{
    runtime::Handle,
    sync::{Semaphore, mpsc, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use windlass_core::{
    Input as SessionInput, Prompt, SessionId, Uuid,
    hook::{HookEvent, Occurrence},
    permission::Mode,
};
use windlass_engine::machine::{Configuration, Engine, Input, drive};

use super::{
    Agent, MESSAGES_AHEAD,
    host::AgentHost,
    input::{Kind, UserInput},
    prompt_queue::{Listener, PromptQueue},
    run::{AbortHandle, Conversation, Run, max_thinking},
    run_error::{BypassNotAllowed, RunError},
};
use crate::{
    checkpoints::{Rewind, RewindFilesError, SessionCheckpoints},
    host::panic_text,
};

/// How many prompts of a stream are read ahead of the answers.
const PROMPTS_AHEAD: usize = 8;

/// A conversation with an agent: each prompt sees the earlier ones.
///
/// It runs in a tokio task. Dropping the handle does not abort prompts: their answers continue to the end.
pub struct Session {
    id: watch::Receiver<Option<SessionId>>,
    /// The id used if the session is new.
    fresh_id: SessionId,
    allow_bypass: bool,
    /// `None` when there is no runtime; every run then reports it.
    inputs: Option<mpsc::UnboundedSender<Input>>,
    queue: Arc<PromptQueue>,
    checkpoints: Option<SessionCheckpoints>,
    driver: Option<JoinHandle<()>>,
}

impl Session {
    pub(super) fn start(agent: &Agent) -> Self {
        let (id, seed) = agent.identity();
        let (inputs, arriving) = mpsc::unbounded_channel();
        let on_message = agent.parts.on_message.clone();
        let queue = Arc::new(PromptQueue::new(inputs.downgrade(), on_message));
        let (known, is_known) = watch::channel(agent.parts.resumes.id(id));
        let cwd = &agent.parts.spec.environment.cwd;
        let store = agent.parts.store.clone();
        let checkpoints =
            (agent.parts.file_checkpoints).then(|| SessionCheckpoints::new(store, Path::new(cwd)));
        let driver = match Handle::try_current() {
            Ok(runtime) => {
                let (events, of_host) = mpsc::unbounded_channel();
                let kept = checkpoints.clone();
                let host = AgentHost::new(agent, Arc::clone(&queue), kept, known, events);
                let engine = engine(agent, &host, id, seed);
                let open = OpenQueue(Arc::clone(&queue));
                Some(runtime.spawn(turn(engine, host, arriving, of_host, open)))
            }
            Err(_) => {
                queue.close(RunError::NoRuntime);
                None
            }
        };
        Self {
            id: is_known,
            fresh_id: id,
            allow_bypass: agent.parts.spec.policy.permissions.allow_bypass,
            inputs: driver.is_some().then_some(inputs),
            queue,
            checkpoints,
            driver,
        }
    }

    /// The session's id, as in its messages. It is known at once, except with
    /// [`continue_latest`](super::AgentBuilder::continue_latest): then it is known when the store was read.
    pub async fn id(&self) -> SessionId {
        let mut known = self.id.clone();
        // If the driver ends without an id, there was no session; its runs report why.
        let id = known.wait_for(Option::is_some).await;
        id.ok().and_then(|id| *id).unwrap_or(self.fresh_id)
    }

    /// Sends a prompt. If an earlier prompt is still being answered, this one waits for it.
    pub fn prompt(&self, input: impl Into<UserInput>) -> Run {
        self.begin(input.into(), true)
    }

    /// Sends the only prompt of a session, or a stream of them: the session ends after the answer.
    pub(super) fn only_prompt(&self, input: impl Into<UserInput>) -> Run {
        self.begin(input.into(), false)
    }

    fn begin(&self, input: UserInput, goes_on: bool) -> Run {
        let (sender, receiver) = mpsc::channel(MESSAGES_AHEAD);
        let signal = Arc::new(CancellationToken::new());
        let fault = Arc::new(OnceLock::new());
        let conversation = match input.0 {
            _ if goes_on => Conversation::GoesOn,
            Kind::Stream(_) => Conversation::EndsWithTheStream,
            Kind::One(_) => Conversation::SinglePrompt,
        };
        let listener = Listener {
            messages: sender,
            aborted: Arc::clone(&signal),
        };
        match input.0 {
            Kind::One(prompt) => self.queue.push(prompt, listener, None),
            Kind::Stream(prompts) => self.follow(prompts, listener, Arc::clone(&fault)),
        }
        let handle = AbortHandle {
            signal,
            queue: Arc::clone(&self.queue),
        };
        Run::new(
            receiver,
            handle,
            self.inputs.clone(),
            fault,
            conversation,
            self.allow_bypass,
        )
    }

    /// Adds the messages of a stream to the queue as they come, a few ahead of the answers.
    fn follow(
        &self,
        prompts: BoxStream<'static, Prompt>,
        listener: Listener,
        fault: Arc<OnceLock<RunError>>,
    ) {
        // Without a runtime, the listener is dropped here, and its run reports the reason.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let queue = Arc::clone(&self.queue);
        let aborted = Arc::clone(&listener.aborted);
        let follow = async move {
            let room = Arc::new(Semaphore::new(PROMPTS_AHEAD));
            let mut prompts = AssertUnwindSafe(prompts).catch_unwind();
            while let Some(prompt) = prompts.next().await {
                match prompt {
                    Ok(prompt) => {
                        let room = Arc::clone(&room).acquire_owned().await.ok();
                        queue.push(prompt, listener.clone(), room);
                    }
                    Err(panic) => {
                        let text = panic_text(&*panic);
                        // No other task sets it.
                        let _ = fault.set(RunError::Panicked { text });
                        return;
                    }
                }
            }
        };
        runtime.spawn(async move { aborted.run_until_cancelled(follow).await });
    }

    /// Interrupts the current prompt gracefully: its run continues up to the result, which says that it was
    /// interrupted. Does nothing if no prompt is being answered.
    pub fn interrupt(&self) {
        self.queue.interrupt();
    }

    /// Changes the permission mode, starting with the next tool call.
    ///
    /// # Errors
    /// [`BypassNotAllowed`] when the agent was built without permission to use that mode.
    pub fn set_permission_mode(&self, mode: Mode) -> Result<(), BypassNotAllowed> {
        if mode == Mode::BypassPermissions && !self.allow_bypass {
            return Err(BypassNotAllowed);
        }
        self.send(SessionInput::SetMode(mode));
        Ok(())
    }

    /// Changes the model, starting with the next request. `None` restores the agent's own.
    pub fn set_model(&self, model: Option<&str>) {
        self.send(SessionInput::SetModel(model.map(ToOwned::to_owned)));
    }

    /// Changes the limit of thinking tokens, starting with the next request: `None` restores the agent's own setting,
    /// 0 turns thinking off. This is the older form of the agent's `thinking` option.
    pub fn set_max_thinking_tokens(&self, tokens: Option<u32>) {
        self.send(SessionInput::SetThinking(max_thinking(tokens)));
    }

    /// Adds a message to the current answer: the model reads it with the next tool results. If there are no further
    /// tool results, the message is answered afterwards, in the same run. Returns false if no prompt is being
    /// answered.
    #[must_use]
    pub fn steer(&self, prompt: impl Into<Prompt>) -> bool {
        self.queue.steer(prompt.into()).is_none()
    }

    /// Runs the hooks of an event outside of the conversation, which only the embedding program can observe:
    /// `TeammateIdle` and `TaskCompleted` for programs that have teams and task lists, `Notification`,
    /// `ConfigChange`. Text that hooks add for the model is sent with the next message.
    ///
    /// # Errors
    /// [`NotFromOutside`] for an event that the session detects itself.
    pub fn occurred(&self, occurrence: Occurrence) -> Result<(), NotFromOutside> {
        let event = occurrence.event();
        // The engine runs the hooks of the session's end.
        if !event.comes_from_outside() || event == HookEvent::SessionEnd {
            return Err(NotFromOutside(event));
        }
        self.send(SessionInput::Occurred(occurrence));
        Ok(())
    }

    /// Restores files to their contents at a prompt, given by its id ([`Prompt::with_uuid`]). Applies to files that
    /// tools of this session have changed since. Changes made by commands are not undone.
    ///
    /// # Errors
    /// [`RewindFilesError`].
    pub async fn rewind_files(&self, prompt: Uuid) -> Result<Rewind, RewindFilesError> {
        self.rewound(prompt, false).await
    }

    /// What [`rewind_files`](Self::rewind_files) would change.
    ///
    /// # Errors
    /// [`RewindFilesError`].
    pub async fn preview_rewind(&self, prompt: Uuid) -> Result<Rewind, RewindFilesError> {
        self.rewound(prompt, true).await
    }

    async fn rewound(&self, prompt: Uuid, dry_run: bool) -> Result<Rewind, RewindFilesError> {
        match &self.checkpoints {
            Some(checkpoints) => checkpoints.rewind(prompt, dry_run).await,
            None => Err(RewindFilesError::NotKept),
        }
    }

    /// Stops a background task (a command or an agent) by its id. A `task_notification` message reports its end.
    pub fn stop_task(&self, task_id: impl Into<String>) {
        self.send(SessionInput::StopTask(task_id.into()));
    }

    fn send(&self, input: SessionInput) {
        if let Some(inputs) = &self.inputs {
            // If the driver has ended because of a fault, the next run reports it.
            let _ = inputs.send(Input::Tell(input));
        }
    }

    /// Waits until all prompts are answered and everything that was stopped has ended. Read every run to its end or
    /// drop it before: an answer that nobody reads blocks the session.
    pub async fn close(mut self) {
        drop(self.inputs.take());
        if let Some(driver) = self.driver.take() {
            // The task catches panics itself; shutting down the runtime also ends it.
            let _ = driver.await;
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &*self.id.borrow())
            .finish_non_exhaustive()
    }
}

/// The event cannot be reported: the session runs its hooks itself when it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the session runs the hooks of {} by itself: report only what happens outside", .0.name())]
pub struct NotFromOutside(pub HookEvent);

/// The engine of a session.
fn engine(agent: &Agent, host: &AgentHost, id: SessionId, seed: [u8; 32]) -> Engine {
    let parts = &agent.parts;
    let configuration = Configuration {
        given_servers: host.server_configurations(),
        ..parts.configuration()
    };
    // The engine's ids must differ from those that the session derives from its seed.
    let of_engine = seed.map(|byte| !byte);
    Engine::new(parts.launch(id, seed), configuration, of_engine)
}

/// Drives an engine until no further input can come.
async fn turn(
    mut engine: Engine,
    host: AgentHost,
    arriving: mpsc::UnboundedReceiver<Input>,
    of_host: mpsc::UnboundedReceiver<Input>,
    open: OpenQueue,
) {
    let inputs = host.inputs(arriving, of_host);
    let driven = AssertUnwindSafe(drive(&mut engine, &host, inputs));
    if let Err(panic) = driven.catch_unwind().await {
        let text = panic_text(&*panic);
        open.0.close(RunError::Panicked { text });
    }
}

/// Closes the queue when the driver ends, for whatever reason, so that nobody waits for messages forever.
struct OpenQueue(Arc<PromptQueue>);

impl Drop for OpenQueue {
    fn drop(&mut self) {
        self.0.close(RunError::RuntimeShutDown);
    }
}
