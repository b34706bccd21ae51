//! Model calls: building the request, and the state of the exchange with a model server.

mod answer;
mod exchange;
mod failure;
mod wait;

pub(super) use self::answer::text_of;
use self::wait::Wait;

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Event, Outcome, Shared, Thread};
use crate::{
    effect::{Effect, EffectId, HttpRequest, Stage},
    history::History,
    hook::CompactionTrigger,
    id::Millis,
    prompt,
    provider::{Decoder, Opening},
    tools,
};

/// How long a server may take to close the connection after a complete response. Closing it first would cost a new connection on
/// the next turn.
const LINGER_MS: u64 = 1_000;

/// The current exchange of a thread with a model server, if any.
#[derive(Debug, Default)]
pub(super) struct ModelCall {
    incoming: Option<Incoming>,
}

/// A response that is being received.
#[derive(Debug)]
struct Incoming {
    id: EffectId,
    /// The model that the request was sent to; the setting may change meanwhile.
    model: String,
    body: Body,
    retry_after_ms: Option<u64>,
    complete_since: Option<Millis>,
    wait: Wait,
}

#[derive(Debug)]
enum Body {
    /// No head received yet.
    Awaited,
    Success(Box<dyn Decoder>),
    Error {
        status: u16,
        bytes: Vec<u8>,
        /// The address that returned 404, if the host reported it.
        address: Option<String>,
    },
}

impl ModelCall {
    fn begin(&mut self, id: EffectId, model: String, now: Millis) {
        self.incoming = Some(Incoming {
            id,
            model,
            body: Body::Awaited,
            retry_after_ms: None,
            complete_since: None,
            wait: Wait::from(now),
        });
    }

    /// Abandons the response.
    pub(super) fn give_up(&mut self) {
        self.incoming = None;
    }

    /// Abandons the exchange if it asks for a suggestion; returns its effect.
    pub(super) fn give_up_suggestion(&mut self) -> Option<EffectId> {
        let suggestion = self.suggestion()?;
        self.give_up();
        Some(suggestion)
    }

    /// The effect of the suggestion that is being received, if any.
    fn suggestion(&self) -> Option<EffectId> {
        let id = self.incoming.as_ref()?.id;
        (id.stage == Stage::Suggestion).then_some(id)
    }

    /// Until when the server may take to close the connection after a complete response.
    pub(super) fn linger_until(&self) -> Option<Millis> {
        let complete_since = self.incoming.as_ref()?.complete_since?;
        Some(complete_since.after(LINGER_MS))
    }
}

impl Thread {
    /// Checks the budget before a request; returns the event that follows.
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

    /// Why the budget cannot be enforced, if so. The model may have changed since the last request.
    pub(super) fn unpriced(&self) -> Option<String> {
        let budget = self.spec.policy.limits.max_budget?;
        let model = self.model();
        self.spec.model.catalogue.get(model).is_none().then(|| {
            format!(
                "no price is known for the model {model}, so a budget of ${budget} cannot be kept: add the model to a price file, or leave the budget out"
            )
        })
    }

    /// Ends the run if the budget is used up.
    pub(super) fn stop_at_budget(&mut self, shared: &mut Shared) -> Option<Event> {
        let budget = self.spec.policy.limits.max_budget?;
        if shared.cost < budget {
            return None;
        }
        self.run.outcome = Some(Outcome::MaxBudget(budget.to_string()));
        Some(Event::Stop)
    }

    pub(super) fn ask_model(&mut self, shared: &mut Shared) -> Option<Event> {
        if let Some(message) = self.unpriced() {
            self.run.outcome = Some(Outcome::Failed {
                class: None,
                message,
            });
            return Some(Event::GiveUp);
        }
        let attempt = self.run.ask(shared.now.mono);
        self.context.seal_for_request();
        self.clear_old_results();
        let mut lent = self.context.lend(self.spec.clearing_by_core());
        let request = self.request_with(lent.history());
        self.context.put_back(lent);
        let id = self.effect_id(shared, 0, Stage::Model, attempt);
        self.send(shared, id, request);
        None
    }

    /// A request with this history, which may differ from the thread's own.
    pub(super) fn request_with(&mut self, history: &mut History) -> HttpRequest {
        let model = self.model().to_owned();
        let prefix = match self.context.take_prefix(&model) {
            Some(prefix) => prefix,
            _ => self.spec.model.provider.prefix(&Opening {
                request: &self.spec.model_request(&model),
                system: &prompt::system_blocks(&self.spec),
                before_conversation: prompt::before_conversation(&self.spec).as_deref(),
                tools: &tools::offers(&self.spec, &model, &self.notes),
            }),
        };
        let mut places = Vec::new();
        let provider = &self.spec.model.provider;
        let view = history.view_for(provider.translator(), &mut places);
        let request = provider.request(&self.spec.model_request(&model), &prefix, view);
        self.context.keep_prefix(model, prefix);
        request
    }

    pub(super) fn send(&mut self, shared: &mut Shared, id: EffectId, request: HttpRequest) {
        let model = match self.context.made_for() {
            Some(made_for) => made_for.clone(),
            None => self.model().to_owned(),
        };
        self.model_call.begin(id, model, shared.now.mono);
        self.perform(shared, id, Effect::Http(request));
    }
}
