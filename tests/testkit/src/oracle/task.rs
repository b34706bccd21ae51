//! Every background task ends once, and nothing of it is lost.

use alloc::{
    borrow::ToOwned,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::Deserialize;
use windlass_core::{
    effect::{Answer, Effect, Input, Output},
    hook::{HookCall, HookEvent},
    json::{RawJson, RawObject},
    message::{Message, SystemMessage, TaskEnd, TaskKind, TaskNotification, UserMessage},
    tools::background::TaskOutputOutput,
};

use super::{Check, Oracle, View, Violation, message_of};

/// The status of a running task.
const RUNNING: &str = "running";

/// The part of a TaskOutput answer that hooks see.
#[derive(Deserialize)]
struct Shown {
    tool_response: TaskOutputOutput,
}

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Tasks {
    tasks: BTreeMap<String, Seen>,
    /// The task's state when TaskOutput answered, by its call. Hooks see the answer before it is shown, and the task may end
    /// in between. More than one entry if calls share an id.
    answered: BTreeMap<String, Vec<Answered>>,
}

/// The state of a task when an answer about it was given.
struct Answered {
    status: &'static str,
    put_out: String,
}

/// What has been observed of a task.
#[derive(Default)]
struct Seen {
    tool_use_id: Option<String>,
    is_agent: bool,
    ended: Option<TaskEnd>,
    /// Its output so far; for an agent, its last message.
    put_out: String,
    /// Whether the model has been told about its end.
    told: bool,
    /// Whether the model has asked for it and read that it had ended.
    read: bool,
    /// The last message before the task, an agent, was resumed, if the model was not told about its end: it will still be
    /// told.
    last_words_before: Option<String>,
}

impl Oracle for Tasks {
    fn name(&self) -> &'static str {
        "task"
    }

    fn input(&mut self, view: &View<'_>, input: &Input) -> Check {
        let Input::Answer(id, answer) = input else {
            return Ok(());
        };
        let task = view.calls.get(id).and_then(|call| view.task_of(call));
        let Some(seen) = task.and_then(|task| self.tasks.get_mut(&task.task_id)) else {
            return Ok(());
        };
        match answer {
            // An agent's output comes from its own messages; one of its calls may have the same id as the call that it works
            // on.
            _ if seen.is_agent => {}
            Answer::Output(text) => seen.put_out += text,
            // The complete output, if the tool repeats it.
            Answer::Tool(result) => {
                let whole = result.joined_text();
                if !whole.is_empty() {
                    seen.put_out = whole;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn output(&mut self, _view: &View<'_>, output: &Output) -> Check {
        if let Output::Effect(_, Effect::RunHook(call)) = output {
            self.shown(call);
            return Ok(());
        }
        match message_of(output) {
            Some(Message::System(SystemMessage::TaskStarted(task))) => {
                let before = self.tasks.get(&task.task_id);
                let before = before.filter(|before| !before.told && !before.read);
                let seen = Seen {
                    last_words_before: before.map(|before| before.put_out.clone()),
                    tool_use_id: task.tool_use_id.clone(),
                    is_agent: task.task_type == Some(TaskKind::LocalAgent),
                    ..Seen::default()
                };
                // A resumed agent is a task again.
                match self.tasks.insert(task.task_id.clone(), seen) {
                    Some(before) if before.ended.is_none() => {
                        Err(broken(&task.task_id, "begins although it is running"))
                    }
                    _ => Ok(()),
                }
            }
            Some(Message::System(SystemMessage::TaskProgress(task))) => {
                self.running(&task.task_id, "goes on").map(drop)
            }
            Some(Message::System(SystemMessage::TaskNotification(task))) => self.ends(task),
            Some(Message::Assistant(said)) if said.error.is_none() => {
                let of = said.parent_tool_use_id.as_ref();
                let mut tasks = self.tasks.values_mut();
                if let Some(seen) = tasks.find(|seen| {
                    seen.ended.is_none() && of.is_some() && seen.tool_use_id.as_ref() == of
                }) {
                    let mut texts = said.message.content.iter().filter_map(text_of);
                    seen.put_out = texts.next_back().unwrap_or_default();
                }
                Ok(())
            }
            Some(Message::User(said)) => self.told(said),
            _ => Ok(()),
        }
    }

    fn end(&mut self, view: &View<'_>) -> Check {
        for (task_id, seen) in &self.tasks {
            if seen.ended.is_none() {
                return Err(broken(task_id, "never ends"));
            }
            // The end of a stopped call does not start a turn: it waits for a prompt that may never come.
            let can_wait = seen.ended == Some(TaskEnd::Stopped) && !seen.is_agent;
            if view.spec.tools.tasks.wake && !can_wait && !seen.told && !seen.read {
                return Err(broken(task_id, "ends, and the model never hears of it"));
            }
        }
        Ok(())
    }
}

impl Tasks {
    fn running(&mut self, task_id: &str, what: &str) -> Result<&mut Seen, Violation> {
        match self.tasks.get_mut(task_id) {
            Some(seen) if seen.ended.is_none() => Ok(seen),
            Some(_) => Err(broken(task_id, &format!("{what} after its end"))),
            None => Err(broken(task_id, &format!("{what}, but never began"))),
        }
    }

    fn ends(&mut self, task: &TaskNotification) -> Check {
        self.running(&task.task_id, "ends")?.ended = Some(task.status);
        Ok(())
    }

    /// Checks what the model reads about tasks: notifications of their end, and answers of TaskOutput.
    fn told(&mut self, said: &UserMessage) -> Check {
        for text in said.message.content.iter().filter_map(text_of) {
            let Some(rest) = text.strip_prefix("<background-task id=\"") else {
                continue;
            };
            let task_id = rest.split('"').next().unwrap_or_default();
            let Some(seen) = self.tasks.get_mut(task_id) else {
                return Err(broken(task_id, "is told of, but never began"));
            };
            let of_before = |words: &String| text.contains(words.trim());
            if seen
                .last_words_before
                .take_if(|words| of_before(words))
                .is_some()
            {
                continue;
            }
            if seen.ended.is_none() || core::mem::replace(&mut seen.told, true) {
                return Err(broken(task_id, "is told of without an end, or twice"));
            }
            let is_whole = text.contains(seen.put_out.trim());
            if seen.is_agent && seen.ended == Some(TaskEnd::Completed) && !is_whole {
                return Err(broken(task_id, "is told of without its report"));
            }
        }
        let read = said.tool_use_result.as_ref();
        match read.and_then(|read| read.decode::<TaskOutputOutput>().ok()) {
            Some(read) => self.read(said, &read),
            None => Ok(()),
        }
    }

    /// Records the answer that a hook sees, with the task's state at that time.
    fn shown(&mut self, call: &HookCall) {
        let Ok(shown) = call.input.decode::<Shown>() else {
            return;
        };
        let id = call.tool_use_id.as_ref();
        let seen = self.tasks.get(&shown.tool_response.task_id);
        if let (HookEvent::PostToolUse, Some(id), Some(seen)) = (call.event, id, seen) {
            let answered = self.answered.entry(id.clone()).or_default();
            answered.push(seen.now());
        }
    }

    fn read(&mut self, said: &UserMessage, read: &TaskOutputOutput) -> Check {
        let Some(seen) = self.tasks.get_mut(&read.task_id) else {
            return Err(broken(&read.task_id, "is read, but never began"));
        };
        let calls = said.message.content.iter().filter_map(|block| {
            let block = RawObject::parse(block.get()).ok()?;
            self.answered.remove(&block.get_string("tool_use_id")?)
        });
        let mut moments = calls.flatten().chain([seen.now()]);
        let is_agent = seen.is_agent;
        let fits = |then: &Answered| {
            read.status == then.status && (is_agent || read.output == then.put_out)
        };
        if !moments.any(|then| fits(&then)) {
            let Answered { status, put_out } = seen.now();
            let what = format!("is {status} and put out {put_out:?}, but is read as {read:?}");
            return Err(broken(&read.task_id, &what));
        }
        seen.read |= read.status != RUNNING;
        Ok(())
    }
}

impl Seen {
    fn now(&self) -> Answered {
        Answered {
            status: self.ended.map_or(RUNNING, TaskEnd::name),
            put_out: self.put_out.clone(),
        }
    }
}

fn broken(task_id: &str, what: &str) -> Violation {
    Violation::Task {
        task_id: task_id.to_owned(),
        what: what.to_string(),
    }
}

/// The text of a block, if it is a text block.
fn text_of(block: &RawJson) -> Option<String> {
    let block = RawObject::parse(block.get()).ok()?;
    let is_text = block.get_string("type").as_deref() == Some("text");
    let text = block.get_string("text").filter(|_| is_text)?;
    (!text.trim().is_empty()).then_some(text)
}
