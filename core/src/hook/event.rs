//! The moments at which hooks run.

use serde::{Deserialize, Serialize};

/// A moment at which hooks run (Agent SDK reference, `HookEvent`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum HookEvent {
    /// A call is about to be judged.
    PreToolUse,
    /// A call ended well.
    PostToolUse,
    /// A call failed.
    PostToolUseFailure,
    /// The person is told something.
    Notification,
    /// A prompt is about to enter the conversation.
    UserPromptSubmit,
    /// A session begins, or goes on.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The model is done.
    Stop,
    /// A subagent begins.
    SubagentStart,
    /// A subagent is done.
    SubagentStop,
    /// The conversation is about to be compacted.
    PreCompact,
    /// Somebody is about to be asked whether a call may run.
    PermissionRequest,
    /// The workspace is being set up.
    Setup,
    /// A teammate has nothing to do.
    TeammateIdle,
    /// A task is done.
    TaskCompleted,
    /// A settings file or a skill has changed.
    ConfigChange,
    /// A worktree is made.
    WorktreeCreate,
    /// A worktree is removed.
    WorktreeRemove,
    /// All calls of a response have their results, and the model is about to read them.
    PostToolBatch,
    /// A call was denied.
    PermissionDenied,
    /// The conversation has been compacted.
    PostCompact,
    /// The model could not be asked, and the answer ends with that.
    StopFailure,
    /// A command has become the prompt that it stands for, which is about to enter the conversation.
    UserPromptExpansion,
    /// Standing instructions have been read from a file.
    InstructionsLoaded,
    /// The work goes on in another directory.
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

    /// The event of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.name() == name)
    }

    /// Whether a call depends on what the hooks say: then a hook that fails must not let it through.
    #[must_use]
    pub fn judges_calls(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest)
    }

    /// Whether a hook may refuse what is about to happen: a call, a prompt, or a worktree.
    #[must_use]
    pub fn can_be_refused(self) -> bool {
        self.judges_calls() || self.looks_at_prompts() || self == Self::WorktreeCreate
    }

    /// Whether it comes before a prompt enters the conversation.
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

    /// Whether the host reports it ([`Input::Occurred`](crate::Input::Occurred)); the session knows of the others itself, and of
    /// the worktrees that it asks for ([`EnterWorktree`](crate::tools::enter_worktree)): a host reports those that are made besides.
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

    /// Whether plain text on a program's standard output is context for the model, as shell hooks have it.
    #[must_use]
    pub(crate) fn takes_plain_context(self) -> bool {
        matches!(self, Self::UserPromptSubmit | Self::SessionStart)
    }
}
