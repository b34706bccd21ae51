//! Work beside the async runtime that is stopped when nobody waits for it any more.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::task::JoinError;

/// Starts work on a thread of tokio's blocking pool. When the future is dropped, the flag that the work is given is set.
pub(super) fn off_thread<T: Send + 'static>(
    work: impl FnOnce(Arc<AtomicBool>) -> T + Send + 'static,
) -> impl Future<Output = Result<T, JoinError>> + Send {
    let abandon = AbandonOnDrop::default();
    let abandoned = Arc::clone(&abandon.0);
    let done = tokio::task::spawn_blocking(move || work(abandoned));
    async move {
        let _abandon = abandon;
        done.await
    }
}

/// The same for work that begins without a thread.
pub(super) fn spawned<T: Send + 'static, F>(
    work: impl FnOnce(Arc<AtomicBool>) -> F,
) -> impl Future<Output = Result<T, JoinError>> + Send
where
    F: Future<Output = Result<T, JoinError>> + Send + 'static,
{
    let abandon = AbandonOnDrop::default();
    let done = tokio::spawn(work(Arc::clone(&abandon.0)));
    async move {
        let _abandon = abandon;
        done.await?
    }
}

/// Stops a call whose future was dropped.
#[derive(Default)]
struct AbandonOnDrop(Arc<AtomicBool>);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
