//! Converts entries of the core to transcript lines.

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

/// Writes entries as lines: one for each content block of a response, chained by `parentUuid`, with the same ids as the
/// blocks have in frames ([`block_uuid()`]).
///
/// It does no IO and keeps only what later lines refer to. Entries that were written before are skipped, so writing is
/// idempotent.
#[derive(Debug, Clone)]
pub struct Scribe {
    facts: Facts,
    permission_mode: Option<String>,
    prompt_id: Option<Uuid>,
    seen: HashSet<Uuid>,
    /// The last line of each entry that has more than one line.
    last_lines: HashMap<Uuid, Uuid>,
    /// The lines of calls that have no result yet.
    open_calls: HashMap<(Option<String>, String), Uuid>,
    /// The last line of the session's own transcript.
    leaf: Option<Uuid>,
    last_prompt: Option<String>,
}

/// The response at the end of a transcript, whose calls have no results yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastResponse {
    /// Its first and its last line; `None` if the transcript does not end with a response.
    pub(super) lines: Option<(Uuid, Uuid)>,
    /// The ids of its calls, each with the line that contains it.
    pub(super) calls: Vec<(String, Uuid)>,
}

impl Scribe {
    /// A scribe for a new session.
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

    /// Continues an existing transcript: `ids` are those of its lines, `leaf` is the last one.
    #[must_use]
    pub fn going_on(mut self, ids: impl IntoIterator<Item = Uuid>, leaf: Option<Uuid>) -> Self {
        self.seen.extend(ids);
        self.leaf = leaf;
        self
    }

    /// Continues in the middle of a turn: results follow on the calls of this response.
    #[must_use]
    pub fn going_on_with(mut self, response: LastResponse) -> Self {
        self.last_lines.extend(response.lines);
        let calls = response.calls.into_iter();
        (self.open_calls).extend(calls.map(|(call, line)| ((None, call), line)));
        self
    }

    /// The facts that each line contains.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether an entry with this id was written, so that a prompt with this id is a duplicate.
    #[must_use]
    pub fn knows(&self, uuid: Uuid) -> bool {
        self.seen.contains(&uuid)
    }

    /// Changes the working directory of further lines, for example to a worktree. The transcript's place does not change.
    pub fn set_place(&mut self, cwd: impl Into<String>, git_branch: Option<String>) {
        self.facts.cwd = cwd.into();
        self.facts.git_branch = git_branch;
    }

    /// Sets the permission mode that is recorded with further prompts.
    pub fn set_permission_mode(&mut self, mode: &str) {
        self.permission_mode = Some(mode.to_owned());
    }

    /// Sets the id of the prompt that is being answered, as reported to hooks (`prompt_id`).
    pub fn set_prompt_id(&mut self, id: Uuid) {
        self.prompt_id = Some(id);
    }

    /// Converts entries to lines, in order.
    pub fn write(&mut self, entries: &[Entry]) -> Vec<Line> {
        let mut lines = Vec::new();
        for entry in entries {
            self.entry(entry, &mut lines);
        }
        lines
    }

    /// The line for listings, with the last prompt and the end of the conversation; `None` before the first prompt.
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

    /// Writes one line for each block; each is the child of the previous one.
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
        // Interrupts by the user are visible to readers.
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

/// Strings, numbers and raw JSON under string keys always encode.
pub(crate) fn encoded<T: Serialize + ?Sized>(value: &T) -> RawJson {
    RawJson::encode(value).unwrap_or_else(|_| RawJson::null())
}

/// The id of the call that a block is.
pub(super) fn call_in(block: &RawJson) -> Option<String> {
    call_of(&object_of(block))
}

/// The id of the call that a block is the result of.
pub(super) fn result_of(block: &RawJson) -> Option<String> {
    answered_by(&object_of(block))
}

/// The fields of a block; empty if it is not an object.
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

/// The text, as JSON, of a message that consists of a single text block: such messages are written as a string.
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
