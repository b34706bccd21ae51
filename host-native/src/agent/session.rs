//! A conversation: an engine, the task that turns it, and the handle to speak to it.

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
    AbortHandle, Agent, MESSAGES_AHEAD, Run, RunError,
    host::AgentHost,
    input::{Kind, UserInput},
    prompt_queue::{Listener, PromptQueue},
    run::{Conversation, max_thinking},
};
use crate::{
    checkpoints::{Rewind, RewindFilesError, SessionCheckpoints},
    host::panic_text,
};

/// Prompts that are read from a stream before they can be answered.
const PROMPTS_AHEAD: usize = 8;

/// A conversation with an agent: every prompt sees what came before.
///
/// It runs in a tokio task. Dropping the handle lets the prompts that are being answered go on to their end.
pub struct Session {
    id: watch::Receiver<Option<SessionId>>,
    /// The one that a new session has.
    fresh_id: SessionId,
    allow_bypass: bool,
    /// None when there is no runtime: every run says so.
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

    /// The session's id, as its messages carry it. It is known at once, but where the latest session of a store goes on
    /// ([`continue_latest`](super::AgentBuilder::continue_latest)): then when that was read.
    pub async fn id(&self) -> SessionId {
        let mut known = self.id.clone();
        // A driver that ends without knowing it had no session; its runs say why.
        let id = known.wait_for(Option::is_some).await;
        id.ok().and_then(|id| *id).unwrap_or(self.fresh_id)
    }

    /// Says something. If the answer to an earlier prompt is still under way, this one waits for its end.
    pub fn prompt(&self, input: impl Into<UserInput>) -> Run {
        self.begin(input.into(), true)
    }

    /// Says the only thing that will be said, unless the input is a stream: the session ends with its answer.
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

    /// Puts the messages of a stream into the queue as they come, not far ahead of the answers.
    fn follow(
        &self,
        prompts: BoxStream<'static, Prompt>,
        listener: Listener,
        fault: Arc<OnceLock<RunError>>,
    ) {
        // Without a runtime the listener is dropped here, and its run says why it ended.
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
                        // Only this task sets it.
                        let _ = fault.set(RunError::Panicked { text });
                        return;
                    }
                }
            }
        };
        runtime.spawn(async move { aborted.run_until_cancelled(follow).await });
    }

    /// Ends the prompt that is being answered in good order: its run goes on to the result, which says that
    /// it was interrupted. Does nothing when nothing is being answered.
    pub fn interrupt(&self) {
        self.queue.interrupt();
    }

    /// Changes the permission mode, from the next tool call on.
    ///
    /// # Errors
    /// [`BypassNotAllowed`] when the agent was built without leave to bypass permissions.
    pub fn set_permission_mode(&self, mode: Mode) -> Result<(), BypassNotAllowed> {
        if mode == Mode::BypassPermissions && !self.allow_bypass {
            return Err(BypassNotAllowed);
        }
        self.send(SessionInput::SetMode(mode));
        Ok(())
    }

    /// Changes the model, from the next request on. None returns to the agent's own.
    pub fn set_model(&self, model: Option<&str>) {
        self.send(SessionInput::SetModel(model.map(ToOwned::to_owned)));
    }

    /// Changes how many tokens the model may think, from the next request on: none returns to the agent's own
    /// setting, 0 turns thinking off. The older form of the agent's `thinking`.
    pub fn set_max_thinking_tokens(&self, tokens: Option<u32>) {
        self.send(SessionInput::SetThinking(max_thinking(tokens)));
    }

    /// Adds a message to the answer under way: the model reads it with the next tool results. If none come any
    /// more it is answered after, in the same run. False when nothing is being answered.
    #[must_use]
    pub fn steer(&self, prompt: impl Into<Prompt>) -> bool {
        self.queue.steer(prompt.into()).is_none()
    }

    /// Tells hooks of something that happens outside of the conversation: what only the embedding program can know of, such as
    /// `TeammateIdle` and `TaskCompleted` of programs that have teams and task lists, `Notification`, `ConfigChange`. What hooks
    /// add for the model goes with the next message.
    ///
    /// # Errors
    /// [`NotFromOutside`] for an event that the session knows of by itself.
    pub fn occurred(&self, occurrence: Occurrence) -> Result<(), NotFromOutside> {
        let event = occurrence.event();
        // Its engine knows of the session's end.
        if !event.comes_from_outside() || event == HookEvent::SessionEnd {
            return Err(NotFromOutside(event));
        }
        self.send(SessionInput::Occurred(occurrence));
        Ok(())
    }

    /// Takes files back to what they were when a prompt came, by its id ([`Prompt::with_uuid`]): those that tools of this session
    /// have changed since. What commands have changed stays as it is.
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

    /// Stops a background task, by its id: a command or an agent. `task_notification` says when it has ended.
    pub fn stop_task(&self, task_id: impl Into<String>) {
        self.send(SessionInput::StopTask(task_id.into()));
    }

    fn send(&self, input: SessionInput) {
        if let Some(inputs) = &self.inputs {
            // The driver has ended because of a fault, and the next run will say so.
            let _ = inputs.send(Input::Tell(input));
        }
    }

    /// Waits until everything that was said is answered, and what was stopped has ended. Read every run to its
    /// end or drop it before: an answer that nobody takes keeps the session waiting.
    pub async fn close(mut self) {
        drop(self.inputs.take());
        if let Some(driver) = self.driver.take() {
            // The task catches panics itself; a runtime that shuts down ends it as well.
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

/// Bypassing permissions was not allowed when the agent was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "permission mode bypassPermissions is not open to this session: build the agent with `allow_dangerously_skip_permissions(true)`, and not as root"
)]
pub struct BypassNotAllowed;

/// The session runs the hooks of this event by itself, when it happens.
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
    // Its own ids are not those that the session draws from its seed.
    let of_engine = seed.map(|byte| !byte);
    Engine::new(parts.launch(id, seed), configuration, of_engine)
}

/// Turns an engine until nobody can say anything to it any more.
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

/// Closes the queue when the driver is gone, however it went: nobody may wait for messages for ever.
struct OpenQueue(Arc<PromptQueue>);

impl Drop for OpenQueue {
    fn drop(&mut self) {
        self.0.close(RunError::RuntimeShutDown);
    }
}
