//! TodoWrite: the model's to-do list (Agent SDK reference, `TodoWriteInput`, `TodoWriteOutput`).

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{CoreToolState, Done, answered};

pub(super) const DESCRIPTION: &str = "Keeps a list of the steps of the work at hand, for you and for the person who watches. \
Use it when a task takes three steps or more, or when several things were asked for at once; leave it out for what is done in one go. \
Every call replaces the whole list. Keep exactly one step in_progress while you work, mark a step completed as soon as it is done and not before, \
and add steps that turn up on the way. `content` says what to do (`Run the tests`), `activeForm` what is being done (`Running the tests`).";

pub(super) const INPUT_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "todos": {
      "type": "array",
      "description": "The whole list, in order",
      "items": {
        "type": "object",
        "properties": {
          "content": { "type": "string", "minLength": 1, "description": "What to do" },
          "status": { "type": "string", "enum": ["pending", "in_progress", "completed"] },
          "activeForm": { "type": "string", "minLength": 1, "description": "What is being done, while it is" }
        },
        "required": ["content", "status", "activeForm"]
      }
    }
  },
  "required": ["todos"]
}"#;

/// The input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoWriteInput {
    /// The whole list.
    pub todos: Vec<Todo>,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// What to do.
    pub content: String,
    /// The state of the step.
    pub status: TodoStatus,
    /// A description of the step while it is being done.
    #[serde(rename = "activeForm")]
    pub active_form: String,
}

/// The state of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not started.
    Pending,
    /// In progress.
    InProgress,
    /// Done.
    Completed,
}

/// The structured output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoWriteOutput {
    /// The previous list.
    pub old_todos: Vec<Todo>,
    /// The new list.
    pub new_todos: Vec<Todo>,
}

pub(super) fn run(input: TodoWriteInput, tool_state: &mut CoreToolState) -> Done {
    let output = TodoWriteOutput {
        old_todos: core::mem::replace(&mut tool_state.todos, input.todos.clone()),
        new_todos: input.todos,
    };
    answered(summary(&output.new_todos), &output).into()
}

fn summary(todos: &[Todo]) -> String {
    let with = |status| todos.iter().filter(move |todo| todo.status == status);
    let done = with(TodoStatus::Completed).count();
    if todos.is_empty() {
        return "The list is empty now.".into();
    }
    let mut text = format!("The list is saved: {done} of {} done.", todos.len());
    let mut current = with(TodoStatus::InProgress).map(|todo| todo.content.as_str());
    if let Some(first) = current.next() {
        text.push_str(&format!(" In progress: {first}."));
    }
    if current.next().is_some() {
        text.push_str(" More than one step is in progress: work on one at a time.");
    }
    text
}
