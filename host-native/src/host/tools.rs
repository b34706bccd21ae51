//! The interface to the code that runs a tool call.

use std::{any::Any, sync::Arc};

use futures_util::{FutureExt, future::BoxFuture, stream::BoxStream};
#[cfg(feature = "plugins")]
use futures_util::{StreamExt as _, stream};
#[cfg(feature = "plugins")]
use tokio::sync::mpsc;
use windlass_core::{
    EffectId,
    effect::{Answer, Probe, Probed},
    host::CancelSignal,
    tool::ToolCall,
};

use crate::session_shares::SessionShares;

/// Runs the calls of one or more tools: a closure, a component, a process.
pub trait RunTool: Send + Sync {
    /// Runs a call: any number of [`Answer::Progress`], then one [`Answer::Tool`], or
    /// [`Answer::Cancelled`] if it was stopped without a result.
    ///
    /// When `cancel` fires the call is asked to stop; dropping the stream must stop it by force.
    /// The run must respect `call.timeout_ms`; if it is not set, a limit of its own.
    fn run(&self, id: EffectId, call: ToolCall, cancel: CancelSignal)
    -> BoxStream<'static, Answer>;

    /// The runner for the calls of one session, if something that belongs to a session is kept, which is done in `shares`. Asked for with
    /// each call. By default one runner serves all sessions.
    fn session_runner(&self, shares: &mut SessionShares) -> Option<Arc<dyn RunTool>> {
        let _ = shares;
        None
    }

    /// Finds out the outcome of a call that was lost when the process that ran it ended. Called for tools of class
    /// [`RetryClass::Probe`](windlass_core::tool::RetryClass::Probe); by default the outcome is unknown.
    fn probe(&self, probe: Probe) -> BoxFuture<'static, Probed> {
        let _ = probe;
        std::future::ready(Probed::Unknown).boxed()
    }
}

/// Reports of a component that wait to be taken; further ones are dropped.
#[cfg(feature = "plugins")]
const REPORTS_AHEAD: usize = 16;

/// A component, on a thread of tokio's blocking pool.
#[cfg(feature = "plugins")]
impl RunTool for crate::plugins::Plugin {
    fn run(
        &self,
        _id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        let plugin = self.clone();
        let answers = async move {
            let (told, mut reports) = mpsc::channel(REPORTS_AHEAD);
            let done = plugin.call_reporting(call, cancel, told);
            // They end when the call does.
            let reports = stream::poll_fn(move |cx| reports.poll_recv(cx)).map(Answer::Progress);
            reports.chain(stream::once(done.map(Answer::Tool)))
        };
        answers.into_stream().flatten().boxed()
    }

    fn session_runner(&self, shares: &mut SessionShares) -> Option<Arc<dyn RunTool>> {
        self.of_session(shares)
            .map(|plugin| Arc::new(plugin) as Arc<dyn RunTool>)
    }
}

/// A command, in its own process group.
#[cfg(unix)]
impl RunTool for crate::bash::Bash {
    fn run(
        &self,
        _id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        self.answers(call, cancel)
    }
}

/// The message of a panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}
