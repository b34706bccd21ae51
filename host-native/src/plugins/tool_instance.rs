//! An instance whose tools can be called.

use wasmtime::Store;

use super::{
    bindings::Tools,
    call_state::{CallPart, CallState},
};

/// A component that is instantiated, with its functions.
pub(super) struct ToolInstance {
    pub(super) store: Store<CallState>,
    pub(super) tools: Tools,
}

impl ToolInstance {
    /// Whether a call can run in it and find what it was granted.
    pub(super) fn serves(&self, call: &mut CallPart) -> bool {
        !self.store.data().instance.would_miss(&mut call.reach)
    }

    /// The same with this in place of all that was the last call's.
    pub(super) fn with(mut self, call: CallPart) -> Self {
        self.store.data_mut().call = call;
        self
    }

    /// The same, in its parts.
    pub(super) fn given(self, call: CallPart) -> (Store<CallState>, Option<Tools>) {
        let Self { store, tools } = self.with(call);
        (store, Some(tools))
    }
}
