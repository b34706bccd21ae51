//! The engine's requests to its session store.

use windlass_engine::{
    machine::{Effect, Outcome, StoreEffects},
    store::Lease,
};

use crate::store::{SharedStore, TaskOutputs};

/// The store of an engine's sessions, if there is one, and the output of background commands in it.
pub(super) struct Kept {
    effects: StoreEffects<SharedStore>,
    outputs: Option<TaskOutputs>,
}

impl Kept {
    pub(super) fn new(store: Option<SharedStore>) -> Self {
        Self {
            outputs: store.clone().map(TaskOutputs::new),
            effects: StoreEffects::new(store),
        }
    }

    /// Does not store the output of background commands: the store is read, but not written.
    pub(super) fn without_output(mut self) -> Self {
        self.outputs = None;
        self
    }

    /// Performs an effect.
    ///
    /// # Errors
    /// Returns the effect if no store performs it.
    pub(super) async fn perform(&self, effect: Effect) -> Result<Outcome, Effect> {
        match effect {
            Effect::KeepOutput(lease, call) => {
                Ok(Outcome::OutputFile(self.begin_output(lease, &call).await))
            }
            effect => self.effects.perform(effect).await,
        }
    }

    /// Starts storing the output of a background command, and returns its location.
    async fn begin_output(&self, lease: Lease, call: &str) -> Result<String, String> {
        let Some(outputs) = self.outputs() else {
            return Err("nothing is kept of this session".to_owned());
        };
        let begun = outputs.begin(lease, call).await;
        begun.map_err(|error| error.to_string())
    }

    pub(super) fn outputs(&self) -> Option<TaskOutputs> {
        self.outputs.clone()
    }

    pub(super) fn release(&self, lease: &Lease) {
        self.effects.release(lease);
    }
}
