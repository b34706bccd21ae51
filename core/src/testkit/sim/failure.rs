//! A seed that broke a promise.

use alloc::{format, string::String, vec::Vec};

use super::run::Failed;
use crate::testkit::oracle::Violation;

/// A run in which a promise was broken, with what led to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}, step {step}: [{}] {violation}{}", violation.oracle(), shown(trace))]
pub struct SimFailure {
    /// The seed: running it again gives the same.
    pub seed: u64,
    /// How many steps the run had made.
    pub step: u64,
    /// The broken promise.
    pub violation: Violation,
    /// The last inputs and outputs, oldest first.
    pub trace: Vec<String>,
}

impl SimFailure {
    pub(super) fn new(seed: u64, failed: Failed, last: usize) -> Self {
        let mut trace = failed.trace;
        trace.drain(..trace.len().saturating_sub(last));
        Self {
            seed,
            step: failed.step,
            violation: failed.violation,
            trace,
        }
    }

    /// Two runs that contradict each other.
    pub(super) fn between(seed: u64, violation: Violation) -> Self {
        Self {
            seed,
            step: 0,
            violation,
            trace: Vec::new(),
        }
    }

    /// A failure that the same seed did not show again.
    pub(super) fn vanished(seed: u64) -> Self {
        let violation = Violation::Contract {
            input: format!("the seed {seed}"),
            what:
                "failed once and passed once: the world or an oracle depends on more than the seed"
                    .into(),
        };
        Self::between(seed, violation)
    }
}

fn shown(trace: &[String]) -> String {
    if trace.is_empty() {
        return String::new();
    }
    format!("\nthe last steps:\n  {}", trace.join("\n  "))
}
