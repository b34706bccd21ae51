//! Effects have unique names, and no effect outlives its run.

use alloc::collections::BTreeSet;

use windlass_core::{
    effect::{EffectId, Output},
    message::Message,
};

use super::{Check, Oracle, View, Violation, message_of};

/// The oracle of this module.
#[derive(Default)]
pub(super) struct Answered {
    issued: BTreeSet<EffectId>,
    cancelled: BTreeSet<EffectId>,
    /// After a restore, an effect may be issued again under its name.
    was_restored: bool,
}

impl Oracle for Answered {
    fn name(&self) -> &'static str {
        "answered"
    }

    fn output(&mut self, view: &View<'_>, output: &Output) -> Check {
        match output {
            Output::Effect(id, _) => {
                let fresh = self.issued.insert(*id);
                if view.running.contains(id) || !(fresh || self.was_restored) {
                    return Err(Violation::NameTwice { effect: *id });
                }
                self.cancelled.remove(id);
            }
            Output::Cancel(id) => {
                if !self.issued.contains(id) || !self.cancelled.insert(*id) {
                    return Err(Violation::NotRunning { effect: *id });
                }
            }
            Output::Abandon(id) => {
                if !self.issued.contains(id) {
                    return Err(Violation::NotRunning { effect: *id });
                }
            }
            Output::Message(_) | Output::Refused(_) => {}
            new => unreachable!("a new kind of output has a rule here: {new:?}"),
        }
        let is_result = matches!(message_of(output), Some(Message::Result(_)));
        let mut running = view.running.iter();
        match running.find(|id| !view.is_in_background(**id)) {
            Some(id) if is_result => Err(Violation::OutlivesResult { effect: *id }),
            _ => Ok(()),
        }
    }

    fn restored(&mut self) {
        self.was_restored = true;
    }
}
