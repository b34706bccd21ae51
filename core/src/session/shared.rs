//! What all threads of a session share.

use alloc::{collections::VecDeque, string::String, sync::Arc, vec::Vec};

use super::{
    agents::AgentRequest,
    approved::ApprovedCall,
    background::{Awaited, News, Tasks},
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

/// The moment, the permissions, the books and the way out: one of each, however many threads there are.
#[derive(Debug)]
pub(super) struct Shared {
    /// What the session as a whole was told.
    pub(super) spec: Arc<Spec>,
    pub(super) id: SessionId,
    /// The moment of the input that is being handled.
    pub(super) now: Now,
    pub(super) ids: Seeded,
    /// The rules, directories and mode in force, for all threads.
    pub(super) permissions: SessionPermissions,
    /// The mode that plan mode took the place of, while it holds.
    pub(super) mode_before_plan: Option<Mode>,
    pub(super) observed: SortedMap<String, Observation>,
    pub(super) cost: Usd,
    pub(super) model_usage: SortedMap<String, ModelUsage>,
    /// What was last said about the provider's rate limit.
    pub(super) rate_limit: RateLimitStatus,
    /// Effects that are not answered to their end.
    pub(super) running: SortedMap<EffectId, Running>,
    /// Background tasks, those that have ended too.
    pub(super) tasks: Tasks,
    /// Agents that are waited for, as far as they were told of as tasks.
    pub(super) awaited: SortedMap<String, Awaited>,
    /// Tasks have ended since whoever waits for them was asked.
    pub(super) tasks_changed: bool,
    /// Ends of tasks that the models have not heard of, by thread.
    pub(super) news: SortedMap<u32, Vec<News>>,
    /// Ids of agents by the names they were given.
    pub(super) agent_names: SortedMap<String, String>,
    /// Agents that were given a number.
    pub(super) agents_numbered: u32,
    /// Calls that start agents; empty between inputs.
    pub(super) agent_requests: VecDeque<AgentRequest>,
    /// The main run is to be interrupted; never between inputs.
    pub(super) interrupt_main: bool,
    /// What subagents used and were denied since the last result.
    pub(super) unreported: Unreported,
    /// Calls that the last input let run; of this step alone, so in no snapshot.
    pub(super) approved_calls: Vec<ApprovedCall>,
    pub(super) out: VecDeque<Output>,
}

/// An effect under way.
#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Running {
    pub(super) cancelled_at: Option<Millis>,
    /// When it is cancelled by itself.
    #[serde(default)]
    pub(super) deadline: Option<Millis>,
    /// A background task: no thread waits for it.
    #[serde(default)]
    pub(super) detached: bool,
}

/// What the next result tells besides what the main thread did.
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
            news: SortedMap::new(),
            agent_names: SortedMap::new(),
            agents_numbered: 0,
            agent_requests: VecDeque::new(),
            interrupt_main: false,
            unreported: Unreported::default(),
            approved_calls: Vec::new(),
            out: VecDeque::new(),
        }
    }

    /// Goes back to the mode before plan mode; a session that began in it goes to the usual one.
    pub(super) fn leave_plan_mode(&mut self) {
        let before = self.mode_before_plan.take().unwrap_or_default();
        self.change_permissions(|permissions, _| {
            permissions.return_to(before);
            Ok(())
        });
    }

    /// Asks the host for something. Threads go through [`Thread::perform`](super::Thread::perform).
    pub(super) fn perform(&mut self, id: EffectId, effect: Effect) {
        self.running.insert(id, Running::default());
        self.out.push_back(Output::Effect(id, effect));
    }

    /// Gives an effect a time after which it is cancelled.
    pub(super) fn set_deadline(&mut self, id: EffectId, deadline: Millis) {
        if let Some(running) = self.running.get_mut(&id) {
            running.deadline = Some(deadline);
        }
    }

    /// Asks the host to stop an effect; once is enough.
    pub(super) fn cancel(&mut self, id: EffectId) {
        if let Some(running) = self.running.get_mut(&id)
            && running.cancelled_at.is_none()
        {
            running.cancelled_at = Some(self.now.mono);
            self.out.push_back(Output::Cancel(id));
        }
    }

    /// Changes the permissions for whatever is judged from now on. A refusal is told, and so is another mode.
    pub(super) fn change_permissions(
        &mut self,
        change: impl FnOnce(&mut SessionPermissions, &Spec) -> Result<(), UpdateError>,
    ) {
        let (spec, before) = (self.spec.clone(), self.permissions.mode());
        match change(&mut self.permissions, &spec) {
            Ok(()) if self.permissions.mode() != before => {
                let mode = self.permissions.mode();
                // Leaving plan mode goes back to here.
                self.mode_before_plan = (mode == Mode::Plan).then_some(before);
                self.emit_status(None, Some(mode));
            }
            Ok(()) => {}
            Err(error) => self.out.push_back(Output::Refused(error)),
        }
    }

    /// What the session is busy with beside its conversation (LOOP-30).
    /// A compaction is over: done, or failed for this reason.
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

    /// Tells the application what the host has to say.
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

    /// Tells how a rate limit stands, when that has changed (LOOP-34).
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

    /// Changes the permissions, by all of the updates or by none.
    pub(super) fn update_permissions(&mut self, updates: &[PermissionUpdate]) {
        self.change_permissions(|permissions, spec| {
            permissions.apply(&spec.policy.permissions, &spec.environment, updates)
        });
    }

    /// When the first effect has had its time: to run, or to end after it was cancelled.
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

    /// Gives up cancelled effects whose time is over: nobody waits for their answers any more.
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
}
