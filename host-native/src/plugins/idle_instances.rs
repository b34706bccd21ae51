//! The instances of a host that wait for the next call of their session.

use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::tool_instance::ToolInstance;

/// How many instances wait at most in a host that says nothing else.
const MOST: usize = 16;

/// Instances that wait, the longest idle one first. There are never more than the host wants, and they never hold more memory.
pub(super) struct IdleInstances {
    most: usize,
    most_memory: usize,
    keys: AtomicU64,
    waiting: Mutex<VecDeque<Idle>>,
}

struct Idle {
    key: u64,
    /// The bytes that it holds.
    memory: usize,
    instance: ToolInstance,
}

impl IdleInstances {
    /// Room for so many, which hold so many bytes together.
    pub(super) fn new(most: Option<usize>, most_memory: usize) -> Self {
        Self {
            most: most.unwrap_or(MOST),
            most_memory,
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
        let at = waiting.iter().position(|idle| idle.key == key)?;
        waiting.remove(at).map(|idle| idle.instance)
    }

    /// Lets an instance wait. The longest idle ones end where there are too many, or where they hold too much.
    pub(super) fn put(&self, key: u64, instance: ToolInstance, memory: usize) {
        let mut waiting = self.lock();
        waiting.push_back(Idle {
            key,
            memory,
            instance,
        });
        let mut held: usize = waiting.iter().map(|idle| idle.memory).sum();
        let mut ends = Vec::new();
        while waiting.len() > self.most || held > self.most_memory {
            let Some(longest) = waiting.pop_front() else {
                break;
            };
            held -= longest.memory;
            ends.push(longest);
        }
        // Giving memory back takes time, for which nobody else waits.
        drop(waiting);
        drop(ends);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Idle>> {
        // Nothing in here is half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
