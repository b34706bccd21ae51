//! Limits of one call.

use std::time::Duration;

use serde::Deserialize;
use wasmtime::ResourceLimiter;

/// Limits of one call of a component. Exceeding one ends the call with an error that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallLimits {
    /// Time from start to result; the call's own timeout takes precedence.
    pub time: Duration,
    /// Time that a call waits for its component to be compiled, before its own time begins. Compiling goes on then, and a later
    /// call finds what it made.
    pub compiling: Duration,
    /// Linear memory in bytes, over all memories of the component.
    pub memory: usize,
    /// Elements of all tables.
    pub table_elements: usize,
    /// Bytes that the host accepts from the component at once: an argument of a host function, or the result.
    pub transfer: usize,
    /// Bytes of text and images in a result.
    pub content: usize,
    /// Bytes of the structured output.
    pub structured: usize,
    /// Observations in a result.
    pub observations: usize,
    /// Bytes of log messages; further ones are dropped and the call continues.
    pub log: usize,
    /// Calls of functions of the host.
    pub host_calls: u32,
    /// Bytes of the bodies of HTTP requests and their answers, together. What would be more is an error for the component.
    pub http: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_mins(2),
            compiling: Duration::from_mins(2),
            memory: 256 << 20,
            table_elements: 200_000,
            transfer: 64 << 20,
            content: 16 << 20,
            structured: 32 << 20,
            observations: 10_000,
            log: 64 << 10,
            host_calls: 1_000_000,
            http: 32 << 20,
        }
    }
}

/// What one call needs at most. A host may allow less, never more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredLimits {
    /// Linear memory in bytes.
    #[serde(default)]
    pub memory_bytes: Option<usize>,
    /// Time in milliseconds.
    #[serde(default)]
    pub timeout_ms: Option<u32>,
    /// Bytes of text and images in a result.
    #[serde(default)]
    pub output_bytes: Option<usize>,
    /// Bytes of log messages.
    #[serde(default)]
    pub log_bytes: Option<usize>,
    /// Calls of functions of the host.
    #[serde(default)]
    pub host_calls: Option<u32>,
    /// Bytes of the bodies of HTTP requests and their answers.
    #[serde(default)]
    pub http_bytes: Option<usize>,
}

impl CallLimits {
    /// These limits, or what a plugin declares to need where that is less.
    pub(super) fn within(&self, declared: &DeclaredLimits) -> Self {
        let time = declared
            .timeout_ms
            .map(|ms| Duration::from_millis(ms.into()));
        let bytes = |declared: Option<usize>, most: usize| declared.map_or(most, |n| n.min(most));
        Self {
            time: time.map_or(self.time, |time| time.min(self.time)),
            memory: bytes(declared.memory_bytes, self.memory),
            content: bytes(declared.output_bytes, self.content),
            log: bytes(declared.log_bytes, self.log),
            http: bytes(declared.http_bytes, self.http),
            host_calls: declared
                .host_calls
                .map_or(self.host_calls, |calls| calls.min(self.host_calls)),
            ..self.clone()
        }
    }
}

/// The maximum number of core instances, memories and tables of one component. Interpreters packaged as components
/// have a dozen instances and three memories.
const INSTANCES: usize = 64;
const MEMORIES: usize = 8;
const TABLES: usize = 32;

/// Counts the resources of a call's instances, over all their memories and tables.
#[derive(Debug)]
pub(super) struct Meter {
    memory_left: usize,
    elements_left: usize,
    /// Whether the component requested more memory than allowed.
    pub(super) refused_memory: bool,
}

impl Meter {
    /// The bytes of memory in use.
    pub(super) fn memory(&self, limits: &CallLimits) -> usize {
        limits.memory.saturating_sub(self.memory_left)
    }

    pub(super) fn new(limits: &CallLimits) -> Self {
        Self {
            memory_left: limits.memory,
            elements_left: limits.table_elements,
            refused_memory: false,
        }
    }
}

/// Subtracts the growth from what is left, if there is enough.
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
        // Growth beyond the component's own maximum fails as it requested.
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
