//! What the driver needs of a host.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::{
    future::Future,
    pin::Pin,
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll},
};

use futures_core::Stream;
use futures_util::{stream, task::AtomicWaker};

use crate::{
    effect::{
        Answer, EffectId, Entry, HttpRequest, PermissionRequest, PermissionResponse, Probe, Probed,
    },
    hook::{HookAnswer, HookCall},
    id::{Millis, Now},
    message::Message,
    permission::{ResolvePath, ResolvedPath, UpdateError},
    tool::ToolCall,
};

/// Performs effects. One implementation a platform: tokio and wasmtime, `fetch` and jco, a test.
///
/// No method needs `Send`: the driver's future is `Send` exactly when the host's futures are.
pub trait Host {
    /// The time.
    fn now(&self) -> Now;

    /// Ends when the monotonic clock has reached `until`.
    fn sleep(&self, until: Millis) -> impl Future<Output = ()>;

    /// Sends a request: head, body pieces, then end or failure. Dropping the stream closes the socket.
    fn http(&self, id: EffectId, request: HttpRequest) -> impl Stream<Item = Answer>;

    /// Makes paths absolute and real, in the order given.
    fn resolve(
        &self,
        id: EffectId,
        paths: Vec<ResolvePath>,
    ) -> impl Future<Output = Vec<Result<ResolvedPath, String>>>;

    /// Runs a tool: any number of [`Answer::Progress`], then one [`Answer::Tool`] or
    /// [`Answer::Cancelled`]. When `cancel` fires the tool is asked to stop; dropping the stream
    /// must stop it by force.
    fn call_tool(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer>;

    /// Finds out what became of a call that was lost with the program that ran it: whether whoever ran it knows a
    /// result, or knows that nothing was done. By default nobody can tell.
    fn probe_tool(&self, id: EffectId, probe: Probe) -> impl Future<Output = Probed> {
        let _ = (id, probe);
        core::future::ready(Probed::Unknown)
    }

    /// Asks whoever decides. A host without anybody to ask denies, and says what would allow it.
    fn ask_permission(
        &self,
        id: EffectId,
        request: PermissionRequest,
    ) -> impl Future<Output = PermissionResponse>;

    /// Runs a hook: any number of [`Answer::HookProgress`], then one [`Answer::Hook`] or
    /// [`Answer::Cancelled`]. When `cancel` fires (its time is over, or the run is interrupted) it is asked to
    /// stop; dropping the stream must stop it by force. A host without hooks says that it failed.
    fn run_hook(
        &self,
        id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        let _ = (id, cancel);
        let reason = alloc::format!("this host has no hook named {}", call.hook);
        stream::once(core::future::ready(Answer::Hook(HookAnswer::Failed(
            reason,
        ))))
    }

    /// Appends to the transcript and returns when it is safe.
    ///
    /// # Errors
    /// The reason, for the person who reads the result.
    fn persist(
        &self,
        id: EffectId,
        entries: Vec<Entry>,
    ) -> impl Future<Output = Result<(), String>>;

    /// Hands a message to the application; may wait until it is taken.
    fn message(&self, message: Message) -> impl Future<Output = ()>;

    /// Learns that a change of the permissions was refused; the session goes on as it was. For hosts that
    /// pass on what people change; by default nothing.
    fn refused(&self, error: UpdateError) {
        let _ = error;
    }
}

/// Tells a running tool that its result is no longer wanted. One waiter at a time.
#[derive(Debug, Clone, Default)]
pub struct CancelSignal(Arc<CancelState>);

#[derive(Debug, Default)]
struct CancelState {
    fired: AtomicBool,
    waker: AtomicWaker,
}

impl CancelSignal {
    /// A signal that has not fired.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Fires it; firing twice is the same as once.
    pub fn cancel(&self) {
        self.0.fired.store(true, Ordering::Release);
        self.0.waker.wake();
    }

    /// Whether it has fired.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.fired.load(Ordering::Acquire)
    }

    /// Ends when it fires.
    #[must_use]
    pub fn cancelled(&self) -> Cancelled {
        Cancelled(self.clone())
    }
}

/// The future of [`CancelSignal::cancelled`].
#[derive(Debug)]
pub struct Cancelled(CancelSignal);

impl Future for Cancelled {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.0.waker.register(cx.waker());
        if self.0.is_cancelled() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
