//! Hook inputs (Agent SDK reference, `HookInput`).

use alloc::{format, string::String};

use serde::{Deserialize, Deserializer, Serialize, de};

mod surroundings;
mod turn;

pub use self::{
    surroundings::{CwdChanged, InstructionsLoaded, LoadReason, MemoryType},
    turn::{
        BatchCall, ExpansionType, PermissionDenied, PostCompact, PostToolBatch, StopFailure,
        UserPromptExpansion,
    },
};
use super::HookEvent;
use crate::{
    hook::CompactionTrigger,
    id::SessionId,
    json::{self, RawJson},
    permission::Mode,
};

/// The input of a hook, encoded as one JSON object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookInput {
    /// The session.
    pub session_id: SessionId,
    /// The path of the transcript file; empty if none is kept.
    pub transcript_path: String,
    /// The working directory.
    pub cwd: String,
    /// The permission mode in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<Mode>,
    /// The subagent in which the event occurred. Absent on the main thread, and for events that name a subagent in their own
    /// fields.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The event.
    #[serde(flatten)]
    pub event: Occurrence,
}

/// The subagent in which an event occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentName {
    /// The agent's id.
    pub agent_id: String,
    /// The type of the agent.
    pub agent_type: String,
}

/// An event with its own fields. The session adds the fields that all inputs have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "hook_event_name")]
#[non_exhaustive]
pub enum Occurrence {
    /// Before the permission decision on a tool call.
    PreToolUse(PreToolUse),
    /// A call succeeded.
    PostToolUse(PostToolUse),
    /// A call failed.
    PostToolUseFailure(PostToolUseFailure),
    /// The user is notified of something.
    Notification(Notification),
    /// A prompt is about to enter the conversation.
    UserPromptSubmit(UserPromptSubmit),
    /// A session starts or is resumed.
    SessionStart(SessionStart),
    /// A session ends.
    SessionEnd(SessionEnd),
    /// The model ended its turn.
    Stop(Stop),
    /// A subagent starts.
    SubagentStart(SubagentStart),
    /// A subagent ended its turn.
    SubagentStop(SubagentStop),
    /// The conversation is about to be compacted.
    PreCompact(PreCompact),
    /// A permission request is about to be sent.
    PermissionRequest(PermissionRequested),
    /// The workspace is being set up.
    Setup(Setup),
    /// A teammate is idle.
    TeammateIdle(TeammateIdle),
    /// A task was completed.
    TaskCompleted(TaskCompleted),
    /// A settings file or a skill has changed.
    ConfigChange(ConfigChange),
    /// A worktree is created.
    WorktreeCreate(WorktreeCreate),
    /// A worktree is removed.
    WorktreeRemove(WorktreeRemove),
    /// All calls of a response have results.
    PostToolBatch(PostToolBatch),
    /// A call was denied.
    PermissionDenied(PermissionDenied),
    /// The conversation has been compacted.
    PostCompact(PostCompact),
    /// The model call failed.
    StopFailure(StopFailure),
    /// A command was expanded to a prompt.
    UserPromptExpansion(UserPromptExpansion),
    /// A memory file was loaded.
    InstructionsLoaded(InstructionsLoaded),
    /// The working directory changed.
    CwdChanged(CwdChanged),
}

/// Fields of `PreToolUse`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreToolUse {
    /// The tool.
    pub tool_name: String,
    /// The input as the model sent it.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: String,
}

/// Fields of `PostToolUse`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostToolUse {
    /// The tool.
    pub tool_name: String,
    /// The input with which it ran.
    pub tool_input: RawJson,
    /// The structured output, or the text if the tool has no structured output.
    pub tool_response: RawJson,
    /// The call.
    pub tool_use_id: String,
    /// The duration of the run in milliseconds, without permission requests and hooks before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Fields of `PostToolUseFailure`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostToolUseFailure {
    /// The tool.
    pub tool_name: String,
    /// The input with which it ran.
    pub tool_input: RawJson,
    /// The call.
    pub tool_use_id: String,
    /// The tool's error message.
    pub error: String,
    /// Whether it failed because the run was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_interrupt: Option<bool>,
    /// The duration of the run in milliseconds, without permission requests and hooks before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// Fields of `Notification`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// The text for the user.
    pub message: String,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The type of notification (`permission_prompt`, `idle_prompt` …).
    pub notification_type: String,
}

/// Fields of `UserPromptSubmit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserPromptSubmit {
    /// The text of the prompt.
    pub prompt: String,
}

/// Fields of `SessionStart`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStart {
    /// Why the session starts.
    pub source: StartSource,
    /// The type of the agent that the session runs as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_type: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Why a session starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StartSource {
    /// A new session.
    #[default]
    Startup,
    /// The session is resumed.
    Resume,
    /// The conversation was cleared.
    Clear,
    /// The conversation was compacted.
    Compact,
}

/// Fields of `SessionEnd`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// The reason (`clear`, `logout`, `prompt_input_exit`, `other` …).
    pub reason: String,
}

/// Fields of `Stop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Whether the loop is already continuing because of a Stop hook.
    pub stop_hook_active: bool,
    /// The text of the last response, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_assistant_message: Option<String>,
}

/// Fields of `SubagentStart`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentStart {
    /// The agent's id.
    pub agent_id: String,
    /// The type of the agent.
    pub agent_type: String,
}

/// Fields of `SubagentStop`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentStop {
    /// Whether the agent is already continuing because of a hook.
    pub stop_hook_active: bool,
    /// The agent's id.
    pub agent_id: String,
    /// The path of the agent's transcript file; empty if none is kept.
    pub agent_transcript_path: String,
    /// The type of the agent.
    pub agent_type: String,
    /// The text of its last response, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_assistant_message: Option<String>,
}

/// Fields of `PreCompact`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreCompact {
    /// What triggered the compaction.
    pub trigger: CompactionTrigger,
    /// The user's instructions for the summary; null if none were given.
    pub custom_instructions: Option<String>,
}

/// Fields of `PermissionRequest`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequested {
    /// The tool.
    pub tool_name: String,
    /// The input with which it would run.
    pub tool_input: RawJson,
    /// Permission updates that would allow such calls from now on (`PermissionUpdate`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_suggestions: Option<RawJson>,
}

/// Fields of `Setup`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The purpose of the set-up.
    pub trigger: SetupTrigger,
}

/// The purpose of a set-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SetupTrigger {
    /// The first set-up.
    Init,
    /// Maintenance.
    Maintenance,
}

/// Fields of `TeammateIdle`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeammateIdle {
    /// The teammate.
    pub teammate_name: String,
    /// Its team.
    pub team_name: String,
}

/// Fields of `TaskCompleted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCompleted {
    /// The task.
    pub task_id: String,
    /// A short description of the task.
    pub task_subject: String,
    /// A detailed description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_description: Option<String>,
    /// The teammate that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teammate_name: Option<String>,
    /// The team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_name: Option<String>,
}

/// Fields of `ConfigChange`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigChange {
    /// What changed.
    pub source: ConfigSource,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
}

/// What changed in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfigSource {
    /// The user's settings.
    UserSettings,
    /// The project's settings.
    ProjectSettings,
    /// The user's settings for the project.
    LocalSettings,
    /// The organisation's settings.
    PolicySettings,
    /// A skill.
    Skills,
}

impl ConfigSource {
    fn name(self) -> &'static str {
        match self {
            Self::UserSettings => "user_settings",
            Self::ProjectSettings => "project_settings",
            Self::LocalSettings => "local_settings",
            Self::PolicySettings => "policy_settings",
            Self::Skills => "skills",
        }
    }
}

/// Fields of `WorktreeCreate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeCreate {
    /// Its name.
    pub name: String,
}

/// Fields of `WorktreeRemove`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeRemove {
    /// Its path.
    pub worktree_path: String,
}

impl Occurrence {
    /// The event.
    #[must_use]
    pub fn event(&self) -> HookEvent {
        match self {
            Self::PreToolUse(_) => HookEvent::PreToolUse,
            Self::PostToolUse(_) => HookEvent::PostToolUse,
            Self::PostToolUseFailure(_) => HookEvent::PostToolUseFailure,
            Self::Notification(_) => HookEvent::Notification,
            Self::UserPromptSubmit(_) => HookEvent::UserPromptSubmit,
            Self::SessionStart(_) => HookEvent::SessionStart,
            Self::SessionEnd(_) => HookEvent::SessionEnd,
            Self::Stop(_) => HookEvent::Stop,
            Self::SubagentStart(_) => HookEvent::SubagentStart,
            Self::SubagentStop(_) => HookEvent::SubagentStop,
            Self::PreCompact(_) => HookEvent::PreCompact,
            Self::PermissionRequest(_) => HookEvent::PermissionRequest,
            Self::Setup(_) => HookEvent::Setup,
            Self::TeammateIdle(_) => HookEvent::TeammateIdle,
            Self::TaskCompleted(_) => HookEvent::TaskCompleted,
            Self::ConfigChange(_) => HookEvent::ConfigChange,
            Self::WorktreeCreate(_) => HookEvent::WorktreeCreate,
            Self::WorktreeRemove(_) => HookEvent::WorktreeRemove,
            Self::PostToolBatch(_) => HookEvent::PostToolBatch,
            Self::PermissionDenied(_) => HookEvent::PermissionDenied,
            Self::PostCompact(_) => HookEvent::PostCompact,
            Self::StopFailure(_) => HookEvent::StopFailure,
            Self::UserPromptExpansion(_) => HookEvent::UserPromptExpansion,
            Self::InstructionsLoaded(_) => HookEvent::InstructionsLoaded,
            Self::CwdChanged(_) => HookEvent::CwdChanged,
        }
    }

    /// The text that matchers are applied to: the tool's name, or for events without a tool what distinguishes their kinds (a
    /// source, a trigger, an agent's type). None: every hook of the event runs.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        Some(match self {
            Self::PreToolUse(e) => &e.tool_name,
            Self::PostToolUse(e) => &e.tool_name,
            Self::PostToolUseFailure(e) => &e.tool_name,
            Self::PermissionRequest(e) => &e.tool_name,
            Self::PermissionDenied(e) => &e.tool_name,
            Self::Notification(e) => &e.notification_type,
            Self::SessionStart(e) => match e.source {
                StartSource::Startup => "startup",
                StartSource::Resume => "resume",
                StartSource::Clear => "clear",
                StartSource::Compact => "compact",
            },
            Self::SessionEnd(e) => &e.reason,
            Self::SubagentStart(e) => &e.agent_type,
            Self::SubagentStop(e) => &e.agent_type,
            Self::PreCompact(e) => e.trigger.name(),
            Self::PostCompact(e) => e.trigger.name(),
            Self::StopFailure(e) => e.error.name(),
            Self::UserPromptExpansion(e) => &e.command_name,
            Self::InstructionsLoaded(e) => e.load_reason.name(),
            Self::Setup(e) => match e.trigger {
                SetupTrigger::Init => "init",
                SetupTrigger::Maintenance => "maintenance",
            },
            Self::ConfigChange(e) => e.source.name(),
            Self::UserPromptSubmit(_)
            | Self::Stop(_)
            | Self::TeammateIdle(_)
            | Self::TaskCompleted(_)
            | Self::WorktreeCreate(_)
            | Self::WorktreeRemove(_)
            | Self::PostToolBatch(_)
            | Self::CwdChanged(_) => return None,
        })
    }

    /// The tool call that the event concerns.
    #[must_use]
    pub fn tool_use_id(&self) -> Option<&str> {
        match self {
            Self::PreToolUse(e) => Some(&e.tool_use_id),
            Self::PostToolUse(e) => Some(&e.tool_use_id),
            Self::PostToolUseFailure(e) => Some(&e.tool_use_id),
            Self::PermissionDenied(e) => Some(&e.tool_use_id),
            _ => None,
        }
    }

    /// The name in messages: `PreToolUse:Bash`, `SessionStart:startup`, `Stop`.
    #[must_use]
    pub fn hook_name(&self) -> String {
        match self.subject() {
            Some(subject) => format!("{}:{subject}", self.event().name()),
            None => String::from(self.event().name()),
        }
    }
}

impl<'de> Deserialize<'de> for Occurrence {
    /// Reads the fields of the event and ignores others: the fields that all events share are part of the same object.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, raw) = json::tagged(deserializer, "hook_event_name")?;
        let Some(event) = HookEvent::parse(&name) else {
            return Err(de::Error::custom(format!("no hook event is named {name}")));
        };
        match event {
            HookEvent::PreToolUse => raw.read().map(Self::PreToolUse),
            HookEvent::PostToolUse => raw.read().map(Self::PostToolUse),
            HookEvent::PostToolUseFailure => raw.read().map(Self::PostToolUseFailure),
            HookEvent::Notification => raw.read().map(Self::Notification),
            HookEvent::UserPromptSubmit => raw.read().map(Self::UserPromptSubmit),
            HookEvent::SessionStart => raw.read().map(Self::SessionStart),
            HookEvent::SessionEnd => raw.read().map(Self::SessionEnd),
            HookEvent::Stop => raw.read().map(Self::Stop),
            HookEvent::SubagentStart => raw.read().map(Self::SubagentStart),
            HookEvent::SubagentStop => raw.read().map(Self::SubagentStop),
            HookEvent::PreCompact => raw.read().map(Self::PreCompact),
            HookEvent::PermissionRequest => raw.read().map(Self::PermissionRequest),
            HookEvent::Setup => raw.read().map(Self::Setup),
            HookEvent::TeammateIdle => raw.read().map(Self::TeammateIdle),
            HookEvent::TaskCompleted => raw.read().map(Self::TaskCompleted),
            HookEvent::ConfigChange => raw.read().map(Self::ConfigChange),
            HookEvent::WorktreeCreate => raw.read().map(Self::WorktreeCreate),
            HookEvent::WorktreeRemove => raw.read().map(Self::WorktreeRemove),
            HookEvent::PostToolBatch => raw.read().map(Self::PostToolBatch),
            HookEvent::PermissionDenied => raw.read().map(Self::PermissionDenied),
            HookEvent::PostCompact => raw.read().map(Self::PostCompact),
            HookEvent::StopFailure => raw.read().map(Self::StopFailure),
            HookEvent::UserPromptExpansion => raw.read().map(Self::UserPromptExpansion),
            HookEvent::InstructionsLoaded => raw.read().map(Self::InstructionsLoaded),
            HookEvent::CwdChanged => raw.read().map(Self::CwdChanged),
        }
        .map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for HookInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Common {
            session_id: SessionId,
            transcript_path: String,
            cwd: String,
            #[serde(default)]
            permission_mode: Option<Mode>,
        }
        let raw = RawJson::deserialize(deserializer)?;
        let common: Common = raw.read().map_err(de::Error::custom)?;
        let event: Occurrence = raw.read().map_err(de::Error::custom)?;
        let names_its_own = matches!(
            event.event(),
            HookEvent::SubagentStart | HookEvent::SubagentStop
        );
        Ok(Self {
            session_id: common.session_id,
            transcript_path: common.transcript_path,
            cwd: common.cwd,
            permission_mode: common.permission_mode,
            agent: raw.read().ok().filter(|_| !names_its_own),
            event,
        })
    }
}

#[cfg(test)]
mod tests;
