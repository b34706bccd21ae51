//! What a component declares about itself (`wit/README.md`). A key that nothing here enforces is refused: who reads a declaration
//! shall be able to rely on it.

use serde::Deserialize;
use windlass_core::{
    json::RawJson,
    tool::{Access, Annotations, PathParam, PluginGrant, RetryClass, ToolDefinition},
};

/// The declaration of a component.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// The name of the plugin.
    pub name: String,
    /// The version of the plugin.
    pub version: String,
    /// The version of the interfaces that it was made for.
    pub wit: String,
    /// Its tools.
    pub tools: Vec<DeclaredTool>,
    /// What it asks for.
    #[serde(default)]
    pub grants: DeclaredGrants,
    /// What a call needs at most.
    #[serde(default)]
    pub limits: DeclaredLimits,
}

/// A tool as it is declared.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredTool {
    /// The name by which the model calls it.
    pub name: String,
    /// What it does; the model reads this.
    pub description: String,
    /// JSON Schema of its input.
    pub input_schema: RawJson,
    /// Behaviour hints.
    #[serde(default)]
    pub annotations: Annotations,
    /// The input fields that are file paths.
    #[serde(default)]
    pub paths: Vec<PathParam>,
    /// What may be done about a call whose outcome was lost.
    #[serde(default)]
    pub retry: RetryClass,
    /// The time limit of a call in milliseconds.
    #[serde(default)]
    pub timeout_ms: Option<u32>,
}

impl DeclaredTool {
    /// The tool for the core. A declaration asks, it grants nothing: until somebody grants it something, it reaches no file.
    pub(super) fn into_definition(self) -> ToolDefinition {
        ToolDefinition {
            annotations: self.annotations,
            paths: self.paths,
            retry: self.retry,
            timeout_ms: self.timeout_ms,
            grant: Some(PluginGrant::default()),
            ..ToolDefinition::new(self.name, self.description, self.input_schema)
        }
    }
}

/// What a plugin asks for at most.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredGrants {
    /// Its access to files.
    #[serde(default)]
    pub filesystem: DeclaredAccess,
    /// The origins that it sends requests to. No host grants any yet, so that every request is refused.
    #[serde(default)]
    pub http: Vec<String>,
}

/// The access to files that a plugin asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeclaredAccess {
    /// None.
    #[default]
    None,
    /// Reading and listing.
    Read,
    /// Reading and changing.
    Write,
}

impl DeclaredAccess {
    /// As a grant names it.
    #[must_use]
    pub fn access(self) -> Option<Access> {
        match self {
            Self::None => None,
            Self::Read => Some(Access::Read),
            Self::Write => Some(Access::Write),
        }
    }
}

/// What one call needs at most. A host may allow less, never more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredLimits {
    /// Linear memory in bytes.
    #[serde(default)]
    pub memory_bytes: Option<usize>,
    /// Time in milliseconds.
    #[serde(default)]
    pub timeout_ms: Option<u32>,
    /// Bytes of text and images in a result.
    #[serde(default)]
    pub output_bytes: Option<usize>,
}
