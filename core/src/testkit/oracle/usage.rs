//! Tokens and costs add up.

use alloc::{format, string::String};
use core::fmt::Debug;

use super::{Check, Oracle, View, Violation, message_of};
use crate::{
    effect::Output,
    id::Stage,
    message::{Message, ResultMessage, SystemMessage},
    money::Usd,
    provider::Usage,
};

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Usages {
    /// Responses of the run on its main thread.
    turns: u32,
    /// Tokens of the run on its main thread.
    run: Usage,
    /// Tokens of agents since the last result: they count for the next one.
    agents: Usage,
    /// Tokens of the session, on all threads.
    session: Usage,
    /// A summary was asked for: it is paid for, but no message carries its usage.
    asked_for_summaries: bool,
}

impl Oracle for Usages {
    fn name(&self) -> &'static str {
        "usage"
    }

    fn output(&mut self, _view: &View<'_>, output: &Output) -> Check {
        if let Output::Effect(id, _) = output {
            self.asked_for_summaries |= id.stage == Stage::Summary;
        }
        match message_of(output) {
            Some(Message::System(SystemMessage::Init(_))) => {
                self.turns = 0;
                self.run = Usage::default();
            }
            Some(Message::Assistant(said)) if said.error.is_none() => {
                match &said.parent_tool_use_id {
                    None => {
                        self.turns += 1;
                        self.run.add(&said.message.usage);
                    }
                    Some(_) => self.agents.add(&said.message.usage),
                }
                self.session.add(&said.message.usage);
            }
            Some(Message::Result(result)) => {
                self.run.add(&core::mem::take(&mut self.agents));
                return self.result(result);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Usages {
    fn result(&self, result: &ResultMessage) -> Check {
        equal("num_turns", &self.turns, &result.num_turns)?;
        equal("usage", &self.run, &result.usage)?;
        let models = || result.model_usage.values();
        let costs: Usd = models().map(|usage| usage.cost_usd).sum();
        equal("total_cost_usd", &costs, &result.total_cost_usd)?;
        let tokens = |of: fn(&crate::message::ModelUsage) -> u64| models().map(of).sum::<u64>();
        let session = &self.session;
        let sums = [
            (
                "modelUsage.inputTokens",
                session.input_tokens,
                tokens(|m| m.input_tokens),
            ),
            (
                "modelUsage.outputTokens",
                session.output_tokens,
                tokens(|m| m.output_tokens),
            ),
            (
                "modelUsage.cacheReadInputTokens",
                session.cache_read_input_tokens,
                tokens(|m| m.cache_read_input_tokens),
            ),
            (
                "modelUsage.cacheCreationInputTokens",
                session.cache_creation_input_tokens,
                tokens(|m| m.cache_creation_input_tokens),
            ),
        ];
        sums.iter().try_for_each(|(what, expected, found)| {
            if self.asked_for_summaries && found > expected {
                return Ok(());
            }
            equal(what, expected, found)
        })
    }
}

fn equal<T: PartialEq + Debug>(what: &'static str, expected: &T, found: &T) -> Check {
    if expected == found {
        return Ok(());
    }
    let shown = |value: &T| -> String { format!("{value:?}") };
    Err(Violation::Usage {
        what,
        expected: shown(expected),
        found: shown(found),
    })
}
