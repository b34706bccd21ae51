//! Every prompt is answered from its beginning to exactly one result, which is last.

use alloc::{format, string::ToString};

use super::{Check, Oracle, View, Violation};
use crate::{
    effect::{Input, Output},
    message::{Message, ResultMessage, ResultSubtype, SystemMessage},
};

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Results {
    prompts: usize,
    inits: usize,
    results: usize,
    in_run: bool,
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
        let late = matches!(output, Output::Abandon(_)) && !self.in_run;
        if begins == self.in_run && !late {
            let what = match output {
                Output::Message(message) => message.to_line(),
                Output::Effect(id, _) => format!("the effect {id}"),
                Output::Cancel(id) | Output::Abandon(id) => format!("stopping {id}"),
            };
            return Err(Violation::OutsideOfRun { what });
        }
        if begins {
            self.in_run = true;
            self.inits += 1;
        }
        if let Output::Message(Message::Result(result)) = output {
            self.in_run = false;
            self.results += 1;
            fields(result)?;
        }
        Ok(())
    }

    fn end(&mut self, _view: &View<'_>) -> Check {
        if self.inits == self.prompts && self.results == self.prompts {
            return Ok(());
        }
        Err(Violation::ResultCount {
            prompts: self.prompts,
            inits: self.inits,
            results: self.results,
        })
    }
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
