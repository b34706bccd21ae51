//! The memory that a run of a component takes before it begins.

use std::{sync::Arc, time::Duration};

use super::{
    component::{Plugin, Trust},
    memory_budget::Reserved,
    outcome::{CallError, Stopped, Watch},
};

impl Plugin {
    /// Takes the memory that a run of this component may need; waiting for it is part of its time.
    ///
    /// # Errors
    /// [`CallError`]: it was stopped while it waited.
    pub(super) fn take_memory(
        &self,
        time: Duration,
        watch: &Watch,
    ) -> Result<Option<Reserved>, CallError> {
        let loaded = &self.0;
        if loaded.trust == Trust::Full {
            return Ok(None);
        }
        let budget = &loaded.host.memory;
        let component = Arc::as_ptr(loaded).addr();
        match budget.take(component, loaded.limits.memory, watch) {
            Ok(reserved) => Ok(Some(reserved)),
            Err(Stopped::OutOfTime) => Err(CallError::NoMemory {
                most: budget.most(),
                after: time,
            }),
            Err(_) => Err(CallError::Cancelled),
        }
    }
}
