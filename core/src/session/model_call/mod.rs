//! Model calls: building the request, and the state of the exchange with a model server.

mod answer;
mod exchange;
mod failure;
mod incoming;
mod wait;

use self::wait::too_late;
pub(super) use self::{answer::text_of, incoming::ModelCall};

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{Event, Outcome, Shared, Thread};
use crate::{
    effect::{Effect, EffectId, HttpFailure, HttpFailureKind, HttpRequest, Stage},
    history::History,
    hook::CompactionTrigger,
    id::Millis,
    prompt,
    provider::Opening,
    tools,
};

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
        let mut taken = self
            .context
            .take_request_history(self.spec.clearing_by_core());
        let request = self.request_with(taken.history());
        self.context.put_back(taken);
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
                before_conversation: prompt::before_conversation(&self.spec, &model).as_deref(),
                tools: &tools::offers(&self.spec, &model, &self.tool_state),
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

    /// When the current response exceeds a time limit.
    pub(super) fn response_due(&self) -> Option<Millis> {
        let due = self
            .model_call
            .incoming
            .as_ref()?
            .due(&self.spec.model.response)?;
        Some(due.0)
    }

    /// Records data that was received, even if only a head.
    pub(super) fn note_progress(&mut self, shared: &Shared) {
        if let Some(incoming) = &mut self.model_call.incoming {
            incoming.wait.heard(shared.now.mono);
        }
    }

    /// Abandons a response that has exceeded a time limit.
    pub(super) fn stop_waiting_if_due(&mut self, shared: &mut Shared) -> Option<Event> {
        let incoming = self.model_call.incoming.as_ref()?;
        let due = incoming.due(&self.spec.model.response);
        let (_, overdue) = due.filter(|(at, _)| *at <= shared.now.mono)?;
        let message = too_late(overdue, &self.spec.model.response);
        shared.cancel(incoming.id);
        let failure = HttpFailure::new(HttpFailureKind::Interrupted, &message);
        self.broken_off(shared, failure)
    }
}
