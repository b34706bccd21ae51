//! One run of a hook outside of a session, for tests of plugins.

use std::sync::Arc;

use windlass_core::{
    effect::Answer,
    hook::{HookAnswer, HookCall, HookKind},
    host::CancelSignal,
    json::RawJson,
};

use super::{
    component::Plugin,
    hook::{HookTerms, PluginHook},
};

/// The tools of windlass whose files it resolves.
const RESOLVED: [&str; 6] = ["Read", "Write", "Edit", "NotebookEdit", "Glob", "Grep"];

impl Plugin {
    /// Runs a declared hook once, with the input of its event; none if there is no hook of this name. A judge answers with its
    /// judgement as JSON, an observer with `{}`.
    ///
    /// No matcher is looked at, and nothing comes of the answer: only a session refuses or narrows calls.
    ///
    /// # Errors
    /// Why the hook failed, in one sentence.
    pub async fn try_hook(
        &self,
        name: &str,
        input: RawJson,
        tool_use_id: Option<String>,
    ) -> Option<Result<RawJson, String>> {
        let own = self.tools().iter().map(|tool| tool.name.clone());
        let enforcing = RESOLVED.map(str::to_owned).into_iter().chain(own).collect();
        let terms = HookTerms {
            closed: Vec::new(),
            enforcing: Arc::new(enforcing),
        };
        let index = self.hooks().iter().position(|hook| hook.name == name)?;
        let hook = self.granted_hooks(&terms).nth(index)?;
        let call = HookCall {
            hook: hook.name(),
            event: self.hooks().get(index)?.event,
            input,
            tool_use_id,
            timeout_ms: hook.matcher().timeout_ms,
            kind: HookKind::Narrowing,
            deny: Vec::new(),
        };
        Some(answered(hook, call).await)
    }
}

async fn answered(hook: PluginHook, call: HookCall) -> Result<RawJson, String> {
    match hook.answer(call, CancelSignal::new()).await {
        Answer::Hook(HookAnswer::Output(output)) => Ok(output),
        Answer::Hook(HookAnswer::Failed(reason)) => Err(reason),
        _ => Err("it was cancelled".to_owned()),
    }
}
