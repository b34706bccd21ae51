//! A list of refused connections, for later queries.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

/// The maximum number kept.
const LIMIT: usize = 1000;

/// Refused connections, in order.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<List>);

#[derive(Debug, Default)]
struct List {
    /// How many were dropped from the front of the list.
    forgotten: u64,
    entries: VecDeque<Refusal>,
}

/// A refused connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The target host, as far as the request could be parsed.
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

    /// The total number of refusals.
    pub(crate) fn count(&self) -> u64 {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.forgotten + list.entries.len() as u64
    }

    /// The refusals after the first `count`, without duplicates.
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
