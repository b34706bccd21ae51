//! The stream of messages that answers a prompt.

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
    Input as SessionInput, Message, Prompt, message::ResultMessage, permission::Mode,
    spec::Thinking,
};
use windlass_engine::machine::Input;

use super::{
    prompt_queue::{AbortSignal, PromptQueue},
    run_error::{BypassNotAllowed, ControlError, RunError},
};

/// The messages that answer a prompt: `system/init` first, the result last.
///
/// A [`Stream`] of [`Message`]. When it has ended, [`Run::result`] returns the outcome. Dropping a run before its end aborts it.
#[must_use = "a run that is dropped is aborted"]
pub struct Run {
    messages: mpsc::Receiver<Message>,
    aborted: Pin<Box<WaitForCancellationFutureOwned>>,
    handle: AbortHandle,
    /// Keeps the driver waiting for input; the driver ends when all senders are dropped.
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

    /// The next message; `None` when the run has ended.
    pub async fn next(&mut self) -> Option<Message> {
        StreamExt::next(self).await
    }

    /// Reads to the end and returns the result; with several prompts, the last one.
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

    /// Interrupts the current prompt gracefully: the model request and the tools are stopped, and the messages
    /// continue up to the result, which says that it was interrupted. Keep reading. A session stays usable.
    ///
    /// # Errors
    /// [`ControlError`] when the run has ended, or was started with a single prompt outside of a session: such a run
    /// can only be [aborted](Self::abort_handle).
    pub fn interrupt(&self) -> Result<(), ControlError> {
        self.inputs()?;
        self.handle.queue.interrupt();
        Ok(())
    }

    /// Stops a background task (a command or an agent) by its id. A `task_notification` message reports its end.
    ///
    /// # Errors
    /// [`ControlError`] when the run was started with a single prompt, or has ended.
    pub fn stop_task(&self, task_id: impl Into<String>) -> Result<(), ControlError> {
        self.control(SessionInput::StopTask(task_id.into()))
    }

    /// Aborts the run and waits until its parts have ended: the model request, the tools and, unless the run belongs
    /// to a session, background tasks. Whatever does not end when signalled is dropped after a few seconds.
    pub async fn close(mut self) {
        self.handle.abort();
        self.inputs = None;
        // The channel closes after the last message; nothing more is delivered for an aborted run.
        while self.messages.recv().await.is_some() {}
        self.ended = true;
        if self.conversation != Conversation::GoesOn {
            self.handle.queue.over().await;
        }
    }

    /// Adds a message to the current answer: the model reads it with the next tool results. If there are no further
    /// tool results, the message is answered afterwards, in this run.
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

    /// Changes the permission mode, starting with the next tool call.
    ///
    /// # Errors
    /// [`ControlError`] when the run was started with a single prompt, or has ended.
    pub fn set_permission_mode(&self, mode: Mode) -> Result<(), ControlError> {
        if mode == Mode::BypassPermissions && !self.allow_bypass {
            return Err(ControlError::BypassNotAllowed(BypassNotAllowed));
        }
        self.control(SessionInput::SetMode(mode))
    }

    /// Changes the model, starting with the next request. `None` restores the agent's own.
    ///
    /// # Errors
    /// [`ControlError`] when the run was started with a single prompt, or has ended.
    pub fn set_model(&self, model: Option<&str>) -> Result<(), ControlError> {
        self.control(SessionInput::SetModel(model.map(ToOwned::to_owned)))
    }

    /// Changes the limit of thinking tokens, starting with the next request: `None` restores the agent's own setting,
    /// 0 turns thinking off. This is the older form of the agent's `thinking` option.
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

    /// The engine's inputs, if this run may use them.
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

    /// Returns a handle that aborts the run from another place.
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

/// The conversation that a run belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversation {
    /// None: the run answers one prompt. It cannot be controlled, only aborted.
    SinglePrompt,
    /// A stream of messages. The session ends after the last answer.
    EndsWithTheStream,
    /// A session that continues afterwards.
    GoesOn,
}

/// Aborts a [`Run`] from elsewhere: another task, a signal handler, a button.
#[derive(Clone)]
pub struct AbortHandle {
    pub(super) signal: AbortSignal,
    pub(super) queue: Arc<PromptQueue>,
}

impl AbortHandle {
    /// Stops model and tools and ends the run at once: there are no further messages, and [`Run::result`] returns
    /// [`RunError::Aborted`]. The connection to the model is closed. Running tools are signalled and, if they do not
    /// end within a few seconds, dropped. Does nothing after the end of the run.
    pub fn abort(&self) {
        self.queue.abort(&self.signal);
    }

    /// Whether the run was aborted.
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

/// Converts the older option for thinking.
pub(super) fn max_thinking(tokens: Option<u32>) -> Option<Thinking> {
    tokens.map(|tokens| Thinking::from_options(None, Some(tokens)))
}
