//! Clearing of old tool results by the core.

use super::Thread;
use crate::{context::Clearing, json::RawJson};

impl Thread {
    /// Clears old results if the context has grown past the trigger (CTX-2). The model is warned first if it has a tool to save
    /// what it needs (CTX-5).
    pub(super) fn clear_old_results(&mut self) {
        if let Some(clearing) = self.spec.clearing_by_core() {
            let can_save = self.can_save(clearing);
            let turn = self.turns.current();
            self.context.clear_old_results(clearing, turn, can_save);
        }
    }

    /// The warning that results will be cleared, if it is due.
    pub(super) fn warn_of_clearing(&mut self) -> Option<RawJson> {
        let clearing = self.spec.clearing_by_core()?;
        if !self.can_save(clearing) {
            return None;
        }
        let turn = self.turns.current();
        self.context.warn_of_clearing(clearing, turn)
    }

    fn can_save(&self, clearing: &Clearing) -> bool {
        let mut offered = self.spec.offered_tools();
        offered.any(|tool| tool.name == clearing.memory_tool)
    }
}
