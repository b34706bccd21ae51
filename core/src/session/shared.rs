//! The state that all threads of a session share.

use alloc::{collections::VecDeque, string::String, sync::Arc, vec::Vec};

use super::{
    agents::AgentRequest,
    approved::ApprovedCall,
    background::{Awaited, TaskNotice, Tasks},
    link::Link,
};

use crate::{
    effect::{Effect, EffectId, Notice, Output},
    id::{Millis, Now, Seeded, SessionId},
    message::{
        AuthStatus, FilesPersisted, Message, ModelUsage, PermissionDenial, RateLimitEvent,
        RateLimitInfo, RateLimitStatus, Status, StatusKind, SystemMessage,
    },
    model::Usage,
    money::Usd,
    permission::{Mode, PermissionUpdate, SessionPermissions, UpdateError},
    sorted::SortedMap,
    spec::Spec,
    tool::Observation,
};

/// The time, the permissions, usage and cost, and the outputs: one of each, however many threads there are.
#[derive(Debug)]
pub(super) struct Shared {
    /// The spec of the session as a whole.
    pub(super) spec: Arc<Spec>,
    pub(super) id: SessionId,
    /// The time of the input that is being handled.
    pub(super) now: Now,
    pub(super) ids: Seeded,
    /// The current rules, directories and mode, for all threads.
    pub(super) permissions: SessionPermissions,
    /// The mode before plan mode, while plan mode is active.
    pub(super) mode_before_plan: Option<Mode>,
    pub(super) observed: SortedMap<String, Observation>,
    pub(super) cost: Usd,
    pub(super) model_usage: SortedMap<String, ModelUsage>,
    /// The last reported state of the provider's rate limit.
    pub(super) rate_limit: RateLimitStatus,
    /// Effects that have not had their last answer.
    pub(super) running: SortedMap<EffectId, Running>,
    /// Background tasks, including those that have ended.
    pub(super) tasks: Tasks,
    /// Agents that a caller waits for and that were announced as tasks.
    pub(super) awaited: SortedMap<String, Awaited>,
    /// Whether tasks have ended since the calls that wait for tasks were last checked.
    pub(super) tasks_changed: bool,
    /// Pending notifications of ended tasks, by thread.
    pub(super) task_notices: SortedMap<u32, Vec<TaskNotice>>,
    /// Ids of agents by their names.
    pub(super) agent_names: SortedMap<String, String>,
    /// The number of agents numbered so far.
    pub(super) agents_numbered: u32,
    /// Calls that start agents; empty between inputs.
    pub(super) agent_requests: VecDeque<AgentRequest>,
    /// The main run is to be interrupted; never set between inputs.
    pub(super) interrupt_main: bool,
    /// Usage and denials of subagents since the last result.
    pub(super) unreported: Unreported,
    /// Calls that the last input allowed to run. Only for the current step, so not part of snapshots.
    pub(super) approved_calls: Vec<ApprovedCall>,
    pub(super) out: VecDeque<Output>,
}

/// A running effect.
#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Running {
    pub(super) cancelled_at: Option<Millis>,
    /// When it is cancelled automatically.
    #[serde(default)]
    pub(super) deadline: Option<Millis>,
    /// A background task: no thread waits for it.
    #[serde(default)]
    pub(super) detached: bool,
}

/// What the next result includes besides the main thread's own usage and denials.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Unreported {
    pub(super) usage: Usage,
    pub(super) api_ms: u64,
    pub(super) denials: Vec<PermissionDenial>,
}

impl Shared {
    pub(super) fn new(spec: Arc<Spec>, id: SessionId, seed: [u8; 32]) -> Self {
        Self {
            permissions: SessionPermissions::new(&spec.policy.permissions),
            mode_before_plan: None,
            spec,
            id,
            now: Now::default(),
            ids: Seeded::new(seed),
            observed: SortedMap::new(),
            cost: Usd::default(),
            model_usage: SortedMap::new(),
            rate_limit: RateLimitStatus::Allowed,
            running: SortedMap::new(),
            tasks: Tasks::new(),
            tasks_changed: false,
            awaited: SortedMap::new(),
            task_notices: SortedMap::new(),
            agent_names: SortedMap::new(),
            agents_numbered: 0,
            agent_requests: VecDeque::new(),
            interrupt_main: false,
            unreported: Unreported::default(),
            approved_calls: Vec::new(),
            out: VecDeque::new(),
        }
    }

    /// Adds what a tool used of models to the totals. The next result includes it, as it does what subagents used.
    pub(super) fn book_side_calls(&mut self, used: SortedMap<String, ModelUsage>) {
        for (model, used) in used {
            let counts = used.usage();
            self.cost += used.cost_usd;
            self.unreported.usage.add(&counts);
            let entry = self.model_usage.or_default(model);
            entry.add(&counts);
            entry.cost_usd += used.cost_usd;
            entry.context_window = used.context_window;
            entry.max_output_tokens = used.max_output_tokens;
        }
    }

    /// Returns to the mode before plan mode, or to the default mode if the session began in plan mode.
    pub(super) fn leave_plan_mode(&mut self) {
        let before = self.mode_before_plan.take().unwrap_or_default();
        self.change_permissions(|permissions, _| {
            permissions.return_to(before);
            Ok(())
        });
    }

    /// Emits an effect. Threads use [`Thread::perform`](super::Thread::perform).
    pub(super) fn perform(&mut self, id: EffectId, effect: Effect) {
        self.running.insert(id, Running::default());
        self.out.push_back(Output::Effect(id, effect));
    }

    /// Sets the time at which an effect is cancelled.
    pub(super) fn set_deadline(&mut self, id: EffectId, deadline: Millis) {
        if let Some(running) = self.running.get_mut(&id) {
            running.deadline = Some(deadline);
        }
    }

    /// Cancels an effect, once.
    pub(super) fn cancel(&mut self, id: EffectId) {
        if let Some(running) = self.running.get_mut(&id)
            && running.cancelled_at.is_none()
        {
            running.cancelled_at = Some(self.now.mono);
            self.out.push_back(Output::Cancel(id));
        }
    }

    /// Changes the permissions for later decisions. Reports a refusal, and a changed mode.
    pub(super) fn change_permissions(
        &mut self,
        change: impl FnOnce(&mut SessionPermissions, &Spec) -> Result<(), UpdateError>,
    ) {
        let (spec, before) = (self.spec.clone(), self.permissions.mode());
        match change(&mut self.permissions, &spec) {
            Ok(()) if self.permissions.mode() != before => {
                let mode = self.permissions.mode();
                // Leaving plan mode returns to this mode.
                self.mode_before_plan = (mode == Mode::Plan).then_some(before);
                self.emit_status(None, Some(mode));
            }
            Ok(()) => {}
            Err(error) => self.out.push_back(Output::Refused(error)),
        }
    }

    /// Reports the end of a compaction: done, or failed for this reason (LOOP-30).
    pub(super) fn emit_compacted(&mut self, failure: Option<&str>) {
        let uuid = self.ids.uuid();
        self.say(Message::System(SystemMessage::Status(Status {
            status: None,
            permission_mode: None,
            compact_result: Some(
                if failure.is_some() {
                    "failed"
                } else {
                    "success"
                }
                .into(),
            ),
            compact_error: failure.map(Into::into),
            uuid,
            session_id: self.id,
        })));
    }

    pub(super) fn emit_status(&mut self, status: Option<StatusKind>, mode: Option<Mode>) {
        let (uuid, session_id) = (self.ids.uuid(), self.id);
        self.say(Message::System(SystemMessage::Status(Status {
            status,
            permission_mode: mode,
            compact_result: None,
            compact_error: None,
            uuid,
            session_id,
        })));
    }

    /// Forwards a notice of the host to the application.
    pub(super) fn pass_on(&mut self, notice: Notice) {
        let (uuid, session_id) = (self.ids.uuid(), self.id);
        self.say(match notice {
            Notice::AuthStatus {
                is_authenticating,
                output,
                error,
            } => Message::AuthStatus(AuthStatus {
                is_authenticating,
                output,
                error,
                uuid,
                session_id,
            }),
            Notice::FilesPersisted {
                files,
                failed,
                processed_at,
            } => Message::System(SystemMessage::FilesPersisted(FilesPersisted {
                files,
                failed,
                processed_at,
                uuid,
                session_id,
            })),
        });
    }

    pub(super) fn say(&mut self, message: Message) {
        self.out.push_back(Output::Message(message));
    }

    /// Reports the state of a rate limit if it has changed (LOOP-34).
    pub(super) fn note_rate_limit(&mut self, info: RateLimitInfo) {
        if core::mem::replace(&mut self.rate_limit, info.status) == info.status {
            return;
        }
        let (uuid, session_id) = (self.ids.uuid(), self.id);
        self.say(Message::RateLimitEvent(RateLimitEvent {
            rate_limit_info: info,
            uuid,
            session_id,
        }));
    }

    /// Applies all of the permission updates, or none.
    pub(super) fn update_permissions(&mut self, updates: &[PermissionUpdate]) {
        self.change_permissions(|permissions, spec| {
            permissions.apply(&spec.policy.permissions, &spec.environment, updates)
        });
    }

    /// The earliest deadline of a running effect: to be cancelled, or to be abandoned after it was cancelled.
    pub(super) fn time_is_up(&self) -> Option<Millis> {
        let grace = self.spec.policy.cancel_grace_ms;
        let due = |running: &Running| match running.cancelled_at {
            Some(at) => Some(at.after(grace)),
            None => running.deadline,
        };
        self.running.values().filter_map(due).min()
    }

    /// Cancels the effects whose deadline has passed.
    pub(super) fn cancel_overdue(&mut self) {
        let now = self.now.mono;
        let overdue = |(id, running): (&EffectId, &Running)| {
            running.deadline.is_some_and(|at| at <= now).then_some(*id)
        };
        let overdue: Vec<EffectId> = self.running.iter().filter_map(overdue).collect();
        for id in overdue {
            self.cancel(id);
        }
    }

    /// Abandons cancelled effects whose grace period is over: their answers are no longer expected.
    pub(super) fn abandon_overdue(&mut self) -> Vec<EffectId> {
        let (now, grace) = (self.now.mono, self.spec.policy.cancel_grace_ms);
        let out = &mut self.out;
        let mut abandoned = Vec::new();
        self.running.retain(|id, running| {
            let overdue = (running.cancelled_at).is_some_and(|at| at.after(grace) <= now);
            if overdue {
                out.push_back(Output::Abandon(*id));
                abandoned.push(*id);
            }
            !overdue
        });
        abandoned
    }

    /// Stores observations under the real paths of the files. Tools report a file by the path that their call writes.
    pub(super) fn keep_observed(&mut self, links: &[Link], seen: Vec<Observation>) {
        for mut seen in seen {
            if let Some(link) = links.iter().find(|link| link.written == seen.path) {
                seen.path.clone_from(&link.real);
            }
            self.observed.insert(seen.path.clone(), seen);
        }
    }
}
