//! What one call may use.

use std::time::Duration;

use wasmtime::ResourceLimiter;

/// What one call of a component may use. Each limit ends the call with an error that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLimits {
    /// Time from start to result; a call's own timeout replaces it.
    pub time: Duration,
    /// Linear memory in bytes, all memories of the component together.
    pub memory: usize,
    /// Elements in all tables together.
    pub table_elements: usize,
    /// Bytes the host takes from the component in one go: an argument of a host function, or the result.
    pub transfer: usize,
    /// Bytes of text and images in a result.
    pub content: usize,
    /// Bytes of the structured output.
    pub structured: usize,
    /// Observations in a result.
    pub observations: usize,
    /// Bytes of log messages; what goes beyond is dropped, the call goes on.
    pub log: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_mins(2),
            memory: 256 << 20,
            table_elements: 200_000,
            transfer: 64 << 20,
            content: 16 << 20,
            structured: 32 << 20,
            observations: 10_000,
            log: 64 << 10,
        }
    }
}

/// Core instances, memories and tables one component may consist of. Interpreters that were turned into
/// components have a dozen instances and three memories.
const INSTANCES: usize = 64;
const MEMORIES: usize = 8;
const TABLES: usize = 32;

/// Counts what a call's instances take, over all their memories and tables.
#[derive(Debug)]
pub(super) struct Meter {
    memory_left: usize,
    elements_left: usize,
    /// The component asked for more than it may have.
    pub(super) refused_memory: bool,
}

impl Meter {
    pub(super) fn new(limits: &CallLimits) -> Self {
        Self {
            memory_left: limits.memory,
            elements_left: limits.table_elements,
            refused_memory: false,
        }
    }
}

/// Takes the growth from what is left, if there is enough.
fn take(left: &mut usize, current: usize, desired: usize) -> bool {
    match left.checked_sub(desired.saturating_sub(current)) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // Beyond its own maximum the component gets the refusal it asked for itself.
        if maximum.is_some_and(|m| desired > m) {
            return Ok(false);
        }
        let granted = take(&mut self.memory_left, current, desired);
        self.refused_memory |= !granted;
        Ok(granted)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|m| desired > m) {
            return Ok(false);
        }
        let granted = take(&mut self.elements_left, current, desired);
        self.refused_memory |= !granted;
        Ok(granted)
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }

    fn tables(&self) -> usize {
        TABLES
    }
}
