//! Sources of rules.

use serde::{Deserialize, Serialize};

/// Where a rule was written. Every decision names its source, so that the user knows which file to change.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Source {
    /// Settings managed by an organisation; no update changes them.
    PolicySettings,
    /// Options and flags of this program (`allowedTools`, `disallowedTools`).
    #[default]
    CliArg,
    /// Accepted during the session, for this session.
    Session,
    /// The folder's settings that are not shared (local settings).
    LocalSettings,
    /// The folder's settings that are shared with everybody who has the folder.
    ProjectSettings,
    /// The user's settings for all folders.
    UserSettings,
    /// The definition of the calling subagent.
    Agent,
    /// The program's own defaults: the weakest source.
    Program,
}

impl Source {
    /// Whether it is a settings file that people write.
    #[must_use]
    pub fn is_file(self) -> bool {
        matches!(
            self,
            Self::LocalSettings | Self::ProjectSettings | Self::UserSettings
        )
    }

    /// The source in the form used in a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::PolicySettings => "policy settings",
            Self::CliArg => "options",
            Self::Session => "this session",
            Self::LocalSettings => "local settings",
            Self::ProjectSettings => "project settings",
            Self::UserSettings => "user settings",
            Self::Agent => "agent definition",
            Self::Program => "the program's own rules",
        }
    }

    /// Whether it is in the working folder: what it allows counts only once a person has trusted that folder.
    #[must_use]
    pub fn belongs_to_folder(self) -> bool {
        matches!(self, Self::LocalSettings | Self::ProjectSettings)
    }
}

/// What a rule does with the calls it covers (Agent SDK reference, `PermissionBehavior`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Behavior {
    /// They run without asking.
    Allow,
    /// They never run.
    Deny,
    /// They need permission, in every mode.
    Ask,
}

impl Behavior {
    /// The name in settings files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }
}
