//! The answer as a value: taken, refused, asked for again (LOOP-18).

use alloc::{borrow::ToOwned, format, string::String, vec};

use serde::{Deserialize, Serialize};

use super::{Event, Line, Outcome, Shared, Thread};
use crate::{
    content::Block,
    effect::Stage,
    history::Role,
    json::RawJson,
    model::StopReason,
    output::{self, OutputFormat, PlainText, REMINDER},
    tool::ToolResult,
};

/// How far the model is with its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OutputProgress {
    /// The answer, once there is a valid one.
    pub(super) answer: Option<RawJson>,
    /// Answers that were none.
    misses: u32,
    /// What was wrong with the last one.
    fault: String,
    /// It ended its turn without an answer before.
    reminded: bool,
}

impl OutputProgress {
    pub(super) fn is_fresh(&self) -> bool {
        *self == Self::default()
    }
}

impl Thread {
    /// Takes a call of the tool that hands the answer over.
    pub(super) fn take_output(
        &mut self,
        shared: &mut Shared,
        index: usize,
        format: &OutputFormat,
        input: RawJson,
    ) {
        let result = match format.validate(&input) {
            Ok(()) => {
                self.run.output.answer = Some(input);
                ToolResult::text("The answer was taken.")
            }
            Err(faults) => {
                self.run.output.fault = format!("{faults}");
                ToolResult::error(output::misfit(&faults))
            }
        };
        self.finish_call(shared, index, result);
    }

    /// Counts a round in which an answer was given that could not be taken. To be asked before the calls
    /// of the round are gone.
    pub(super) fn count_output_round(&mut self) {
        let answered = self
            .run
            .calls
            .iter()
            .any(|call| call.tool_name() == output::TOOL);
        if answered && self.spec.prompt.output.is_some() && self.run.output.answer.is_none() {
            self.run.output.misses += 1;
        }
    }

    /// What the answer, or the lack of a valid one, leads to after a round of calls.
    pub(super) fn after_output_round(&mut self, shared: &mut Shared) -> Option<Event> {
        let format = self.spec.prompt.output.as_ref()?;
        if let Some(answer) = &self.run.output.answer {
            self.run.text = answer.get().to_owned();
            return Some(self.conclude(shared));
        }
        (self.run.output.misses > format.max_retries).then(|| self.give_up_output())
    }

    /// What it leads to that the model is done and has not handed over an answer; none if nobody wants one.
    pub(super) fn without_output(&mut self, shared: &mut Shared) -> Option<Event> {
        let format = self.spec.prompt.output.as_ref()?;
        // Who declines will not do it in another form either.
        if self.run.stop_reason == Some(StopReason::Refusal) {
            return None;
        }
        if format.plain_text == PlainText::IsRemindedOnce && self.run.output.reminded {
            return None;
        }
        let max_retries = format.max_retries;
        self.run.output.misses += 1;
        "the model answered in plain text".clone_into(&mut self.run.output.fault);
        if self.run.output.misses > max_retries {
            return Some(self.give_up_output());
        }
        Some(self.stop_at_budget(shared).unwrap_or(Event::AskAgain))
    }

    fn give_up_output(&mut self) -> Event {
        let fault = core::mem::take(&mut self.run.output.fault);
        self.run.outcome = Some(Outcome::NoOutput {
            tries: self.run.output.misses,
            fault,
        });
        Event::Stop
    }

    /// Tells the model that its answer is still to be handed over.
    pub(super) fn remind_of_output(&mut self, shared: &mut Shared) -> Option<Event> {
        self.run.output.reminded = true;
        let content = vec![Block::text(REMINDER).to_raw()];
        let uuid = shared.ids.uuid();
        self.emit_synthetic(shared, content.clone(), uuid);
        self.context.push(Role::User, content.clone());
        self.save(
            shared,
            Stage::SavePrompt,
            vec![Line::synthetic(content).under(uuid)],
        )
    }
}

/// What the result says when there was no valid answer.
pub(super) fn given_up(tries: u32, fault: &str) -> String {
    let last = match fault {
        "" => String::new(),
        fault => format!("; the last one: {fault}"),
    };
    format!("none of {tries} answers fitted the schema of the structured output{last}")
}
