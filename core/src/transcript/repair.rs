//! Repairs a conversation that was cut off, joined or written by another program, so that a model server accepts it.

use alloc::{
    borrow::ToOwned,
    collections::{BTreeMap, BTreeSet, VecDeque},
    format,
    string::String,
    vec::Vec,
};

use crate::{
    content::{Block, ResultBlock, tool_result},
    history::Role,
    json::{RawJson, RawObject},
};

/// The result of a call whose result was never written.
const LOST: &str = "The program stopped before the result of this call was written; its outcome is unknown. Check before doing it again.";
/// Replaces the lost beginning of a conversation.
const NO_BEGINNING: &str = "(The beginning of this conversation is missing.)";

/// A conversation that a model server accepts, and the repairs that this required.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    /// The messages: roles alternate, the first is the user's, every call has a result.
    pub messages: Vec<(Role, Vec<RawJson>)>,
    /// The repairs, in the order of the messages.
    pub repairs: Vec<Repair>,
}

impl Conversation {
    /// Repairs messages, given in order.
    #[must_use]
    pub fn of(messages: impl IntoIterator<Item = (Role, Vec<RawJson>)>) -> Self {
        repair(messages.into_iter())
    }
}

/// A repair.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// The result of a call was missing: the model is told that its outcome is unknown.
    LostResult {
        /// The id of the call.
        tool_use_id: String,
    },
    /// A result belonged to no call of the message before it: it was kept as text.
    StrayResult {
        /// The id of the call it names.
        tool_use_id: String,
    },
    /// A call had the id of an earlier one: it got a new one.
    RenamedCall {
        /// The previous id.
        tool_use_id: String,
    },
    /// A block was dropped: it was empty, malformed, or thinking without a signature or at the end of a response that was cut
    /// off.
    DroppedBlock,
    /// The conversation did not begin with a user message.
    NoBeginning,
}

/// The id of the call that a block is the result of, if it is a result.
pub(super) fn result_of(block: &RawJson) -> Option<String> {
    let object = RawObject::parse(block.get()).ok()?;
    if object.get_string("type")? != "tool_result" {
        return None;
    }
    object.get_string("tool_use_id")
}

pub(super) fn repair(messages: impl Iterator<Item = (Role, Vec<RawJson>)>) -> Conversation {
    let mut repair = Repairing::default();
    for (role, blocks) in messages {
        match role {
            Role::User => repair.user(blocks),
            Role::Assistant => repair.assistant(blocks),
        }
    }
    repair.answer_calls();
    repair.done
}

#[derive(Default)]
struct Repairing {
    done: Conversation,
    known_calls: BTreeSet<String>,
    /// Calls of the last message without a result, in order: the id as written, and the current id.
    open_calls: VecDeque<(String, String)>,
    /// The ids as written.
    open_ids: BTreeSet<String>,
    /// The last number appended to each id that had to be changed.
    numbers: BTreeMap<String, u32>,
    /// The results received, by call.
    results: BTreeMap<String, RawJson>,
    /// The other content of the user message.
    beside: Vec<RawJson>,
}

impl Repairing {
    fn assistant(&mut self, blocks: Vec<RawJson>) {
        let mut kept = Vec::new();
        let mut calls = VecDeque::new();
        for block in blocks {
            let read = Block::from_raw(block.clone());
            match read {
                Block::ToolUse(mut call) if call.input.is_ok() && !call.id.is_empty() => {
                    let written = call.id.clone();
                    let mut block = block;
                    if !self.known_calls.insert(call.id.clone()) {
                        call.id = self.free_id(&written);
                        block = Block::ToolUse(call.clone()).to_raw();
                        self.note(Repair::RenamedCall {
                            tool_use_id: written.clone(),
                        });
                    }
                    calls.push_back((written, call.id));
                    kept.push(block);
                }
                Block::ToolUse(_) => self.note(Repair::DroppedBlock),
                other if other.belongs_in_history() && result_of(&block).is_none() => {
                    kept.push(block);
                }
                _ => self.note(Repair::DroppedBlock),
            }
        }
        // A response does not end with thinking: what followed was cut off.
        while kept.last().is_some_and(is_thinking) {
            kept.pop();
            self.note(Repair::DroppedBlock);
        }
        if kept.is_empty() {
            return;
        }
        self.answer_calls();
        if self.done.messages.is_empty() {
            self.note(Repair::NoBeginning);
            let text = Block::text(NO_BEGINNING).to_raw();
            self.push(Role::User, alloc::vec![text]);
        }
        self.open_ids = calls.iter().map(|(written, _)| written.clone()).collect();
        self.open_calls = calls;
        self.push(Role::Assistant, kept);
    }

    fn user(&mut self, blocks: Vec<RawJson>) {
        for block in blocks {
            let Some(call) = result_of(&block) else {
                if Block::from_raw(block.clone()).belongs_in_history() && !is_call(&block) {
                    self.beside.push(block);
                } else {
                    self.note(Repair::DroppedBlock);
                }
                continue;
            };
            let expected = self.open_ids.contains(&call);
            if expected && !self.results.contains_key(&call) {
                self.results.insert(call, block);
            } else if !expected {
                self.beside.extend(text_of_result(&block));
                self.note(Repair::StrayResult { tool_use_id: call });
            } else {
                self.note(Repair::DroppedBlock);
            }
        }
    }

    /// Writes the user message since the last response, with the results of its calls first.
    fn answer_calls(&mut self) {
        let mut content = Vec::new();
        for (written, id) in core::mem::take(&mut self.open_calls) {
            match self.results.remove(&written) {
                Some(block) if written == id => content.push(block),
                Some(block) => content.push(renamed_result(&block, &id)),
                None => {
                    let text = [ResultBlock::Text {
                        text: LOST.to_owned(),
                    }];
                    content.push(tool_result(&id, &text, true));
                    self.note(Repair::LostResult { tool_use_id: id });
                }
            }
        }
        self.results.clear();
        self.open_ids.clear();
        content.append(&mut self.beside);
        if !content.is_empty() {
            self.push(Role::User, content);
        }
    }

    fn push(&mut self, role: Role, mut blocks: Vec<RawJson>) {
        match self.done.messages.last_mut() {
            Some((last, content)) if *last == role => content.append(&mut blocks),
            _ => self.done.messages.push((role, blocks)),
        }
    }

    fn free_id(&mut self, id: &str) -> String {
        let number = self.numbers.entry(id.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let free = format!("{id}_{number}");
            if self.known_calls.insert(free.clone()) {
                return free;
            }
        }
    }

    fn note(&mut self, repair: Repair) {
        self.done.repairs.push(repair);
    }
}

fn is_call(block: &RawJson) -> bool {
    matches!(Block::from_raw(block.clone()), Block::ToolUse(_))
}

fn is_thinking(block: &RawJson) -> bool {
    let kind = RawObject::parse(block.get()).ok();
    let kind = kind.and_then(|object| object.get_string("type"));
    matches!(kind.as_deref(), Some("thinking" | "redacted_thinking"))
}

fn renamed_result(block: &RawJson, id: &str) -> RawJson {
    match RawObject::parse(block.get()) {
        Ok(mut object) => {
            object.set("tool_use_id", RawJson::string(id));
            object.to_raw()
        }
        Err(_) => block.clone(),
    }
}

/// A result without its call, converted to text of the user.
fn text_of_result(block: &RawJson) -> Vec<RawJson> {
    let content = RawObject::parse(block.get())
        .ok()
        .and_then(|object| object.get("content").cloned());
    let Some(content) = content else {
        return Vec::new();
    };
    let blocks = match content.read::<String>() {
        Ok(text) => alloc::vec![Block::text(&text).to_raw()],
        Err(_) => content.read::<Vec<RawJson>>().unwrap_or_default(),
    };
    let mut kept: Vec<RawJson> = blocks
        .into_iter()
        .filter(|block| Block::from_raw(block.clone()).belongs_in_history())
        .collect();
    if !kept.is_empty() {
        let heading = "The result of a call that is not part of this conversation any more:";
        kept.insert(0, Block::text(heading).to_raw());
    }
    kept
}
