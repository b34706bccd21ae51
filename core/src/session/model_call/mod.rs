//! Asking the model: the request, and what belongs to every exchange with a model server.

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

/// A server has this long to close a response that is complete; closing it for the server would
/// cost a new connection on the next turn.
const LINGER_MS: u64 = 1_000;

/// A response that is arriving.
#[derive(Debug)]
pub(super) struct Incoming {
    id: EffectId,
    /// The model that was asked; another may be chosen while it answers.
    model: String,
    body: Body,
    retry_after_ms: Option<u64>,
    complete_since: Option<Millis>,
    wait: Wait,
}

#[derive(Debug)]
enum Body {
    /// No head yet.
    Awaited,
    Success(Box<dyn Decoder>),
    Error {
        status: u16,
        bytes: Vec<u8>,
        /// Where nothing was found, if the host says so.
        address: Option<String>,
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
        let model = match &self.prefix {
            Some((made_for, _)) => made_for.clone(),
            None => self.model().to_owned(),
        };
        self.incoming = Some(Incoming {
            id,
            model,
            body: Body::Awaited,
            retry_after_ms: None,
            complete_since: None,
            wait: Wait::from(shared.now.mono),
        });
        self.perform(shared, id, Effect::Http(request));
    }
}
