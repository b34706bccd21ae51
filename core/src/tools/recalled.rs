//! Reconstructs the state of core tools from a conversation, for sessions that continue one.

use alloc::{string::String, vec::Vec};

use super::{
    CoreTool, CoreToolState, skill,
    todo_write::{Todo, TodoWriteInput},
    tool_search,
};
use crate::{
    content::Block,
    json::{RawJson, RawObject},
    sorted::SortedMap,
};

/// The state that calls of core tools have left, as of the messages read so far. A call counts once its result is there, unless
/// it failed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recalled {
    /// The last list that was written; none if there is none.
    todos: Option<Vec<Todo>>,
    loaded: Vec<String>,
    skills: Vec<String>,
    /// Calls without a result, by id.
    open: SortedMap<String, (CoreTool, RawJson)>,
}

impl Recalled {
    /// Reads the content of the next message.
    pub(crate) fn read(&mut self, content: &[RawJson]) {
        for block in content {
            if let Block::ToolUse(call) = Block::from_raw(block.clone()) {
                let tool = CoreTool::parse(&call.name).filter(|tool| leaves_notes(*tool));
                if let (Some(tool), Ok(input)) = (tool, call.input) {
                    self.open.insert(call.id, (tool, input));
                }
            } else if !self.open.is_empty() {
                self.result(block);
            }
        }
    }

    fn result(&mut self, block: &RawJson) {
        let Ok(block) = RawObject::parse(block.get()) else {
            return;
        };
        let call = block.get_string("tool_use_id");
        let Some((tool, input)) = call.and_then(|id| self.open.remove(&id)) else {
            return;
        };
        if block.get("is_error").is_some_and(|it| it.get() == "true") {
            return;
        }
        match tool {
            CoreTool::TodoWrite => {
                if let Ok(input) = input.read::<TodoWriteInput>() {
                    self.todos = Some(input.todos);
                }
            }
            CoreTool::ToolSearch => {
                let found = block.get("content").map(tool_search::found_in);
                add(&mut self.loaded, found.unwrap_or_default());
            }
            _ => add(&mut self.skills, skill::name(&input)),
        }
    }

    /// The state of core tools, if there is no other source.
    pub(crate) fn tool_state(self) -> CoreToolState {
        CoreToolState {
            todos: self.todos.unwrap_or_default(),
            loaded: self.loaded,
            skills: self.skills,
        }
    }

    /// That state at an earlier point. Changes made by later messages (`behind`) are undone; what neither part explains
    /// (from before a compaction) is kept.
    pub(crate) fn tool_state_before(
        self,
        now: &CoreToolState,
        behind: impl Iterator<Item = Vec<RawJson>>,
    ) -> CoreToolState {
        let mut since = Self {
            open: self.open.clone(),
            ..Self::default()
        };
        behind.for_each(|content| since.read(&content));
        let kept = |now: &[String], here: &[String], since: &[String]| {
            let names = now.iter();
            names
                .filter(|name| here.contains(name) || !since.contains(name))
                .cloned()
                .collect()
        };
        CoreToolState {
            todos: match since.todos {
                None => now.todos.clone(),
                Some(_) => self.todos.unwrap_or_default(),
            },
            loaded: kept(&now.loaded, &self.loaded, &since.loaded),
            skills: kept(&now.skills, &self.skills, &since.skills),
        }
    }
}

fn leaves_notes(tool: CoreTool) -> bool {
    matches!(
        tool,
        CoreTool::TodoWrite | CoreTool::ToolSearch | CoreTool::Skill
    )
}

fn add(known: &mut Vec<String>, names: impl IntoIterator<Item = String>) {
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
}
