//! Hooks as a component declares them.

use serde::Deserialize;
use windlass_core::hook::{HookEvent, Matcher};

/// The maximum number of hooks that a component may declare.
const MAX_HOOKS: usize = 64;

/// The longest time limit that a hook may declare, in milliseconds.
const MAX_TIMEOUT_MS: u32 = 60_000;

/// A hook as it is declared.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredHook {
    /// The name by which the component knows it, and by which messages name it.
    pub name: String,
    /// The event at which it runs.
    pub event: HookEvent,
    /// The tools that it runs for, or what else the event is about; everything if left out.
    #[serde(default)]
    pub matcher: Matcher,
    /// Whether it may refuse.
    pub kind: DeclaredHookKind,
    /// The time limit of a run in milliseconds; five seconds if left out.
    #[serde(default)]
    pub timeout_ms: Option<u32>,
}

/// What a hook may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeclaredHookKind {
    /// Refuse, ask or narrow, and nothing that allows more. A failure refuses.
    Judge,
    /// Nothing: it only sees. A failure is reported.
    Observer,
}

impl DeclaredHookKind {
    /// The word in declarations.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Judge => "judge",
            Self::Observer => "observer",
        }
    }

    /// The function that a component with such a hook exports.
    pub(super) fn export(self) -> &'static str {
        match self {
            Self::Judge => "judge",
            Self::Observer => "observe",
        }
    }
}

/// What is wrong with the hooks of a declaration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HookFault {
    /// There are too many.
    #[error("it declares {0} hooks; at most {MAX_HOOKS} are possible")]
    Count(usize),
    /// Messages could not show the name.
    #[error("the hook name `{0}` is not made of 1 to 64 letters, digits, `_` and `-`")]
    Name(String),
    /// Two hooks have the same name.
    #[error("it declares the hook `{0}` twice")]
    Repeated(String),
    /// A judge of an event at which nothing can be refused.
    #[error(
        "its hook `{hook}` is a judge of {}, at which nothing can be refused: make it an observer", .event.name()
    )]
    NothingToJudge {
        /// The hook.
        hook: String,
        /// Its event.
        event: HookEvent,
    },
    /// A matcher that would have no effect.
    #[error(
        "its hook `{hook}` has a matcher, but {} is about nothing that a matcher could name: leave the matcher out", .event.name()
    )]
    NothingToMatch {
        /// The hook.
        hook: String,
        /// Its event.
        event: HookEvent,
    },
    /// A time limit out of range.
    #[error(
        "its hook `{hook}` declares a time limit of {timeout_ms} ms; 1 to {MAX_TIMEOUT_MS} are possible"
    )]
    Timeout {
        /// The hook.
        hook: String,
        /// The limit in milliseconds.
        timeout_ms: u32,
    },
    /// The component has no function for it.
    #[error(
        "it declares the {} `{hook}` and does not export the function `{}` of the world windlass:plugin/{}",
        .kind.word(), .kind.export(), .kind.word()
    )]
    NoExport {
        /// The first hook of this kind.
        hook: String,
        /// Its kind.
        kind: DeclaredHookKind,
    },
}

/// Checks the hooks of a declaration.
pub(super) fn check(hooks: &[DeclaredHook]) -> Result<(), HookFault> {
    if hooks.len() > MAX_HOOKS {
        return Err(HookFault::Count(hooks.len()));
    }
    for (index, hook) in hooks.iter().enumerate() {
        let name = || hook.name.clone();
        if !is_name(&hook.name) {
            return Err(HookFault::Name(name()));
        }
        if hooks[..index].iter().any(|other| other.name == hook.name) {
            return Err(HookFault::Repeated(name()));
        }
        let event = hook.event;
        if hook.kind == DeclaredHookKind::Judge && !event.can_be_refused() {
            return Err(HookFault::NothingToJudge {
                hook: name(),
                event,
            });
        }
        if !hook.matcher.to_string().is_empty() && !has_subject(event) {
            return Err(HookFault::NothingToMatch {
                hook: name(),
                event,
            });
        }
        if let Some(timeout_ms) = hook.timeout_ms
            && !(1..=MAX_TIMEOUT_MS).contains(&timeout_ms)
        {
            return Err(HookFault::Timeout {
                hook: name(),
                timeout_ms,
            });
        }
    }
    Ok(())
}

/// Checks that a component exports what its hooks need.
pub(super) fn check_exports(hooks: &[DeclaredHook], exports: &[String]) -> Result<(), HookFault> {
    let is_exported = |hook: &&DeclaredHook| exports.iter().any(|name| name == hook.kind.export());
    match hooks.iter().find(|hook| !is_exported(hook)) {
        None => Ok(()),
        Some(hook) => Err(HookFault::NoExport {
            hook: hook.name.clone(),
            kind: hook.kind,
        }),
    }
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=64).contains(&name.len()) && name.chars().all(plain)
}

/// Whether the event is about something that a matcher can name
/// ([`Occurrence::subject`](windlass_core::hook::Occurrence::subject)).
fn has_subject(event: HookEvent) -> bool {
    !matches!(
        event,
        HookEvent::UserPromptSubmit
            | HookEvent::Stop
            | HookEvent::TeammateIdle
            | HookEvent::TaskCompleted
            | HookEvent::WorktreeCreate
            | HookEvent::WorktreeRemove
            | HookEvent::PostToolBatch
            | HookEvent::CwdChanged
    )
}
