//! The names of effects.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::{hook::HookEvent, id::SessionId};

/// The name of an effect: the path of its cause.
///
/// Equal whatever order answers arrive in, so it serves as idempotency key and as the key of a
/// recording. Printed as `session/agent/turn/call/stage/attempt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EffectId {
    /// The session.
    pub session: SessionId,
    /// The agent inside the session; 0 is the main one.
    pub agent: u32,
    /// The model response the effect belongs to, counted from 1 over the session's life.
    pub turn: u32,
    /// The tool call in that response, counted from 1; 0 for what belongs to the turn as a whole.
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
    /// Paths made absolute and real.
    Resolve,
    /// The question whether a call may run.
    Ask,
    /// The call itself.
    Run,
    /// The question what became of a call that was lost.
    Probe,
    /// The tools that an agent brings along, asked for as it starts.
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
    /// The request for what the person might say next.
    Suggestion,
    /// A hook of this event, counted from 1 in the order of registration.
    Hook(HookEvent, u32),
}

impl Stage {
    /// Whether it writes to the transcript.
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
            // The name in journals and keys since the first version.
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
