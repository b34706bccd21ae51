//! Functions as hooks: what the attributes `#[judge]` and `#[observer]` make of them.

use crate::{HookError, HookEvent, Judgement};

/// What a hook says of itself in the declaration (`wit/README.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookFacts {
    /// Its name.
    pub name: &'static str,
    /// `judge` or `observer`.
    pub kind: &'static str,
    /// The event that it hears of.
    pub event: &'static str,
    /// What it runs for; none is everything.
    pub matcher: Option<&'static str>,
    /// The time that a run may take, in milliseconds; none is the host's default.
    pub timeout_ms: Option<u32>,
}

/// A hook that may refuse, as `#[judge]` implements it for the function it stands on.
pub trait Judge {
    /// What it says of itself.
    const FACTS: HookFacts;

    /// Judges an event.
    ///
    /// # Errors
    /// [`HookError`], which refuses.
    fn judge(event: &HookEvent) -> Result<Judgement, HookError>;
}

/// A hook that sees, as `#[observer]` implements it for the function it stands on.
pub trait Observer {
    /// What it says of itself.
    const FACTS: HookFacts;

    /// Sees an event.
    ///
    /// # Errors
    /// [`HookError`], which is reported.
    fn observe(event: &HookEvent) -> Result<(), HookError>;
}

/// What a function with the attribute `#[judge]` may return.
pub trait IntoJudgement {
    /// The judgement.
    ///
    /// # Errors
    /// [`HookError`], which refuses.
    fn into_judgement(self) -> Result<Judgement, HookError>;
}

impl IntoJudgement for Judgement {
    fn into_judgement(self) -> Result<Judgement, HookError> {
        Ok(self)
    }
}

impl<E: Into<HookError>> IntoJudgement for Result<Judgement, E> {
    fn into_judgement(self) -> Result<Judgement, HookError> {
        self.map_err(Into::into)
    }
}

/// What a function with the attribute `#[observer]` may return.
pub trait IntoObserved {
    /// Whether it worked.
    ///
    /// # Errors
    /// [`HookError`], which is reported.
    fn into_observed(self) -> Result<(), HookError>;
}

impl IntoObserved for () {
    fn into_observed(self) -> Result<(), HookError> {
        Ok(())
    }
}

impl<E: Into<HookError>> IntoObserved for Result<(), E> {
    fn into_observed(self) -> Result<(), HookError> {
        self.map_err(Into::into)
    }
}
