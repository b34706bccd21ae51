//! A conversation: a machine, the task that turns it, and the handle to speak to it.

use std::{
    fmt,
    panic::AssertUnwindSafe,
    sync::{Arc, OnceLock},
};

use futures_util::{FutureExt, StreamExt, stream, stream::BoxStream};
use tokio::{
    runtime::Handle,
    sync::{Semaphore, mpsc, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use windlass_core::{
    Input, Machine, Prompt, SessionId,
    hook::{HookEvent, Occurrence},
    permission::Mode,
    testkit::Recorder,
};

use super::{
    AbortHandle, Agent, MESSAGES_AHEAD, Run, RunError,
    begin::Begun,
    input::{Kind, UserInput},
    prompt_queue::{Listener, PromptQueue},
    run::{Conversation, max_thinking},
};
use crate::host::{MessageSink, NativeHost, panic_text};

/// Prompts that are read from a stream before they can be answered.
const PROMPTS_AHEAD: usize = 8;

/// A conversation with an agent: every prompt sees what came before.
///
/// It runs in a tokio task. Dropping the handle lets the prompts that are being answered go on to their end.
pub struct Session {
    id: watch::Receiver<Option<SessionId>>,
    drawn: SessionId,
    allow_bypass: bool,
    /// None when there is no runtime: every run says so.
    inputs: Option<mpsc::UnboundedSender<Input>>,
    queue: Arc<PromptQueue>,
    driver: Option<JoinHandle<()>>,
}

impl Session {
    pub(super) fn start(agent: &Agent) -> Self {
        let (id, seed) = agent.identity();
        let (inputs, arriving) = mpsc::unbounded_channel();
        let on_message = agent.parts.on_message.clone();
        let commands = agent.parts.commands.clone();
        let queue = Arc::new(PromptQueue::new(inputs.downgrade(), on_message, commands));
        let spec = agent.spec();
        let allow_bypass = spec.permissions.allow_bypass;
        let sink = Arc::clone(&queue);
        let host = agent.host_for(MessageSink::new(move |message| {
            let queue = Arc::clone(&sink);
            async move { queue.deliver(message).await }
        }));
        let open = OpenQueue(Arc::clone(&queue));
        let (known, is_known) = watch::channel(agent.parts.resumes.id(id));
        let parts = Arc::clone(&agent.parts);
        let driver = match Handle::try_current() {
            Ok(runtime) => Some(runtime.spawn(async move {
                let begun = match parts.begin(spec, id, seed).await {
                    Ok(begun) => begun,
                    Err(error) => return open.0.close(error),
                };
                // Nobody need want to know it.
                let _ = known.send(Some(begun.id));
                let host = (host.with_tools(begun.tools)).with_transcript(begun.transcript);
                match (begun.machine, &parts.record) {
                    (Begun::GoesOn(session), _) => turn(*session, host, arriving, open).await,
                    (Begun::Anew(spec), None) => {
                        let session = windlass_core::Session::new(spec, id, seed);
                        turn(session, host, arriving, open).await;
                    }
                    (Begun::Anew(spec), Some(record)) => {
                        let recorded = Recorder::start(spec, id, seed, record(id));
                        turn(recorded, host, arriving, open).await;
                    }
                }
            })),
            Err(_) => {
                queue.close(RunError::NoRuntime);
                None
            }
        };
        Self {
            id: is_known,
            drawn: id,
            allow_bypass,
            inputs: driver.is_some().then_some(inputs),
            queue,
            driver,
        }
    }

    /// The session's id, as its messages carry it. It is known at once, but where the latest session of a store goes on
    /// ([`continue_latest`](super::AgentBuilder::continue_latest)): then when that was read.
    pub async fn id(&self) -> SessionId {
        let mut known = self.id.clone();
        // A driver that ends without knowing it had no session; its runs say why.
        let id = known.wait_for(Option::is_some).await;
        id.ok().and_then(|id| *id).unwrap_or(self.drawn)
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
        self.send(Input::SetMode(mode));
        Ok(())
    }

    /// Changes the model, from the next request on. None returns to the agent's own.
    pub fn set_model(&self, model: Option<&str>) {
        self.queue.set_model(model.map(ToOwned::to_owned));
    }

    /// Changes how many tokens the model may think, from the next request on: none returns to the agent's own
    /// setting, 0 turns thinking off. The older form of the agent's `thinking`.
    pub fn set_max_thinking_tokens(&self, tokens: Option<u32>) {
        self.send(Input::SetThinking(max_thinking(tokens)));
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
        if !event.comes_from_outside() {
            return Err(NotFromOutside(event));
        }
        self.send(Input::Occurred(occurrence));
        Ok(())
    }

    /// Stops a background task, by its id: a command or an agent. `task_notification` says when it has ended.
    pub fn stop_task(&self, task_id: impl Into<String>) {
        self.send(Input::StopTask(task_id.into()));
    }

    fn send(&self, input: Input) {
        if let Some(inputs) = &self.inputs {
            // The driver has ended because of a fault, and the next run will say so.
            let _ = inputs.send(input);
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
#[error(
    "the session runs the hooks of {} by itself: report only what happens outside (`HookEvent::comes_from_outside`)", .0.name()
)]
pub struct NotFromOutside(pub HookEvent);

/// Turns a machine until nobody can say anything to it any more.
async fn turn<M: Machine>(
    mut machine: M,
    host: NativeHost,
    mut arriving: mpsc::UnboundedReceiver<Input>,
    open: OpenQueue,
) {
    let inputs = stream::poll_fn(move |cx| arriving.poll_recv(cx));
    let ended = async {
        windlass_core::drive(&mut machine, &host, inputs).await?;
        host.session_ended(&mut machine).await
    };
    match AssertUnwindSafe(ended).catch_unwind().await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => open.0.close(RunError::Host(error)),
        Err(panic) => open.0.close(RunError::Panicked {
            text: panic_text(&*panic),
        }),
    }
}

/// Closes the queue when the driver is gone, however it went: nobody may wait for messages for ever.
struct OpenQueue(Arc<PromptQueue>);

impl Drop for OpenQueue {
    fn drop(&mut self) {
        self.0.close(RunError::RuntimeShutDown);
    }
}
