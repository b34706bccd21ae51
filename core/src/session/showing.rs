//! What the model is shown instead of the history itself, when the core clears old tool results.

use super::Thread;
use crate::{
    content::Block,
    context::Clearing,
    history::{History, Role},
    json::RawJson,
};

/// The history with results cleared. Can be made again from the history at any time.
#[derive(Debug)]
pub(super) struct Shown {
    history: History,
    /// What it was made of: the history at this generation, up to this message.
    generation: u64,
    messages: usize,
}

impl Thread {
    /// Clears old results if the context has grown past the trigger (CTX-2). Before that the model is warned, if it
    /// has a tool to save what it needs (CTX-5).
    pub(super) fn clear_old_results(&mut self) {
        let tokens = self.context_tokens();
        let Some(clearing) = self.spec.clearing_by_core() else {
            return;
        };
        let size = &self.context_size;
        // A warning counts once the model has answered to it.
        let was_warned = size.warned.is_some_and(|turn| turn < self.turn);
        let unwarned = !was_warned && self.can_save(clearing);
        let settled = size.settled_at.saturating_add(clearing.clear_at_least);
        if unwarned || tokens <= clearing.trigger_tokens.max(settled) {
            return;
        }
        let plan = clearing.plan(&self.history, size.cleared);
        self.context_size.settled_at = tokens;
        if let Some(plan) = plan {
            self.context_size.cleared = plan.results;
            self.context_size.freed += plan.tokens;
            self.context_size.settled_at = tokens.saturating_sub(plan.tokens);
            self.context_size.warned = None;
            self.shown = None;
        }
    }

    /// The warning that results will be cleared, if it is due; it stands in the history behind the newest results.
    pub(super) fn warn_of_clearing(&mut self) -> Option<RawJson> {
        let clearing = self.spec.clearing_by_core()?;
        let due = self.context_size.warned.is_none()
            && self.context_tokens() >= clearing.warn_at()
            && self.can_save(clearing)
            && clearing
                .plan(&self.history, self.context_size.cleared)
                .is_some();
        let warning = due.then(|| Block::text(&clearing.warning()).to_raw())?;
        self.context_size.warned = Some(self.turn);
        self.history.push(Role::User, alloc::vec![warning.clone()]);
        Some(warning)
    }

    /// Takes back what a request was made of.
    pub(super) fn put_back(&mut self, history: History) {
        if let Some(shown) = &mut self.shown {
            shown.history = history;
        }
    }

    fn can_save(&self, clearing: &Clearing) -> bool {
        let mut offered = self.spec.offered_tools();
        offered.any(|tool| tool.name == clearing.memory_tool)
    }

    /// What a request shows in place of the history; none while nothing is cleared. Only what is new since the last
    /// request is encoded.
    pub(super) fn shown(&mut self) -> Option<&mut History> {
        if self.context_size.cleared == 0 {
            return None;
        }
        let clearing = self.spec.clearing_by_core()?;
        // What is sealed does not change without another generation.
        self.history.seal();
        let (generation, count) = (self.history.generation(), self.history.message_count());
        let mut shown = match self.shown.take() {
            Some(shown) if shown.generation == generation => shown,
            _ => Shown {
                history: clearing.apply(&self.history, self.context_size.cleared),
                generation,
                messages: count,
            },
        };
        for index in shown.messages..count {
            let blocks = self.history.blocks(index);
            shown.history.push(self.history.role(index), blocks);
        }
        shown.messages = count;
        shown.history.requested_like(&self.history);
        Some(&mut self.shown.insert(shown).history)
    }
}
