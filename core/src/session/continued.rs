//! Sessions that go on from a conversation: resumed from its transcript, forked from another session.

use alloc::{string::String, sync::Arc, vec::Vec};

use super::Session;
use crate::{
    content::Block,
    history::Role,
    id::{SessionId, Uuid},
    json::RawJson,
    message::ModelUsage,
    money::Usd,
    sorted::SortedMap,
    spec::Spec,
    transcript::{Conversation, Repair, Transcript},
};

/// What a session has spent so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spent {
    /// All of it.
    pub cost: Usd,
    /// By model.
    pub model_usage: SortedMap<String, ModelUsage>,
}

impl Session {
    /// A session that goes on where a transcript ends, whatever ended it: an error, a limit that is now
    /// higher, a crash in the middle of a line (SESS-1, SESS-4, SESS-6). Under the id of the transcript it
    /// resumes it, under another it is a fork. What must be mended for the next request to be valid comes back
    /// beside it; the transcript itself is not changed.
    ///
    /// A `seed` that was used before would give ids that were used before. Cost and usage count anew unless
    /// [`counting_on`](Self::counting_on) says what they were; a [snapshot](Self::snapshot) keeps the books itself.
    #[must_use]
    pub fn resume_transcript(
        spec: Arc<Spec>,
        id: SessionId,
        seed: [u8; 32],
        transcript: &Transcript,
    ) -> (Self, Vec<Repair>) {
        let conversation = transcript.conversation();
        Self::going_on(spec, id, seed, conversation, transcript.leaf())
    }

    /// Counts on from what was spent before: in the totals of results (Agent SDK reference, `total_cost_usd`, `modelUsage`)
    /// and against [`Limits::max_budget`](crate::spec::Limits::max_budget). For sessions in which nothing has happened yet.
    #[must_use]
    pub fn counting_on(mut self, spent: Spent) -> Self {
        self.shared.cost = spent.cost;
        self.shared.model_usage = spent.model_usage;
        self
    }

    /// Another session with the same conversation, up to a number of its messages ([`history`](Self::history);
    /// none for all), and the same mode, model, rules, working directory and readings of files. It takes no part in what this one
    /// is doing, and this one does not change. The same goes for costs: they stay where they were caused.
    #[must_use]
    pub fn fork(
        &self,
        id: SessionId,
        seed: [u8; 32],
        messages: Option<usize>,
    ) -> (Self, Vec<Repair>) {
        #[derive(serde::Deserialize)]
        struct Line {
            role: Role,
            content: Vec<RawJson>,
        }
        let lines = (self.main.history.lines())
            .take(messages.unwrap_or(usize::MAX))
            // The history encoded them itself.
            .filter_map(|line| crate::json::read::from_slice(&line).ok())
            .map(|line: Line| (line.role, line.content));
        let spec = self.shared.spec.clone();
        let (mut fork, repairs) = Self::going_on(spec, id, seed, Conversation::of(lines), None);
        fork.shared.permissions = self.shared.permissions.clone();
        fork.shared.observed.clone_from(&self.shared.observed);
        fork.main.choose(&fork.shared, self.main.chosen.clone());
        // What was chosen is in this as well, and the directory it works in.
        fork.main.spec = self.main.spec.clone();
        fork.main.left.clone_from(&self.main.left);
        (fork, repairs)
    }

    fn going_on(
        spec: Arc<Spec>,
        id: SessionId,
        seed: [u8; 32],
        conversation: Conversation,
        leaf: Option<Uuid>,
    ) -> (Self, Vec<Repair>) {
        let mut session = Self::new(spec, id, seed);
        let main = &mut session.main;
        main.last_entry = leaf;
        for (role, blocks) in conversation.messages {
            if role == Role::Assistant {
                // The names of effects go on where those of the conversation ended.
                main.turn = main.turn.saturating_add(1);
            }
            for block in &blocks {
                if let Block::ToolUse(call) = Block::from_raw(block.clone()) {
                    main.call_ids.insert(call.id);
                }
            }
            main.history.push(role, blocks);
        }
        main.rest();
        (session, conversation.repairs)
    }
}
