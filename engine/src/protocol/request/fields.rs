//! The fields of control requests in their wire format.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use windlass_core::RawJson;

use super::SettingsFile;
use crate::protocol::initialize::GivenPlugin;

/// Distinguishes null from an absent field.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
pub(super) struct Interrupt {
    pub(super) cancel_queued: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct SetMode {
    pub(super) mode: String,
}

#[derive(Deserialize)]
pub(super) struct SetModel {
    pub(super) model: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct SetThinking {
    #[serde(default, deserialize_with = "given")]
    pub(super) max_thinking_tokens: Option<Option<u32>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) thinking_display: Option<Option<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Server {
    pub(super) server_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Toggle {
    pub(super) server_name: String,
    pub(super) enabled: bool,
}

#[derive(Deserialize)]
pub(super) struct Servers {
    #[serde(default)]
    pub(super) servers: BTreeMap<String, RawJson>,
}

#[derive(Deserialize)]
pub(super) struct McpMessage {
    pub(super) server_name: String,
    pub(super) message: RawJson,
}

#[derive(Deserialize)]
pub(super) struct Rewind {
    pub(super) user_message_id: String,
    pub(super) dry_run: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct Task {
    pub(super) task_id: String,
}

#[derive(Deserialize)]
pub(super) struct Background {
    pub(super) tool_use_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct CancelMessage {
    pub(super) message_uuid: String,
}

#[derive(Deserialize)]
pub(super) struct Settings {
    pub(super) settings: RawJson,
}

#[derive(Deserialize)]
pub(super) struct Rename {
    pub(super) title: String,
    pub(super) session_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct GenerateTitle {
    pub(super) description: String,
    pub(super) persist: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct ReadFile {
    pub(super) path: String,
    pub(super) max_bytes: Option<u64>,
    pub(super) encoding: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Query {
    #[serde(default)]
    pub(super) query: String,
}

#[derive(Deserialize)]
pub(super) struct Seed {
    pub(super) path: String,
    pub(super) mtime: f64,
}

#[derive(Deserialize)]
pub(super) struct UpdateSettings {
    pub(super) source: SettingsFile,
    pub(super) settings: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub(super) struct ReloadPlugins {
    pub(super) add_plugins: Option<Vec<GivenPlugin>>,
    pub(super) refuse_if_busy: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct McpCall {
    pub(super) tool: String,
    pub(super) arguments: Option<RawJson>,
    pub(super) timeout_ms: Option<u32>,
    pub(super) check_permissions: Option<bool>,
    pub(super) input_files: Option<RawJson>,
    pub(super) output_files: Option<RawJson>,
    pub(super) expires_at: Option<RawJson>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadResource {
    pub(super) server_name: String,
    pub(super) uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetMcpMode {
    pub(super) server_name: String,
    pub(super) mode: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct RepoRoot {
    pub(super) directory: String,
}
