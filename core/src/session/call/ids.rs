//! Ids of calls: no two of a conversation are the same.

use alloc::{collections::BTreeSet, format, string::String};

use serde::{Deserialize, Serialize};

use crate::{content::ToolUse, id::Seeded};

/// Ids of all tool calls of a thread.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::session) struct CallIds(BTreeSet<String>);

impl CallIds {
    /// A call of the conversation that the thread goes on from.
    pub(in crate::session) fn insert(&mut self, id: String) {
        self.0.insert(id);
    }

    /// Gives a new call an id of our own where the server's is missing or was used before: the API refuses
    /// a history in which two calls share one.
    pub(in crate::session) fn name_apart(&mut self, ids: &mut Seeded, call: &mut ToolUse) {
        if call.id.is_empty() || self.0.contains(&call.id) {
            call.id = format!("toolu_{}", ids.uuid().simple());
        }
        self.0.insert(call.id.clone());
    }
}
