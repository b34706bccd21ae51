//! Where a rule comes from.

use serde::{Deserialize, Serialize};

/// Where a rule was written. Every decision names it: "which file do I have to change?".
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
    /// Accepted while the session ran, for this session.
    Session,
    /// The folder's settings that are not shared.
    LocalSettings,
    /// The folder's settings that everybody with the folder has.
    ProjectSettings,
    /// The person's settings for all folders.
    UserSettings,
    /// The definition of the subagent that calls.
    Agent,
    /// What the program allows by itself: the weakest.
    Program,
}

impl Source {
    /// Whether people write it into a settings file of their own or of a folder.
    #[must_use]
    pub fn is_file(self) -> bool {
        matches!(
            self,
            Self::LocalSettings | Self::ProjectSettings | Self::UserSettings
        )
    }

    /// The source as part of a sentence.
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

    /// Whether it lies in the folder that is worked in: what it allows counts only once a person
    /// has trusted that folder.
    #[must_use]
    pub fn belongs_to_folder(self) -> bool {
        matches!(self, Self::LocalSettings | Self::ProjectSettings)
    }
}

/// What a rule says about the calls it covers (Agent SDK reference, `PermissionBehavior`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Behavior {
    /// They run unasked.
    Allow,
    /// They never run.
    Deny,
    /// They are asked about, in every mode.
    Ask,
}

impl Behavior {
    /// The word in settings files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }
}
