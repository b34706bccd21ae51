//! The interface to the code of a hook.

use std::sync::Arc;

use futures_util::stream::BoxStream;
use windlass_core::{EffectId, effect::Answer, hook::HookCall, host::CancelSignal};

use crate::session_shares::SessionShares;

/// Runs one hook: a closure, a component, a process.
pub trait RunHook: Send + Sync {
    /// Runs it: any number of [`Answer::HookProgress`], then one [`Answer::Hook`], or
    /// [`Answer::Cancelled`] if it was stopped without an answer.
    ///
    /// When `cancel` fires (timeout or interruption) the hook is asked to stop; dropping the stream must stop it by
    /// force. The core measures the timeout.
    fn run(&self, id: EffectId, call: HookCall, cancel: CancelSignal)
    -> BoxStream<'static, Answer>;

    /// The runner for one session, if something that belongs to a session is kept, which is done in `shares`. Asked for with each call. By
    /// default one runner serves all sessions.
    fn session_runner(&self, shares: &mut SessionShares) -> Option<Arc<dyn RunHook>> {
        let _ = shares;
        None
    }
}

/// A hook of a component, on a thread of tokio's blocking pool.
#[cfg(feature = "plugins")]
impl RunHook for crate::plugins::PluginHook {
    fn run(
        &self,
        _id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        Box::pin(futures_util::stream::once(
            self.clone().answer(call, cancel),
        ))
    }

    fn session_runner(&self, shares: &mut SessionShares) -> Option<Arc<dyn RunHook>> {
        self.of_session(shares)
            .map(|hook| Arc::new(hook) as Arc<dyn RunHook>)
    }
}
