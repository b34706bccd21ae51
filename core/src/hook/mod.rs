//! Hooks: what runs at the turning points of a session, and what it may decide there.
//!
//! A hook is a name that the host can run: a component, a program, a closure; to the core they are one
//! [`RunHook`](crate::effect::Effect::RunHook) effect. [`PolicySpec::hooks`](crate::spec::PolicySpec::hooks) registers hooks by event and
//! tool, a [`HookInput`] tells them what happened, their answers are read strictly ([`HookOutput`], or
//! [`Judgement`] for third parties) and put together in the order of registration ([`merge()`]).

mod call;
mod compaction;
mod event;
pub mod input;
mod judgement;
mod matcher;
mod merge;
mod output;
mod registration;

pub(crate) use self::judgement::shorter;
pub use self::{
    call::{HookAnswer, HookCall, Opinion},
    compaction::CompactionTrigger,
    event::HookEvent,
    input::{HookInput, Occurrence},
    judgement::{Judgement, Narrowing},
    matcher::{Matcher, MatcherError},
    merge::{Merged, Ruling, Voice, merge},
    output::{
        AsyncOutput, BlockDecision, ContextOutput, HookOutput, HookOutputError, PermissionDecision,
        RequestDecision, SpecificOutput, SyncOutput,
    },
    registration::{
        DEFAULT_TIMEOUT_MS, FailurePolicy, HookKind, HookMatcher, TimeoutError, concerned,
        timeout_from_seconds,
    },
};
