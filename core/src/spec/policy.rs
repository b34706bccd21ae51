//! What may run, for how long, and who has a say in it.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::Limits;
use crate::{hook::HookMatcher, permission::PermissionPolicy};

/// What may run, for how long, and who has a say in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicySpec {
    /// What may run.
    pub permissions: PermissionPolicy,
    /// What runs at the turning points of a session, in the order of its say.
    pub hooks: Vec<HookMatcher>,
    /// When to stop.
    pub limits: Limits,
    /// Whether transcript entries are handed to the host and waited for.
    pub persist: bool,
    /// Milliseconds a cancelled tool has to end before it is dropped.
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
