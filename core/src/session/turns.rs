//! The numbers of responses. They are part of effect ids, so no number is used twice.

use crate::{effect::Stage, hook::HookEvent};

/// The number of a thread's current response.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Responses over the thread's life, including those that never arrived.
    count: u32,
    /// Whether an effect has used the number of the next response, so that the number is taken.
    begun: bool,
    /// The last turn after which the end of a run was written: a second one needs a number of its own.
    end_written: Option<u32>,
}

impl Turns {
    /// The number of the last response.
    pub(super) fn current(&self) -> u32 {
        self.count
    }

    /// The numbers up to this one are taken.
    pub(super) fn after(&mut self, taken: u32) {
        self.count = self.count.max(taken);
    }

    /// The response that an effect of this stage belongs to.
    pub(super) fn of(&self, stage: Stage) -> u32 {
        match stage {
            // These belong to the next response.
            Stage::Model
            | Stage::SavePrompt
            | Stage::Summary
            | Stage::SaveSummary
            | Stage::Hook(HookEvent::UserPromptSubmit, _) => self.count.saturating_add(1),
            _ => self.count,
        }
    }

    /// Records that an effect uses this number.
    pub(super) fn name_with(&mut self, turn: u32) {
        self.begun |= turn > self.count;
    }

    /// A response has arrived.
    pub(super) fn answered(&mut self) {
        self.count = self.count.saturating_add(1);
        self.begun = false;
    }

    /// The run is over. The number of a response that never arrived is taken if effects used it.
    pub(super) fn run_ended(&mut self) {
        if core::mem::take(&mut self.begun) {
            self.count = self.count.saturating_add(1);
        }
    }

    /// The end of a run is written after the last response. A response that was cut off counts as one of its own.
    pub(super) fn write_end(&mut self) {
        let has_end = self.end_written == Some(self.count);
        if core::mem::take(&mut self.begun) || has_end {
            self.count = self.count.saturating_add(1);
        }
        self.end_written = Some(self.count);
    }

    /// The state for snapshots, in this order.
    pub(super) fn state(&self) -> (u32, bool, Option<u32>) {
        let Self {
            count,
            begun,
            end_written,
        } = *self;
        (count, begun, end_written)
    }

    /// Restores it from that state.
    pub(super) fn restored(count: u32, begun: bool, end_written: Option<u32>) -> Self {
        Self {
            count,
            begun,
            end_written,
        }
    }
}
