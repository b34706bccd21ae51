//! The instances of a host that wait for the next call of their session.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::tool_instance::ToolInstance;

/// How many instances wait at most in a host that says nothing else. Each holds up to the memory that a call may have.
const MOST: usize = 16;

/// Instances that wait, the longest idle one first. There are never more than the host wants.
pub(super) struct IdleInstances {
    most: usize,
    keys: AtomicU64,
    waiting: Mutex<VecDeque<(u64, ToolInstance)>>,
}

impl IdleInstances {
    /// Room for so many.
    pub(super) fn new(most: Option<usize>) -> Self {
        Self {
            most: most.unwrap_or(MOST),
            keys: AtomicU64::new(0),
            waiting: Mutex::default(),
        }
    }

    /// A key for the instance of one more component in one more session.
    pub(super) fn key(&self) -> u64 {
        self.keys.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes an instance out, for a call or for its end; none if there is none, or no more.
    pub(super) fn take(&self, key: u64) -> Option<ToolInstance> {
        let mut waiting = self.lock();
        let at = waiting.iter().position(|(of, _)| *of == key)?;
        waiting.remove(at).map(|(_, instance)| instance)
    }

    /// Lets an instance wait. The longest idle one ends where there are too many.
    pub(super) fn put(&self, key: u64, instance: ToolInstance) {
        let mut waiting = self.lock();
        waiting.push_back((key, instance));
        let ends = match waiting.len() > self.most {
            true => waiting.pop_front(),
            false => None,
        };
        // Giving memory back takes time, for which nobody else waits.
        drop(waiting);
        drop(ends);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(u64, ToolInstance)>> {
        // Nothing in here is half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
