//! Permissions, hooks and limits.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::Limits;
use crate::{hook::HookMatcher, permission::PermissionPolicy};

/// Permissions, hooks and limits.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicySpec {
    /// The permission rules and mode.
    pub permissions: PermissionPolicy,
    /// The hooks, in the order in which their outputs are merged.
    pub hooks: Vec<HookMatcher>,
    /// When a run stops.
    pub limits: Limits,
    /// Whether transcript entries are sent to the host, and their answers waited for.
    pub persist: bool,
    /// Milliseconds that a cancelled tool or hook gets to end by itself before it is dropped.
    pub cancel_grace_ms: u64,
}

impl Default for PolicySpec {
    fn default() -> Self {
        Self {
            permissions: PermissionPolicy::default(),
            hooks: Vec::new(),
            limits: Limits::default(),
            persist: false,
            cancel_grace_ms: 5_000,
        }
    }
}
