//! Questions to the SDK, and their answers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Map, Value};
use tokio::sync::oneshot;
use windlass_core::{RawJson, hook::HookEvent};
use windlass_engine::protocol::{
    fit::{CutChanged, TooLong},
    host_request::{HostRequest, cancel_frame},
    line::to_line,
};

use super::output::{First, Output};
use crate::agent::fresh_uuid;

/// What a question without an answer comes to when the input has ended.
const CLOSED: &str = "Stream closed";

/// The answer to a question: a value, or why there is none.
pub(super) type HostAnswer = Result<RawJson, String>;

/// Why a question has no answer that could be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    /// The SDK says so, or can say nothing any more.
    #[error("{0}")]
    Said(String),
    /// It could not be asked.
    #[error("the SDK could not be asked: {0}")]
    TooLong(#[from] TooLong),
    /// The answer is half a text.
    #[error(transparent)]
    CutChanged(#[from] CutChanged),
}

/// Asks the SDK and brings each answer to who asked. Cloning is cheap.
#[derive(Clone)]
pub(super) struct ControlChannel {
    output: Arc<Output>,
    questions: Arc<Questions>,
}

#[derive(Default)]
struct Questions(Mutex<State>);

#[derive(Default)]
struct State {
    open: BTreeMap<String, Open>,
    /// No answer can come any more.
    closed: bool,
}

struct Open {
    answer: oneshot::Sender<HostAnswer>,
    /// Whether it is a person's decision that is waited for.
    is_decision: bool,
}

impl Questions {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held; if it did, the questions would still be questions.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ControlChannel {
    pub(super) fn new(output: Arc<Output>) -> Self {
        Self {
            output,
            questions: Arc::default(),
        }
    }

    /// Asks and waits. Dropping the future takes the question back.
    pub(super) async fn ask(&self, request: HostRequest) -> Result<RawJson, NoAnswer> {
        let is_decision = matches!(request, HostRequest::CanUseTool(_));
        let id = fresh_uuid().to_string();
        let mut shown = request.to_shortened_line(&id, self.output.longest())?;
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.questions.state();
            if state.closed {
                return Err(NoAnswer::Said(CLOSED.to_owned()));
            }
            let answer = sender;
            let open = Open {
                answer,
                is_decision,
            };
            state.open.insert(id.clone(), open);
        }
        let asked = Asked {
            channel: self,
            id: &id,
        };
        let line = std::mem::take(&mut shown.line);
        self.output
            .say_then(
                |frames| match is_decision {
                    true => frames.requires_action(true),
                    false => Vec::new(),
                },
                line,
            )
            .await;
        let answer = receiver.await.unwrap_or_else(|_| Err(CLOSED.to_owned()));
        drop(asked);
        if is_decision {
            self.decided().await;
        }
        Ok(shown.restored(answer.map_err(NoAnswer::Said)?)?)
    }

    /// What callbacks are told beside an event.
    pub(super) async fn hook_context(&self, event: HookEvent) -> Map<String, Value> {
        self.output.frames().await.hook_context(event)
    }

    /// Whether a person's decision is waited for.
    fn awaits_decision(&self) -> bool {
        (self.questions.state().open.values()).any(|open| open.is_decision)
    }

    /// Says that nothing is waited for, once nothing is.
    async fn decided(&self) {
        if !self.awaits_decision() {
            self.output
                .say(|frames| frames.requires_action(false))
                .await;
        }
    }

    /// Brings an answer to who asked. One that nobody asked for, or that comes too late, is nothing.
    pub(super) fn answered(&self, id: &str, answer: HostAnswer) {
        let open = self.questions.state().open.remove(id);
        if let Some(open) = open {
            // Who asked has gone in this moment.
            let _ = open.answer.send(answer);
        }
    }

    /// No answer can come any more: every question fails, those of later too.
    pub(super) fn close(&self) {
        let open = {
            let mut state = self.questions.state();
            state.closed = true;
            std::mem::take(&mut state.open)
        };
        for open in open.into_values() {
            let _ = open.answer.send(Err(CLOSED.to_owned()));
        }
    }
}

/// A question that is open. When it is dropped without an answer the SDK is told that none is wanted.
struct Asked<'a> {
    channel: &'a ControlChannel,
    id: &'a str,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let open = self.channel.questions.state().open.remove(self.id);
        let Some(open) = open else {
            return; // it was answered
        };
        // Whatever comes of its being taken back is said behind it.
        let output = Arc::clone(&self.channel.output);
        output.first(First {
            line: to_line(&cancel_frame(self.id)),
            decided: open.is_decision && !self.channel.awaits_decision(),
        });
        // Without a runtime there is nobody to write to either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { output.say_first().await });
        }
    }
}
