//! Forks: another session with the same conversation behind it.

use windlass_core::{RawJson, SessionId, Uuid, json::RawObject};

use super::{SavedSession, scribe::encoded};

impl SavedSession {
    /// The lines with which a fork of it begins: those of the conversation, as far as it is taken up, under another
    /// session. They keep their ids; `forkedFrom` says where each comes from. The original is not touched.
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
