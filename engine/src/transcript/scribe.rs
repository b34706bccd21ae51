//! Entries of the core as lines of a transcript.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use windlass_core::{
    RawJson, SessionId, Uuid,
    effect::{Entry, EntryCompaction, EntryOrigin},
    json::RawObject,
    message::CompactMetadata,
};

use super::line::{AssistantLine, BoundaryLine, Common, Facts, Line, Metadata, Origin, UserLine};
use crate::block_uuid;

/// Makes lines of entries: one for each content block of a response, chained by `parentUuid`, with the ids that the same
/// blocks have on the wire ([`block_uuid()`]).
///
/// Pure: it holds what lines refer back to, and no file. Lines that it has seen are passed over, so writing the same
/// entries twice is the same as once.
#[derive(Debug, Clone)]
pub struct Scribe {
    facts: Facts,
    permission_mode: Option<String>,
    prompt_id: Option<Uuid>,
    seen: HashSet<Uuid>,
    /// The last line of an entry, where it is not its first.
    last_lines: HashMap<Uuid, Uuid>,
    /// The lines of calls whose results have not come.
    open_calls: HashMap<(Option<String>, String), Uuid>,
    /// The last line of the session's own transcript.
    leaf: Option<Uuid>,
    last_prompt: Option<String>,
}

impl Scribe {
    /// A scribe of a session that begins.
    #[must_use]
    pub fn new(facts: Facts) -> Self {
        Self {
            facts,
            permission_mode: None,
            prompt_id: None,
            seen: HashSet::new(),
            last_lines: HashMap::new(),
            open_calls: HashMap::new(),
            leaf: None,
            last_prompt: None,
        }
    }

    /// The same for a session that goes on: these ids are in its file already, and the last of its lines is this.
    #[must_use]
    pub fn going_on(mut self, ids: impl IntoIterator<Item = Uuid>, leaf: Option<Uuid>) -> Self {
        self.seen.extend(ids);
        self.leaf = leaf;
        self
    }

    /// What the lines say of their session.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether an entry of this id was written: a prompt under it has been heard before.
    #[must_use]
    pub fn knows(&self, uuid: Uuid) -> bool {
        self.seen.contains(&uuid)
    }

    /// The session works elsewhere from now on, in a worktree say. Its transcript stays where it is.
    pub fn set_place(&mut self, cwd: impl Into<String>, git_branch: Option<String>) {
        self.facts.cwd = cwd.into();
        self.facts.git_branch = git_branch;
    }

    /// The mode that prompts are noted with from now on.
    pub fn set_permission_mode(&mut self, mode: &str) {
        self.permission_mode = Some(mode.to_owned());
    }

    /// The id of the prompt that is being answered, as hooks are told it (`prompt_id`).
    pub fn set_prompt_id(&mut self, id: Uuid) {
        self.prompt_id = Some(id);
    }

    /// The lines of entries, in their order.
    pub fn write(&mut self, entries: &[Entry]) -> Vec<Line> {
        let mut lines = Vec::new();
        for entry in entries {
            self.entry(entry, &mut lines);
        }
        lines
    }

    /// What listings show of the session: the last prompt and where the conversation ends; none before the first prompt.
    #[must_use]
    pub fn last_prompt(&self) -> Option<RawJson> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct LastPrompt<'a> {
            r#type: &'static str,
            last_prompt: &'a str,
            leaf_uuid: Option<Uuid>,
            session_id: SessionId,
        }
        Some(encoded(&LastPrompt {
            r#type: "last-prompt",
            last_prompt: self.last_prompt.as_deref()?,
            leaf_uuid: self.leaf,
            session_id: self.facts.session_id,
        }))
    }

    fn entry(&mut self, entry: &Entry, lines: &mut Vec<Line>) {
        let message = RawObject::parse(entry.message.get()).unwrap_or_default();
        let blocks: Vec<RawJson> = message
            .get("content")
            .and_then(|content| content.decode().ok())
            .unwrap_or_default();
        let parent = entry.parent.map(|parent| self.last_line_of(parent));
        let known = lines.len();
        let last = if message.get_string("role").as_deref() == Some("assistant") {
            self.response(entry, &message, &blocks, parent, lines)
        } else {
            self.user(entry, message, &blocks, parent, lines)
        };
        if last != entry.uuid {
            self.last_lines.insert(entry.uuid, last);
        }
        if entry.agent.is_none() && lines.len() > known {
            self.leaf = Some(last);
        }
    }

    /// A line for each block, each the child of the one before it.
    fn response(
        &mut self,
        entry: &Entry,
        message: &RawObject,
        blocks: &[RawJson],
        mut parent: Option<Uuid>,
        lines: &mut Vec<Line>,
    ) -> Uuid {
        let mut last = entry.uuid;
        let timestamp = entry.timestamp.to_rfc3339();
        for (index, block) in blocks.iter().enumerate() {
            last = block_uuid(entry.uuid, index);
            if let Some(call) = call_of(&object_of(block)) {
                self.open_calls.insert((entry.agent.clone(), call), last);
            }
            let message = match blocks {
                [_] => entry.message.clone(),
                _ => {
                    let mut one = message.clone();
                    one.set("content", encoded(&[block]));
                    one.to_raw()
                }
            };
            let line = AssistantLine {
                parent_uuid: parent.replace(last),
                is_sidechain: entry.agent.is_some(),
                message,
                r#type: "assistant",
                common: self.common(last, entry, &timestamp),
            };
            let line = line_of(entry, &line);
            self.push_new(last, line, lines);
        }
        last
    }

    fn user(
        &mut self,
        entry: &Entry,
        mut message: RawObject,
        blocks: &[RawJson],
        parent: Option<Uuid>,
        lines: &mut Vec<Line>,
    ) -> Uuid {
        let timestamp = entry.timestamp.to_rfc3339();
        let blocks: Vec<RawObject> = blocks.iter().map(object_of).collect();
        let answered = blocks.iter().find_map(answered_by);
        let is_result = answered.is_some();
        let call = answered.and_then(|call| {
            let named = (entry.agent.clone(), call);
            self.open_calls.remove(&named)
        });
        let is_prompt =
            !is_result && entry.origin == EntryOrigin::Conversation && entry.compaction.is_none();
        let mut parent = call.or(parent);
        if let Some(compaction) = &entry.compaction {
            let boundary = self.boundary(entry, compaction, parent, &timestamp);
            let line = line_of(entry, &boundary);
            self.push_new(compaction.boundary, line, lines);
            parent = Some(compaction.boundary);
        }
        let message = match plain_text(&blocks) {
            Some(text) => {
                message.set("content", text.clone());
                message.to_raw()
            }
            None => entry.message.clone(),
        };
        if is_prompt && entry.agent.is_none() {
            self.last_prompt = Some(text_of(&blocks));
        }
        // That a person interrupted is part of what readers are shown.
        let is_shown = matches!(
            entry.origin,
            EntryOrigin::Conversation | EntryOrigin::Interruption
        );
        let is_meta = !is_shown;
        let is_summary = entry.compaction.is_some();
        let line = UserLine {
            parent_uuid: parent,
            is_sidechain: entry.agent.is_some(),
            prompt_id: self.prompt_id,
            r#type: "user",
            message: &message,
            is_meta,
            is_compact_summary: is_summary,
            is_visible_in_transcript_only: is_summary,
            origin: (entry.origin == EntryOrigin::Task).then_some(Origin {
                kind: "task-notification",
            }),
            permission_mode: self.permission_mode.as_deref().filter(|_| is_prompt),
            tool_use_result: entry.tool_use_result.as_ref(),
            source_tool_assistant: call,
            common: self.common(entry.uuid, entry, &timestamp),
        };
        let line = line_of(entry, &line);
        self.push_new(entry.uuid, line, lines);
        entry.uuid
    }

    fn push_new(&mut self, uuid: Uuid, line: Line, lines: &mut Vec<Line>) {
        if self.seen.insert(uuid) {
            lines.push(line);
        }
    }

    fn boundary<'a>(
        &'a self,
        entry: &'a Entry,
        compaction: &'a EntryCompaction,
        before: Option<Uuid>,
        timestamp: &'a str,
    ) -> BoundaryLine<'a> {
        let CompactMetadata {
            trigger,
            pre_tokens,
            post_tokens,
            duration_ms,
        } = &compaction.metadata;
        BoundaryLine {
            parent_uuid: None,
            logical_parent_uuid: before,
            is_sidechain: entry.agent.is_some(),
            r#type: "system",
            subtype: "compact_boundary",
            content: "The conversation before this was summed up.",
            level: "info",
            is_meta: false,
            compact_metadata: Metadata {
                trigger,
                pre_tokens: *pre_tokens,
                post_tokens: *post_tokens,
                duration_ms: *duration_ms,
                kept_messages: compaction.kept_messages,
            },
            common: self.common(compaction.boundary, entry, timestamp),
        }
    }

    fn common<'a>(&'a self, uuid: Uuid, entry: &'a Entry, timestamp: &'a str) -> Common<'a> {
        Common {
            uuid,
            timestamp,
            user_type: "external",
            entrypoint: &self.facts.entrypoint,
            cwd: &self.facts.cwd,
            session_id: self.facts.session_id,
            version: &self.facts.version,
            git_branch: self.facts.git_branch.as_deref(),
            agent_id: entry.agent.as_deref(),
        }
    }

    fn last_line_of(&self, entry: Uuid) -> Uuid {
        self.last_lines.get(&entry).copied().unwrap_or(entry)
    }
}

fn line_of<T: Serialize>(entry: &Entry, line: &T) -> Line {
    Line {
        agent: entry.agent.clone(),
        json: encoded(line),
    }
}

/// Strings, numbers and raw JSON under keys that are strings: encoding cannot fail.
pub(crate) fn encoded<T: Serialize + ?Sized>(value: &T) -> RawJson {
    RawJson::encode(value).unwrap_or_else(|_| RawJson::null())
}

/// The call that a block is the result of.
pub(super) fn result_of(block: &RawJson) -> Option<String> {
    answered_by(&object_of(block))
}

/// The fields of a block; none of what is no object.
fn object_of(block: &RawJson) -> RawObject {
    RawObject::parse(block.get()).unwrap_or_default()
}

fn is_of(block: &RawObject, kind: &str) -> bool {
    block.get_string("type").as_deref() == Some(kind)
}

fn answered_by(block: &RawObject) -> Option<String> {
    let call = block.get_string("tool_use_id");
    call.filter(|_| is_of(block, "tool_result"))
}

/// The id of a tool call.
fn call_of(block: &RawObject) -> Option<String> {
    block.get_string("name")?;
    let id = block.get_string("id");
    id.filter(|_| is_of(block, "tool_use"))
}

/// The text, as JSON, of a message that is one text and nothing else: such messages are written as a string.
fn plain_text(blocks: &[RawObject]) -> Option<&RawJson> {
    let [block] = blocks else {
        return None;
    };
    let is_plain = is_of(block, "text") && block.keys().count() == 2;
    block.get_string("text").filter(|_| is_plain)?;
    block.get("text")
}

fn text_of(blocks: &[RawObject]) -> String {
    let texts = blocks.iter().filter(|block| is_of(block, "text"));
    let texts: Vec<String> = texts.filter_map(|block| block.get_string("text")).collect();
    texts.join("\n")
}
