//! The callback-style loop: one call with a prompt, tools and callbacks returns the final text, every tool call and the whole
//! history.
//!
//! It is a small builder over a session, for programs that do not need a message stream. Tools run one after another in the order
//! in which the model calls them, whatever their annotations. Rate limits are retried three times. If the iteration limit is
//! reached, the result so far is returned instead of an error.
//!
//! ```
//! use windlass_callback_loop::{CallbackLoop, LoopEvent};
//! use windlass_core::uuid_v4;
//! use windlass_testkit::{Script, TestHost};
//!
//! let script = Script::parse(r#"{"exchanges": [{"respond": "A tree is a graph without cycles."}]}"#)?;
//! let host = TestHost::new(script);
//! let mut seen = Vec::new();
//! let outcome = host.block_on(
//!     CallbackLoop::new("You are a patient tutor.", "What is a tree?")
//!         .on_event(|event| seen.push(event.clone()))
//!         .run(&host, uuid_v4([7; 16]), [7; 32]),
//! )??;
//! assert_eq!(outcome.final_text, "A tree is a graph without cycles.");
//! assert_eq!(seen, [LoopEvent::Thinking { text: outcome.final_text }]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`LoopEvent::to_sse`] writes an event for a web page; `examples/tutor_page.rs` of the native host serves one.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod events;
mod preset;

use alloc::{borrow::ToOwned, format, string::String, sync::Arc, vec::Vec};
use core::fmt;

use futures_util::stream;

pub use self::{
    events::{LoopEvent, LoopEvents, ToolCallRecord},
    preset::{Amounts, Preset},
};
use windlass_core::{
    HostError, Input, Prompt, RawJson, Session, SessionId, Spec,
    content::Block,
    context::SystemPrompt,
    drive_observed,
    host::Host,
    message::{Message, ResultMessage, ResultSubtype},
    permission::Rule,
    spec::{RetryPolicy, Thinking},
    tool::ToolDefinition,
};

/// The default model.
pub const DEFAULT_MODEL: &str = "claude-opus-4-20250514";
/// The default limit on rounds of tool calls.
pub const DEFAULT_MAX_ITERATIONS: u32 = 15;
/// Maximum output tokens of a response.
const MAX_TOKENS: u32 = 8_000;

/// A loop that is ready to run.
pub struct CallbackLoop<'c> {
    system_prompt: String,
    user_message: String,
    tools: Vec<ToolDefinition>,
    max_iterations: u32,
    preset: Option<Preset>,
    small: bool,
    model: String,
    on_event: Option<EventCallback<'c>>,
}

type EventCallback<'c> = alloc::boxed::Box<dyn FnMut(&LoopEvent) + 'c>;

impl<'c> CallbackLoop<'c> {
    /// A loop with a system prompt and a user message.
    pub fn new(system_prompt: impl Into<String>, user_message: impl Into<String>) -> Self {
        Self {
            system_prompt: system_prompt.into(),
            user_message: user_message.into(),
            tools: Vec::new(),
            max_iterations: DEFAULT_MAX_ITERATIONS,
            preset: None,
            small: false,
            model: DEFAULT_MODEL.to_owned(),
            on_event: None,
        }
    }

    /// Uses a named agent: its iteration limit, and its amounts ([`Preset::amounts`]), which are stated at the end of the system
    /// prompt.
    #[must_use]
    pub fn preset(mut self, preset: Preset) -> Self {
        self.max_iterations = preset.max_iterations();
        self.preset = Some(preset);
        self
    }

    /// Small mode, for cheap runs: a preset asks for smaller amounts. Without a preset it has no effect.
    #[must_use]
    pub fn small(mut self, small: bool) -> Self {
        self.small = small;
        self
    }

    /// Sets the tools that the model may call; the host runs them.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = ToolDefinition>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Sets the number of rounds of tool calls after which the loop ends with the result so far.
    #[must_use]
    pub fn max_iterations(mut self, max: u32) -> Self {
        self.max_iterations = max;
        self
    }

    /// Sets the model, which is used exactly as written.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets the callback for events, called in order: reasoning, a tool call before it runs, its result right after. Optional.
    #[must_use]
    pub fn on_event(mut self, callback: impl FnMut(&LoopEvent) + 'c) -> Self {
        self.on_event = Some(alloc::boxed::Box::new(callback));
        self
    }

    /// The spec that makes a session behave like this loop. Everything else (provider, prices, environment, deny rules) is taken
    /// from `base`.
    #[must_use]
    pub fn spec(&self, base: &Spec) -> Spec {
        let mut spec = base.clone();
        spec.prompt.system = SystemPrompt::Text(self.whole_system_prompt());
        spec.model.name = self.model.clone();
        spec.model.max_tokens = spec.model.max_tokens.or(Some(MAX_TOKENS));
        spec.model.thinking = Thinking::Disabled;
        spec.tools.definitions.extend(self.tools.iter().cloned());
        spec.tools.sequential = true;
        spec.policy.limits.max_turns = Some(self.max_iterations);
        spec.model.retry = RetryPolicy {
            max_retries: 3,
            base_ms: 2_000,
            max_ms: 8_000,
            jitter_percent: 0,
            only_rate_limits: true,
            honour_retry_after: false,
            ..RetryPolicy::default()
        };
        // Tools that are passed in here are meant to run.
        let named = spec.tools.definitions.iter().map(|tool| tool.name.clone());
        let rules = named.filter_map(|name| Rule::parse(&name).ok());
        spec.policy.permissions.rules.allow.extend(rules);
        spec
    }

    /// The system prompt, with the preset's amounts at its end.
    fn whole_system_prompt(&self) -> String {
        let amounts = self.preset.map(|preset| preset.amounts(self.small));
        match amounts.and_then(|amounts| amounts.instruction()) {
            Some(instruction) => format!("{}\n\n{instruction}", self.system_prompt),
            None => self.system_prompt.clone(),
        }
    }

    /// Runs the loop on a host, based on the default spec.
    ///
    /// # Errors
    /// [`LoopError`] if the model call failed, or the host broke the contract.
    pub async fn run<H: Host>(
        self,
        host: &H,
        id: SessionId,
        seed: [u8; 32],
    ) -> Result<LoopOutcome, LoopError> {
        self.run_on(host, &Spec::default(), id, seed).await
    }

    /// Runs the loop on a host, based on this spec.
    ///
    /// # Errors
    /// [`LoopError`] if the model call failed, or the host broke the contract.
    pub async fn run_on<H: Host>(
        mut self,
        host: &H,
        base: &Spec,
        id: SessionId,
        seed: [u8; 32],
    ) -> Result<LoopOutcome, LoopError> {
        let mut session = Session::new(Arc::new(self.spec(base)), id, seed);
        let prompt = Input::Prompt(Prompt::text(&self.user_message));
        let mut events = LoopEvents::default();
        let mut result = None;
        let observe = |message: &Message| {
            for event in events.take_in(message) {
                if let Some(callback) = &mut self.on_event {
                    callback(&event);
                }
            }
            if let Message::Result(last) = message {
                result = Some(last.clone());
            }
        };
        let inputs = stream::iter([prompt]);
        drive_observed(&mut session, host, inputs, observe).await?;
        let result: ResultMessage = result.ok_or_else(|| LoopError::Model {
            message: "the session ended without a result".to_owned(),
        })?;
        let reached_limit = match result.subtype {
            ResultSubtype::Success => false,
            ResultSubtype::ErrorMaxTurns => true,
            _ => {
                let errors = result.errors.unwrap_or_default();
                let message = errors.into_iter().next().unwrap_or_default();
                return Err(LoopError::Model { message });
            }
        };
        let (final_text, tool_calls) = events.into_parts();
        Ok(LoopOutcome {
            final_text,
            tool_calls,
            history: history(&self.whole_system_prompt(), &session),
            reached_limit,
        })
    }
}

impl fmt::Debug for CallbackLoop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallbackLoop")
            .field("model", &self.model)
            .field("max_iterations", &self.max_iterations)
            .field("preset", &self.preset)
            .field("small", &self.small)
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

/// The result of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopOutcome {
    /// The text of the last response.
    pub final_text: String,
    /// Every tool call, in order.
    pub tool_calls: Vec<ToolCallRecord>,
    /// The conversation as Messages API messages, preceded by the system prompt as a separate message.
    pub history: Vec<RawJson>,
    /// Whether the iteration limit ended it.
    pub reached_limit: bool,
}

/// A failed loop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoopError {
    /// The model call failed, including its retries.
    #[error("the model could not be asked: {message}")]
    Model {
        /// What happened.
        message: String,
    },
    /// The host broke the contract.
    #[error(transparent)]
    Host(#[from] HostError),
}

fn history(system_prompt: &str, session: &Session) -> Vec<RawJson> {
    let system = format!(
        r#"{{"role":"system","content":[{}]}}"#,
        Block::text(system_prompt).to_raw()
    );
    let lines = session.history().lines().filter_map(|line| {
        let text = core::str::from_utf8(&line).ok()?;
        RawJson::parse(text).ok()
    });
    RawJson::parse(system).into_iter().chain(lines).collect()
}
