//! The interface to the code of a hook.

use futures_util::stream::BoxStream;
use windlass_core::{EffectId, effect::Answer, hook::HookCall, host::CancelSignal};

/// Runs one hook: a closure, a component, a process.
pub trait RunHook: Send + Sync {
    /// Runs it: any number of [`Answer::HookProgress`], then one [`Answer::Hook`], or
    /// [`Answer::Cancelled`] if it was stopped without an answer.
    ///
    /// When `cancel` fires (timeout or interruption) the hook is asked to stop; dropping the stream must stop it by
    /// force. The core measures the timeout.
    fn run(&self, id: EffectId, call: HookCall, cancel: CancelSignal)
    -> BoxStream<'static, Answer>;
}
