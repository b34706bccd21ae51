//! Asking the model: the request, the arriving response, failures and retries.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Event, Line, Outcome, Shared, Thread, run::Call};
use crate::{
    agent::background,
    content::Block,
    context::{CompactionTrigger, size::Counted},
    effect::{Answer, Effect, HttpFailure, HttpFailureKind, HttpRequest},
    history::{History, Role},
    id::{EffectId, Millis, Stage},
    json::RawJson,
    message::{
        ApiMessage, ApiRetry, AssistantMessage, ErrorClass, Message, ModelFallback, StreamEvent,
        SystemMessage,
    },
    money::Usd,
    provider::{ApiError, Decoder, Opening, Response, StopReason},
    tools,
};

/// Of an error response no more is read than this.
const ERROR_BODY_LIMIT: usize = 64 << 10;
/// A server has this long to close a response that is complete; closing it for the server would
/// cost a new connection on the next turn.
const LINGER_MS: u64 = 1_000;
/// No `retry-after` is honoured beyond this.
const LONGEST_RETRY_AFTER_MS: u64 = 300_000;

/// A response that is arriving.
#[derive(Debug)]
pub(super) struct Incoming {
    id: EffectId,
    body: Body,
    retry_after_ms: Option<u64>,
    complete_since: Option<Millis>,
}

#[derive(Debug)]
enum Body {
    /// No head yet.
    Awaited,
    Success(Box<dyn Decoder>),
    Error {
        status: u16,
        bytes: Vec<u8>,
    },
}

impl Incoming {
    pub(super) fn linger_until(&self) -> Option<Millis> {
        self.complete_since.map(|at| at.after(LINGER_MS))
    }
}

impl Thread {
    /// Whether the model may be asked as far as the budget goes.
    pub(super) fn may_ask(&mut self, shared: &mut Shared) -> Event {
        if let Some(reason) = self.run.hook_stop.clone() {
            self.run.outcome = Some(Outcome::StoppedByHook(reason));
            return Event::Stop;
        }
        if let Some(stop) = self.stop_at_budget(shared) {
            return stop;
        }
        if self.must_compact() {
            return self.compact(shared, CompactionTrigger::Auto, String::new(), None);
        }
        Event::Proceed
    }

    /// Why a budget cannot be kept, if it cannot. The model may have been changed since the last request.
    pub(super) fn unpriced(&self) -> Option<String> {
        let budget = self.spec.limits.max_budget?;
        let model = self.model();
        self.spec.catalogue.get(model).is_none().then(|| {
            format!(
                "no price is known for the model {model}, so a budget of ${budget} cannot be kept: add the model to a price file, or leave the budget out"
            )
        })
    }

    /// Ends the run if the budget is used up.
    pub(super) fn stop_at_budget(&mut self, shared: &mut Shared) -> Option<Event> {
        let budget = self.spec.limits.max_budget?;
        if shared.cost < budget {
            return None;
        }
        self.run.outcome = Some(Outcome::MaxBudget(budget.to_string()));
        Some(Event::Stop)
    }

    pub(super) fn ask_model(&mut self, shared: &mut Shared) {
        if let Some(message) = self.unpriced() {
            self.run.outcome = Some(Outcome::Failed {
                class: None,
                message,
            });
            return self.transit(shared, Event::GiveUp);
        }
        self.run.attempt += 1;
        self.run.asked_at = shared.now.mono;
        self.history.seal_for_request();
        self.clear_old_results();
        let request = match self.shown() {
            Some(shown) => {
                let mut shown = core::mem::take(shown);
                let request = self.request_with(&mut shown);
                self.put_back(shown);
                request
            }
            None => {
                let mut history = core::mem::take(&mut self.history);
                let request = self.request_with(&mut history);
                self.history = history;
                request
            }
        };
        let id = self.effect_id(shared, 0, Stage::Model, self.run.attempt);
        self.send(shared, id, request);
    }

    /// A request with this history, which need not be the thread's own.
    pub(super) fn request_with(&mut self, history: &mut History) -> HttpRequest {
        let model = self.model().to_owned();
        let prefix = match self.prefix.take() {
            Some((made_for, prefix)) if made_for == model => prefix,
            _ => self.spec.provider.prefix(&Opening {
                spec: &self.spec,
                model: &model,
                tools: &tools::offers(&self.spec, &model, &self.notes),
            }),
        };
        let mut places = Vec::new();
        let view = history.view_for(&*self.spec.provider, &mut places);
        let request = self.spec.provider.request(&self.spec, &prefix, view);
        self.context_size.prefix_bytes = prefix.bytes.len() as u64;
        self.prefix = Some((model, prefix));
        request
    }

    /// The suggestion that is arriving, if one is.
    pub(super) fn incoming_suggestion(&self) -> Option<EffectId> {
        let id = self.incoming.as_ref()?.id;
        (id.stage == Stage::Suggestion).then_some(id)
    }

    pub(super) fn send(&mut self, shared: &mut Shared, id: EffectId, request: HttpRequest) {
        self.incoming = Some(Incoming {
            id,
            body: Body::Awaited,
            retry_after_ms: None,
            complete_since: None,
        });
        self.perform(shared, id, Effect::Http(request));
    }

    pub(super) fn model_answer(&mut self, shared: &mut Shared, id: EffectId, answer: Answer) {
        if self.incoming.as_ref().is_none_or(|i| i.id != id) {
            return; // the tail of a response that is over or was given up
        }
        match answer {
            Answer::HttpHead { status, headers } => {
                if let Some(info) = self.spec.provider.rate_limit(status, &headers) {
                    shared.note_rate_limit(info);
                }
                self.head(status, &headers);
            }
            Answer::HttpBody(bytes) => self.body(shared, &bytes),
            Answer::HttpEnd => self.end(shared),
            Answer::HttpFailed(failure) => self.broken_off(shared, failure),
            // After an interrupt nothing is incoming: the host dropped it by itself.
            _ => {
                let dropped = "the host dropped the exchange with the model server";
                let failure = HttpFailure::new(HttpFailureKind::Interrupted, dropped);
                self.broken_off(shared, failure);
            }
        }
    }

    /// The exchange broke off; what has arrived may be enough.
    fn broken_off(&mut self, shared: &mut Shared, failure: HttpFailure) {
        let enough = self.incoming.as_ref().is_some_and(|incoming| {
            // A status other than success says it all, with or without the rest of its words.
            incoming.complete_since.is_some() || matches!(incoming.body, Body::Error { .. })
        });
        if enough {
            self.end(shared);
        } else {
            self.call_failed(shared, transport_error(failure), None);
        }
    }

    fn head(&mut self, status: u16, headers: &[(String, String)]) {
        let header = |name: &str| {
            headers
                .iter()
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.as_str())
        };
        let wants_events = self.spec.partial_messages;
        let decoder = (200..300).contains(&status).then(|| {
            let content_type = header("content-type").unwrap_or("");
            self.spec.provider.decoder(content_type, wants_events)
        });
        let retry_after_ms = header("retry-after").and_then(retry_after);
        if let Some(incoming) = &mut self.incoming {
            incoming.retry_after_ms = retry_after_ms;
            incoming.body = match decoder {
                Some(decoder) => Body::Success(decoder),
                None => Body::Error {
                    status,
                    bytes: Vec::new(),
                },
            };
        }
    }

    fn body(&mut self, shared: &mut Shared, bytes: &[u8]) {
        let Some(incoming) = &mut self.incoming else {
            return;
        };
        let id = incoming.id;
        match &mut incoming.body {
            Body::Awaited => {}
            Body::Error { bytes: held, .. } => {
                let room = ERROR_BODY_LIMIT.saturating_sub(held.len());
                held.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Body::Success(decoder) => {
                let fed = decoder.feed(bytes);
                let events = decoder.take_events();
                if decoder.is_complete() && incoming.complete_since.is_none() {
                    incoming.complete_since = Some(shared.now.mono);
                }
                self.say_stream_events(shared, events);
                if let Err(error) = fed {
                    shared.cancel(id);
                    self.call_failed(shared, error.into_api_error(), None);
                }
            }
        }
    }

    fn say_stream_events(&mut self, shared: &mut Shared, events: Vec<RawJson>) {
        if self.is_muted() || self.run.compacting.is_some() || self.incoming_suggestion().is_some()
        {
            return; // neither a summary nor a suggestion is an answer to anybody
        }
        for event in events {
            let uuid = shared.ids.uuid();
            shared.say(Message::StreamEvent(StreamEvent {
                event,
                parent_tool_use_id: self.parent_tool_use_id.clone(),
                uuid,
                session_id: shared.id,
            }));
        }
    }

    /// Whether the application hears no words of this thread, only of its calls.
    pub(super) fn is_muted(&self) -> bool {
        !self.is_main() && self.spec.tasks.tool_calls_only
    }

    /// What the application hears of a response.
    fn heard(&self, content: &[Block]) -> Vec<RawJson> {
        let heard = |block: &&Block| !self.is_muted() || matches!(block, Block::ToolUse(_));
        content.iter().filter(heard).map(Block::to_raw).collect()
    }

    /// The response is complete and the server did not close it.
    pub(super) fn stop_lingering(&mut self, shared: &mut Shared) {
        if let Some(id) = self.incoming.as_ref().map(|i| i.id) {
            shared.cancel(id);
            self.end(shared);
        }
    }

    fn end(&mut self, shared: &mut Shared) {
        let Some(incoming) = self.incoming.take() else {
            return;
        };
        if incoming.id.stage == Stage::Suggestion {
            if let Body::Success(decoder) = incoming.body
                && let Ok(response) = decoder.finish()
            {
                self.suggested(shared, &response);
            }
            return;
        }
        match incoming.body {
            Body::Awaited => {
                let failure = HttpFailure::new(
                    HttpFailureKind::Interrupted,
                    "the model server ended the exchange without an answer",
                );
                self.call_failed(shared, transport_error(failure), None);
            }
            Body::Error { status, bytes } => {
                let error = self.spec.provider.error(status, &bytes);
                self.call_failed(shared, error, incoming.retry_after_ms);
            }
            Body::Success(decoder) => match decoder.finish() {
                Ok(response) => self.answered(shared, response),
                Err(error) => self.call_failed(shared, error.into_api_error(), None),
            },
        }
    }

    fn count_api_time(&mut self, shared: &mut Shared) {
        let waited = shared.now.mono.since(self.run.asked_at);
        let api_ms = match self.is_main() {
            true => &mut self.run.api_ms,
            false => &mut shared.unreported.api_ms,
        };
        *api_ms = api_ms.saturating_add(waited);
    }

    fn call_failed(&mut self, shared: &mut Shared, error: ApiError, retry_after_ms: Option<u64>) {
        if self.incoming_suggestion().is_some() {
            self.incoming = None;
            return;
        }
        self.incoming = None;
        self.count_api_time(shared);
        let policy = &self.spec.retry;
        let fallback = match &self.run.compacting {
            Some(_) => None,
            None => self.fallback_for(&error),
        };
        let max_retries = match fallback {
            Some(_) => policy.max_retries.min(policy.retries_before_fallback),
            None => policy.max_retries,
        };
        let worth_it = error.retryable
            && self.attempts() <= max_retries
            && (!policy.only_rate_limits || error.class == ErrorClass::RateLimit);
        if !worth_it && let Some(fallback) = fallback {
            return self.fall_back(shared, fallback, error);
        }
        if !worth_it && self.run.compacting.is_some() {
            return self.summary_failed(shared, &error);
        }
        if !worth_it && let Some(event) = self.compact_because(shared, &error) {
            return self.transit(shared, event);
        }
        if !worth_it && let Some(event) = self.mend_results(shared, &error) {
            return self.transit(shared, event);
        }
        if !worth_it {
            if matches!(error.status, Some(400 | 413 | 422)) {
                self.take_back_prompt();
            }
            self.run.outcome = Some(Outcome::Failed {
                class: Some(error.class),
                message: error.message,
            });
            self.transit(shared, Event::GiveUp);
            return;
        }
        let delay = self.retry_delay(shared, retry_after_ms);
        self.run.retry_at = Some(shared.now.mono.after(delay));
        let uuid = shared.ids.uuid();
        shared.say(Message::System(SystemMessage::ApiRetry(ApiRetry {
            attempt: self.attempts(),
            max_retries,
            retry_delay_ms: delay,
            error_status: error.status,
            error: error.class,
            message: error.message,
            uuid,
            session_id: shared.id,
        })));
        self.transit(shared, Event::Retry);
    }

    /// How often the model in use has been asked for the response that is awaited.
    fn attempts(&self) -> u32 {
        match &self.run.compacting {
            Some(compacting) => compacting.attempt,
            None => self.run.attempt.saturating_sub(self.run.attempts_before),
        }
    }

    /// The model that takes over after this error; none where another model would not help.
    fn fallback_for(&self, error: &ApiError) -> Option<String> {
        let missing = error.status == Some(404);
        let fallback = self.spec.fallback_model.as_ref()?;
        let helps = error.retryable || missing;
        (helps && self.model() != fallback).then(|| fallback.clone())
    }

    /// The fallback model takes over until the run ends (LOOP-12).
    fn fall_back(&mut self, shared: &mut Shared, to: String, error: ApiError) {
        let from = self.model().to_owned();
        self.run.on_fallback = true;
        self.run.attempts_before = self.run.attempt;
        let uuid = shared.ids.uuid();
        shared.say(Message::System(SystemMessage::ModelFallback(
            ModelFallback {
                from,
                to,
                error: error.class,
                message: error.message,
                uuid,
                session_id: shared.id,
            },
        )));
        self.transit(shared, Event::FallBack);
    }

    fn retry_delay(&mut self, shared: &mut Shared, retry_after_ms: Option<u64>) -> u64 {
        let policy = &self.spec.retry;
        let doublings = self.attempts().saturating_sub(1).min(32);
        let backoff = policy
            .base_ms
            .saturating_mul(1 << doublings)
            .min(policy.max_ms);
        // None at all is no answer: the backoff holds.
        let asked_for = retry_after_ms
            .filter(|ms| policy.honour_retry_after && *ms > 0)
            .map(|ms| ms.min(LONGEST_RETRY_AFTER_MS));
        let delay = asked_for.unwrap_or(backoff);
        let jitter = delay.saturating_mul(u64::from(policy.jitter_percent)) / 100;
        delay.saturating_add(shared.ids.below(jitter + 1))
    }

    /// A complete response: into the books, the history and the message stream.
    fn answered(&mut self, shared: &mut Shared, mut response: Response) {
        self.count_api_time(shared);
        if self.run.compacting.is_some() {
            return self.summed_up(shared, &response);
        }
        self.run.attempt = 0;
        self.run.attempts_before = 0;
        self.run.num_turns += 1;
        self.turn = self.turn.saturating_add(1);
        self.turn_begun = false;
        self.run.usage.add(&response.usage);
        if !self.is_main() {
            shared.unreported.usage.add(&response.usage);
        }
        self.book(shared, &response);
        self.run.stop_reason = response.stop_reason.clone();
        self.run.text = text_of(&response.content);
        self.name_calls_apart(shared, &mut response.content);
        let kept: Vec<RawJson> = response
            .content
            .iter()
            .filter(|block| block.belongs_in_history())
            .map(Block::to_raw)
            .collect();
        // A pause without a word would lead to the same request again, without end.
        self.run.paused = response.stop_reason == Some(StopReason::PauseTurn) && !kept.is_empty();
        self.run.unsaved = kept.clone();
        self.history.push(Role::Assistant, kept);
        let estimate = self.history.estimated_tokens();
        self.context_size.counted = Counted::new(&response.usage, estimate);
        if self.context_size.counted.is_some() {
            self.context_size.freed = 0;
        }
        let uuid = shared.ids.uuid();
        let message = AssistantMessage {
            message: ApiMessage {
                id: response.id,
                kind: "message".to_owned(),
                role: "assistant".to_owned(),
                model: response.model,
                content: self.heard(&response.content),
                stop_reason: response.stop_reason,
                stop_sequence: response.stop_sequence,
                usage: response.usage,
            },
            parent_tool_use_id: self.parent_tool_use_id.clone(),
            error: None,
            uuid,
            session_id: shared.id,
        };
        if !message.message.content.is_empty() || !self.is_muted() {
            shared.say(Message::Assistant(message));
        }
        let cut = self.run.stop_reason == Some(StopReason::MaxTokens);
        let last = response.content.len().saturating_sub(1);
        let spec = self.spec.clone();
        self.run.calls = response
            .content
            .into_iter()
            .enumerate()
            .filter_map(|(index, block)| match block {
                Block::ToolUse(mut tool_use) => {
                    // The limit struck right after the name: that is no call without arguments.
                    if cut && index == last && tool_use.input == Ok(RawJson::empty_object()) {
                        tool_use.input = Err(String::new());
                    }
                    let core = spec.tool(&tool_use.name).and_then(|tool| tool.core);
                    if let Some(core) = core {
                        let said = &self.run.text;
                        let name = &tool_use.name;
                        tool_use.input = tool_use.input.map(|input| {
                            core.prepare(background::present_input(name, &input), said)
                        });
                    }
                    Some(Call::new(tool_use))
                }
                _ => None,
            })
            .collect();
        self.number_agents(shared);
        self.transit(shared, Event::Answered);
    }

    /// Gives calls an id of our own where the server's is missing or was used before: the API refuses
    /// a history in which two calls share one.
    fn name_calls_apart(&mut self, shared: &mut Shared, content: &mut [Block]) {
        for block in content {
            if let Block::ToolUse(call) = block {
                if call.id.is_empty() || self.call_ids.contains(&call.id) {
                    call.id = format!("toolu_{:032x}", shared.ids.uuid().0);
                }
                self.call_ids.insert(call.id.clone());
            }
        }
    }

    pub(super) fn book(&mut self, shared: &mut Shared, response: &Response) {
        let asked = match &self.prefix {
            Some((model, _)) => model.clone(),
            None => self.model().to_owned(),
        };
        let catalogue = &self.spec.catalogue;
        // Servers may answer with a more exact name; if only the asked one is known, that one counts.
        let priced = if catalogue.get(&response.model).is_some() {
            response.model.clone()
        } else {
            asked
        };
        let facts = catalogue.get(&priced).cloned();
        let cost = catalogue.cost(&priced, &response.usage).unwrap_or_default();
        shared.cost += cost;
        let entry = shared.model_usage.entry(priced).or_default();
        entry.add(&response.usage);
        entry.cost_usd += cost;
        if let Some(facts) = facts {
            entry.context_window = facts.context_window;
            entry.max_output_tokens = facts.max_output_tokens;
        }
    }

    pub(super) fn save_response(&mut self, shared: &mut Shared) {
        let content = core::mem::take(&mut self.run.unsaved);
        if content.is_empty() {
            self.after_save(shared);
        } else {
            let line = Line::new(Role::Assistant, content);
            self.save(shared, Stage::SaveResponse, alloc::vec![line]);
        }
    }

    /// What a written response leads to.
    pub(super) fn after_response(&mut self, shared: &mut Shared) -> Event {
        if self.run.calls.is_empty() && !self.run.paused {
            if let Some(event) = self.without_output(shared) {
                return event;
            }
            return self.conclude(shared);
        }
        if let Some(stop) = self.stop_at_budget(shared) {
            return stop;
        }
        if self.run.calls.is_empty() {
            Event::Proceed
        } else {
            Event::RunTools
        }
    }
}

pub(super) fn text_of(content: &[Block]) -> String {
    let mut out = String::new();
    for block in content {
        if let Block::Text { text, .. } = block {
            out.push_str(text);
        }
    }
    out
}

fn transport_error(failure: HttpFailure) -> ApiError {
    ApiError {
        class: match failure.kind {
            HttpFailureKind::Refused => ErrorClass::InvalidRequest,
            HttpFailureKind::TooLarge => ErrorClass::Unknown,
            HttpFailureKind::Connect | HttpFailureKind::Interrupted => ErrorClass::ServerError,
        },
        status: None,
        retryable: matches!(
            failure.kind,
            HttpFailureKind::Connect | HttpFailureKind::Interrupted
        ),
        too_long: false,
        message: failure.message,
    }
}

/// Seconds of a `retry-after` header, as milliseconds. The date form is not used by model servers.
fn retry_after(value: &str) -> Option<u64> {
    let seconds = Usd::parse(value.trim())?; // a decimal number, exactly
    Some(seconds.nanos / 1_000_000)
}
