//! Call ids, which are unique within a conversation.

use alloc::{collections::BTreeSet, format, string::String};

use serde::{Deserialize, Serialize};

use crate::{content::ToolUse, id::Seeded};

/// The ids of all tool calls of a thread.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::session) struct CallIds(BTreeSet<String>);

impl CallIds {
    /// Adds the id of a call in the conversation that the thread continues.
    pub(in crate::session) fn insert(&mut self, id: String) {
        self.0.insert(id);
    }

    /// Gives a new call an id of our own if the server's is missing or was used before: the API refuses a history in which two
    /// calls share an id.
    pub(in crate::session) fn name_apart(&mut self, ids: &mut Seeded, call: &mut ToolUse) {
        if call.id.is_empty() || self.0.contains(&call.id) {
            call.id = format!("toolu_{}", ids.uuid().simple());
        }
        self.0.insert(call.id.clone());
    }
}
