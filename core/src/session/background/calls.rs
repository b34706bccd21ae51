//! Moving calls to the background, and calls that read or stop background tasks.

use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

use serde::Serialize;

use super::{
    super::{Shared, Thread, call::Call, writing::Line},
    Task, TaskWait, Work, id_of,
};
use crate::{
    content::Block,
    effect::Stage,
    history::Role,
    id::Millis,
    json::RawJson,
    message::TaskKind,
    tool::ToolResult,
    tools::background::{self, TaskOutputInput, TaskOutputOutput, TaskStopInput, TaskStopOutput},
};

impl Thread {
    /// Stops waiting for a running call: the model gets a task id instead of the result.
    pub(in crate::session) fn detach_call(
        &mut self,
        shared: &mut Shared,
        index: usize,
        by_person: bool,
    ) {
        let id = self.call_effect(shared, index, Stage::Run);
        let Some(running) = shared.running.get_mut(&id) else {
            return;
        };
        running.detached = true;
        let task_id = id_of('b', shared.id, [id.agent, id.turn, id.call]);
        let call = &self.run.calls[index];
        let is_command = self
            .spec
            .tool(call.tool_name())
            .is_some_and(|t| t.command_param.is_some());
        let input = call.input_or_empty();
        let task = Task {
            owner: self.number(),
            tool_use_id: call.id().to_owned(),
            tool_name: call.tool_name().to_owned(),
            description: background::description_of(call.tool_name(), &input),
            command: background::command_of(&input),
            decision: call.decision().cloned(),
            kind: match is_command {
                true => TaskKind::LocalBash,
                false => TaskKind::LocalTool,
            },
            work: Work::Call(id),
            started: call.started(),
            ended: None,
            stopping: false,
            output: String::new(),
            links: self.links_of(call),
        };
        shared.task_begins(task_id.clone(), task, None);
        let who = if by_person {
            "The person put this into"
        } else {
            "This runs in"
        };
        let text = format!(
            "{who} the background, as task {task_id}. You will hear when it ends; TaskOutput reads what it puts out, TaskStop stops it."
        );
        let result = ToolResult {
            structured: RawJson::encode(&Detached {
                stdout: "",
                stderr: "",
                interrupted: false,
                background_task_id: &task_id,
                backgrounded_by_user: by_person.then_some(true),
            })
            .ok(),
            ..ToolResult::text(text)
        };
        self.review(shared, index, result);
    }

    /// TaskOutput: answers at once, or when the task ends or the time limit is reached.
    pub(in crate::session) fn read_task(
        &mut self,
        shared: &mut Shared,
        index: usize,
        input: TaskOutputInput,
    ) {
        if let Some(filter) = &input.filter
            && let Err(error) = background::filtered("", filter)
        {
            let text = format!("The filter is no regular expression: {error}");
            return self.review(shared, index, ToolResult::error(text));
        }
        let found = shared.find_task(&input.task_id);
        let Some((task_id, task)) = found.map(|(id, task)| (id.clone(), task)) else {
            let text = shared.no_such_task(&input.task_id);
            return self.review(shared, index, ToolResult::error(text));
        };
        let wait = TaskWait {
            task_id,
            until: shared
                .now
                .mono
                .after(input.timeout.0.min(background::LONGEST_WAIT_MS)),
            filter: input.filter,
        };
        let waits = input.block && task.ended.is_none() && wait.until > shared.now.mono;
        if waits {
            self.run.calls[index].wait_for_task(wait);
        } else {
            self.task_was_read(shared, index, &wait);
        }
    }

    /// Answers the calls that wait for tasks which have ended, or whose time limit has passed.
    pub(in crate::session) fn answer_task_waits(&mut self, shared: &mut Shared) {
        let mut answered = false;
        for index in 0..self.run.calls.len() {
            let call = &mut self.run.calls[index];
            let over = call.task_wait().is_some_and(|wait| {
                let task = shared.tasks.get(&wait.task_id);
                wait.until <= shared.now.mono || task.is_none_or(|task| task.ended.is_some())
            });
            if over && let Some(wait) = call.take_task_wait() {
                self.task_was_read(shared, index, &wait);
                answered = true;
            }
        }
        if answered {
            self.go_on_with_calls(shared);
        }
    }

    fn task_was_read(&mut self, shared: &mut Shared, index: usize, wait: &TaskWait) {
        let Some(task) = shared.tasks.get(&wait.task_id) else {
            let text = shared.no_such_task(&wait.task_id);
            return self.review(shared, index, ToolResult::error(text));
        };
        let output = match &wait.filter {
            // The filter was compiled before the wait began, so it is valid.
            Some(filter) => background::filtered(&task.output, filter).unwrap_or_default(),
            None => task.output.clone(),
        };
        let answer = TaskOutputOutput {
            task_id: wait.task_id.clone(),
            task_type: task.kind.name().to_owned(),
            status: task.status().to_owned(),
            description: task.description.clone(),
            output,
        };
        let shown = match answer.output.as_str() {
            "" => "(nothing was put out)",
            output => output,
        };
        let text = format!("Task {}: {}\n\n{shown}", answer.task_id, answer.status);
        if task.ended.is_some()
            && let Some(notices) = shared.task_notices.get_mut(&self.number())
        {
            // The model has now been told.
            notices.retain(|notice| notice.task_id != wait.task_id);
        }
        let result = ToolResult {
            structured: RawJson::encode(&answer).ok(),
            ..ToolResult::text(text)
        };
        self.review(shared, index, result);
    }

    /// TaskStop.
    pub(in crate::session) fn stop_task(
        &mut self,
        shared: &mut Shared,
        index: usize,
        input: TaskStopInput,
    ) {
        let Some(name) = input.task_id.or(input.shell_id) else {
            let text = "TaskStop needs the task_id of a background task.";
            return self.review(shared, index, ToolResult::error(text));
        };
        let found = shared
            .find_task(&name)
            .map(|(id, task)| (id.clone(), task.clone()));
        let result = match found {
            None => ToolResult::error(shared.no_such_task(&name)),
            Some((task_id, task)) if task.ended.is_some() => ToolResult::error(format!(
                "The task {task_id} has ended already: {}.",
                task.status()
            )),
            Some((task_id, task)) => {
                shared.stop_task(&task_id);
                let output = TaskStopOutput {
                    message: format!(
                        "The task {task_id} ({}) is being stopped.",
                        task.description
                    ),
                    task_id,
                    task_type: task.kind.name().to_owned(),
                    command: task.command,
                };
                ToolResult {
                    structured: RawJson::encode(&output).ok(),
                    ..ToolResult::text(output.message)
                }
            }
        };
        self.review(shared, index, result);
    }

    /// Delivers pending notifications of this thread: into the history, to the application, and to the transcript.
    pub(in crate::session) fn take_news(&mut self, shared: &mut Shared) -> Option<Line> {
        let notices = shared
            .task_notices
            .remove(&self.number())
            .unwrap_or_default();
        if notices.is_empty() {
            return None;
        }
        let blocks: Vec<RawJson> = notices
            .iter()
            .map(|n| Block::text(&n.text).to_raw())
            .collect();
        let uuid = shared.ids.uuid();
        self.emit_synthetic(shared, blocks.clone(), uuid);
        self.context.push(Role::User, blocks.clone());
        Some(Line::task_notices(blocks).under(uuid))
    }

    /// The earliest time limit of the thread's waits for tasks.
    pub(in crate::session) fn task_wait_ends(&self) -> Option<Millis> {
        let waits = self.run.calls.iter().filter_map(Call::task_wait);
        waits.map(|wait| wait.until).min()
    }
}

/// The structured output of a call that was moved to the background (Agent SDK reference, `BashOutput`).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Detached<'a> {
    stdout: &'a str,
    stderr: &'a str,
    interrupted: bool,
    background_task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    backgrounded_by_user: Option<bool>,
}
