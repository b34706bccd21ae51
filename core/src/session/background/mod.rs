//! Background tasks: their state, their output, and the notification of the model when they end.
//!
//! A task is a subagent, or a tool call that is no longer waited for. Its id is derived from its cause, like effect ids.

mod calls;
mod task;

pub(super) use self::task::{AgentTask, Awaited, Task, TaskNotice, TaskWait, Tasks, Work};

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use super::{Session, Shared, hook::agent_transcript};
use crate::{
    effect::{Answer, EffectId},
    hook::input::AgentName,
    id::SessionId,
    message::{
        Message, SystemMessage, TaskEnd, TaskKind, TaskNotification, TaskProgress, TaskStarted,
        TaskUsage, ToolProgress,
    },
    tools::{background, task::TaskInput},
};

/// How many bytes of a call's output are kept: the last ones.
const KEPT_OUTPUT: usize = 30_000;

/// The kept output of a background call ([`Session::task_output`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptOutput<'a> {
    /// The last part of the output.
    pub text: &'a str,
    /// Whether earlier output may have been dropped.
    pub is_cut: bool,
}

impl Session {
    /// The output of a call that runs or ran in the background. None for an agent, or if there is no such task.
    #[must_use]
    pub fn task_output(&self, task_id: &str) -> Option<KeptOutput<'_>> {
        let task = self.shared.tasks.get(task_id)?;
        matches!(task.work, Work::Call(_)).then_some(KeptOutput {
            text: &task.output,
            // Output beyond the limit is dropped from the front, up to a character boundary.
            is_cut: task.output.len() + char::MAX.len_utf8() > KEPT_OUTPUT,
        })
    }
}

/// An id derived from its cause: it does not depend on anything else that happened before.
pub(super) fn id_of(prefix: char, session: SessionId, cause: [u32; 3]) -> String {
    // FNV-1a over the cause; 32 bits suffice for the few tasks of a session.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let bytes = session.into_bytes();
    for byte in bytes
        .into_iter()
        .chain(cause.into_iter().flat_map(u32::to_be_bytes))
    {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{prefix}{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}

impl Shared {
    /// Records a new task and announces it.
    pub(super) fn task_begins(&mut self, task_id: String, task: Task, agent: Option<AgentTask>) {
        let agent = agent.filter(|_| self.spec.tools.tasks.announce_agents);
        let (subagent_type, prompt) = agent.map(|it| (it.subagent_type, it.prompt)).unzip();
        let message = TaskStarted {
            task_id: task_id.clone(),
            tool_use_id: Some(task.tool_use_id.clone()),
            description: task.description.clone(),
            task_type: Some(task.kind),
            subagent_type,
            prompt,
            is_backgrounded: None,
            uuid: self.ids.uuid(),
            session_id: self.id,
        };
        self.say(Message::System(SystemMessage::TaskStarted(message)));
        self.awaited.remove(&task_id);
        self.tasks.insert(task_id, task);
    }

    /// Announces an agent that the caller waits for.
    pub(super) fn awaited_begins(&mut self, agent: AgentName, task: &TaskInput, call: &str) {
        let message = TaskStarted {
            task_id: agent.agent_id.clone(),
            tool_use_id: Some(call.to_owned()),
            description: task.description.clone(),
            task_type: Some(TaskKind::LocalAgent),
            subagent_type: Some(agent.agent_type),
            prompt: Some(task.prompt.clone()),
            is_backgrounded: Some(false),
            uuid: self.ids.uuid(),
            session_id: self.id,
        };
        self.say(Message::System(SystemMessage::TaskStarted(message)));
        let awaited = Awaited {
            tool_use_id: call.to_owned(),
            description: task.description.clone(),
        };
        self.awaited.insert(agent.agent_id, awaited);
    }

    /// Reports the end of an agent that the caller waited for, with its last text.
    pub(super) fn awaited_ends(&mut self, id: &str, end: TaskEnd, words: &str, usage: TaskUsage) {
        let Some(awaited) = self.awaited.remove(id) else {
            return; // it was not told of
        };
        let summary = match words.trim() {
            "" => format!("The agent \"{}\" {}", awaited.description, done(end)),
            words => words.to_owned(),
        };
        let message = TaskNotification {
            task_id: id.to_owned(),
            tool_use_id: Some(awaited.tool_use_id),
            status: end,
            output_file: self.output_file(id, TaskKind::LocalAgent),
            summary,
            usage: Some(usage),
            uuid: self.ids.uuid(),
            session_id: self.id,
        };
        self.say(Message::System(SystemMessage::TaskNotification(message)));
    }

    /// Reports what a running task has used so far.
    pub(super) fn emit_task_progress(
        &mut self,
        task_id: &str,
        usage: TaskUsage,
        last_tool_name: Option<String>,
    ) {
        let running = self.tasks.get(task_id).filter(|task| task.ended.is_none());
        let running = running.map(|task| (&task.tool_use_id, &task.description));
        let awaited = (self.awaited.get(task_id)).map(|it| (&it.tool_use_id, &it.description));
        let Some((tool_use_id, description)) = running.or(awaited) else {
            return;
        };
        let message = TaskProgress {
            task_id: task_id.to_owned(),
            tool_use_id: Some(tool_use_id.clone()),
            description: description.clone(),
            usage,
            last_tool_name,
            uuid: self.ids.uuid(),
            session_id: self.id,
        };
        self.say(Message::System(SystemMessage::TaskProgress(message)));
    }

    /// A task has ended: reports it, and notifies the model of its thread at the next turn.
    pub(super) fn task_ends(
        &mut self,
        task_id: &str,
        end: TaskEnd,
        output: String,
        usage: Option<TaskUsage>,
    ) {
        let Some(task) = self
            .tasks
            .get_mut(task_id)
            .filter(|task| task.ended.is_none())
        else {
            return;
        };
        // A task that was asked to stop counts as stopped, whatever it reports.
        let end = match task.stopping {
            true => TaskEnd::Stopped,
            false => end,
        };
        task.ended = Some(end);
        if !output.is_empty() {
            task.output = output;
        }
        self.tasks_changed = true;
        let task = task.clone();
        let done = done(end);
        let summary = match task.kind {
            TaskKind::LocalAgent => format!("The agent \"{}\" {done}", task.description),
            _ => format!("The background call \"{}\" {done}", task.description),
        };
        let message = TaskNotification {
            task_id: task_id.to_owned(),
            tool_use_id: Some(task.tool_use_id.clone()),
            status: end,
            output_file: self.output_file(task_id, task.kind),
            summary: summary.clone(),
            usage,
            uuid: self.ids.uuid(),
            session_id: self.id,
        };
        self.say(Message::System(SystemMessage::TaskNotification(message)));
        let text = notice_text(task_id, &task, &summary);
        let task_id = task_id.to_owned();
        self.task_notices.or_default(task.owner).push(TaskNotice {
            task_id,
            text,
            can_wait: end == TaskEnd::Stopped && task.kind != TaskKind::LocalAgent,
        });
    }

    /// The path of an agent's transcript; other tasks have no output file.
    pub(super) fn output_file(&self, task_id: &str, kind: TaskKind) -> String {
        match kind {
            TaskKind::LocalAgent => {
                let transcript = self.spec.environment.transcript_of(self.id);
                agent_transcript(&transcript, task_id)
            }
            _ => String::new(),
        }
    }

    /// An answer of a background call.
    pub(super) fn task_answer(&mut self, id: EffectId, answer: Answer) {
        let known = self
            .tasks
            .iter()
            .find(|(_, task)| task.work == Work::Call(id));
        let Some(task_id) = known.map(|(task_id, _)| task_id.clone()) else {
            return;
        };
        match answer {
            Answer::Output(text) => {
                if let Some(task) = self.tasks.get_mut(&task_id) {
                    task.output.push_str(&text);
                    task.output = background::tail(&task.output, KEPT_OUTPUT).to_owned();
                }
            }
            Answer::Progress(_) => self.emit_task_call_progress(&task_id),
            Answer::Tool(mut result) => {
                let task = self.tasks.get_mut(&task_id);
                let links = task.map(|task| core::mem::take(&mut task.links));
                let seen = core::mem::take(&mut result.observed);
                self.keep_observed(&links.unwrap_or_default(), seen);
                let end = match result.is_error {
                    true => TaskEnd::Failed,
                    false => TaskEnd::Completed,
                };
                self.task_ends(&task_id, end, result.joined_text(), None);
            }
            // Cancelled, or dropped by the host.
            _ => self.task_ends(&task_id, TaskEnd::Failed, String::new(), None),
        }
    }

    fn emit_task_call_progress(&mut self, task_id: &str) {
        let Some(task) = self.tasks.get(task_id) else {
            return;
        };
        let message = ToolProgress {
            tool_use_id: task.tool_use_id.clone(),
            tool_name: task.tool_name.clone(),
            parent_tool_use_id: None,
            elapsed_time_seconds: self.now.mono.since(task.started) / 1000,
            task_id: Some(task_id.to_owned()),
            uuid: self.ids.uuid(),
            session_id: self.id,
        };
        self.say(Message::ToolProgress(message));
    }

    /// The running task to whose call an effect belongs.
    pub(super) fn task_of(&self, id: EffectId) -> Option<&Task> {
        let is_it = |task: &&Task| task.work == Work::Call(id) && task.ended.is_none();
        self.tasks.values().find(is_it)
    }

    /// Whether a thread has pending notifications that justify a turn.
    pub(super) fn has_task_notices(&self, thread: u32) -> bool {
        let notices = self.task_notices.get(&thread);
        notices.is_some_and(|notices| notices.iter().any(|notice| !notice.can_wait))
    }

    /// Ends the tasks whose calls are no longer running: they were abandoned, or lost in a crash.
    pub(super) fn end_lost_tasks(&mut self) {
        let lost = |task: &Task| match task.work {
            Work::Call(id) => task.ended.is_none() && !self.running.contains_key(&id),
            Work::Agent(_) => false,
        };
        let lost: Vec<String> = (self.tasks.iter())
            .filter(|(_, task)| lost(task))
            .map(|(task_id, _)| task_id.clone())
            .collect();
        for task_id in lost {
            self.task_ends(&task_id, TaskEnd::Failed, String::new(), None);
        }
    }

    /// Stops a task: the session interrupts its agent, or its call is cancelled here. False if no such task is running.
    pub(super) fn stop_task(&mut self, task_id: &str) -> bool {
        let Some(task) = self
            .tasks
            .get_mut(task_id)
            .filter(|task| task.ended.is_none())
        else {
            return false;
        };
        task.stopping = true;
        if let Work::Call(id) = task.work {
            self.cancel(id);
        }
        true
    }

    /// Stops all background calls.
    pub(super) fn stop_background_calls(&mut self) {
        let calls = self
            .tasks
            .iter()
            .filter(|(_, task)| matches!(task.work, Work::Call(_)));
        let ids: Vec<String> = calls.map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.stop_task(&id);
        }
    }

    /// A task by its id, or an agent's task by the agent's name.
    fn find_task(&self, name: &str) -> Option<(&String, &Task)> {
        let named = self.agent_names.get(name).map_or(name, String::as_str);
        self.tasks.get_key_value(named)
    }

    fn no_such_task(&self, task_id: &str) -> String {
        let running = self.tasks.iter().filter(|(_, task)| task.ended.is_none());
        let running: Vec<&str> = running.map(|(id, _)| id.as_str()).collect();
        match running.is_empty() {
            true => format!("There is no background task {task_id}, and none is running."),
            false => format!(
                "There is no background task {task_id}. These are running: {}.",
                running.join(", ")
            ),
        }
    }
}

/// The text that tells the model that a task has ended.
fn notice_text(task_id: &str, task: &Task, summary: &str) -> String {
    let mut text = format!("<background-task id=\"{task_id}\">\n{summary}.");
    match task.kind {
        TaskKind::LocalAgent if !task.output.is_empty() => {
            text.push_str(" Its report:\n");
            text.push_str(&task.output);
        }
        TaskKind::LocalAgent => {}
        _ => text.push_str(" TaskOutput reads what it has put out."),
    }
    text.push_str("\n</background-task>");
    text
}

fn done(end: TaskEnd) -> &'static str {
    match end {
        TaskEnd::Completed => "has completed",
        TaskEnd::Failed => "has failed",
        TaskEnd::Stopped => "was stopped",
    }
}
