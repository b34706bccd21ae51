//! Promises of the machine that hold after every step of every run, each checked independently of the others.
//!
//! [`Oracles`] watches one session: it is told about every input and every output, and reports a broken promise as a typed
//! [`Violation`] that names its oracle. [`Sim`](super::Sim) checks it after every step; a test of your own can use it for a
//! session that it runs itself.
//!
//! | oracle | promise |
//! |---|---|
//! | `history` | the API would accept every request, and the history at any moment once its open calls are answered |
//! | `decision` | no tool runs without a recorded decision that names its cause, including the core's own tools |
//! | `deny` | a denied call does not run, even if something else allows it |
//! | `refusal` | a call that a person or a hook refused does not run, even if something else allows it |
//! | `consent` | a call that requires a person's consent does not run before a person, or a hook in their place, has allowed it |
//! | `answered` | no effect outlives the result of its run, except effects of a background task; none runs twice at once |
//! | `result` | every prompt is answered by a run from `init` to exactly one `result`, and nothing is emitted outside of a run |
//! | `order` | entries are stored before what follows from them; every call gets exactly one result |
//! | `usage` | tokens and costs of a result are the sums over its responses and its agents'; totals by model, with summaries, match the wire and the price |
//! | `task` | every background task ends once, and the model is told about its end, with its complete output |
//! | `cut` | nothing of an incomplete response is shown as a response or kept, in the conversation or in that of a subagent |
//! | `restore` | a session that is saved and restored continues unchanged (checked by [`Sim`](super::Sim)) |
//! | `permutation` | the order of answers changes no effect's name (checked by [`Sim::permuted`](super::Sim::permuted)) |
//! | `contract` | input that violates the host's contract is rejected and changes nothing (checked by [`Sim`](super::Sim)) |
//! | `progress` | a session that is not done always has an open effect or a deadline (checked by [`Sim`](super::Sim)) |

mod answered;
mod consent;
mod cut;
mod decision;
mod deny;
mod history;
mod order;
mod refusal;
mod response;
mod result;
mod task;
mod usage;
mod violation;

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    string::String,
    vec::Vec,
};
use core::fmt;

use serde_json::Value;
use windlass_core::{
    ApprovedCall, Session,
    effect::{Answer, Effect, EffectId, Input, Output},
    message::{Message, SystemMessage, TaskKind, TaskStarted},
    spec::Spec,
};

pub use self::{
    deny::{Deny, Forbidden},
    violation::Violation,
};

/// The result of a check.
pub type Check = Result<(), Violation>;

/// What an oracle sees besides the event.
#[derive(Debug)]
pub struct View<'a> {
    /// The session, after the event.
    pub session: &'a Session,
    /// The spec that it started with.
    pub spec: &'a Spec,
    /// Effects that have no last answer and have been neither cancelled nor dropped.
    pub running: &'a BTreeSet<EffectId>,
    /// The model's ids of the tool calls, by their effects.
    pub calls: &'a BTreeMap<EffectId, String>,
    /// The running background tasks, by id.
    pub background: &'a BTreeMap<String, TaskStarted>,
}

impl View<'_> {
    /// The background task of a call, by the model's id of the call.
    #[must_use]
    pub fn task_of(&self, tool_use_id: &str) -> Option<&TaskStarted> {
        let is_it = |task: &&TaskStarted| task.tool_use_id.as_deref() == Some(tool_use_id);
        self.background.values().find(is_it)
    }

    /// Whether a subagent is running in the background.
    #[must_use]
    pub fn has_background_agent(&self) -> bool {
        let is_agent = |task: &TaskStarted| task.task_type == Some(TaskKind::LocalAgent);
        self.background.values().any(is_agent)
    }

    /// Whether the subagent with this number in its effect ids is running in the background.
    #[must_use]
    pub fn is_background_agent(&self, number: u32) -> bool {
        let mut agents = self.session.agents();
        agents.any(|(agent, id)| agent == number && self.background.contains_key(id))
    }

    /// Whether an effect belongs to a background task: to a subagent, or to the call that the task is.
    #[must_use]
    pub fn is_in_background(&self, id: EffectId) -> bool {
        let is_task = |call: &String| self.task_of(call).is_some();
        self.calls.get(&id).is_some_and(is_task)
            || id.agent > 0 && self.is_background_agent(id.agent)
    }
}

/// One promise. The oracle is told about all inputs and outputs of a session, in order.
pub trait Oracle {
    /// Its name, as [`Violation::oracle`] gives it.
    fn name(&self) -> &'static str;

    /// An input is about to be passed to the session.
    ///
    /// # Errors
    /// The broken promise.
    fn input(&mut self, _view: &View<'_>, _input: &Input) -> Check {
        Ok(())
    }

    /// A call was approved ([`Session::approved_calls`]). Called before the outputs that follow from it.
    ///
    /// # Errors
    /// The broken promise.
    fn approved(&mut self, _view: &View<'_>, _call: &ApprovedCall) -> Check {
        Ok(())
    }

    /// The session has produced an output.
    ///
    /// # Errors
    /// The broken promise.
    fn output(&mut self, _view: &View<'_>, _output: &Output) -> Check {
        Ok(())
    }

    /// All outputs have been polled. `history` is the conversation if it has changed since the last time.
    ///
    /// # Errors
    /// The broken promise.
    fn quiet(&mut self, _view: &View<'_>, _history: Option<&[Value]>) -> Check {
        Ok(())
    }

    /// The session was saved and restored, so effects may be issued a second time.
    fn restored(&mut self) {}

    /// The session is idle, and no further input follows.
    ///
    /// # Errors
    /// The broken promise.
    fn end(&mut self, _view: &View<'_>) -> Check {
        Ok(())
    }
}

/// All oracles, for one session.
pub struct Oracles {
    oracles: Vec<Box<dyn Oracle>>,
    running: BTreeSet<EffectId>,
    calls: BTreeMap<EffectId, String>,
    background: BTreeMap<String, TaskStarted>,
    /// The length and number of messages of the history at the last check.
    seen: (usize, usize),
    /// The number of decisions that the oracles have been told about.
    decisions: usize,
}

impl fmt::Debug for Oracles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.oracles.iter().map(|oracle| oracle.name()).collect();
        f.debug_struct("Oracles")
            .field("oracles", &names)
            .field("running", &self.running)
            .finish_non_exhaustive()
    }
}

impl Default for Oracles {
    fn default() -> Self {
        Self::new()
    }
}

impl Oracles {
    /// All oracles of the machine, before the first input.
    #[must_use]
    pub fn new() -> Self {
        Self {
            oracles: vec![
                Box::new(history::History),
                Box::new(decision::Decisions::default()),
                Box::new(Deny::default()),
                Box::new(refusal::Refusal::default()),
                Box::new(consent::Consents::default()),
                Box::new(answered::Answered::default()),
                Box::new(result::Results::default()),
                Box::new(order::Order::default()),
                Box::new(usage::Usages::default()),
                Box::new(task::Tasks::default()),
                Box::new(cut::Cut::default()),
            ],
            running: BTreeSet::new(),
            calls: BTreeMap::new(),
            background: BTreeMap::new(),
            seen: (0, 0),
            decisions: 0,
        }
    }

    /// Adds an oracle for a promise of your own agent.
    #[must_use]
    pub fn with(self, oracle: impl Oracle + 'static) -> Self {
        self.with_boxed(Box::new(oracle))
    }

    /// The same for a boxed oracle.
    #[must_use]
    pub(crate) fn with_boxed(mut self, oracle: Box<dyn Oracle>) -> Self {
        self.oracles.push(oracle);
        self
    }

    /// Effects that have no last answer and have been neither cancelled nor dropped.
    #[must_use]
    pub fn running(&self) -> &BTreeSet<EffectId> {
        &self.running
    }

    /// Call before [`Session::handle`].
    ///
    /// # Errors
    /// The first broken promise.
    pub fn input(&mut self, session: &Session, spec: &Spec, input: &Input) -> Check {
        let view = View {
            session,
            spec,
            running: &self.running,
            calls: &self.calls,
            background: &self.background,
        };
        for oracle in &mut self.oracles {
            oracle.input(&view, input)?;
        }
        if let Input::Answer(id, answer) = input
            && Answer::is_last(answer)
        {
            self.running.remove(id);
        }
        Ok(())
    }

    /// Call for every output of [`Session::poll`].
    ///
    /// # Errors
    /// The first broken promise.
    pub fn output(&mut self, session: &Session, spec: &Spec, output: &Output) -> Check {
        if let Output::Cancel(id) | Output::Abandon(id) = output {
            self.running.remove(id);
        }
        self.note_background(output);
        let view = View {
            session,
            spec,
            running: &self.running,
            calls: &self.calls,
            background: &self.background,
        };
        let approved = session.approved_calls();
        tell(&mut self.oracles, &mut self.decisions, &view, approved)?;
        for oracle in &mut self.oracles {
            oracle.output(&view, output)?;
        }
        if let Output::Effect(id, _) = output {
            self.running.insert(*id);
        }
        Ok(())
    }

    /// Records the beginning and end of background tasks.
    fn note_background(&mut self, output: &Output) {
        match output {
            Output::Effect(id, Effect::CallTool(call)) => {
                self.calls.insert(*id, call.tool_use_id.clone());
            }
            Output::Message(Message::System(SystemMessage::TaskStarted(task))) => {
                self.background.insert(task.task_id.clone(), task.clone());
            }
            Output::Message(Message::System(SystemMessage::TaskNotification(task))) => {
                self.background.remove(&task.task_id);
            }
            _ => {}
        }
    }

    /// Call when [`Session::poll`] returns no more outputs.
    ///
    /// # Errors
    /// The first broken promise.
    pub fn quiet(&mut self, session: &Session, spec: &Spec) -> Check {
        let history = session.history();
        let now = (history.encoded_len(), history.message_count());
        let changed = now != self.seen;
        self.seen = now;
        let messages = changed.then(|| history::messages(session));
        let view = View {
            session,
            spec,
            running: &self.running,
            calls: &self.calls,
            background: &self.background,
        };
        let approved = session.approved_calls();
        tell(&mut self.oracles, &mut self.decisions, &view, approved)?;
        self.decisions = 0;
        for oracle in &mut self.oracles {
            oracle.quiet(&view, messages.as_deref())?;
        }
        Ok(())
    }

    /// Call when the session was saved and restored, with the effects that are still running.
    pub fn restored(&mut self, live: &[EffectId]) {
        self.running.retain(|id| live.contains(id));
        for oracle in &mut self.oracles {
            oracle.restored();
        }
    }

    /// Call when the session is idle and no further input follows.
    ///
    /// # Errors
    /// The first broken promise.
    pub fn end(&mut self, session: &Session, spec: &Spec) -> Check {
        let view = View {
            session,
            spec,
            running: &self.running,
            calls: &self.calls,
            background: &self.background,
        };
        for oracle in &mut self.oracles {
            oracle.end(&view)?;
        }
        Ok(())
    }
}

/// Tells the oracles about new decisions.
fn tell(
    oracles: &mut [Box<dyn Oracle>],
    told: &mut usize,
    view: &View<'_>,
    approved: &[ApprovedCall],
) -> Check {
    for call in approved.get(*told..).unwrap_or_default() {
        for oracle in &mut *oracles {
            oracle.approved(view, call)?;
        }
    }
    *told = approved.len();
    Ok(())
}

/// Whether an output is a request to the model.
fn is_request(output: &Output) -> bool {
    matches!(output, Output::Effect(_, Effect::Http(_)))
}

/// The message in an output, if it is one.
fn message_of(output: &Output) -> Option<&Message> {
    match output {
        Output::Message(message) => Some(message),
        _ => None,
    }
}
