//! One question to a model beside the conversation, for a tool that needs an answer for its own work.
//!
//! It is a session of its own with one prompt and no tools of this machine: retries, time limits and prices are those of every
//! session. What it used is counted in the session of the call ([`ToolResult::model_usage`]).
//!
//! [`ToolResult::model_usage`]: windlass_core::tool::ToolResult::model_usage

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream;
use windlass_core::{
    Input, Message, Prompt, RawJson, Session, Spec,
    message::{ModelUsage, ResultMessage},
    provider::Provider,
    sorted::SortedMap,
    spec::{ModelSpec, Thinking},
};

use crate::{
    host::{MessageSink, NativeHost, Transport},
    random::{fresh_uuid, random_seed},
};

/// The models that can be asked.
#[derive(Clone)]
pub(crate) struct SideModels {
    pub(crate) transport: Arc<dyn Transport>,
    /// How models are reached, and what they cost.
    pub(crate) spec: ModelSpec,
    /// The model for small tasks; none uses that of the conversation.
    pub(crate) small: Option<String>,
}

/// A question.
pub(super) struct Question<'a> {
    pub(super) model: &'a str,
    pub(super) system: &'a str,
    pub(super) text: String,
    /// The most tokens of its answer.
    pub(super) max_tokens: u32,
    /// The wire format, if it is not the usual one.
    pub(super) provider: Option<Arc<dyn Provider>>,
}

/// What came of it. Also a failed question may have used tokens.
pub(super) struct SideAnswer {
    /// The text, or why there is none.
    pub(super) text: Result<String, String>,
    /// The content blocks of all responses.
    pub(super) content: Vec<RawJson>,
    pub(super) used: SortedMap<String, ModelUsage>,
}

impl SideModels {
    /// Asks. Dropping the future ends the exchange.
    pub(super) async fn ask(&self, question: Question<'_>) -> SideAnswer {
        let mut spec = Spec::default();
        spec.model = self.spec.clone();
        question.model.clone_into(&mut spec.model.name);
        spec.model.fallback = None;
        spec.model.task_budget = None;
        spec.model.thinking = Thinking::Default;
        spec.model.effort = None;
        spec.model.max_tokens = Some(question.max_tokens);
        if let Some(provider) = question.provider {
            spec.model.provider = provider;
        }
        spec.prompt.system = question.system.to_owned().into();
        let heard: Arc<Mutex<Heard>> = Arc::default();
        let ear = Arc::clone(&heard);
        let host = NativeHost::new(
            Arc::clone(&self.transport),
            MessageSink::new(move |message| {
                let mut heard = ear.lock().unwrap_or_else(PoisonError::into_inner);
                heard.take(message);
                std::future::ready(())
            }),
        );
        let mut session = Session::new(spec.into(), fresh_uuid(), random_seed());
        let prompt = stream::iter([Input::Prompt(Prompt::text(&question.text))]);
        let driven = windlass_core::drive(&mut session, &host, prompt).await;
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = std::mem::take(&mut *heard);
        match (driven, heard.result) {
            (Err(error), _) => SideAnswer::failed(error.to_string()),
            (Ok(()), None) => SideAnswer::failed("it gave no answer".to_owned()),
            (Ok(()), Some(result)) => SideAnswer {
                text: match result.result {
                    Some(text) => Ok(text),
                    None => Err(result.errors.unwrap_or_default().join("; ")),
                },
                content: heard.content,
                used: result.model_usage,
            },
        }
    }
}

impl SideAnswer {
    fn failed(reason: String) -> Self {
        Self {
            text: Err(reason),
            content: Vec::new(),
            used: SortedMap::new(),
        }
    }
}

/// What the session said.
#[derive(Default)]
struct Heard {
    content: Vec<RawJson>,
    result: Option<ResultMessage>,
}

impl Heard {
    fn take(&mut self, message: Message) {
        match message {
            Message::Assistant(message) => self.content.extend(message.message.content),
            Message::Result(result) => self.result = Some(result),
            _ => {}
        }
    }
}
