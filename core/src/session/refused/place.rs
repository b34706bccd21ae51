//! A place in a conversation to which it can be cut back.

use serde::{Deserialize, Serialize};

use crate::{history::Checkpoint, id::Uuid};

/// A place in the conversation to return to if the server refuses what follows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in crate::session) struct Place {
    pub(in crate::session) history: Checkpoint,
    pub(in crate::session) last_entry: Option<Uuid>,
}
