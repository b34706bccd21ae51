//! What a component declares about itself (`wit/README.md`). A key that nothing here enforces is refused: who reads a declaration
//! shall be able to rely on it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::IgnoredAny};
use windlass_core::{
    json::RawJson,
    tool::{Access, Annotations, PathParam, PluginGrant, RetryClass, ToolDefinition},
};

use super::{
    asked::{self, AskedFault, DeclaredSecret},
    declared_hook::{DeclaredHook, DeclaredHookKind},
    limits::{CallLimits, DeclaredLimits},
    origin::OriginMethods,
    role::{self, DeclaredDirectory},
    state::StateScope,
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
    #[serde(default)]
    pub tools: Vec<DeclaredTool>,
    /// Its hooks.
    #[serde(default)]
    pub hooks: Vec<DeclaredHook>,
    /// What it asks for.
    #[serde(default)]
    pub grants: DeclaredGrants,
    /// What a call needs at most.
    #[serde(default)]
    pub limits: DeclaredLimits,
    /// How long an instance of it lasts that its tools run in.
    #[serde(default)]
    pub instance: InstanceScope,
}

impl Declaration {
    /// Whether one of its hooks judges calls.
    pub(crate) fn judges(&self) -> bool {
        let mut hooks = self.hooks.iter();
        hooks.any(|hook| hook.kind == DeclaredHookKind::Judge)
    }
}

/// How long an instance lasts that the tools of a component run in. Hooks have a fresh one for each run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InstanceScope {
    /// For one call.
    #[default]
    Call,
    /// At most for a session, whose calls run in it one after the other: the component keeps what it has in memory.
    Session,
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
    /// Whether its schema names this field of the input, or may do so elsewhere than at its top.
    #[must_use]
    pub fn has_field(&self, name: &str) -> bool {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Object {
            properties: Option<BTreeMap<String, IgnoredAny>>,
        }
        let schema: Object = self.input_schema.decode().unwrap_or_default();
        let properties = schema.properties.as_ref();
        properties.is_none_or(|properties| properties.contains_key(name))
    }

    /// The tool for the core. A declaration asks, it grants nothing: until somebody grants it something, it reaches no file.
    ///
    /// What writes files changes something, whatever it says of itself, and takes at most the time that a call has. What its component
    /// may send away is in the open, whatever it says: `sends` is whether that asks for the network.
    pub(super) fn definition(&self, limits: &CallLimits, sends: bool) -> ToolDefinition {
        let most = u32::try_from(limits.time.as_millis()).unwrap_or(u32::MAX);
        let writes = self.paths.iter().any(|path| path.access == Access::Write);
        ToolDefinition {
            annotations: Annotations {
                read_only: self.annotations.read_only && !writes,
                open_world: self.annotations.open_world || sends,
                ..self.annotations
            },
            paths: self.paths.clone(),
            retry: self.retry,
            timeout_ms: self.timeout_ms.map(|ms| ms.min(most)),
            grant: Some(PluginGrant::default()),
            ..ToolDefinition::new(
                self.name.clone(),
                self.description.clone(),
                self.input_schema.clone(),
            )
        }
    }
}

/// What a plugin asks for at most.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredGrants {
    /// Its access to files of the workspace and of directories without a role.
    #[serde(default)]
    pub filesystem: DeclaredAccess,
    /// The directories that it asks for by their roles.
    #[serde(default)]
    pub directories: Vec<DeclaredDirectory>,
    /// The origins that it sends requests to.
    #[serde(default)]
    pub http: Vec<OriginMethods>,
    /// The keys that the host shall add to requests.
    #[serde(default)]
    pub secrets: Vec<DeclaredSecret>,
    /// The environment variables that it reads.
    #[serde(default)]
    pub env: Vec<String>,
    /// What it remembers between calls.
    #[serde(default)]
    pub state: StateScope,
}

impl DeclaredGrants {
    /// Checks that a host could grant all of it.
    pub(super) fn check(&self) -> Result<(), AskedFault> {
        role::check(&self.directories)?;
        asked::check(&self.http, &self.secrets, &self.env)
    }
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
