//! Every prompt is answered from its beginning to exactly one result, which is last.

use alloc::{format, string::ToString};

use super::{Check, Oracle, View, Violation};
use crate::{
    RawJson,
    effect::{Input, Output},
    message::{Message, ResultMessage, ResultSubtype, SystemMessage},
};

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Results {
    prompts: usize,
    /// Prompts that joined the answer to another.
    joined: usize,
    inits: usize,
    results: usize,
    in_run: bool,
    /// The prompt of the run was not shown yet.
    begins_with: bool,
}

impl Oracle for Results {
    fn name(&self) -> &'static str {
        "result"
    }

    fn input(&mut self, _view: &View<'_>, input: &Input) -> Check {
        self.prompts += usize::from(matches!(input, Input::Prompt(_)));
        Ok(())
    }

    fn output(&mut self, _view: &View<'_>, output: &Output) -> Check {
        let begins = matches!(
            output,
            Output::Message(Message::System(SystemMessage::Init(_)))
        );
        // A server that did not close its answer may be given up after the run.
        // What is refused is told when it is asked for, in a run or not.
        let late = matches!(output, Output::Refused(_))
            || matches!(output, Output::Abandon(_)) && !self.in_run;
        if begins == self.in_run && !late && !is_news(output) {
            let what = match output {
                Output::Message(message) => message.to_line(),
                Output::Effect(id, _) => format!("the effect {id}"),
                Output::Cancel(id) | Output::Abandon(id) => format!("stopping {id}"),
                Output::Refused(error) => error.to_string(),
            };
            return Err(Violation::OutsideOfRun { what });
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
            // The one that a run begins with is repeated where replay is on; all others joined it.
            let own = core::mem::take(&mut self.begins_with) && is_replay(output);
            self.joined += usize::from(!own);
        }
        Ok(())
    }

    fn end(&mut self, _view: &View<'_>) -> Check {
        let answered = self.prompts.saturating_sub(self.joined);
        if self.inits == answered && self.results == answered {
            return Ok(());
        }
        Err(Violation::ResultCount {
            prompts: self.prompts,
            inits: self.inits,
            results: self.results,
        })
    }
}

/// What may be told at any time.
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

/// Whether a prompt is shown in the stream.
fn is_prompt(output: &Output) -> bool {
    let Output::Message(Message::User(user)) = output else {
        return false;
    };
    let is_result = |block: &RawJson| block.get().contains("\"type\":\"tool_result\"");
    !user.is_synthetic && !user.message.content.iter().any(is_result)
}

/// Whether it is shown because everything is repeated.
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
