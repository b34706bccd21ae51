//! The state machine.

mod agents;
mod approved;
mod background;
mod call;
mod compaction;
mod configure;
mod context;
mod continued;
mod contract;
mod ending;
mod hook;
mod inspection;
mod interrupted;
mod link;
mod model_call;
mod output;
mod refused;
mod restart;
mod resume;
mod run;
mod shared;
mod showing;
mod snapshot;
mod suggestion;
mod thread;
mod transition;
mod turns;
mod writing;

use alloc::{collections::VecDeque, sync::Arc, vec, vec::Vec};

use self::{
    agents::Child,
    run::Outcome,
    shared::{Running, Shared},
    thread::{Chosen, Thread},
    transition::Event,
    writing::Line,
};
use crate::{
    effect::{Answer, Delivery, EffectId, Input, Output, Prompt},
    history::History,
    id::{Millis, Now, SessionId},
    permission::{Mode, SessionPermissions},
    sorted::SortedMap,
    spec::Spec,
};

pub use approved::ApprovedCall;
pub use background::KeptOutput;
pub use configure::ConfigureError;
pub use continued::Spent;
pub use contract::HostError;
pub use snapshot::{SNAPSHOT_VERSION, SnapshotError};
pub use transition::{Phase, diagram};

/// A conversation with an agent, as a value.
///
/// Its methods are of four kinds:
/// - A, inspection: [`id`](Self::id), [`phase`](Self::phase), [`mode`](Self::mode), [`history`](Self::history);
/// - B, input: [`handle`](Self::handle);
/// - C, time: [`deadline`](Self::deadline), the time at which [`Input::Tick`] is due;
/// - D, output: [`poll`](Self::poll).
///
/// Between two inputs it can be saved and restored: [`snapshot`](Self::snapshot), [`restore`](Self::restore).
///
/// The contract has one rule: after every `handle`, call `poll` until it returns nothing, then look at `deadline`, then wait for
/// whatever comes first. There are no locks, callbacks or channels because there is only ever one mutation at a time.
///
/// ```
/// # extern crate alloc;
/// use windlass_core::{Input, Now, Output, Prompt, Seeded, Session, Spec, effect::Effect};
///
/// let mut ids = Seeded::new([7; 32]);
/// let mut session = Session::new(alloc::sync::Arc::new(Spec::default()), ids.uuid(), [7; 32]);
/// session.handle(Now::default(), Input::Prompt(Prompt::text("hello")))?;
/// let mut request = None;
/// while let Some(output) = session.poll() {
///     if let Output::Effect(id, Effect::Http(http)) = output {
///         request = Some((id, http)); // send it; answer with `Input::Answer(id, …)`
///     }
/// }
/// assert_eq!(request.unwrap().1.path, "/v1/messages");
/// # Ok::<(), windlass_core::HostError>(())
/// ```
#[derive(Debug)]
pub struct Session {
    shared: Shared,
    /// The main thread: the conversation with the application.
    main: Thread,
    /// Subagents by number, including those that have ended.
    children: SortedMap<u32, Child>,
    /// Queued prompts.
    waiting: VecDeque<Prompt>,
    /// The session was just restored: the next input must be [`Input::Resumed`].
    awaits_resumed: bool,
}

impl Session {
    /// Creates a session. Ids are derived from `seed`: the same seed and inputs give the same outputs.
    #[must_use]
    pub fn new(spec: Arc<Spec>, id: SessionId, seed: [u8; 32]) -> Self {
        Self {
            main: Thread::new(0, spec.clone()),
            shared: Shared::new(spec, id, seed),
            children: SortedMap::new(),
            waiting: VecDeque::new(),
            awaits_resumed: false,
        }
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.shared.id
    }

    /// The current phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.main.phase()
    }

    /// The permission mode in force.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.shared.permissions.mode()
    }

    /// The permissions in force.
    #[must_use]
    pub fn permissions(&self) -> &SessionPermissions {
        &self.shared.permissions
    }

    /// The model that the next request goes to.
    #[must_use]
    pub fn model(&self) -> &str {
        self.main.model()
    }

    /// The conversation so far.
    #[must_use]
    pub fn history(&self) -> &History {
        self.main.context.history()
    }

    /// Queued prompts. Those that will join the current answer come first.
    pub fn queued(&self) -> impl Iterator<Item = &Prompt> {
        self.main.steering.iter().chain(&self.waiting)
    }

    /// Whether no thread is running and no prompt is queued. Background calls may still be running.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let quiet = |thread: &Thread| thread.phase() == Phase::Idle && thread.hooks.are_quiet();
        let children = self.children.values().map(|child| &child.thread);
        self.queued().next().is_none() && core::iter::once(&self.main).chain(children).all(quiet)
    }

    /// Processes an input.
    ///
    /// # Errors
    /// [`HostError`] if the host broke the contract; the state is unchanged.
    pub fn handle(&mut self, now: Now, input: Input) -> Result<(), HostError> {
        self.check(&input)?;
        self.shared.now = now;
        self.shared.approved_calls = Vec::new();
        match input {
            Input::Prompt(prompt) => self.take_in(prompt),
            Input::Withdraw(uuid) => {
                let kept = |prompt: &Prompt| prompt.uuid != Some(uuid);
                self.main.steering.retain(kept);
                self.waiting.retain(kept);
            }
            Input::Interrupt => self.main.interrupt(&mut self.shared, Outcome::Interrupted),
            Input::SetMode(mode) => self.set_mode(mode),
            Input::UpdatePermissions(updates) => self.shared.update_permissions(&updates),
            Input::GuardServer { server, is_guarded } => {
                self.shared.permissions.guard(&server, is_guarded);
            }
            Input::SetModel(model) => self.choose(|chosen| chosen.model = model),
            Input::SetThinking(thinking) => self.choose(|chosen| chosen.thinking = thinking),
            Input::SetEffort(effort) => self.choose(|chosen| chosen.effort = effort),
            Input::Seen(seen) => self.shared.keep_observed(&[], vec![seen]),
            Input::Notice(notice) => self.shared.pass_on(notice),
            Input::Occurred(occurrence) => self.main.occurred(&mut self.shared, occurrence),
            Input::Resumed { live } => {
                if core::mem::take(&mut self.awaits_resumed) {
                    self.resume(&live);
                }
            }
            Input::StopTask(task_id) => {
                self.shared.stop_task(&task_id);
            }
            Input::Background(tool_use_id) => self.detach(tool_use_id.as_deref()),
            Input::End => self.shared.stop_background_calls(),
            Input::Tick => self.tick(),
            Input::Answer(id, answer) => self.answer(id, answer),
        }
        self.settle();
        self.main.suggest(&mut self.shared);
        if self.is_idle() {
            self.main.rest();
            for child in self.children.values_mut() {
                child.thread.rest();
            }
        }
        Ok(())
    }

    fn tick(&mut self) {
        for id in self.shared.abandon_overdue() {
            if let Some((thread, shared)) = self.thread_of(id) {
                thread.hook_given_up(shared, id);
            }
        }
        self.shared.cancel_overdue();
        // A call that waits for a task may have reached its time limit.
        self.shared.tasks_changed = true;
        self.main.tick(&mut self.shared);
        for child in self.children.values_mut() {
            child.thread.tick(&mut self.shared);
        }
    }

    /// Starts answering the next queued prompt, if there is one and no answer is in progress.
    fn begin_next_run(&mut self) -> bool {
        if self.main.phase() != Phase::Idle {
            return false;
        }
        let has_task_notices = self.shared.has_task_notices(0);
        match self.next_prompt() {
            Some(prompt) => self.main.start(&mut self.shared, prompt),
            None if has_task_notices && self.shared.spec.tools.tasks.wake => {
                self.main.wake(&mut self.shared)
            }
            None => return false,
        }
        true
    }

    /// The next output; none if the session waits for input.
    pub fn poll(&mut self) -> Option<Output> {
        let next = self.shared.out.pop_front();
        if next.is_none() && self.is_idle() {
            // Hosts keep many idle sessions in memory: unused capacity is freed.
            self.shared.out.shrink_to_fit();
        }
        next
    }

    /// When [`Input::Tick`] is due, unless another input comes first.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        let effects = self.shared.time_is_up();
        let children = self.children.values().map(|child| &child.thread);
        let threads = core::iter::once(&self.main).chain(children);
        (effects.into_iter())
            .chain(threads.filter_map(Thread::deadline))
            .min()
    }

    fn take_in(&mut self, prompt: Prompt) {
        // If hooks check prompts, each prompt gets a run of its own, so that none bypasses them.
        let joins = prompt.delivery == Delivery::Steer && !self.main.shows_prompts_to_hooks();
        if joins && self.main.phase() != Phase::Idle {
            self.main.steering.push_back(prompt);
        } else {
            self.waiting.push_back(prompt);
        }
    }

    /// The prompt to answer next. Prompts meant to steer an answer that is over come first.
    fn next_prompt(&mut self) -> Option<Prompt> {
        let steering = self.main.steering.pop_front();
        steering.or_else(|| self.waiting.pop_front())
    }

    fn choose(&mut self, change: impl FnOnce(&mut Chosen)) {
        let mut chosen = self.main.chosen().clone();
        change(&mut chosen);
        self.main.choose(&self.shared, chosen);
    }

    fn set_mode(&mut self, mode: Mode) {
        self.shared.change_permissions(|permissions, spec| {
            permissions.set_mode(&spec.policy.permissions, &spec.environment, mode)
        });
    }

    fn answer(&mut self, id: EffectId, answer: Answer) {
        let Some(running) = self.shared.running.get(&id).copied() else {
            return; // `check` has refused it
        };
        if answer.is_last() {
            self.shared.running.remove(&id);
        }
        let was_cancelled = running.cancelled_at.is_some();
        if running.detached {
            self.shared.task_answer(id, answer);
        } else if let Some((thread, shared)) = self.thread_of(id) {
            thread.answer(shared, id, answer, was_cancelled);
        }
    }

    /// The thread that an effect belongs to, with the state that all threads share.
    fn thread_of(&mut self, id: EffectId) -> Option<(&mut Thread, &mut Shared)> {
        let thread = match id.agent {
            0 => &mut self.main,
            number => &mut self.children.get_mut(&number)?.thread,
        };
        Some((thread, &mut self.shared))
    }
}
