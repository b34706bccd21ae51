//! Subagents and background tasks: their start and end, and the attribution of frames to them.

use serde_json::{Map, Value, json};
use windlass_core::{
    UnixMillis,
    message::{SystemMessage, TaskEnd, TaskKind, TaskNotification, TaskStarted},
};

use super::{Facts, Frames, fields, plain, system_of, with};

/// The fields that the frames of an agent have in common.
#[derive(Debug, Clone)]
pub(super) struct RunningAgent {
    id: String,
    kind: String,
    description: String,
}

impl Frames {
    /// Records a task that begins. Returns whether it is an agent that ran in the foreground until now.
    pub(super) fn note_task(&mut self, task: &TaskStarted) -> bool {
        let is_known = (self.agents.values()).any(|agent| agent.id == task.task_id);
        if let (Some(call), Some(kind)) = (&task.tool_use_id, &task.subagent_type) {
            let agent = RunningAgent {
                id: task.task_id.clone(),
                kind: kind.clone(),
                description: task.description.clone(),
            };
            self.agents.insert(call.clone(), agent);
        }
        if task.is_backgrounded != Some(false) {
            let kind = task.task_type.map_or("local_tool", TaskKind::name);
            self.tasks.push(json!({
                "task_id": task.task_id, "task_type": kind, "description": task.description,
            }));
        }
        is_known
    }

    /// Removes a task that has ended. Returns whether it was known as a background task.
    pub(super) fn forget_task(&mut self, task: &TaskNotification) -> bool {
        if let Some(call) = &task.tool_use_id {
            self.agents.remove(call);
        }
        let known = self.tasks.len();
        self.tasks
            .retain(|known| known["task_id"] != task.task_id.as_str());
        self.tasks.len() < known
    }

    pub(super) fn task_started(&mut self, task: TaskStarted) -> Vec<String> {
        let is_known = self.note_task(&task);
        self.subagents.started(&task);
        let fields_of_agent = match task.task_type {
            Some(TaskKind::LocalAgent) => json!({"spawn_depth": 1}),
            _ => json!({}),
        };
        let mut more = fields(fields_of_agent);
        if task.is_backgrounded == Some(false) {
            return vec![with(&system_of(SystemMessage::TaskStarted(task)), more)];
        }
        let changed = self.tasks_changed();
        if is_known {
            // It ran in the foreground until now.
            let patch = json!({"task_id": task.task_id, "patch": {"is_backgrounded": true}});
            return vec![changed, self.system("task_updated", patch)];
        }
        more.insert("is_backgrounded".to_owned(), true.into());
        vec![
            changed,
            with(&system_of(SystemMessage::TaskStarted(task)), more),
        ]
    }

    pub(super) fn task_ended(
        &mut self,
        task: TaskNotification,
        at: Option<UnixMillis>,
    ) -> Vec<String> {
        let was_known = self.forget_task(&task);
        self.subagents.ended(&task);
        let status = match task.status {
            TaskEnd::Stopped => "killed",
            status => status.name(),
        };
        let mut patch = json!({"status": status});
        if let Some(at) = at {
            patch["end_time"] = at.0.into();
        }
        let patch = json!({"task_id": task.task_id, "patch": patch});
        let mut lines = vec![
            self.system("task_updated", patch),
            plain(&system_of(SystemMessage::TaskNotification(task))),
        ];
        if was_known {
            lines.push(self.tasks_changed());
        }
        lines
    }

    /// The additional fields of conversation frames: the time of the message, and the agent that sent it.
    pub(super) fn said_by(&self, call: Option<&str>, facts: &Facts) -> Map<String, Value> {
        let mut more = Map::new();
        if let Some(at) = facts.at {
            more.insert("timestamp".to_owned(), at.to_rfc3339().into());
        }
        if let Some(agent) = call.and_then(|call| self.agents.get(call)) {
            more.insert("agent_id".to_owned(), agent.id.as_str().into());
            more.insert("subagent_type".to_owned(), agent.kind.as_str().into());
            let description = agent.description.as_str();
            more.insert("task_description".to_owned(), description.into());
        }
        more
    }
}
