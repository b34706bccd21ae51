//! What a host may send to a session, and when.

use super::Session;
use crate::{
    effect::{Answer, EffectId, Input, Stage},
    hook::HookEvent,
};

impl Session {
    /// Whether the host may send this input now.
    pub(super) fn check(&self, input: &Input) -> Result<(), HostError> {
        match input {
            Input::Resumed { .. } => Ok(()),
            _ if self.awaits_resumed => Err(HostError::NotResumed),
            Input::Occurred(occurrence) if !occurrence.event().comes_from_outside() => {
                Err(HostError::NotFromOutside(occurrence.event()))
            }
            Input::Answer(id, _) if !self.shared.running.contains_key(id) => {
                Err(HostError::UnknownEffect(*id))
            }
            Input::Answer(id, answer) if !fits(id.stage, answer) => {
                Err(HostError::WrongAnswer(*id))
            }
            _ => Ok(()),
        }
    }
}

/// Whether an effect of this stage takes this kind of answer.
fn fits(stage: Stage, answer: &Answer) -> bool {
    match answer {
        Answer::HttpHead { .. } | Answer::HttpBody(_) | Answer::HttpEnd | Answer::HttpFailed(_) => {
            matches!(stage, Stage::Model | Stage::Summary | Stage::Suggestion)
        }
        Answer::Resolved(_) => stage == Stage::Resolve,
        // A tool may answer permission requests.
        Answer::Progress(_) | Answer::Output(_) | Answer::Tool(_) => {
            matches!(stage, Stage::Run | Stage::Ask | Stage::Provision)
        }
        Answer::Probed(_) => stage == Stage::Probe,
        Answer::Permission(_) => stage == Stage::Ask,
        Answer::Hook(_) | Answer::HookProgress { .. } => matches!(stage, Stage::Hook(..)),
        Answer::Persisted | Answer::PersistFailed(_) => stage.saves(),
        Answer::Cancelled => true,
    }
}

/// The host broke the contract. The session is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// An answer to an effect that is not running: it was never issued, or has had its last answer.
    #[error("no effect {0} is running: answer every effect to its end exactly once")]
    UnknownEffect(EffectId),
    /// An answer of a kind that the effect does not take.
    #[error("that is not an answer to {0}: see `Effect` for what each effect takes")]
    WrongAnswer(EffectId),
    /// Another input before [`Input::Resumed`] after a restore.
    #[error(
        "a restored session must first be told which effects are still running (`Input::Resumed`)"
    )]
    NotResumed,
    /// The host reported an event that the session detects by itself.
    #[error(
        "the session runs the hooks of {} by itself: report only what happens outside (`HookEvent::comes_from_outside`)", .0.name()
    )]
    NotFromOutside(HookEvent),
}
