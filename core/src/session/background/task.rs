//! The state of background tasks.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    effect::EffectId,
    id::Millis,
    message::{TaskEnd, TaskKind},
    session::link::Link,
    sorted::SortedMap,
};

/// A background task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct Task {
    /// The number of the thread that started it.
    pub(in crate::session) owner: u32,
    pub(in crate::session) tool_use_id: String,
    pub(in crate::session) tool_name: String,
    pub(in crate::session) description: String,
    pub(in crate::session) command: Option<String>,
    /// Why its call was allowed to run.
    pub(in crate::session) decision: Option<String>,
    pub(in crate::session) kind: TaskKind,
    pub(in crate::session) work: Work,
    pub(in crate::session) started: Millis,
    /// How it ended; none while it runs.
    pub(in crate::session) ended: Option<TaskEnd>,
    /// Whether it is being stopped.
    pub(in crate::session) stopping: bool,
    /// The last part of its output; for an agent, its report.
    pub(in crate::session) output: String,
    /// The files that its call names through a link. Observations of them are stored under their real paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::session) links: Vec<Link>,
}

/// What executes a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::session) enum Work {
    /// A subagent, by number.
    Agent(u32),
    /// A running call.
    Call(EffectId),
}

/// The description of an agent in the message that announces it.
pub(in crate::session) struct AgentTask {
    pub(in crate::session) subagent_type: String,
    pub(in crate::session) prompt: String,
}

/// An agent that the caller waits for and that was announced as a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::session) struct Awaited {
    /// The call that waits for it.
    pub(super) tool_use_id: String,
    pub(super) description: String,
}

/// A call that waits for a background task to end before it reads it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct TaskWait {
    pub(super) task_id: String,
    /// The time limit; the task is then read in its current state.
    pub(super) until: Millis,
    /// A pattern; only matching lines are read.
    pub(super) filter: Option<String>,
}

/// The notification that a task has ended, for the model of the thread that started it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::session) struct TaskNotice {
    pub(in crate::session) task_id: String,
    pub(in crate::session) text: String,
    /// Does not start a turn of its own: whoever stopped the task knows already.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub(in crate::session) can_wait: bool,
}

/// All tasks of a session by id, including those that have ended.
pub(in crate::session) type Tasks = SortedMap<String, Task>;

impl Task {
    /// The name of its state.
    pub(super) fn status(&self) -> &'static str {
        self.ended.map_or("running", TaskEnd::name)
    }
}
