//! Effect ids.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::{hook::HookEvent, id::SessionId};

/// The id of an effect: the path of what caused it.
///
/// It does not depend on the order in which answers arrive, so it serves as an idempotency key and as the key of a recording.
/// Printed as `session/agent/turn/call/stage/attempt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EffectId {
    /// The session.
    pub session: SessionId,
    /// The agent inside the session; 0 is the main thread.
    pub agent: u32,
    /// The model response the effect belongs to: from 1 on, and larger for each further one over the session's life.
    pub turn: u32,
    /// The tool call in that response, counted from 1; 0 for effects of the turn as a whole.
    pub call: u32,
    /// The step of the call or turn.
    pub stage: Stage,
    /// Counted from 1; more after retries.
    pub attempt: u32,
}

/// The step of a turn or call that an effect serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stage {
    /// The request to the model.
    Model,
    /// Resolving the paths of a call.
    Resolve,
    /// The permission request for a call.
    Ask,
    /// The call itself.
    Run,
    /// The query for the outcome of a call that was lost.
    Probe,
    /// The request for the tools that an agent brings along, sent when it starts.
    #[serde(rename = "equip")]
    Provision,
    /// The request for a summary of the conversation.
    Summary,
    /// Transcript entries of the user's prompt.
    SavePrompt,
    /// Transcript entries of a response.
    SaveResponse,
    /// Transcript entries of tool results.
    SaveResults,
    /// The transcript entry of a summary.
    SaveSummary,
    /// The request for a suggestion of the next prompt.
    Suggestion,
    /// A hook of this event, counted from 1 in the order of registration.
    Hook(HookEvent, u32),
}

impl Stage {
    /// Whether the effect writes to the transcript.
    #[must_use]
    pub fn saves(self) -> bool {
        matches!(
            self,
            Self::SavePrompt | Self::SaveResponse | Self::SaveResults | Self::SaveSummary
        )
    }

    fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Resolve => "resolve",
            Self::Ask => "ask",
            Self::Run => "run",
            Self::Probe => "probe",
            // This name has been in journals and keys since the first version.
            Self::Provision => "equip",
            Self::SavePrompt => "save-prompt",
            Self::SaveResponse => "save-response",
            Self::SaveResults => "save-results",
            Self::Summary => "summary",
            Self::SaveSummary => "save-summary",
            Self::Suggestion => "suggestion",
            Self::Hook(event, _) => event.name(),
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hook(_, number) => write!(f, "{}-hook-{number}", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}/{}/{}/{}/{}/{}",
            self.session, self.agent, self.turn, self.call, self.stage, self.attempt
        )
    }
}
