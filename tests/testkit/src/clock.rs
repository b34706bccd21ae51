//! Virtual time, and an executor that runs a future in it.

use alloc::{collections::BTreeMap, rc::Rc, sync::Arc, task::Wake, vec::Vec};
use core::{
    cell::RefCell,
    future::Future,
    pin::{Pin, pin},
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll, Waker},
};

use windlass_core::id::{Millis, Now, UnixMillis};

/// 2026-01-01T00:00:00Z: where the wall clock starts.
const START: u64 = 1_767_225_600_000;

/// A clock that stands still while any future can make progress, and otherwise jumps to the next timer. Sleeping takes no
/// real time, and the order of events does not depend on the machine.
#[derive(Debug, Clone, Default)]
pub struct VirtualClock(Rc<RefCell<Timers>>);

#[derive(Debug, Default)]
struct Timers {
    now: u64,
    /// The waiting tasks, by deadline and then in the order of registration.
    waiting: BTreeMap<(u64, u64), Waker>,
    asked: u64,
}

/// No progress is possible: the future waits for something that no timer brings about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "nothing can go on at {at} ms: the future waits, but no timer is set; something is never answered"
)]
pub struct Stuck {
    /// The virtual time, in milliseconds since the start.
    pub at: u64,
}

impl VirtualClock {
    /// A clock at 0 ms.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Now {
        let ms = self.0.borrow().now;
        Now {
            mono: Millis(ms),
            wall: UnixMillis(START.saturating_add(ms)),
        }
    }

    /// Completes at a point in time.
    #[must_use]
    pub fn sleep_until(&self, until: Millis) -> Sleep {
        Sleep {
            clock: self.clone(),
            until: until.0,
            place: None,
        }
    }

    /// Completes after this many milliseconds.
    #[must_use]
    pub fn sleep(&self, ms: u64) -> Sleep {
        self.sleep_until(self.now().mono.after(ms))
    }

    /// Runs a future to completion in virtual time.
    ///
    /// # Errors
    /// [`Stuck`] if it waits for something that never happens.
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, Stuck> {
        let woken = Arc::new(Flag::default());
        let waker = Waker::from(woken.clone());
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Ok(output);
            }
            if woken.take() {
                continue;
            }
            if !self.advance() {
                return Err(Stuck {
                    at: self.0.borrow().now,
                });
            }
        }
    }

    /// Jumps to the next timer and wakes the tasks that wait for it.
    fn advance(&self) -> bool {
        let mut timers = self.0.borrow_mut();
        let Some((&(until, _), _)) = timers.waiting.first_key_value() else {
            return false;
        };
        timers.now = timers.now.max(until);
        let mut due = Vec::new();
        while let Some(first) = timers.waiting.first_entry()
            && first.key().0 <= until
        {
            due.push(first.remove());
        }
        // A waker may access the clock.
        drop(timers);
        due.into_iter().for_each(Waker::wake);
        true
    }
}

/// The future of [`VirtualClock::sleep`].
#[derive(Debug)]
pub struct Sleep {
    clock: VirtualClock,
    until: u64,
    /// Its key in the map of waiting tasks.
    place: Option<(u64, u64)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let clock = self.clock.clone();
        let mut timers = clock.0.borrow_mut();
        if timers.now >= self.until {
            return Poll::Ready(());
        }
        let place = self.place.unwrap_or_else(|| {
            timers.asked += 1;
            (self.until, timers.asked)
        });
        timers.waiting.insert(place, cx.waker().clone());
        self.place = Some(place);
        Poll::Pending
    }
}

impl Drop for Sleep {
    /// A dropped sleep must not make time advance.
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.clock.0.borrow_mut().waiting.remove(&place);
        }
    }
}

#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Flag {
    fn take(&self) -> bool {
        self.0.swap(false, Ordering::AcqRel)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}
