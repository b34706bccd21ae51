//! The conversation as requests carry it: its history, what is shown in place of that, and what stands before it.

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

/// What the model is shown of a thread.
#[derive(Debug, Default)]
pub(super) struct Context {
    history: History,
    size: ContextSize,
    /// What requests show in place of the history; none is the history.
    shown: Option<Shown>,
    /// The unchanging part of a request, for the model it was made for. Whoever changes what it is made of
    /// takes it away.
    prefix: Option<(String, Prefix)>,
}

/// What a thread knows of the size of its context.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ContextSize {
    counted: Option<size::Counted>,
    /// Length of what stood before the history in the last request. Noted, because that part itself is let go of
    /// when a session rests or is put away.
    prefix_bytes: u64,
    /// What the last compaction left. Another one soon after would gain nothing.
    compacted_to: u64,
    /// So many results from the beginning are cleared, but for those of excluded tools.
    cleared: u32,
    /// Tokens that clearing set free since the provider counted.
    freed: u64,
    /// The context when clearing was last thought of.
    settled_at: u64,
    /// The model was warned that results will be cleared, after this turn.
    warned: Option<u32>,
}

/// The history with results cleared. Can be made again from the history at any time.
#[derive(Debug)]
struct Shown {
    history: History,
    /// What it was made of: the history at this generation, up to this message.
    generation: u64,
    messages: usize,
}

impl Context {
    /// The conversation so far.
    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// A message joins the conversation.
    pub(super) fn push(&mut self, role: Role, content: Vec<RawJson>) {
        self.history.push(role, content);
    }

    /// The response with which the conversation goes on, and what the server counted for it.
    pub(super) fn push_response(&mut self, content: Vec<RawJson>, usage: &Usage) {
        self.history.push(Role::Assistant, content);
        let estimate = self.history.estimated_tokens();
        self.size.counted = size::Counted::new(usage, estimate);
        if self.size.counted.is_some() {
            self.size.freed = 0;
        }
    }

    /// Takes back what came behind a place; whether it could.
    pub(super) fn go_back_to(&mut self, place: Checkpoint) -> bool {
        self.history.rollback(place).is_ok()
    }

    /// A round of results that was taken back stands there again, mended.
    pub(super) fn push_mended(&mut self, content: Vec<RawJson>) {
        self.history.push(Role::User, content);
        // The estimate of what was refused counts for nothing any more.
        self.shown = None;
    }

    /// The conversation begins anew, with a summary; the tokens that it has now.
    pub(super) fn begin_anew(&mut self, history: History) -> u64 {
        self.history = history;
        self.size = ContextSize {
            prefix_bytes: self.size.prefix_bytes,
            ..ContextSize::default()
        };
        self.shown = None;
        self.size.compacted_to = self.tokens();
        self.size.compacted_to
    }

    /// Tokens that the last compaction left; 0 before the first.
    pub(super) fn compacted_to(&self) -> u64 {
        self.size.compacted_to
    }

    /// Tokens of the context as far as they are known, else estimated.
    pub(super) fn tokens(&self) -> u64 {
        let known = &self.size;
        let estimate = self.history.estimated_tokens();
        size::context(known.counted, known.prefix_bytes, estimate).saturating_sub(known.freed)
    }

    /// Clears old results if the context has grown past the trigger (CTX-2). `can_save`: the model is warned before that.
    pub(super) fn clear_old_results(&mut self, clearing: &Clearing, turn: u32, can_save: bool) {
        let tokens = self.tokens();
        // A warning counts once the model has answered to it.
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
            self.shown = None;
        }
    }

    /// The warning that results will be cleared, if it is due after this turn; it stands in the history behind the newest
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

    /// A request is about to be made: what there is up to now does not change any more.
    pub(super) fn seal_for_request(&mut self) {
        self.history.seal_for_request();
    }

    /// Hands out what the next request shows, until it is [put back](Self::put_back).
    pub(super) fn lend(&mut self, clearing: Option<&Clearing>) -> Lent {
        match self.shown(clearing) {
            Some(shown) => Lent::Shown(core::mem::take(shown)),
            None => Lent::Whole(core::mem::take(&mut self.history)),
        }
    }

    /// Takes back what a request was made of.
    pub(super) fn put_back(&mut self, lent: Lent) {
        match lent {
            Lent::Whole(history) => self.history = history,
            Lent::Shown(history) => {
                if let Some(shown) = &mut self.shown {
                    shown.history = history;
                }
            }
        }
    }

    /// A copy of what requests show, to ask something behind it.
    pub(super) fn copy(&mut self, clearing: Option<&Clearing>) -> History {
        match self.shown(clearing) {
            Some(shown) => shown.clone(),
            None => self.history.clone(),
        }
    }

    /// What a request shows in place of the history; none while nothing is cleared. Only what is new since the last
    /// request is encoded.
    fn shown(&mut self, clearing: Option<&Clearing>) -> Option<&mut History> {
        if self.size.cleared == 0 {
            return None;
        }
        let clearing = clearing?;
        // What is sealed does not change without another generation.
        self.history.seal();
        let (generation, count) = (self.history.generation(), self.history.message_count());
        let mut shown = match self.shown.take() {
            Some(shown) if shown.generation == generation => shown,
            _ => Shown {
                history: clearing.apply(&self.history, self.size.cleared),
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

    /// The part before the conversation, if it was made for this model.
    pub(super) fn take_prefix(&mut self, model: &str) -> Option<Prefix> {
        let (_, prefix) = (self.prefix.take()).filter(|(made_for, _)| made_for == model)?;
        Some(prefix)
    }

    /// Keeps the part before the conversation for the next request to the same model.
    pub(super) fn keep_prefix(&mut self, model: String, prefix: Prefix) {
        self.size.prefix_bytes = prefix.bytes.len() as u64;
        self.prefix = Some((model, prefix));
    }

    /// The model that the last request was made for, while that is known.
    pub(super) fn made_for(&self) -> Option<&String> {
        self.prefix.as_ref().map(|(model, _)| model)
    }

    /// What stands before the conversation is another one from now on.
    pub(super) fn forget_prefix(&mut self) {
        self.prefix = None;
    }

    /// Lets go of what only a run needs: it can be made again.
    pub(super) fn rest(&mut self) {
        self.forget_prefix();
        self.history.rest();
    }

    /// The conversation, for a thread that takes the place of this one.
    pub(super) fn take_history(&mut self) -> History {
        core::mem::take(&mut self.history)
    }

    /// What snapshots keep besides the history.
    pub(super) fn size(&self) -> ContextSize {
        let Self {
            size,
            history: _,
            // Made again from what is kept.
            shown: _,
            prefix: _,
        } = self;
        *size
    }

    /// The same again.
    pub(super) fn restored(history: History, size: ContextSize) -> Self {
        Self {
            history,
            size,
            ..Self::default()
        }
    }
}

/// What a request is made of.
pub(super) enum Lent {
    /// The history itself.
    Whole(History),
    /// What is shown in its place.
    Shown(History),
}

impl Lent {
    pub(super) fn history(&mut self) -> &mut History {
        match self {
            Self::Whole(history) | Self::Shown(history) => history,
        }
    }
}
