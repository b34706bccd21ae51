//! The interface that the driver needs of a host.

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

/// Performs effects. Implemented once per platform: tokio and wasmtime, `fetch` and jco, a test.
///
/// No method needs `Send`: the driver's future is `Send` exactly when the host's futures are.
pub trait Host {
    /// The current time.
    fn now(&self) -> Now;

    /// Completes when the monotonic clock has reached `until`.
    fn sleep(&self, until: Millis) -> impl Future<Output = ()>;

    /// Sends a request: head, body pieces, then end or failure. Dropping the stream closes the socket.
    fn http(&self, id: EffectId, request: HttpRequest) -> impl Stream<Item = Answer>;

    /// Makes paths absolute and resolves links; results are in the order given.
    fn resolve(
        &self,
        id: EffectId,
        paths: Vec<ResolvePath>,
    ) -> impl Future<Output = Vec<Result<ResolvedPath, String>>>;

    /// Runs a tool: any number of [`Answer::Progress`], then one [`Answer::Tool`] or [`Answer::Cancelled`]. When `cancel` fires,
    /// the tool is asked to stop. Dropping the stream must stop it by force.
    fn call_tool(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer>;

    /// Finds out the outcome of a call that was lost because the process that ran it ended: its result, or that nothing was done.
    /// By default the outcome is unknown.
    fn probe_tool(&self, id: EffectId, probe: Probe) -> impl Future<Output = Probed> {
        let _ = (id, probe);
        core::future::ready(Probed::Unknown)
    }

    /// Asks for permission. A host that has nobody to ask denies the call, and says what would allow it.
    fn ask_permission(
        &self,
        id: EffectId,
        request: PermissionRequest,
    ) -> impl Future<Output = PermissionResponse>;

    /// Runs a hook: any number of [`Answer::HookProgress`], then one [`Answer::Hook`] or [`Answer::Cancelled`]. When `cancel`
    /// fires (timeout, or the run is interrupted), the hook is asked to stop. Dropping the stream must stop it by force. A host
    /// without hooks answers with a failure.
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

    /// Appends to the transcript and returns once the entries are durable.
    ///
    /// # Errors
    /// The reason, shown to whoever reads the result.
    fn persist(
        &self,
        id: EffectId,
        entries: Vec<Entry>,
    ) -> impl Future<Output = Result<(), String>>;

    /// Delivers a message to the application; may wait until it is accepted.
    fn message(&self, message: Message) -> impl Future<Output = ()>;

    /// A permission update was refused; the session continues unchanged. For hosts that forward permission changes of users. Does
    /// nothing by default.
    fn refused(&self, error: UpdateError) {
        let _ = error;
    }
}

/// Signals a running tool that its result is no longer wanted. Supports one waiter at a time.
#[derive(Debug, Clone, Default)]
pub struct CancelSignal(Arc<CancelState>);

#[derive(Debug, Default)]
struct CancelState {
    fired: AtomicBool,
    waker: AtomicWaker,
}

impl CancelSignal {
    /// Creates a signal that has not fired.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Fires the signal. Firing it again has no effect.
    pub fn cancel(&self) {
        self.0.fired.store(true, Ordering::Release);
        self.0.waker.wake();
    }

    /// Whether it has fired.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.fired.load(Ordering::Acquire)
    }

    /// Completes when the signal fires.
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
