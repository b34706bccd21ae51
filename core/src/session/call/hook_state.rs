//! What hooks have decided about a call so far.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    hook::Narrowing,
    json::RawJson,
    permission::{Behavior, HookVerdict},
    tool::ToolResult,
};

/// The state of hooks for one call.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CallHooks {
    /// The hooks before the permission decision have run.
    pub(super) asked_before: bool,
    /// The hooks that can answer a permission request have run.
    pub(super) asked_instead: bool,
    /// The decision of the first ones: allow, or ask.
    pub(super) asks: Option<HookRuling>,
    /// The restrictions they impose.
    pub(super) narrowing: Narrowing,
    /// The text they add for the model, after the results of the round.
    pub(super) context: Vec<RawJson>,
    /// The result that hooks are examining.
    pub(super) result: Option<ToolResult>,
    /// The worktree it needs, once hooks were asked to create it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) worktree: Option<HookedWorktree>,
}

/// A worktree that hooks were asked to create.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct HookedWorktree {
    pub(super) name: String,
    /// The path, if a hook created it.
    pub(super) path: Option<String>,
}

/// The decision of hooks before the permission decision.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct HookRuling {
    /// If false, permission must be asked for.
    pub(super) allows: bool,
    pub(super) hook: String,
    pub(super) reason: String,
}

impl CallHooks {
    /// The decision of hooks, if they made one.
    pub(super) fn verdict(&self) -> Option<HookVerdict> {
        let ruling = self.asks.as_ref()?;
        Some(HookVerdict {
            behavior: match ruling.allows {
                true => Behavior::Allow,
                false => Behavior::Ask,
            },
            reason: Some(format!("{}: {}", ruling.hook, ruling.reason)),
        })
    }
}
