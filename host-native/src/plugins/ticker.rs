//! The clock of running calls: a thread that advances the engine's epoch, and pauses when nothing runs.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use wasmtime::{Engine, EngineWeak};

/// The interval at which running calls are checked, and so the maximum delay of a timeout or cancellation.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// The number of ticks without a call before the thread pauses, so that consecutive calls need not wake it.
const LINGER: u32 = 10;

/// Advances the epoch of one engine while there is at least one [`Ticking`].
#[derive(Debug)]
pub(super) struct Ticker(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    calls: usize,
    resting: bool,
    closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The counters are valid after any panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticker {
    /// Starts the thread; it ends with the ticker.
    ///
    /// # Errors
    /// The error of the operating system if no thread can be created.
    pub(super) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        let engine = engine.weak();
        thread::Builder::new()
            .name("windlass-epoch".to_owned())
            .spawn(move || run(&for_thread, &engine))?;
        Ok(Self(shared))
    }

    /// Keeps the clock running until the value is dropped.
    pub(super) fn ticking(&self) -> Ticking<'_> {
        let mut state = self.0.lock();
        state.calls += 1;
        if state.resting {
            self.0.changed.notify_one();
        }
        Ticking(&self.0)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.changed.notify_one();
    }
}

/// A running call.
#[derive(Debug)]
pub(super) struct Ticking<'a>(&'a Shared);

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.lock().calls -= 1;
    }
}

fn run(shared: &Shared, engine: &EngineWeak) {
    let mut idle = 0;
    loop {
        thread::sleep(TICK);
        let mut state = shared.lock();
        idle = if state.calls == 0 { idle + 1 } else { 0 };
        if idle > LINGER {
            state.resting = true;
            state = shared
                .changed
                .wait_while(state, |s| s.calls == 0 && !s.closed)
                .unwrap_or_else(PoisonError::into_inner);
            state.resting = false;
            idle = 0;
        }
        if state.closed {
            return;
        }
        drop(state);
        let Some(engine) = engine.upgrade() else {
            return;
        };
        engine.increment_epoch();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_until(ticker: &Ticker, resting: bool) {
        while ticker.0.lock().resting != resting {
            thread::yield_now();
        }
    }

    #[test]
    fn the_clock_rests_when_nothing_runs_and_wakes_for_a_call() {
        let engine = Engine::default();
        let ticker = Ticker::start(&engine).expect("a thread");
        wait_until(&ticker, true);
        let ticking = ticker.ticking();
        wait_until(&ticker, false);
        drop(ticking);
        wait_until(&ticker, true);
    }
}
