//! Structured output: accepting, rejecting and asking for the answer (LOOP-18).

mod progress;

pub(super) use self::progress::OutputProgress;

use alloc::{borrow::ToOwned, format, string::String, vec};

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

impl Thread {
    /// Handles a call of the tool for structured output.
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

    /// Counts a round with an invalid answer. Must be called before the calls of the round are dropped.
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

    /// The event that follows a round of calls with a valid answer, or with too many invalid ones.
    pub(super) fn after_output_round(&mut self, shared: &mut Shared) -> Option<Event> {
        let format = self.spec.prompt.output.as_ref()?;
        if let Some(answer) = &self.run.output.answer {
            self.run.text = answer.get().to_owned();
            return Some(self.conclude(shared));
        }
        (self.run.output.misses > format.max_retries).then(|| self.give_up_output())
    }

    /// The event that follows if the model ended its turn without giving the answer; none if no structured output is wanted.
    pub(super) fn without_output(&mut self, shared: &mut Shared) -> Option<Event> {
        let format = self.spec.prompt.output.as_ref()?;
        // A model that refused will not give the answer in another form.
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

    /// Reminds the model to give its answer through the tool.
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

/// The error in the result if there was no valid answer.
pub(super) fn given_up(tries: u32, fault: &str) -> String {
    let last = match fault {
        "" => String::new(),
        fault => format!("; the last one: {fault}"),
    };
    format!("none of {tries} answers fitted the schema of the structured output{last}")
}
