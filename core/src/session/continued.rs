//! Sessions that go on from a conversation: resumed from its transcript, forked from another session.

use alloc::{
    string::{String, ToString},
    sync::Arc,
    vec,
    vec::Vec,
};

use super::{Session, thread::Chosen, writing::Writing};
use crate::{
    content::Block,
    effect::Input,
    history::Role,
    id::{SessionId, Uuid},
    json::RawJson,
    message::ModelUsage,
    money::Usd,
    permission::Mode,
    sorted::SortedMap,
    spec::Spec,
    tools::{Notes, Recalled, tool_search::forget_unreferenced},
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
    /// higher, a crash in the middle of a line (SESS-1, SESS-4, SESS-6). The list of what is to be done, the tools that were
    /// searched for and the skills that were invoked are those that the calls in the transcript have left; who resumes in plan
    /// mode goes back to the mode before it, where it was written down and is allowed now. Under the id of the transcript it
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
        let (mut session, repairs) =
            Self::going_on(spec, id, seed, conversation, transcript.leaf());
        session.recalls(transcript.notes());
        session.shared.mode_before_plan = session.mode_to_return_to(transcript.mode_before_plan());
        (session, repairs)
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
    /// none for all), and the same mode, model, rules, working directory and readings of files; what is to be done, which tools were found and
    /// which skills invoked is as it was at that message. It takes no part in what this one
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
        // The history encoded them itself.
        let mut lines = (self.main.context.history().lines())
            .filter_map(|line| crate::json::read::from_slice::<Line>(&line).ok());
        let mut recalled = Recalled::default();
        let taken = (lines.by_ref())
            .take(messages.unwrap_or(usize::MAX))
            .inspect(|line| recalled.read(&line.content))
            .map(|line| (line.role, line.content));
        let taken = Conversation::of(taken);
        let notes = recalled.notes_before(&self.main.notes, lines.map(|line| line.content));
        let spec = self.shared.spec.clone();
        let (mut fork, repairs) = Self::going_on(spec, id, seed, taken, None);
        fork.shared.permissions = self.shared.permissions.clone();
        fork.shared.mode_before_plan = self.shared.mode_before_plan;
        fork.shared.observed.clone_from(&self.shared.observed);
        fork.main.choose(&fork.shared, self.main.chosen().clone());
        // What was chosen is in this as well, and the directory it works in.
        fork.main.spec = self.main.spec.clone();
        fork.main.workplace.clone_from(&self.main.workplace);
        fork.recalls(notes);
        (fork, repairs)
    }

    /// What a session that begins without a conversation has to be told so that this one's permissions and choices hold there
    /// too, as when a person clears the conversation: rules, directories and guarded servers, the mode, whether or not it was
    /// changed, and the model, thinking and effort that were chosen. All of them are inputs that a new session takes.
    #[must_use]
    pub fn carried_over(&self) -> Vec<Input> {
        let shared = &self.shared;
        let permissions = &shared.permissions;
        // One by one: one that does not apply where it is told takes no other with it.
        let updates = permissions.updates().iter();
        let mut inputs: Vec<Input> = updates
            .map(|update| Input::UpdatePermissions(vec![update.clone()]))
            .collect();
        let guarded = permissions.guarded().iter();
        inputs.extend(guarded.filter_map(|begin| {
            let server = begin.strip_prefix("mcp__")?.strip_suffix("__")?;
            Some(Input::GuardServer {
                server: server.to_string(),
                is_guarded: true,
            })
        }));
        // Leaving plan mode goes back to where it was entered.
        let modes = shared.mode_before_plan.into_iter().chain([self.mode()]);
        inputs.extend(modes.map(Input::SetMode));
        let Chosen {
            model,
            thinking,
            effort,
        } = self.main.chosen();
        inputs.extend(model.clone().map(|model| Input::SetModel(Some(model))));
        inputs.extend(thinking.map(|thinking| Input::SetThinking(Some(thinking))));
        inputs.extend(effort.map(|effort| Input::SetEffort(Some(effort))));
        inputs
    }

    /// Takes over what the core tools kept, but for tools that the provider would not show the model any more.
    fn recalls(&mut self, mut notes: Notes) {
        let main = &mut self.main;
        forget_unreferenced(&main.spec, main.model(), &mut notes, main.context.history());
        main.notes = notes;
    }

    /// Where plan mode leads back to: what was written down, unless nobody may go there now.
    fn mode_to_return_to(&self, before: Option<Mode>) -> Option<Mode> {
        if self.mode() != Mode::Plan {
            return None;
        }
        let spec = &self.shared.spec;
        let mut permissions = self.shared.permissions.clone();
        before.filter(|mode| {
            (permissions.set_mode(&spec.policy.permissions, &spec.environment, *mode)).is_ok()
        })
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
        main.writing = Writing::after(leaf);
        for (role, blocks) in conversation.messages {
            if role == Role::Assistant {
                // The names of effects go on where those of the conversation ended.
                main.turns.answered();
            }
            for block in &blocks {
                if let Block::ToolUse(call) = Block::from_raw(block.clone()) {
                    main.call_ids.insert(call.id);
                }
            }
            main.context.push(role, blocks);
        }
        main.rest();
        (session, conversation.repairs)
    }
}
