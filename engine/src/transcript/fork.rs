//! Forks: new sessions that continue the conversation of another one.

use windlass_core::{RawJson, SessionId, Uuid, json::RawObject};

use super::{SavedSession, scribe::encoded};

impl SavedSession {
    /// The initial lines of a fork: the resumed part of the conversation, under another session id. The lines keep their ids;
    /// `forkedFrom` records their origin. The original session is not changed.
    #[must_use]
    pub fn forked(&self, id: SessionId) -> Vec<RawJson> {
        #[derive(serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Origin {
            session_id: SessionId,
            message_uuid: Uuid,
        }
        self.conversation_lines()
            .filter_map(|(line, bytes)| {
                let text = std::str::from_utf8(bytes).ok()?;
                let mut object = RawObject::parse(text).ok()?;
                object.set("sessionId", encoded(&id));
                if object.get("forkedFrom").is_none() {
                    let origin = Origin {
                        session_id: self.id,
                        message_uuid: line.uuid,
                    };
                    object.set("forkedFrom", encoded(&origin));
                }
                Some(object.to_raw())
            })
            .collect()
    }
}
