//! Hooks: extensions that run at the events of a session, and what they may decide.
//!
//! A hook is a name that the host can run: a component, a program, a closure. To the core each is a
//! [`RunHook`](crate::effect::Effect::RunHook) effect. [`PolicySpec::hooks`](crate::spec::PolicySpec::hooks) registers hooks by
//! event and tool, and a [`HookInput`] describes the event. The answers are parsed strictly ([`HookOutput`], or [`Judgement`] for
//! third parties) and merged in the order of registration ([`merge()`]).

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
    call::{HookAnswer, HookCall, InterpretedAnswer},
    compaction::CompactionTrigger,
    event::HookEvent,
    input::{HookInput, Occurrence},
    judgement::{Judgement, Narrowing},
    matcher::{Matcher, MatcherError},
    merge::{AnsweredHook, Merged, Ruling, merge},
    output::{
        AsyncOutput, BlockDecision, ContextOutput, HookOutput, HookOutputError, PermissionDecision,
        RequestDecision, SpecificOutput, SyncOutput,
    },
    registration::{
        DEFAULT_TIMEOUT_MS, FailurePolicy, HookKind, HookMatcher, TimeoutError, concerned,
        timeout_from_seconds,
    },
};
