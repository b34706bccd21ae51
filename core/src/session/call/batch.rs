//! The hook event for all results of a response, before the model receives them.

use super::{
    super::{Shared, Thread},
    record::Call,
};
use crate::{
    hook::{
        HookEvent, Merged, Occurrence,
        input::{BatchCall, PostToolBatch},
    },
    json::{RawJson, RawObject},
};

impl Thread {
    /// Runs hooks on all results of a response before the model receives them. False if there are no such hooks, or they have run
    /// already.
    pub(super) fn show_batch_to_hooks(&mut self, shared: &mut Shared) -> bool {
        if self.run.batch_shown.replace(self.turns.current()) == Some(self.turns.current()) {
            return self.hooks.look_at(&[HookEvent::PostToolBatch]);
        }
        let event = HookEvent::PostToolBatch;
        if !self
            .spec
            .policy
            .hooks
            .iter()
            .any(|matcher| matcher.event == event)
        {
            return false; // the results are not copied for nobody
        }
        let call = |call: &Call| BatchCall {
            tool_name: call.name.clone(),
            tool_input: call.input_or_empty(),
            tool_use_id: call.id.clone(),
            tool_response: call.answer.as_ref().and_then(content_in),
        };
        let tool_calls = self.run.calls.iter().map(call).collect();
        let occurrence = Occurrence::PostToolBatch(PostToolBatch { tool_calls });
        self.fire(shared, occurrence, None)
    }

    pub(in crate::session) fn batch_hooks_settled(&mut self, shared: &mut Shared, merged: Merged) {
        for text in &merged.context {
            self.add_context(HookEvent::PostToolBatch, text);
        }
        if let Some(reason) = merged.block {
            self.stop_run(shared, reason);
        }
        self.go_on_with_calls(shared);
    }
}

/// The content of a `tool_result` block.
fn content_in(block: &RawJson) -> Option<RawJson> {
    RawObject::parse(block.get()).ok()?.get("content").cloned()
}
