//! The numbers of responses: effects are named by them, so none is given twice.

use crate::{effect::Stage, hook::HookEvent};

/// Which response a thread is at.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Responses over the thread's life, and those that never came.
    count: u32,
    /// Something was done for a response that has not come: its number is not free any more.
    begun: bool,
    /// The last turn behind which an end was written: a second one needs a number of its own.
    end_written: Option<u32>,
}

impl Turns {
    /// The number of the last response.
    pub(super) fn current(&self) -> u32 {
        self.count
    }

    /// The response that an effect serves.
    pub(super) fn of(&self, stage: Stage) -> u32 {
        match stage {
            // These serve the response that is still to come.
            Stage::Model
            | Stage::SavePrompt
            | Stage::Summary
            | Stage::SaveSummary
            | Stage::Hook(HookEvent::UserPromptSubmit, _) => self.count.saturating_add(1),
            _ => self.count,
        }
    }

    /// Notes that an effect has a number in its name.
    pub(super) fn name_with(&mut self, turn: u32) {
        self.begun |= turn > self.count;
    }

    /// A response has come.
    pub(super) fn answered(&mut self) {
        self.count = self.count.saturating_add(1);
        self.begun = false;
    }

    /// The run is over. A response that never came leaves its number to the effects that were named with it.
    pub(super) fn run_ended(&mut self) {
        if core::mem::take(&mut self.begun) {
            self.count = self.count.saturating_add(1);
        }
    }

    /// An end is written behind the last response. What came of one that was cut counts as its own.
    pub(super) fn write_end(&mut self) {
        let has_end = self.end_written == Some(self.count);
        if core::mem::take(&mut self.begun) || has_end {
            self.count = self.count.saturating_add(1);
        }
        self.end_written = Some(self.count);
    }

    /// What snapshots keep, in this order.
    pub(super) fn state(&self) -> (u32, bool, Option<u32>) {
        let Self {
            count,
            begun,
            end_written,
        } = *self;
        (count, begun, end_written)
    }

    /// The same again.
    pub(super) fn restored(count: u32, begun: bool, end_written: Option<u32>) -> Self {
        Self {
            count,
            begun,
            end_written,
        }
    }
}
