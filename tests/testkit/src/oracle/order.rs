//! Entries are written first, calls are answered once, and messages have unique ids.

use alloc::{
    collections::BTreeSet,
    string::{String, ToString},
};

use windlass_core::{
    effect::{Effect, Output},
    json::RawObject,
    message::Message,
};

use super::{Check, Oracle, View, Violation, is_request, message_of};

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Order {
    /// Calls that have no result yet, by thread and id.
    open: BTreeSet<(Option<String>, String)>,
    messages: BTreeSet<String>,
}

impl Oracle for Order {
    fn name(&self) -> &'static str {
        "order"
    }

    fn output(&mut self, view: &View<'_>, output: &Output) -> Check {
        if let Output::Effect(id, effect) = output
            && (is_request(output) || matches!(effect, Effect::CallTool(_)))
        {
            let mut saving = view.running.iter().filter(|it| it.stage.saves());
            if let Some(saving) = saving.find(|saving| saving.agent == id.agent) {
                return Err(Violation::TooEarly {
                    effect: *id,
                    waits_for: *saving,
                });
            }
        }
        let Some(message) = message_of(output) else {
            return Ok(());
        };
        self.uuid(message)?;
        match message {
            Message::Assistant(said) if said.error.is_none() => {
                let parent = &said.parent_tool_use_id;
                for block in &said.message.content {
                    let Ok(block) = RawObject::parse(block.get()) else {
                        continue;
                    };
                    if block.get_string("type").as_deref() != Some("tool_use") {
                        continue;
                    }
                    if let Some(id) = block.get_string("id")
                        && !self.open.insert((parent.clone(), id.clone()))
                    {
                        return Err(called(id, "is made twice at once"));
                    }
                }
            }
            Message::User(said) => {
                for block in &said.message.content {
                    let result = RawObject::parse(block.get()).ok();
                    let id = result.and_then(|block| block.get_string("tool_use_id"));
                    let Some(id) = id else { continue };
                    if !(self.open).remove(&(said.parent_tool_use_id.clone(), id.clone())) {
                        return Err(called(id, "has a result too many"));
                    }
                }
            }
            Message::Result(_) => {
                let in_background = |parent: &Option<String>| {
                    (parent.as_ref()).is_some_and(|parent| view.task_of(parent).is_some())
                };
                let mut open = self.open.iter();
                if let Some((_, id)) = open.find(|(parent, _)| !in_background(parent)) {
                    return Err(called(id.clone(), "has no result"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _view: &View<'_>) -> Check {
        match self.open.first() {
            Some((_, id)) => Err(called(id.clone(), "has no result")),
            None => Ok(()),
        }
    }
}

impl Order {
    fn uuid(&mut self, message: &Message) -> Check {
        let line = RawObject::parse(&message.to_line()).ok();
        let uuid = line.and_then(|line| line.get_string("uuid"));
        match uuid {
            Some(uuid) if self.messages.insert(uuid.clone()) => Ok(()),
            uuid => Err(Violation::MessageIdTwice {
                uuid: uuid.unwrap_or_else(|| "none".to_string()),
            }),
        }
    }
}

fn called(tool_use_id: String, what: &'static str) -> Violation {
    Violation::CallResult { tool_use_id, what }
}
