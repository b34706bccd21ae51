//! What is noted of durable state that no grant leads to any more.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Durable state that no grant has any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LeftState {
    /// The name that the component declares which had it last, or which was granted something in the place of that one.
    pub(super) name: String,
    /// The digest of that component.
    pub(super) digest: String,
    /// The installed plugin that had it, if it is of one that was updated or removed since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) plugin: Option<String>,
    /// Whether it was kept for when the same component is granted durable state again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_kept: bool,
    /// Where it lies, if the grant said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) directory: Option<PathBuf>,
}
