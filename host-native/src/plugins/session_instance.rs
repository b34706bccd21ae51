//! The one instance that the tools of a component have in a session, and whose turn it is to call them.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    idle_instances::IdleInstances,
    outcome::{Stopped, Watch},
    ticker::TICK,
    tool_instance::ToolInstance,
};

/// How many calls wait at most for the one that runs.
const MOST_WAITING: usize = 64;

/// The place of an instance, and the order of those who call it. The instance ends with it.
pub(crate) struct SessionInstance {
    idle: Arc<IdleInstances>,
    key: u64,
    turns: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Why a call has no turn.
#[derive(Debug)]
pub(super) enum NoTurn {
    /// So many wait already.
    Crowded(usize),
    /// It was stopped while it waited.
    Stopped(Stopped),
}

impl SessionInstance {
    /// A place with nothing in it yet, for one session.
    pub(super) fn new(idle: &Arc<IdleInstances>) -> Self {
        Self {
            idle: Arc::clone(idle),
            key: idle.key(),
            turns: Arc::new(Semaphore::new(1)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// What tells its host from others, whose instances cannot run here.
    pub(super) fn host(&self) -> String {
        format!("{:p}", Arc::as_ptr(&self.idle))
    }

    /// One for another session.
    pub(crate) fn anew(&self) -> Self {
        Self::new(&self.idle)
    }

    /// Waits for the turn of a call, without a thread, in the order in which calls came.
    ///
    /// # Errors
    /// [`NoTurn`].
    pub(super) async fn turn(self: &Arc<Self>, watch: &Watch) -> Result<Turn, NoTurn> {
        let waiting = self.wait()?;
        let mut granted = pin!(Arc::clone(&self.turns).acquire_owned());
        loop {
            match tokio::time::timeout(TICK, &mut granted).await {
                Ok(permit) => return waiting.over(permit.ok()),
                Err(_) => watch.check().map_err(NoTurn::Stopped)?,
            }
        }
    }

    /// The same on the current thread.
    ///
    /// # Errors
    /// [`NoTurn`].
    pub(super) fn turn_blocking(self: &Arc<Self>, watch: &Watch) -> Result<Turn, NoTurn> {
        let waiting = self.wait()?;
        let mut granted = pin!(Arc::clone(&self.turns).acquire_owned());
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        loop {
            let polled = granted.as_mut().poll(&mut Context::from_waker(&waker));
            if let Poll::Ready(permit) = polled {
                return waiting.over(permit.ok());
            }
            watch.check().map_err(NoTurn::Stopped)?;
            thread::park_timeout(TICK);
        }
    }

    fn wait(self: &Arc<Self>) -> Result<Waiting, NoTurn> {
        let before = self.waiting.fetch_add(1, Ordering::AcqRel);
        let waiting = Waiting {
            instance: Arc::clone(self),
            since: Instant::now(),
        };
        // The one whose turn it is waits no more.
        match before >= MOST_WAITING {
            true => Err(NoTurn::Crowded(MOST_WAITING)),
            false => Ok(waiting),
        }
    }
}

impl Drop for SessionInstance {
    fn drop(&mut self) {
        drop(self.idle.take(self.key));
    }
}

/// A call that waits. It is counted as long as this is there.
struct Waiting {
    instance: Arc<SessionInstance>,
    since: Instant,
}

impl Waiting {
    fn over(self, permit: Option<OwnedSemaphorePermit>) -> Result<Turn, NoTurn> {
        // Nobody closes the semaphore.
        let permit = permit.ok_or(NoTurn::Stopped(Stopped::Cancelled))?;
        Ok(Turn {
            instance: Arc::clone(&self.instance),
            waited: self.since.elapsed(),
            _permit: permit,
        })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.instance.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The turn of one call. The next one comes when it is dropped.
pub(super) struct Turn {
    instance: Arc<SessionInstance>,
    /// How long the call waited for it.
    pub(super) waited: Duration,
    _permit: OwnedSemaphorePermit,
}

impl Turn {
    /// The instance, if the last call left one. It is gone unless the call brings it back.
    pub(super) fn take(&self) -> Option<ToolInstance> {
        self.instance.idle.take(self.instance.key)
    }

    /// Brings the instance back, as the next call shall find it.
    /// It holds so many bytes of memory.
    pub(super) fn bring_back(self, instance: ToolInstance, memory: usize) {
        self.instance.idle.put(self.instance.key, instance, memory);
    }
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
