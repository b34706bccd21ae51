//! What was refused, for whoever asks afterwards.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

/// So many are remembered.
const LIMIT: usize = 1000;

/// Refusals in their order.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<List>);

#[derive(Debug, Default)]
struct List {
    /// How many there were before the first that is remembered.
    forgotten: u64,
    entries: VecDeque<Refusal>,
}

/// A connection that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Where to, as far as that could be read.
    pub(crate) host: String,
    pub(crate) reason: String,
}

impl Refusals {
    pub(super) fn add(&self, host: String, reason: String) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.entries.push_back(Refusal { host, reason });
        if list.entries.len() > LIMIT {
            list.entries.pop_front();
            list.forgotten += 1;
        }
    }

    /// How many there have been.
    pub(crate) fn count(&self) -> u64 {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.forgotten + list.entries.len() as u64
    }

    /// Those after so many, each once.
    pub(crate) fn since(&self, count: u64) -> Vec<Refusal> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let skipped = usize::try_from(count.saturating_sub(list.forgotten)).unwrap_or(usize::MAX);
        let mut refusals: Vec<Refusal> = Vec::new();
        for refusal in list.entries.iter().skip(skipped) {
            if !refusals.contains(refusal) {
                refusals.push(refusal.clone());
            }
        }
        refusals
    }
}
