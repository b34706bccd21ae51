//! A component that is compiled and linked, with the functions that its declaration needs.

use wasmtime::component::InstancePre;

use super::{
    bindings::{ToolsPre, judge::JudgePre, observer::ObserverPre},
    call_state::CallState,
    declared_hook::{DeclaredHook, DeclaredHookKind},
};

/// What a component is run for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roles {
    tools: bool,
    judge: bool,
    observer: bool,
}

impl Roles {
    pub(super) fn of(tools: bool, hooks: &[DeclaredHook]) -> Self {
        let has = |kind| hooks.iter().any(|hook| hook.kind == kind);
        Self {
            tools,
            judge: has(DeclaredHookKind::Judge),
            observer: has(DeclaredHookKind::Observer),
        }
    }
}

/// The functions of a linked component; those that no tool and no hook needs are not looked for.
pub(super) struct Linked {
    tools: Option<ToolsPre<CallState>>,
    judge: Option<JudgePre<CallState>>,
    observer: Option<ObserverPre<CallState>>,
}

impl Linked {
    /// Finds the functions.
    ///
    /// # Errors
    /// One is missing, or has other parameters or results than its world says.
    pub(super) fn new(instance: &InstancePre<CallState>, roles: Roles) -> wasmtime::Result<Self> {
        let pre = |wanted: bool| wanted.then(|| instance.clone());
        Ok(Self {
            tools: pre(roles.tools).map(ToolsPre::new).transpose()?,
            judge: pre(roles.judge).map(JudgePre::new).transpose()?,
            observer: pre(roles.observer).map(ObserverPre::new).transpose()?,
        })
    }

    pub(super) fn tools(&self) -> wasmtime::Result<&ToolsPre<CallState>> {
        let missing = || wasmtime::Error::msg("it declares no tool");
        self.tools.as_ref().ok_or_else(missing)
    }

    pub(super) fn judge(&self) -> wasmtime::Result<&JudgePre<CallState>> {
        let missing = || wasmtime::Error::msg("it declares no judge");
        self.judge.as_ref().ok_or_else(missing)
    }

    pub(super) fn observer(&self) -> wasmtime::Result<&ObserverPre<CallState>> {
        let missing = || wasmtime::Error::msg("it declares no observer");
        self.observer.as_ref().ok_or_else(missing)
    }
}
