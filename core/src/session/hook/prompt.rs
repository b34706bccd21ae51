//! Hooks on a prompt before it enters the conversation.

use alloc::{format, string::String, vec::Vec};

use super::{
    super::{Event, Phase, Shared, Thread},
    context_block, stopped_by_hook,
};
use crate::{
    content::Block,
    effect::Prompt,
    hook::{
        HookEvent, Merged, Occurrence,
        input::{AgentName, SessionStart, StartSource, SubagentStart, UserPromptSubmit},
    },
    json::RawJson,
    message::InformationLevel,
};

impl Thread {
    /// Whether there are hooks that check prompts.
    pub(in crate::session) fn shows_prompts_to_hooks(&self) -> bool {
        self.spec
            .policy
            .hooks
            .iter()
            .any(|m| m.event.looks_at_prompts() && !m.hooks.is_empty())
    }

    /// Runs the hooks on a prompt, and those for the session start if it is the first one. The prompt enters once they are done.
    pub(in crate::session) fn submit(
        &mut self,
        shared: &mut Shared,
        mut prompt: Prompt,
    ) -> Option<Event> {
        let text = text_of(&prompt.content);
        // Notifications of background tasks alone are not a prompt.
        let is_empty = prompt.content.is_empty();
        let expanded = prompt.expanded_from.take();
        self.run.submitted = Some(prompt);
        if self.hooks.take_start() && self.number() == 0 {
            let occurrence = Occurrence::SessionStart(SessionStart {
                source: match self.context.history().message_count() {
                    0 => StartSource::Startup,
                    _ => StartSource::Resume,
                },
                agent_type: self.spec.tools.agent.clone(),
                model: Some(self.model().into()),
            });
            self.fire(shared, occurrence, None);
        }
        if let Some(agent) = self.agent().cloned() {
            // A subagent's prompt comes from the model; the hooks for calls have checked it.
            let AgentName {
                agent_id,
                agent_type,
            } = agent;
            self.fire_anew(
                shared,
                Occurrence::SubagentStart(SubagentStart {
                    agent_id,
                    agent_type,
                }),
            );
        } else if !is_empty {
            if let Some(command) = expanded {
                let occurrence = Occurrence::UserPromptExpansion(command);
                self.fire(shared, occurrence, None);
            }
            let occurrence = Occurrence::UserPromptSubmit(UserPromptSubmit { prompt: text });
            self.fire(shared, occurrence, None);
        }
        self.submit_if_ready()
    }

    pub(super) fn prompt_hooks_settled(
        &mut self,
        shared: &mut Shared,
        event: HookEvent,
        merged: Merged,
    ) -> Option<Event> {
        if self.phase() != Phase::Submitting {
            return None;
        }
        if let Some(reason) = merged.block {
            let text = format!("A hook refused the prompt: {reason}");
            self.inform(shared, InformationLevel::Warning, text.clone());
            self.run.submitted = None;
            self.run.hook_stop = Some(text);
        }
        let context = merged.context.iter();
        self.run
            .prompt_context
            .extend(context.filter_map(|text| context_block(event, text)));
        self.submit_if_ready()
    }

    /// Lets the prompt enter once no hook is running on it.
    pub(super) fn submit_if_ready(&mut self) -> Option<Event> {
        let waits = self.hooks.look_at(&[
            HookEvent::UserPromptSubmit,
            HookEvent::UserPromptExpansion,
            HookEvent::SessionStart,
            HookEvent::SubagentStart,
            HookEvent::Setup,
        ]);
        if self.phase() != Phase::Submitting || waits {
            return None;
        }
        if let Some(reason) = self.run.hook_stop.clone() {
            self.run.outcome = Some(stopped_by_hook(reason));
            return Some(Event::Stop);
        }
        Some(Event::Proceed)
    }

    /// The content of the prompt that enters: the user's, then the text of hooks.
    pub(in crate::session) fn with_hook_context(
        &mut self,
        mut content: Vec<RawJson>,
    ) -> Vec<RawJson> {
        content.append(&mut self.hooks.take_context());
        content.append(&mut self.run.prompt_context);
        content
    }
}

fn text_of(content: &[RawJson]) -> String {
    let mut out = String::new();
    for block in content {
        if let Block::Text { text, .. } = Block::from_raw(block.clone()) {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&text);
        }
    }
    out
}
