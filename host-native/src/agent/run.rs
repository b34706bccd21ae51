//! The answer to a prompt, as it comes.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use futures_util::{Stream, StreamExt};
use tokio::sync::mpsc;
use tokio_util::sync::WaitForCancellationFutureOwned;
use windlass_core::{
    HostError, Input as SessionInput, Message, Prompt, message::ResultMessage, permission::Mode,
    spec::Thinking,
};
use windlass_engine::machine::Input;

use super::{
    BypassNotAllowed,
    prompt_queue::{AbortSignal, PromptQueue},
};

/// The messages that answer a prompt: `system/init` first, the result last.
///
/// A [`Stream`] of [`Message`]. When it has ended, [`Run::result`] says how. Dropping a run before its end
/// aborts it.
#[must_use = "a run that is dropped is aborted"]
pub struct Run {
    messages: mpsc::Receiver<Message>,
    aborted: Pin<Box<WaitForCancellationFutureOwned>>,
    handle: AbortHandle,
    /// Keeps the driver waiting for more; the driver ends when nobody can say anything any more.
    inputs: Option<mpsc::UnboundedSender<Input>>,
    fault: Arc<OnceLock<RunError>>,
    conversation: Conversation,
    allow_bypass: bool,
    last: Option<ResultMessage>,
    ended: bool,
}

impl Run {
    pub(super) fn new(
        messages: mpsc::Receiver<Message>,
        handle: AbortHandle,
        inputs: Option<mpsc::UnboundedSender<Input>>,
        fault: Arc<OnceLock<RunError>>,
        conversation: Conversation,
        allow_bypass: bool,
    ) -> Self {
        let aborted = handle.signal.as_ref().clone().cancelled_owned();
        Self {
            messages,
            aborted: Box::pin(aborted),
            handle,
            inputs,
            fault,
            conversation,
            allow_bypass,
            last: None,
            ended: false,
        }
    }

    /// The next message; none when the run has ended.
    pub async fn next(&mut self) -> Option<Message> {
        StreamExt::next(self).await
    }

    /// Reads to the end and gives the result; the last one, if there were several prompts.
    ///
    /// # Errors
    /// [`RunError`] when the run ended without a result.
    pub async fn result(mut self) -> Result<ResultMessage, RunError> {
        while self.next().await.is_some() {}
        if let Some(fault) = self.fault.get() {
            return Err(fault.clone());
        }
        if let Some(result) = self.last.take() {
            return Ok(result);
        }
        Err(if self.handle.signal.is_cancelled() {
            RunError::Aborted
        } else {
            self.handle.queue.closed().unwrap_or(RunError::NoPrompt)
        })
    }

    /// Ends the prompt that is being answered in good order: model and tools are stopped, and the messages
    /// go on to the result, which says that it was interrupted. Keep reading; a session stays usable.
    ///
    /// # Errors
    /// [`ControlError`] when the run was started with a single prompt outside a session, and can only be
    /// [aborted](Self::abort_handle); or has ended.
    pub fn interrupt(&self) -> Result<(), ControlError> {
        self.inputs()?;
        self.handle.queue.interrupt();
        Ok(())
    }

    /// Stops a background task, by its id: a command or an agent. `task_notification` says when it has ended.
    ///
    /// # Errors
    /// [`ControlError`] when the run was started with a single prompt, or has ended.
    pub fn stop_task(&self, task_id: impl Into<String>) -> Result<(), ControlError> {
        self.control(SessionInput::StopTask(task_id.into()))
    }

    /// Aborts the run and waits until what belonged to it has ended: the exchange with the model, tools, and unless it is
    /// part of a session, tasks in the background. What does not end when it is told to is dropped after a few seconds.
    pub async fn close(mut self) {
        self.handle.abort();
        self.inputs = None;
        // The sender goes with the last message; nothing of an aborted run is delivered any more.
        while self.messages.recv().await.is_some() {}
        self.ended = true;
        if self.conversation != Conversation::GoesOn {
            self.handle.queue.over().await;
        }
    }

    /// Adds a message to the answer under way: the model reads it with the next tool results. If none come any
    /// more it is answered after, in this run.
    ///
    /// # Errors
    /// [`ControlError`] when the run was started with a single prompt, or has ended.
    pub fn steer(&self, prompt: impl Into<Prompt>) -> Result<(), ControlError> {
        self.inputs()?;
        match self.handle.queue.steer(prompt.into()) {
            None => Ok(()),
            Some(_) => Err(ControlError::Ended),
        }
    }

    /// Changes the permission mode, from the next tool call on.
    ///
    /// # Errors
    /// [`ControlError`] when the run was started with a single prompt, or has ended.
    pub fn set_permission_mode(&self, mode: Mode) -> Result<(), ControlError> {
        if mode == Mode::BypassPermissions && !self.allow_bypass {
            return Err(ControlError::BypassNotAllowed(BypassNotAllowed));
        }
        self.control(SessionInput::SetMode(mode))
    }

    /// Changes the model, from the next request on. None returns to the agent's own.
    ///
    /// # Errors
    /// [`ControlError`] when the run was started with a single prompt, or has ended.
    pub fn set_model(&self, model: Option<&str>) -> Result<(), ControlError> {
        self.control(SessionInput::SetModel(model.map(ToOwned::to_owned)))
    }

    /// Changes how many tokens the model may think, from the next request on: none returns to the agent's own
    /// setting, 0 turns thinking off. The older form of the agent's `thinking`.
    ///
    /// # Errors
    /// [`ControlError`] when the run was started with a single prompt, or has ended.
    pub fn set_max_thinking_tokens(&self, tokens: Option<u32>) -> Result<(), ControlError> {
        self.control(SessionInput::SetThinking(max_thinking(tokens)))
    }

    fn control(&self, input: SessionInput) -> Result<(), ControlError> {
        let sent = self.inputs()?.send(Input::Tell(input));
        sent.map_err(|_| ControlError::Ended)
    }

    /// The engine's inputs, where they are open to this run.
    fn inputs(&self) -> Result<&mpsc::UnboundedSender<Input>, ControlError> {
        if self.conversation == Conversation::SinglePrompt {
            return Err(ControlError::SinglePrompt);
        }
        self.inputs.as_ref().ok_or(ControlError::Ended)
    }

    fn end(&mut self) {
        self.ended = true;
        self.inputs = None;
    }

    /// A handle that aborts the run from elsewhere.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        self.handle.clone()
    }
}

impl Stream for Run {
    type Item = Message;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Message>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if self.aborted.as_mut().poll(cx).is_ready() {
            self.last = None;
            self.messages.close();
            self.end();
            return Poll::Ready(None);
        }
        let message = std::task::ready!(self.messages.poll_recv(cx));
        match &message {
            Some(Message::Result(result)) => self.last = Some(result.clone()),
            Some(_) => {}
            None => self.end(),
        }
        Poll::Ready(message)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !self.ended {
            self.handle.abort();
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("ended", &self.ended)
            .field("aborted", &self.handle.signal.is_cancelled())
            .finish_non_exhaustive()
    }
}

/// What a run is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversation {
    /// Of nothing: it answers one prompt. There is nothing to control, only to abort.
    SinglePrompt,
    /// A stream of messages, with whose answers the session ends.
    EndsWithTheStream,
    /// A session that goes on.
    GoesOn,
}

/// Aborts a [`Run`] from anywhere: another task, a signal handler, a button.
#[derive(Clone)]
pub struct AbortHandle {
    pub(super) signal: AbortSignal,
    pub(super) queue: Arc<PromptQueue>,
}

impl AbortHandle {
    /// Stops model and tools and ends the run at once: no further message, and [`Run::result`] gives
    /// [`RunError::Aborted`]. The connection to the model is dropped; running tools get their signal and, if
    /// they do not end within a few seconds, are dropped too. After the end of a run this does nothing.
    pub fn abort(&self) {
        self.queue.abort(&self.signal);
    }

    /// Whether it was aborted.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.signal.is_cancelled()
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle")
            .field("aborted", &self.is_aborted())
            .finish_non_exhaustive()
    }
}

/// Why a run ended without a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It was aborted through its [`AbortHandle`].
    #[error("the run was aborted")]
    Aborted,
    /// It was started where no tokio runtime is entered, so nothing could run.
    #[error("no tokio runtime is running here: call this from async code under tokio")]
    NoRuntime,
    /// The tokio runtime was shut down under it.
    #[error("the tokio runtime was shut down before the run had ended")]
    RuntimeShutDown,
    /// The stream of user messages ended without one.
    #[error("the stream of user messages ended without a message, so there was nothing to answer")]
    NoPrompt,
    /// The session that was to go on cannot be read, or somebody else writes to it.
    #[error("the session cannot go on: {reason}")]
    NotResumed {
        /// What the store says.
        reason: String,
    },
    /// An MCP server of the session did not start, or did not answer as it should.
    #[error("the MCP server `{server}` is not there: {reason}")]
    McpServer {
        /// The server.
        server: String,
        /// What went wrong.
        reason: String,
    },
    /// Code that the run was given (a provider, a transport, a callback, a stream of messages) panicked.
    #[error("code that the run was given panicked: {text}")]
    Panicked {
        /// What the panic said.
        text: String,
    },
    /// The host broke the contract with the core; a fault of windlass or of a custom transport or tool.
    #[error("the host broke the contract with the core: {0}")]
    Host(HostError),
}

/// What cannot be changed about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// It answers a single prompt.
    #[error(
        "this run answers a single prompt: start it with a stream of messages (`UserInput::stream`), or use a `Session`"
    )]
    SinglePrompt,
    /// It is over.
    #[error("the run has ended")]
    Ended,
    /// Bypassing permissions was not allowed when the agent was built.
    #[error(transparent)]
    BypassNotAllowed(BypassNotAllowed),
}

/// The older option for thinking as an input.
pub(super) fn max_thinking(tokens: Option<u32>) -> Option<Thinking> {
    tokens.map(|tokens| Thinking::from_options(None, Some(tokens)))
}
