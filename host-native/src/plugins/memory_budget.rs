//! The memory that all runs of a host's components may have together. Each run is limited; without this, many at once would not be.

use std::{
    collections::BTreeMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::outcome::{Stopped, Watch};

/// Bytes that all runs have together in a host that says nothing else.
const MOST: usize = 2 << 30;

/// How often a run that waits looks whether it was stopped.
const LOOK: Duration = Duration::from_millis(10);

/// What is left for runs. Each takes as much as it may need before it begins, so that none is refused memory because of others.
pub(super) struct MemoryBudget {
    most: usize,
    taken: Mutex<Taken>,
    given_back: Condvar,
}

#[derive(Default)]
struct Taken {
    all: usize,
    /// By component. Those that run nothing are not in it.
    each: BTreeMap<usize, usize>,
}

impl MemoryBudget {
    pub(super) fn new(most: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            most: most.unwrap_or(MOST),
            taken: Mutex::default(),
            given_back: Condvar::new(),
        })
    }

    /// The bytes that all runs may have.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Takes what a run of a component may need, and waits for it as long as the run may. One component has at most half of all: it
    /// does not hold up the others. A run that alone may need more than that runs when nothing else of the component does.
    ///
    /// # Errors
    /// It was stopped while it waited.
    pub(super) fn take(
        self: &Arc<Self>,
        component: usize,
        bytes: usize,
        watch: &Watch,
    ) -> Result<Reserved, Stopped> {
        let bytes = bytes.min(self.most / 2);
        let mut taken = self.lock();
        while !taken.has_room(component, bytes, self.most) {
            watch.check()?;
            let waited = self.given_back.wait_timeout(taken, LOOK);
            taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        taken.all += bytes;
        *taken.each.entry(component).or_default() += bytes;
        drop(taken);
        Ok(Reserved {
            budget: Arc::clone(self),
            component,
            bytes,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        // Nothing in here is half done.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn has_room(&self, component: usize, bytes: usize, most: usize) -> bool {
        let own = self.each.get(&component).copied().unwrap_or_default();
        self.all + bytes <= most && own + bytes <= most / 2
    }
}

/// What a run has taken. It is given back when this is dropped.
pub(super) struct Reserved {
    budget: Arc<MemoryBudget>,
    component: usize,
    bytes: usize,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut taken = self.budget.lock();
        taken.all = taken.all.saturating_sub(self.bytes);
        let left = taken.each.get(&self.component).copied().unwrap_or_default();
        match left.saturating_sub(self.bytes) {
            0 => taken.each.remove(&self.component),
            left => taken.each.insert(self.component, left),
        };
        drop(taken);
        self.budget.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::host::CancelSignal;

    use super::*;

    fn watch(time: Duration) -> Watch {
        Watch::new(time, CancelSignal::new(), Arc::default())
    }

    #[test]
    fn card_3_a_component_has_half_of_the_memory_and_all_have_no_more_than_it() {
        let budget = MemoryBudget::new(Some(400));
        let (long, over) = (watch(Duration::MAX), watch(Duration::ZERO));
        let take = |component, bytes| budget.take(component, bytes, &over);
        let one = take(1, 150).unwrap();
        assert_eq!(take(1, 100).err(), Some(Stopped::OutOfTime));
        let small = take(1, 50).unwrap();
        let two = take(2, 200).unwrap();
        assert_eq!(take(3, 1).err(), Some(Stopped::OutOfTime));
        drop((one, small));
        // What alone may need more than a half has the half.
        let large = take(3, 4000).unwrap();
        drop(two);
        drop(take(4, 200).unwrap());
        drop(large);
        assert_eq!(budget.lock().all, 0);
        assert!(budget.lock().each.is_empty());

        // Whoever waits goes on when something is given back.
        let held = take(1, 200).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| budget.take(1, 1, &long).is_ok());
            drop(held);
            assert!(waits.join().unwrap());
        });
    }
}
