//! No tool runs without a recorded decision that names its cause.

use super::{Check, Oracle, View, Violation};
use crate::effect::{Effect, Output};

/// The oracle of this module.
pub(super) struct Decision;

impl Oracle for Decision {
    fn name(&self) -> &'static str {
        "decision"
    }

    fn output(&mut self, view: &View<'_>, output: &Output) -> Check {
        let Output::Effect(id, Effect::CallTool(call)) = output else {
            return Ok(());
        };
        match view.session.decision(*id) {
            Some(cause) if !cause.trim().is_empty() => Ok(()),
            _ => Err(Violation::NoDecision {
                effect: *id,
                tool: call.name.clone(),
            }),
        }
    }
}
