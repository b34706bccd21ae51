//! Compiling and linking a component beside those who wait for it.
//!
//! Compiling takes from milliseconds to minutes, nothing can interrupt it, and how long it takes is up to whoever made the component.
//! So it runs on a thread of its own, once, and who waits for it gives up when the call is cancelled or the time is over: the session
//! goes on, and a later call finds what is ready by then.

use std::{
    io,
    sync::{Arc, Condvar, Mutex, OnceLock, PoisonError},
    thread,
    time::{Duration, Instant},
};

use super::linked::Linked;

/// How often those who wait look whether they were cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// Compiled code, once it is there.
#[derive(Default)]
pub(super) struct Preparation {
    done: OnceLock<Result<Linked, String>>,
    /// Whether a thread is at it.
    has_begun: Mutex<bool>,
    ended: Condvar,
}

/// Why there is no compiled code for a call.
#[derive(Debug)]
pub(super) enum Unprepared {
    /// It cannot be compiled, or not be linked.
    Failed(String),
    /// It is still being compiled after this time.
    Unfinished(Duration),
    /// Nobody waits for it any more.
    Abandoned,
}

impl Preparation {
    /// The compiled code. The first who asks has it made, by `start`; all wait at most for this time, and until they give up.
    ///
    /// # Errors
    /// [`Unprepared`].
    pub(super) fn wait(
        &self,
        most: Duration,
        start: impl FnOnce() -> io::Result<()>,
        gives_up: impl Fn() -> bool,
    ) -> Result<&Linked, Unprepared> {
        let since = Instant::now();
        let mut has_begun = self
            .has_begun
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.done.get().is_none() && !*has_begun {
            let failed = |error| Unprepared::Failed(format!("no thread can compile it: {error}"));
            start().map_err(failed)?;
            *has_begun = true;
        }
        loop {
            if let Some(done) = self.done.get() {
                return done
                    .as_ref()
                    .map_err(|reason| Unprepared::Failed(reason.clone()));
            }
            if gives_up() {
                return Err(Unprepared::Abandoned);
            }
            let left = most.saturating_sub(since.elapsed());
            if left.is_zero() {
                return Err(Unprepared::Unfinished(most));
            }
            let waited = self.ended.wait_timeout(has_begun, left.min(LOOK));
            has_begun = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Compiles on a thread of its own, which holds what it needs: nobody waits for its end.
    ///
    /// # Errors
    /// The system starts no thread.
    pub(super) fn begin<T: Send + Sync + 'static>(
        holder: Arc<T>,
        of: impl Fn(&T) -> &Self + Send + 'static,
        compile: impl Fn(&T) -> Result<Linked, String> + Send + 'static,
    ) -> io::Result<()> {
        let thread = thread::Builder::new().name("compile".to_owned());
        thread
            .spawn(move || {
                let preparation = of(&holder);
                // Whatever happens to this thread, nobody waits longer than for it.
                let _end = End(preparation);
                let linked = compile(&holder);
                preparation.finish(linked);
            })
            .map(drop)
    }

    fn finish(&self, linked: Result<Linked, String>) {
        let _has_begun = self
            .has_begun
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Only this thread sets it.
        let _ = self.done.set(linked);
        self.ended.notify_all();
    }
}

/// Notes a thread that panicked.
struct End<'a>(&'a Preparation);

impl Drop for End<'_> {
    fn drop(&mut self) {
        if self.0.done.get().is_none() {
            self.0.finish(Err(
                "the compiler failed inside: see standard error".to_owned()
            ));
        }
    }
}
