//! Hooks on the end of the model's turn, which may keep the run going.

use alloc::{format, string::String, vec};

use super::{
    super::{Event, Outcome, Phase, Shared, Thread, writing::Line},
    agent_transcript, stopped_by_hook,
};
use crate::{
    content::Block,
    effect::Stage,
    history::Role,
    hook::{
        Merged, Occurrence,
        input::{Stop, SubagentStop},
    },
    message::InformationLevel,
};

/// How many times in a row hooks may keep a run going.
const STOP_BLOCKS: u32 = 8;

impl Thread {
    /// The model has ended its turn: runs the hooks, if there are any.
    pub(in crate::session) fn conclude(&mut self, shared: &mut Shared) -> Event {
        if let Some(reason) = self.run.hook_stop.clone() {
            self.run.outcome = Some(stopped_by_hook(reason));
            return Event::Stop;
        }
        let occurrence = self.stop_occurrence(shared);
        if self.fire(shared, occurrence, None) {
            return Event::Conclude;
        }
        self.run.outcome = Some(Outcome::Success);
        Event::Stop
    }

    fn stop_occurrence(&self, shared: &Shared) -> Occurrence {
        let stop_hook_active = self.run.stop_blocks > 0;
        let text = &self.run.text;
        let last_assistant_message = (!text.is_empty()).then(|| text.clone());
        match self.agent() {
            None => Occurrence::Stop(Stop {
                stop_hook_active,
                last_assistant_message,
            }),
            Some(agent) => Occurrence::SubagentStop(SubagentStop {
                stop_hook_active,
                agent_id: agent.agent_id.clone(),
                agent_transcript_path: agent_transcript(
                    &shared.spec.environment.transcript_of(shared.id),
                    &agent.agent_id,
                ),
                agent_type: agent.agent_type.clone(),
                last_assistant_message,
            }),
        }
    }

    pub(super) fn stop_hooks_settled(
        &mut self,
        shared: &mut Shared,
        merged: Merged,
    ) -> Option<Event> {
        if self.phase() != Phase::Concluding {
            return None;
        }
        if let Some(reason) = self.run.hook_stop.clone() {
            self.run.outcome = Some(stopped_by_hook(reason));
            return Some(Event::Stop);
        }
        match merged.block {
            Some(reason) if self.run.stop_blocks < STOP_BLOCKS => self.keep_going(shared, reason),
            refused => {
                if refused.is_some() {
                    let content = format!(
                        "Hooks have kept this run from ending {STOP_BLOCKS} times in a row; it ends now."
                    );
                    self.inform(shared, InformationLevel::Warning, content);
                }
                self.run.outcome = Some(Outcome::Success);
                Some(Event::Stop)
            }
        }
    }

    /// Tells the model why it has to continue.
    fn keep_going(&mut self, shared: &mut Shared, reason: String) -> Option<Event> {
        self.run.stop_blocks += 1;
        // The structured output, if any, is discarded: the answer is not final.
        self.run.output.answer = None;
        let text = format!("A hook wants you to go on before you stop: {reason}");
        let content = vec![Block::text(&text).to_raw()];
        let uuid = shared.ids.uuid();
        self.emit_synthetic(shared, content.clone(), uuid);
        let content = self.with_hook_context(content);
        self.context.push(Role::User, content.clone());
        // The entry is written and named in the phase that this event leads to.
        self.go_on(shared, Some(Event::GoOn));
        let line = Line::synthetic(content).under(uuid);
        self.save(shared, Stage::SavePrompt, vec![line])
    }
}
