//! Hook events.

use serde::{Deserialize, Serialize};

/// An event at which hooks run (Agent SDK reference, `HookEvent`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum HookEvent {
    /// Before the permission decision on a tool call.
    PreToolUse,
    /// A call succeeded.
    PostToolUse,
    /// A call failed.
    PostToolUseFailure,
    /// The user is notified of something.
    Notification,
    /// A prompt is about to enter the conversation.
    UserPromptSubmit,
    /// A session starts or is resumed.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The model ended its turn.
    Stop,
    /// A subagent starts.
    SubagentStart,
    /// A subagent ended its turn.
    SubagentStop,
    /// The conversation is about to be compacted.
    PreCompact,
    /// A permission request is about to be sent.
    PermissionRequest,
    /// The workspace is being set up.
    Setup,
    /// A teammate is idle.
    TeammateIdle,
    /// A task was completed.
    TaskCompleted,
    /// A settings file or a skill has changed.
    ConfigChange,
    /// A worktree is created.
    WorktreeCreate,
    /// A worktree is removed.
    WorktreeRemove,
    /// All calls of a response have results, and the model is about to receive them.
    PostToolBatch,
    /// A call was denied.
    PermissionDenied,
    /// The conversation has been compacted.
    PostCompact,
    /// The model call failed, which ends the answer.
    StopFailure,
    /// A command was expanded to a prompt, which is about to enter the conversation.
    UserPromptExpansion,
    /// A memory file was loaded.
    InstructionsLoaded,
    /// The working directory changed.
    CwdChanged,
}

impl HookEvent {
    /// Every event.
    pub const ALL: [Self; 25] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::Notification,
        Self::UserPromptSubmit,
        Self::SessionStart,
        Self::SessionEnd,
        Self::Stop,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::PreCompact,
        Self::PermissionRequest,
        Self::Setup,
        Self::TeammateIdle,
        Self::TaskCompleted,
        Self::ConfigChange,
        Self::WorktreeCreate,
        Self::WorktreeRemove,
        Self::PostToolBatch,
        Self::PermissionDenied,
        Self::PostCompact,
        Self::StopFailure,
        Self::UserPromptExpansion,
        Self::InstructionsLoaded,
        Self::CwdChanged,
    ];

    /// The name in settings, inputs and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::Notification => "Notification",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::Stop => "Stop",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::PermissionRequest => "PermissionRequest",
            Self::Setup => "Setup",
            Self::TeammateIdle => "TeammateIdle",
            Self::TaskCompleted => "TaskCompleted",
            Self::ConfigChange => "ConfigChange",
            Self::WorktreeCreate => "WorktreeCreate",
            Self::WorktreeRemove => "WorktreeRemove",
            Self::PostToolBatch => "PostToolBatch",
            Self::PermissionDenied => "PermissionDenied",
            Self::PostCompact => "PostCompact",
            Self::StopFailure => "StopFailure",
            Self::UserPromptExpansion => "UserPromptExpansion",
            Self::InstructionsLoaded => "InstructionsLoaded",
            Self::CwdChanged => "CwdChanged",
        }
    }

    /// The event with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Whether hooks of this event decide about a call, so that a failing hook must not let it through.
    #[must_use]
    pub fn judges_calls(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest)
    }

    /// Whether a hook can refuse what is about to happen: a call, a prompt, or a worktree.
    #[must_use]
    pub fn can_be_refused(self) -> bool {
        self.judges_calls() || self.looks_at_prompts() || self == Self::WorktreeCreate
    }

    /// Whether it happens before a prompt enters the conversation.
    #[must_use]
    pub fn looks_at_prompts(self) -> bool {
        matches!(self, Self::UserPromptSubmit | Self::UserPromptExpansion)
    }

    /// Whether `additionalContext` of this event reaches the model.
    #[must_use]
    pub fn takes_context(self) -> bool {
        matches!(
            self,
            Self::PreToolUse
                | Self::PostToolUse
                | Self::PostToolUseFailure
                | Self::UserPromptSubmit
                | Self::SessionStart
                | Self::Setup
                | Self::SubagentStart
                | Self::Notification
                | Self::PostToolBatch
                | Self::UserPromptExpansion
        )
    }

    /// Whether the host reports it ([`Input::Occurred`](crate::Input::Occurred)). The session detects the other events itself, as
    /// well as worktrees that it requests ([`EnterWorktree`](crate::tools::enter_worktree)); a host reports only worktrees
    /// created otherwise.
    #[must_use]
    pub fn comes_from_outside(self) -> bool {
        matches!(
            self,
            Self::Notification
                | Self::SessionStart
                | Self::SessionEnd
                | Self::Setup
                | Self::TeammateIdle
                | Self::TaskCompleted
                | Self::ConfigChange
                | Self::WorktreeCreate
                | Self::WorktreeRemove
                | Self::InstructionsLoaded
        )
    }

    /// Whether plain text on a program's standard output is context for the model, as for shell hooks.
    #[must_use]
    pub(crate) fn takes_plain_context(self) -> bool {
        matches!(self, Self::UserPromptSubmit | Self::SessionStart)
    }
}
