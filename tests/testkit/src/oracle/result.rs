//! Every prompt is answered by a run from `init` to exactly one `result`, which comes last.

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
};

use windlass_core::{
    RawJson,
    content::Block,
    context::interruption::{INTERRUPTED, INTERRUPTED_IN_CALLS},
    effect::{Input, Output},
    json::RawObject,
    message::{Message, ResultMessage, ResultSubtype, SystemMessage},
};

use super::{Check, Oracle, View, Violation};

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Results {
    prompts: usize,
    /// The number of prompts that joined the run of another one.
    joined: usize,
    inits: usize,
    results: usize,
    in_run: bool,
    /// Whether the prompt that began the run has not been shown yet.
    begins_with: bool,
    /// The model's ids of calls made by agents.
    calls_of_agents: BTreeSet<String>,
}

impl Oracle for Results {
    fn name(&self) -> &'static str {
        "result"
    }

    fn input(&mut self, _view: &View<'_>, input: &Input) -> Check {
        self.prompts += usize::from(matches!(input, Input::Prompt(_)));
        Ok(())
    }

    fn output(&mut self, view: &View<'_>, output: &Output) -> Check {
        let begins = matches!(
            output,
            Output::Message(Message::System(SystemMessage::Init(_)))
        );
        // A response that a server never closes may be abandoned after the run. Rejected inputs are reported immediately,
        // inside a run or not. Background tasks may produce output at any time.
        let late = matches!(output, Output::Refused(_))
            || !self.in_run
                && (matches!(output, Output::Abandon(_)) || self.is_of_background(view, output));
        if begins == self.in_run && !late && !is_news(output) {
            let what = match output {
                Output::Message(message) => message.to_line(),
                Output::Effect(id, _) => format!("the effect {id}"),
                Output::Cancel(id) | Output::Abandon(id) => format!("stopping {id}"),
                Output::Refused(error) => error.to_string(),
                new => unreachable!("a new kind of output has a rule here: {new:?}"),
            };
            return Err(Violation::OutsideOfRun { what });
        }
        if let Output::Message(Message::Assistant(said)) = output
            && said.parent_tool_use_id.is_some()
        {
            let ids = said.message.content.iter().filter_map(call_id);
            self.calls_of_agents.extend(ids);
        }
        if begins {
            self.in_run = true;
            self.begins_with = true;
            self.inits += 1;
        }
        if let Output::Message(Message::Result(result)) = output {
            self.in_run = false;
            self.results += 1;
            fields(result)?;
        }
        if is_prompt(output) {
            // With replay, the prompt that begins a run is repeated; all others have joined it.
            let own = core::mem::take(&mut self.begins_with) && is_replay(output);
            self.joined += usize::from(!own);
        }
        Ok(())
    }

    fn end(&mut self, view: &View<'_>) -> Check {
        let answered = self.prompts.saturating_sub(self.joined);
        // The end of a background task may begin a run of its own.
        let woken = view.spec.tools.tasks.wake && self.inits > answered;
        if self.results == self.inits && (self.inits == answered || woken) {
            return Ok(());
        }
        Err(Violation::ResultCount {
            prompts: self.prompts,
            inits: self.inits,
            results: self.results,
        })
    }
}

impl Results {
    /// Whether an output belongs to a background task.
    fn is_of_background(&self, view: &View<'_>, output: &Output) -> bool {
        let is_task = |call: &str| view.task_of(call).is_some();
        let is_agents = |parent: &Option<String>| parent.as_deref().is_some_and(is_task);
        match output {
            Output::Effect(id, _) => id.agent > 0 && view.is_in_background(*id),
            // An ended task may have to be stopped after its end has been reported.
            Output::Cancel(id) | Output::Abandon(id) => id.agent > 0 || view.is_in_background(*id),
            Output::Refused(_) => false,
            Output::Message(message) => match message {
                // The end of a background task.
                Message::System(SystemMessage::TaskNotification(_)) => true,
                // These messages do not name the agent that they belong to.
                Message::System(_) | Message::RateLimitEvent(_) => view.has_background_agent(),
                Message::Assistant(said) => is_agents(&said.parent_tool_use_id),
                Message::User(said) => is_agents(&said.parent_tool_use_id),
                Message::StreamEvent(said) => is_agents(&said.parent_tool_use_id),
                Message::ToolProgress(said) => {
                    is_agents(&said.parent_tool_use_id) || is_task(&said.tool_use_id)
                }
                Message::ToolUseSummary(said) => {
                    let mut calls = said.preceding_tool_use_ids.iter();
                    calls.all(|call| self.calls_of_agents.contains(call))
                        && view.has_background_agent()
                }
                _ => false,
            },
            new => unreachable!("a new kind of output has a rule here: {new:?}"),
        }
    }
}

/// Whether an output is permitted at any time.
fn is_news(output: &Output) -> bool {
    let Output::Message(message) = output else {
        return false;
    };
    match message {
        Message::System(system) => matches!(
            system,
            SystemMessage::Status(_) | SystemMessage::FilesPersisted(_)
        ),
        Message::AuthStatus(_) | Message::PromptSuggestion(_) => true,
        _ => false,
    }
}

/// The id of a tool call, if the block is one.
fn call_id(block: &RawJson) -> Option<String> {
    let block = RawObject::parse(block.get()).ok()?;
    let is_call = block.get_string("type").as_deref() == Some("tool_use");
    block.get_string("id").filter(|_| is_call)
}

/// Whether an output shows a prompt.
fn is_prompt(output: &Output) -> bool {
    let Output::Message(Message::User(user)) = output else {
        return false;
    };
    let is_result = |block: &RawJson| block.get().contains("\"type\":\"tool_result\"");
    let is_word = |block: &RawJson| {
        let block = Block::from_raw(block.clone());
        [INTERRUPTED, INTERRUPTED_IN_CALLS]
            .map(Block::text)
            .contains(&block)
    };
    let is_other = |block: &RawJson| is_result(block) || is_word(block);
    !user.is_synthetic && !user.message.content.iter().any(is_other)
}

/// Whether an output is a repeated prompt.
fn is_replay(output: &Output) -> bool {
    matches!(output, Output::Message(Message::User(user)) if user.is_replay)
}

fn fields(result: &ResultMessage) -> Check {
    let success = result.subtype == ResultSubtype::Success;
    let wrong = if result.is_error == success {
        "is_error contradicts the subtype"
    } else if result.result.is_some() != success {
        "only a success has a result text"
    } else if result.errors.is_some() == success {
        "only an error has errors"
    } else {
        return Ok(());
    };
    Err(Violation::ResultFields {
        what: wrong.to_string(),
    })
}
