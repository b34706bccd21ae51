//! Reads a transcript back: lines of JSON in, a conversation out.
//!
//! The lines are those of the session files of the Agent SDKs: `{"type", "uuid", "parentUuid", "message", …}`, one entry each. An
//! [`Entry`] contains the fields that the core knows; the host adds the others (`sessionId`, `cwd`, `version`, whether it is a
//! subagent's). Reading requires only `message`, `uuid` and the parent, and, for a compacted conversation, `compaction` as in an
//! [`Entry`], or a `compactMetadata` with `keptMessages`.
//!
//! A file may have been cut off anywhere: in the middle of a line, between a call and its result. Every complete line counts;
//! [`Conversation`] is the part that a model server accepts, with a list of the repairs.

mod chain;
mod repair;

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use serde::Deserialize;

use self::chain::Chain;
pub use self::repair::{Conversation, Repair};
use crate::{
    content::Block,
    effect::Entry,
    history::Role,
    id::Uuid,
    json::RawJson,
    permission::Mode,
    tools::{CoreToolState, Recalled},
};

/// Entries, in the order in which they were written.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    lines: Vec<Line>,
    /// Lines that are not entries, by number from 1.
    pub unreadable: Vec<usize>,
    /// The length of the complete lines at the beginning, in bytes. To continue the file, truncate it to this length.
    pub whole_len: u64,
}

/// One line, as far as it was understood.
#[derive(Debug, Clone)]
struct Line {
    uuid: Option<Uuid>,
    parent: Option<Uuid>,
    /// Whether the line names its predecessor, or says that there is none.
    has_parent: bool,
    /// Whether it belongs to another conversation within the same file.
    is_aside: bool,
    /// Set if the conversation restarts here, with this summary or the next one: this many earlier messages are kept after the
    /// summary.
    kept: Option<u64>,
    /// The permission mode at the prompt.
    mode: Option<Mode>,
    message: Option<Message>,
}

#[derive(Debug, Clone)]
struct Message {
    role: Role,
    /// The provider's id of the response: lines with the same id are parts of one message.
    id: Option<String>,
    content: Vec<RawJson>,
}

/// No entry of a transcript has this id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no message {0} is in the transcript: name one by its uuid")]
pub struct NoSuchEntry(pub Uuid);

impl Transcript {
    /// Reads lines. It never fails: lines that are not entries are skipped and listed in [`unreadable`](Self::unreadable);
    /// entries of unknown kinds are not part of the conversation.
    #[must_use]
    pub fn read(text: &[u8]) -> Self {
        let mut transcript = Self::default();
        let mut number = 0;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            number += 1;
            let is_whole = line.ends_with(b"\n");
            let content = line.trim_ascii();
            let read = core::str::from_utf8(content).ok().and_then(Line::read);
            match read {
                // A last line without a line end is complete if it can be parsed: JSON objects have their own end.
                Some(read) => transcript.lines.push(read),
                None if content.is_empty() => {}
                None => transcript.unreadable.push(number),
            }
            if is_whole {
                transcript.whole_len += line.len() as u64;
            }
        }
        transcript
    }

    /// A transcript of entries from a session, in order.
    #[must_use]
    pub fn of(entries: &[Entry]) -> Self {
        let lines = entries.iter().map(|entry| Line {
            uuid: Some(entry.uuid),
            parent: entry.parent,
            has_parent: true,
            is_aside: false,
            kept: (entry.compaction.as_ref()).map(|compaction| compaction.kept_messages),
            mode: None,
            message: Message::read(&entry.message),
        });
        Self {
            lines: lines.collect(),
            ..Self::default()
        }
    }

    /// The last entry of the conversation, which is the parent of the next one.
    #[must_use]
    pub fn leaf(&self) -> Option<Uuid> {
        self.last().and_then(|at| self.lines[at].uuid)
    }

    /// The transcript up to this entry, which becomes its last (Agent SDK reference, `resumeSessionAt`).
    ///
    /// # Errors
    /// [`NoSuchEntry`].
    pub fn up_to(&self, uuid: Uuid) -> Result<Self, NoSuchEntry> {
        let found = self.lines.iter().position(|line| line.uuid == Some(uuid));
        let at = found.ok_or(NoSuchEntry(uuid))?;
        Ok(Self {
            lines: self.lines[..=at].to_vec(),
            ..Self::default()
        })
    }

    /// The conversation that leads to the last entry, repaired where it was cut off. After a compaction it begins with the
    /// summary, followed by the messages that were kept.
    #[must_use]
    pub fn conversation(&self) -> Conversation {
        let mut messages: Vec<Said<'_>> = Vec::new();
        let mut begins_anew = None;
        let Some(last) = self.last() else {
            return Conversation::default();
        };
        let chain = Chain::of(&self.lines);
        // The index of each response that may have further lines: those since the last user text.
        let mut responses: BTreeMap<&str, usize> = BTreeMap::new();
        for at in chain.to(last) {
            let line = &self.lines[at];
            begins_anew = line.kept.or(begins_anew);
            let Some(message) = &line.message else {
                continue;
            };
            if let Some(kept) = begins_anew.take() {
                messages = newest(messages, kept);
                messages.insert(0, (None, message.role, message.content.clone()));
                responses = open_responses(&messages);
                continue;
            }
            // Writers with one line per block put results of the first calls between the others.
            let id = message.id.as_deref();
            let same = id.and_then(|id| responses.get(id));
            let same = same.and_then(|place| messages.get_mut(*place));
            match same {
                Some((_, _, content)) if chain.continues_response(at) => {
                    content.extend_from_slice(&message.content);
                }
                _ => {
                    let said = (id, message.role, message.content.clone());
                    note_response(&mut responses, &said, messages.len());
                    messages.push(said);
                }
            }
        }
        let messages = messages
            .into_iter()
            .map(|(_, role, content)| (role, content));
        repair::repair(messages)
    }

    /// The state that calls of core tools have left on the way to the last entry, including calls before a compaction.
    pub(crate) fn tool_state(&self) -> CoreToolState {
        let mut recalled = Recalled::default();
        let messages = self.chain().filter_map(|line| line.message.as_ref());
        messages.for_each(|message| recalled.read(&message.content));
        recalled.tool_state()
    }

    /// The last permission mode on the way to the last entry, other than plan mode, if it was recorded.
    pub(crate) fn mode_before_plan(&self) -> Option<Mode> {
        let modes = self.chain().filter_map(|line| line.mode);
        modes.filter(|mode| *mode != Mode::Plan).last()
    }

    /// The lines that lead to the last one, in order.
    fn chain(&self) -> impl Iterator<Item = &Line> {
        let chain = Chain::of(&self.lines);
        let places: Vec<usize> = match self.last() {
            Some(last) => chain.to(last),
            None => Vec::new(),
        };
        places.into_iter().map(|at| &self.lines[at])
    }

    fn last(&self) -> Option<usize> {
        let belongs = |line: &Line| !line.is_aside && line.message.is_some();
        self.lines.iter().rposition(belongs)
    }
}

/// A message with the provider's id of its response.
type Said<'a> = (Option<&'a str>, Role, Vec<RawJson>);

/// Records a response; user text ends the responses before it.
fn note_response<'a>(responses: &mut BTreeMap<&'a str, usize>, said: &Said<'a>, place: usize) {
    match said {
        (Some(id), Role::Assistant, _) => drop(responses.insert(id, place)),
        (_, Role::User, content) if !content.iter().all(is_result) => responses.clear(),
        _ => {}
    }
}

/// The responses that may be continued after these messages.
fn open_responses<'a>(messages: &[Said<'a>]) -> BTreeMap<&'a str, usize> {
    let mut responses = BTreeMap::new();
    for (place, said) in messages.iter().enumerate() {
        note_response(&mut responses, said, place);
    }
    responses
}

/// The last messages; consecutive ones of the same role count as one.
fn newest(mut messages: Vec<Said<'_>>, count: u64) -> Vec<Said<'_>> {
    let mut from = messages.len();
    let mut left = count;
    while from > 0 {
        let begins = messages
            .get(from)
            .is_none_or(|(_, role, _)| *role != messages[from - 1].1);
        if begins && left == 0 {
            break;
        }
        left -= u64::from(begins);
        from -= 1;
    }
    messages.split_off(from)
}

impl Line {
    fn read(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Form {
            #[serde(default)]
            uuid: Option<String>,
            #[serde(default, rename = "parentUuid")]
            parent: Option<RawJson>,
            /// The field as our own lines name it; likewise below.
            #[serde(default, rename = "parent")]
            our_parent: Option<RawJson>,
            /// Where a compaction has cut the chain: the entry before it.
            #[serde(default, rename = "logicalParentUuid")]
            logical_parent: Option<String>,
            #[serde(default, rename = "isSidechain")]
            is_sidechain: bool,
            #[serde(default, rename = "teamName")]
            team: Option<RawJson>,
            #[serde(default, rename = "type")]
            kind: Option<String>,
            /// The field of a summary, or of the boundary before it.
            #[serde(default, rename = "compactMetadata")]
            compaction: Option<RawJson>,
            #[serde(default, rename = "compaction")]
            our_compaction: Option<RawJson>,
            #[serde(default, rename = "permissionMode")]
            mode: Option<RawJson>,
            #[serde(default)]
            message: Option<RawJson>,
        }
        #[derive(Deserialize)]
        struct Kept {
            #[serde(default, rename = "keptMessages")]
            kept: Option<u64>,
            #[serde(default, rename = "kept_messages")]
            our_kept: Option<u64>,
        }
        let form: Form = crate::json::read::from_str(text).ok()?;
        let kept = (form.compaction.or(form.our_compaction))
            .and_then(|raw| raw.read::<Kept>().ok())
            .and_then(|kept| kept.kept.or(kept.our_kept));
        let is_message = matches!(form.kind.as_deref(), None | Some("user" | "assistant"));
        let message = form.message.filter(|_| is_message);
        let parent = form.parent.or(form.our_parent);
        let parent: Option<String> = parent.and_then(|parent| parent.read().ok()?);
        let parent = parent.or(form.logical_parent.filter(|_| kept.is_some()));
        Some(Self {
            uuid: form.uuid.as_deref().and_then(|id| Uuid::try_parse(id).ok()),
            parent: parent.as_deref().and_then(|id| Uuid::try_parse(id).ok()),
            // `"parentUuid": null` is read as none, so that a beginning is distinguished from an absent field by its id.
            has_parent: parent.is_some(),
            is_aside: form.is_sidechain || form.team.is_some(),
            kept,
            // An unknown mode counts as none.
            mode: form.mode.and_then(|mode| mode.read().ok()),
            message: message.as_ref().and_then(Message::read),
        })
    }
}

impl Message {
    fn read(raw: &RawJson) -> Option<Self> {
        #[derive(Deserialize)]
        struct Form {
            role: Role,
            #[serde(default)]
            id: Option<String>,
            content: RawJson,
        }
        let form: Form = raw.read().ok()?;
        let content = match form.content.read::<String>() {
            Ok(text) => alloc::vec![Block::text(&text).to_raw()],
            Err(_) => form.content.read().ok()?,
        };
        Some(Self {
            role: form.role,
            id: form.id,
            content,
        })
    }
}

fn is_result(block: &RawJson) -> bool {
    repair::result_of(block).is_some()
}
