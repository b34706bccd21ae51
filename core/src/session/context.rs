//! The conversation as requests contain it: its history, what replaces parts of it, and the prefix before it.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{
    content::Block,
    context::Clearing,
    history::{Checkpoint, History, Role, size},
    json::RawJson,
    model::Usage,
    provider::Prefix,
};

/// The context of a thread.
#[derive(Debug, Default)]
pub(super) struct Context {
    history: History,
    size: ContextSize,
    /// What requests contain instead of the history; none means the history itself.
    cleared_history: Option<ClearedHistory>,
    /// The unchanging prefix of a request, and the model it was built for. Any change of its sources must remove it.
    prefix: Option<(String, Prefix)>,
}

/// The known size of a thread's context.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ContextSize {
    counted: Option<size::Counted>,
    /// Length of the prefix in the last request. Stored separately because the prefix itself is dropped when a session is idle or
    /// saved.
    prefix_bytes: u64,
    /// Tokens left by the last compaction. Another one soon after would gain nothing.
    compacted_to: u64,
    /// The number of results cleared, counted from the beginning and including those of excluded tools, which stay.
    cleared: u32,
    /// Tokens freed by clearing since the provider last counted.
    freed: u64,
    /// The size of the context when clearing was last considered.
    settled_at: u64,
    /// The turn after which the model was warned that results will be cleared.
    warned: Option<u32>,
}

/// The history with cleared results. It can be rebuilt from the history at any time.
#[derive(Debug)]
struct ClearedHistory {
    history: History,
    /// What it was built from: the history at this generation, up to this message.
    generation: u64,
    messages: usize,
}

impl Context {
    /// The conversation so far.
    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// Appends a message to the conversation.
    pub(super) fn push(&mut self, role: Role, content: Vec<RawJson>) {
        self.history.push(role, content);
    }

    /// Appends a response, with the token counts of the server.
    pub(super) fn push_response(&mut self, content: Vec<RawJson>, usage: &Usage) {
        self.history.push(Role::Assistant, content);
        let estimate = self.history.estimated_tokens();
        self.size.counted = size::Counted::new(usage, estimate);
        if self.size.counted.is_some() {
            self.size.freed = 0;
        }
    }

    /// Removes everything after a checkpoint; returns whether that was possible.
    pub(super) fn go_back_to(&mut self, place: Checkpoint) -> bool {
        self.history.rollback(place).is_ok()
    }

    /// Appends the repaired version of a round of results that was removed.
    pub(super) fn push_mended(&mut self, content: Vec<RawJson>) {
        self.history.push(Role::User, content);
        // The estimate for the refused round no longer applies.
        self.cleared_history = None;
    }

    /// Restarts the conversation from a summary; returns its size in tokens.
    pub(super) fn begin_anew(&mut self, history: History) -> u64 {
        self.history = history;
        self.size = ContextSize {
            prefix_bytes: self.size.prefix_bytes,
            ..ContextSize::default()
        };
        self.cleared_history = None;
        self.size.compacted_to = self.tokens();
        self.size.compacted_to
    }

    /// Tokens left by the last compaction; 0 before the first.
    pub(super) fn compacted_to(&self) -> u64 {
        self.size.compacted_to
    }

    /// Tokens of the context, as counted by the provider where known, otherwise estimated.
    pub(super) fn tokens(&self) -> u64 {
        let known = &self.size;
        let estimate = self.history.estimated_tokens();
        size::context(known.counted, known.prefix_bytes, estimate).saturating_sub(known.freed)
    }

    /// Clears old results if the context has grown past the trigger (CTX-2). `can_save`: the model is warned first.
    pub(super) fn clear_old_results(&mut self, clearing: &Clearing, turn: u32, can_save: bool) {
        let tokens = self.tokens();
        // A warning counts once the model has responded to it.
        let was_warned = self.size.warned.is_some_and(|warned| warned < turn);
        let unwarned = !was_warned && can_save;
        let settled = (self.size.settled_at).saturating_add(clearing.clear_at_least);
        if unwarned || tokens <= clearing.trigger_tokens.max(settled) {
            return;
        }
        self.size.settled_at = tokens;
        if let Some(plan) = clearing.plan(&self.history, self.size.cleared) {
            self.size.cleared = plan.results;
            self.size.freed += plan.tokens;
            self.size.settled_at = tokens.saturating_sub(plan.tokens);
            self.size.warned = None;
            self.cleared_history = None;
        }
    }

    /// The warning that results will be cleared, if it is due after this turn. It is appended to the history after the newest
    /// results (CTX-5).
    pub(super) fn warn_of_clearing(&mut self, clearing: &Clearing, turn: u32) -> Option<RawJson> {
        let due = self.size.warned.is_none()
            && self.tokens() >= clearing.warn_at()
            && clearing.plan(&self.history, self.size.cleared).is_some();
        let warning = due.then(|| Block::text(&clearing.warning()).to_raw())?;
        self.size.warned = Some(turn);
        self.push(Role::User, alloc::vec![warning.clone()]);
        Some(warning)
    }

    /// A request is about to be built: the current messages will not change any more.
    pub(super) fn seal_for_request(&mut self) {
        self.history.seal_for_request();
    }

    /// Takes out what the next request contains, until it is [put back](Self::put_back).
    pub(super) fn take_request_history(&mut self, clearing: Option<&Clearing>) -> RequestHistory {
        match self.cleared_history(clearing) {
            Some(cleared) => RequestHistory::Cleared(core::mem::take(cleared)),
            None => RequestHistory::Whole(core::mem::take(&mut self.history)),
        }
    }

    /// Returns what a request was built from.
    pub(super) fn put_back(&mut self, taken: RequestHistory) {
        match taken {
            RequestHistory::Whole(history) => self.history = history,
            RequestHistory::Cleared(history) => {
                if let Some(cleared) = &mut self.cleared_history {
                    cleared.history = history;
                }
            }
        }
    }

    /// A copy of what requests contain, to append a question to it.
    pub(super) fn copy(&mut self, clearing: Option<&Clearing>) -> History {
        match self.cleared_history(clearing) {
            Some(cleared) => cleared.clone(),
            None => self.history.clone(),
        }
    }

    /// What requests contain instead of the history; none while nothing is cleared. Only messages added since the last request
    /// are encoded.
    fn cleared_history(&mut self, clearing: Option<&Clearing>) -> Option<&mut History> {
        if self.size.cleared == 0 {
            return None;
        }
        let clearing = clearing?;
        // Sealed messages do not change without a new generation.
        self.history.seal();
        let (generation, count) = (self.history.generation(), self.history.message_count());
        let mut cleared = match self.cleared_history.take() {
            Some(cleared) if cleared.generation == generation => cleared,
            _ => ClearedHistory {
                history: clearing.apply(&self.history, self.size.cleared),
                generation,
                messages: count,
            },
        };
        for index in cleared.messages..count {
            let blocks = self.history.blocks(index);
            cleared.history.push(self.history.role(index), blocks);
        }
        cleared.messages = count;
        cleared.history.requested_like(&self.history);
        Some(&mut self.cleared_history.insert(cleared).history)
    }

    /// The prefix, if it was built for this model.
    pub(super) fn take_prefix(&mut self, model: &str) -> Option<Prefix> {
        let (_, prefix) = (self.prefix.take()).filter(|(made_for, _)| made_for == model)?;
        Some(prefix)
    }

    /// Stores the prefix for the next request to the same model.
    pub(super) fn keep_prefix(&mut self, model: String, prefix: Prefix) {
        self.size.prefix_bytes = prefix.bytes.len() as u64;
        self.prefix = Some((model, prefix));
    }

    /// The model that the prefix was built for, if there is one.
    pub(super) fn made_for(&self) -> Option<&String> {
        self.prefix.as_ref().map(|(model, _)| model)
    }

    /// Drops the prefix, because it would be different from now on.
    pub(super) fn forget_prefix(&mut self) {
        self.prefix = None;
    }

    /// Drops what is only needed during a run and can be rebuilt.
    pub(super) fn rest(&mut self) {
        self.forget_prefix();
        self.history.rest();
    }

    /// Takes the history, for a thread that replaces this one.
    pub(super) fn take_history(&mut self) -> History {
        core::mem::take(&mut self.history)
    }

    /// The state for snapshots, besides the history.
    pub(super) fn size(&self) -> ContextSize {
        let Self {
            size,
            history: _,
            // Rebuilt from the rest.
            cleared_history: _,
            prefix: _,
        } = self;
        *size
    }

    /// Restores the context from that state.
    pub(super) fn restored(history: History, size: ContextSize) -> Self {
        Self {
            history,
            size,
            ..Self::default()
        }
    }
}

/// What a request is built from.
pub(super) enum RequestHistory {
    /// The history itself.
    Whole(History),
    /// The history with cleared results.
    Cleared(History),
}

impl RequestHistory {
    pub(super) fn history(&mut self) -> &mut History {
        match self {
            Self::Whole(history) | Self::Cleared(history) => history,
        }
    }
}
