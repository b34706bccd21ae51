//! Sessions that continue a conversation: resumed from a transcript, or forked from another session.

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
    tools::{CoreToolState, Recalled, tool_search::forget_unreferenced},
    transcript::{Conversation, Repair, Transcript},
};

/// What a session has spent so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spent {
    /// The total cost.
    pub cost: Usd,
    /// Usage by model.
    pub model_usage: SortedMap<String, ModelUsage>,
}

impl Session {
    /// A session that continues where a transcript ends, whatever ended it: an error, a limit that is now higher, a crash in the
    /// middle of a line (SESS-1, SESS-4, SESS-6). The to-do list, the tools found by search and the invoked skills are
    /// reconstructed from the calls in the transcript. A session resumed in plan mode returns to the mode before it, if that was
    /// recorded and is allowed now. With the id of the transcript the session resumes it; with another id it is a fork. The
    /// repairs that were needed to make the next request valid are returned along with the session; the transcript itself is not
    /// changed.
    ///
    /// A `seed` that was used before would give the same ids again. Cost and usage start at zero unless
    /// [`counting_on`](Self::counting_on) sets them; a [snapshot](Self::snapshot) contains them.
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
        session.restore_tool_state(transcript.tool_state());
        session.shared.mode_before_plan = session.mode_to_return_to(transcript.mode_before_plan());
        (session, repairs)
    }

    /// Adds what was spent before to the totals of results (Agent SDK reference, `total_cost_usd`, `modelUsage`) and to what
    /// counts against [`Limits::max_budget`](crate::spec::Limits::max_budget). For sessions that have not handled any input yet.
    #[must_use]
    pub fn counting_on(mut self, spent: Spent) -> Self {
        self.shared.cost = spent.cost;
        self.shared.model_usage = spent.model_usage;
        self
    }

    /// Numbers responses and agents from behind this number on. The part of a transcript that a session continues does not say which
    /// numbers are taken: a cut and a summary leave out responses, whose calls have run, and agents are not counted in it. An effect
    /// would have the id of another one, and an agent the transcript of another one. For sessions that have not handled any input yet.
    #[must_use]
    pub fn numbering_after(mut self, taken: u32) -> Self {
        self.main.turns.after(taken);
        self.shared.agents_numbered = self.shared.agents_numbered.max(taken);
        self
    }

    /// A new session with the same conversation, up to a number of its messages ([`history`](Self::history); none for all), and
    /// with the same mode, model, rules, working directory and file observations. The to-do list, the tools found by search and
    /// the invoked skills are those at that message. The fork does not take part in what this session is doing, and this session
    /// does not change. Costs stay with the session that caused them.
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
        // The history itself encoded these lines.
        let mut lines = (self.main.context.history().lines())
            .filter_map(|line| crate::json::read::from_slice::<Line>(&line).ok());
        let mut recalled = Recalled::default();
        let taken = (lines.by_ref())
            .take(messages.unwrap_or(usize::MAX))
            .inspect(|line| recalled.read(&line.content))
            .map(|line| (line.role, line.content));
        let taken = Conversation::of(taken);
        let tool_state =
            recalled.tool_state_before(&self.main.tool_state, lines.map(|line| line.content));
        let spec = self.shared.spec.clone();
        let (mut fork, repairs) = Self::going_on(spec, id, seed, taken, None);
        fork.shared.permissions = self.shared.permissions.clone();
        fork.shared.mode_before_plan = self.shared.mode_before_plan;
        fork.shared.observed.clone_from(&self.shared.observed);
        fork.main.choose(&fork.shared, self.main.chosen().clone());
        // The spec contains the chosen settings and the working directory.
        fork.main.spec = self.main.spec.clone();
        fork.main.workplace.clone_from(&self.main.workplace);
        fork.restore_tool_state(tool_state);
        (fork, repairs)
    }

    /// The inputs that apply this session's permissions and settings to a new session without a conversation, for example when
    /// the user clears the conversation: rules, directories and guarded servers, the mode (even if unchanged), and the chosen
    /// model, thinking and effort.
    #[must_use]
    pub fn carried_over(&self) -> Vec<Input> {
        let shared = &self.shared;
        let permissions = &shared.permissions;
        // One by one: an update that cannot be applied there does not affect the others.
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
        // Leaving plan mode returns to the mode in which it was entered.
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

    /// Restores the state of core tools, except for tools that the provider would no longer show to the model.
    fn restore_tool_state(&mut self, mut tool_state: CoreToolState) {
        let main = &mut self.main;
        forget_unreferenced(
            &main.spec,
            main.model(),
            &mut tool_state,
            main.context.history(),
        );
        main.tool_state = tool_state;
    }

    /// The mode to return to from plan mode: the recorded one, unless it is not allowed now.
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
                // Effect ids continue after those of the conversation.
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
