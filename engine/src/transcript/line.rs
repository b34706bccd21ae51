//! The lines of a transcript, field by field.

use serde::Serialize;
use windlass_core::{RawJson, SessionId, Uuid, context::CompactionTrigger};

/// The facts about the session that every line contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The session.
    pub session_id: SessionId,
    /// The working directory.
    pub cwd: String,
    /// The version that the engine gives as its own.
    pub version: String,
    /// The branch of the surrounding git repository, `HEAD` if none is checked out; `None` outside of a repository.
    pub git_branch: Option<String>,
    /// The application that started the engine (`CLAUDE_CODE_ENTRYPOINT`): `sdk-py`, `sdk-ts`, `cli`.
    pub entrypoint: String,
}

/// A line and the transcript it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The id of the subagent; `None` for the session's own transcript.
    pub agent: Option<String>,
    /// A JSON object without line ends.
    pub json: RawJson,
}

/// The trailing fields that all conversation lines have.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Common<'a> {
    pub(super) uuid: Uuid,
    pub(super) timestamp: &'a str,
    pub(super) user_type: &'static str,
    pub(super) entrypoint: &'a str,
    pub(super) cwd: &'a str,
    pub(super) session_id: SessionId,
    pub(super) version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) git_branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent_id: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserLine<'a> {
    pub(super) parent_uuid: Option<Uuid>,
    pub(super) is_sidechain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt_id: Option<Uuid>,
    pub(super) r#type: &'static str,
    pub(super) message: &'a RawJson,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_meta: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_compact_summary: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_visible_in_transcript_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<Origin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) permission_mode: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_use_result: Option<&'a RawJson>,
    #[serde(
        rename = "sourceToolAssistantUUID",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) source_tool_assistant: Option<Uuid>,
    #[serde(flatten)]
    pub(super) common: Common<'a>,
}

#[derive(Serialize)]
pub(super) struct Origin {
    pub(super) kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AssistantLine<'a> {
    pub(super) parent_uuid: Option<Uuid>,
    pub(super) is_sidechain: bool,
    pub(super) message: RawJson,
    pub(super) r#type: &'static str,
    #[serde(flatten)]
    pub(super) common: Common<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BoundaryLine<'a> {
    pub(super) parent_uuid: Option<Uuid>,
    pub(super) logical_parent_uuid: Option<Uuid>,
    pub(super) is_sidechain: bool,
    pub(super) r#type: &'static str,
    pub(super) subtype: &'static str,
    pub(super) content: &'static str,
    pub(super) level: &'static str,
    pub(super) is_meta: bool,
    pub(super) compact_metadata: Metadata<'a>,
    #[serde(flatten)]
    pub(super) common: Common<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    pub(super) trigger: &'a CompactionTrigger,
    pub(super) pre_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) post_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<u64>,
    pub(super) kept_messages: u64,
}
