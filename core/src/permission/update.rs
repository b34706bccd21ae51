//! Permission updates during a session, and the state to which they are applied.

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use serde::{Deserialize, Deserializer, Serialize, de};

use super::{
    Behavior, Mode, PermissionPolicy, Rule, RuleError, RuleValue, Rules, Source, path::lexical,
    server_tool_name,
};
use crate::{environment::Environment, json};

/// A change of the permissions (Agent SDK reference, `PermissionUpdate`): offered as a suggestion, returned as
/// `updatedPermissions`, and written to a settings file by the host if its destination is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum PermissionUpdate {
    /// Adds rules.
    AddRules(RuleChange),
    /// Replaces all rules of the destination that have this behaviour.
    ReplaceRules(RuleChange),
    /// Removes rules.
    RemoveRules(RuleChange),
    /// Changes the mode.
    SetMode {
        /// The mode.
        mode: Mode,
        /// Where it applies from now on.
        destination: Destination,
    },
    /// Adds directories to the workspace.
    AddDirectories(DirectoryChange),
    /// Removes directories from the workspace. The working directory always belongs to it.
    RemoveDirectories(DirectoryChange),
}

/// Rules to add, replace or remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleChange {
    /// The rules.
    pub rules: Vec<RuleValue>,
    /// Their behaviour.
    pub behavior: Behavior,
    /// The destination.
    pub destination: Destination,
}

/// Directories to add or remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryChange {
    /// The directories; relative ones are resolved against the working directory. Links are not resolved here: the host must pass
    /// real paths.
    pub directories: Vec<String>,
    /// The destination.
    pub destination: Destination,
}

/// Where an update applies (Agent SDK reference, `PermissionUpdateDestination`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Destination {
    /// The user's settings for all folders.
    UserSettings,
    /// The folder's shared settings.
    ProjectSettings,
    /// The folder's settings that are not shared (local settings).
    LocalSettings,
    /// This session.
    Session,
    /// As if given as an option of the program: for this run of it.
    CliArg,
}

impl Destination {
    /// The source of rules that are written to this destination.
    #[must_use]
    pub fn source(self) -> Source {
        match self {
            Self::UserSettings => Source::UserSettings,
            Self::ProjectSettings => Source::ProjectSettings,
            Self::LocalSettings => Source::LocalSettings,
            Self::Session => Source::Session,
            Self::CliArg => Source::CliArg,
        }
    }

    /// Whether the host has to write a file.
    #[must_use]
    pub fn is_settings_file(self) -> bool {
        !matches!(self, Self::Session | Self::CliArg)
    }
}

impl PermissionUpdate {
    /// An update that allows these calls for the rest of the session.
    #[must_use]
    pub fn allow_in_session(rules: Vec<RuleValue>) -> Self {
        Self::allow(rules, Destination::Session)
    }

    /// The same update with this session as its destination.
    #[must_use]
    pub fn for_session(mut self) -> Self {
        match &mut self {
            Self::AddRules(change) | Self::ReplaceRules(change) | Self::RemoveRules(change) => {
                change.destination = Destination::Session;
            }
            Self::SetMode { destination, .. } => *destination = Destination::Session,
            Self::AddDirectories(change) | Self::RemoveDirectories(change) => {
                change.destination = Destination::Session;
            }
        }
        self
    }

    pub(super) fn allow(rules: Vec<RuleValue>, destination: Destination) -> Self {
        Self::AddRules(RuleChange {
            rules,
            behavior: Behavior::Allow,
            destination,
        })
    }

    /// The destination of the update.
    #[must_use]
    pub fn destination(&self) -> Destination {
        match self {
            Self::AddRules(change) | Self::ReplaceRules(change) | Self::RemoveRules(change) => {
                change.destination
            }
            Self::SetMode { destination, .. } => *destination,
            Self::AddDirectories(change) | Self::RemoveDirectories(change) => change.destination,
        }
    }
}

impl<'de> Deserialize<'de> for PermissionUpdate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct SetMode {
            mode: Mode,
            destination: Destination,
        }
        let (kind, raw) = json::tagged(deserializer, "type")?;
        match kind.as_str() {
            "addRules" => raw.read().map(Self::AddRules),
            "replaceRules" => raw.read().map(Self::ReplaceRules),
            "removeRules" => raw.read().map(Self::RemoveRules),
            "setMode" => raw.read().map(|set: SetMode| Self::SetMode {
                mode: set.mode,
                destination: set.destination,
            }),
            "addDirectories" => raw.read().map(Self::AddDirectories),
            "removeDirectories" => raw.read().map(Self::RemoveDirectories),
            other => {
                let problem = format!(
                    "a permission update is addRules, replaceRules, removeRules, setMode, addDirectories or removeDirectories, not {other}"
                );
                return Err(de::Error::custom(problem));
            }
        }
        .map_err(de::Error::custom)
    }
}

/// The permissions of a session: those of its spec plus the updates since. The saved state is the mode, the updates, and the
/// guarded servers; everything else is computed again after a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPermissions {
    mode: Mode,
    updates: Vec<PermissionUpdate>,
    /// The name prefixes of tools that no mode allows without asking.
    guarded: Vec<String>,
    /// None while nothing differs from the spec.
    updated: Option<Arc<Updated>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Updated {
    rules: Rules,
    directories: Vec<String>,
}

impl SessionPermissions {
    /// The permissions of a spec.
    #[must_use]
    pub fn new(policy: &PermissionPolicy) -> Self {
        Self {
            mode: policy.mode,
            updates: Vec::new(),
            guarded: Vec::new(),
            updated: None,
        }
    }

    /// Restores the permissions from saved state.
    ///
    /// # Errors
    /// [`UpdateError`] if an update cannot be applied.
    pub fn restore(
        policy: &PermissionPolicy,
        environment: &Environment,
        mode: Mode,
        updates: &[PermissionUpdate],
    ) -> Result<Self, UpdateError> {
        let mut permissions = Self::new(policy);
        permissions.apply(policy, environment, updates)?;
        permissions.mode = mode;
        Ok(permissions)
    }

    /// The current mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The updates since the start that changed rules or directories, in order.
    #[must_use]
    pub fn updates(&self) -> &[PermissionUpdate] {
        &self.updates
    }

    /// The current rules.
    #[must_use]
    pub fn rules<'a>(&'a self, policy: &'a PermissionPolicy) -> &'a Rules {
        match &self.updated {
            Some(updated) => &updated.rules,
            None => &policy.rules,
        }
    }

    /// The directories of the workspace besides the working directory.
    #[must_use]
    pub fn directories<'a>(&'a self, environment: &'a Environment) -> &'a [String] {
        match &self.updated {
            Some(updated) => &updated.directories,
            None => &environment.additional_directories,
        }
    }

    /// Changes the mode.
    ///
    /// # Errors
    /// [`UpdateError::BypassNotAllowed`] and [`UpdateError::BypassAsRoot`]; the mode is unchanged.
    pub fn set_mode(
        &mut self,
        policy: &PermissionPolicy,
        environment: &Environment,
        mode: Mode,
    ) -> Result<(), UpdateError> {
        self.mode = allowed_mode(policy, environment, mode)?;
        Ok(())
    }

    /// The servers whose tools are judged as in mode `default` where the mode would allow them without asking, as the prefixes of
    /// their tool names.
    #[must_use]
    pub fn guarded(&self) -> &[String] {
        &self.guarded
    }

    /// Starts or stops guarding the tools of an MCP server ([`Input::GuardServer`](crate::Input::GuardServer)).
    pub(crate) fn guard(&mut self, server: &str, is_guarded: bool) {
        let begin = server_tool_name(server, "");
        self.guarded.retain(|known| *known != begin);
        if is_guarded {
            self.guarded.push(begin);
        }
    }

    /// Restores the guarded servers from saved state.
    pub(crate) fn with_guarded(mut self, guarded: Vec<String>) -> Self {
        self.guarded = guarded;
        self
    }

    /// Returns to an earlier mode, which was allowed then.
    pub(crate) fn return_to(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// Applies updates in order: all of them, or none.
    ///
    /// # Errors
    /// [`UpdateError`] for the first that cannot be applied; nothing has changed.
    pub fn apply(
        &mut self,
        policy: &PermissionPolicy,
        environment: &Environment,
        updates: &[PermissionUpdate],
    ) -> Result<(), UpdateError> {
        let mut mode = self.mode;
        let mut log = Vec::new();
        let mut updated = match &self.updated {
            Some(updated) => Updated::clone(updated),
            None => Updated {
                rules: policy.rules.clone(),
                directories: environment.additional_directories.clone(),
            },
        };
        for update in updates {
            match update {
                PermissionUpdate::SetMode { mode: wanted, .. } => {
                    mode = allowed_mode(policy, environment, *wanted)?;
                }
                update => {
                    if updated.apply(environment, update)? {
                        log.push(update.clone());
                    }
                }
            }
        }
        self.mode = mode;
        if !log.is_empty() {
            self.updates.append(&mut log);
            self.updated = Some(Arc::new(updated));
        }
        Ok(())
    }
}

fn allowed_mode(
    policy: &PermissionPolicy,
    environment: &Environment,
    mode: Mode,
) -> Result<Mode, UpdateError> {
    if mode == Mode::BypassPermissions {
        if environment.is_root {
            return Err(UpdateError::BypassAsRoot);
        }
        if !policy.allow_bypass {
            return Err(UpdateError::BypassNotAllowed);
        }
    }
    Ok(mode)
}

impl Updated {
    /// Applies one update of rules or directories; returns whether it changed anything.
    fn apply(
        &mut self,
        environment: &Environment,
        update: &PermissionUpdate,
    ) -> Result<bool, UpdateError> {
        Ok(match update {
            PermissionUpdate::AddRules(change) => {
                let (rules, list) = self.rules_and_list(change)?;
                let known = list.len();
                for rule in rules {
                    if !list.iter().any(|old| is_same(old, &rule)) {
                        list.push(rule);
                    }
                }
                list.len() > known
            }
            PermissionUpdate::ReplaceRules(change) => {
                let (rules, list) = self.rules_and_list(change)?;
                let source = change.destination.source();
                list.retain(|old| old.source() != source);
                list.extend(rules);
                true
            }
            PermissionUpdate::RemoveRules(change) => {
                let (rules, list) = self.rules_and_list(change)?;
                let known = list.len();
                list.retain(|old| !rules.iter().any(|rule| is_same(old, rule)));
                list.len() < known
            }
            PermissionUpdate::AddDirectories(change) => {
                let known = self.directories.len();
                for directory in absolute(environment, change)? {
                    if !self.directories.contains(&directory) {
                        self.directories.push(directory);
                    }
                }
                self.directories.len() > known
            }
            PermissionUpdate::RemoveDirectories(change) => {
                let known = self.directories.len();
                let gone = absolute(environment, change)?;
                self.directories
                    .retain(|directory| !gone.contains(directory));
                self.directories.len() < known
            }
            PermissionUpdate::SetMode { .. } => false,
        })
    }

    fn rules_and_list(
        &mut self,
        change: &RuleChange,
    ) -> Result<(Vec<Rule>, &mut Vec<Rule>), UpdateError> {
        let list = match change.behavior {
            Behavior::Allow => &mut self.rules.allow,
            Behavior::Ask => &mut self.rules.ask,
            Behavior::Deny => &mut self.rules.deny,
        };
        let source = change.destination.source();
        // Rules of a folder keep the folder from which their patterns start.
        let root = list
            .iter()
            .find(|rule| rule.source() == source)
            .and_then(|rule| rule.root().map(ToString::to_string));
        let rules: Result<Vec<Rule>, RuleError> = change
            .rules
            .iter()
            .map(|value| {
                let rule = value.to_rule()?;
                Ok(rule.from_source(source).rooted(root.as_deref()))
            })
            .collect();
        Ok((rules?, list))
    }
}

fn is_same(old: &Rule, rule: &Rule) -> bool {
    old.source() == rule.source() && old.says_the_same(rule)
}

fn absolute(
    environment: &Environment,
    change: &DirectoryChange,
) -> Result<Vec<String>, UpdateError> {
    change
        .directories
        .iter()
        .map(|directory| match lexical(&environment.cwd, directory) {
            // The root directory would make all files part of the workspace.
            path if directory.is_empty() || path == "/" || directory.starts_with('~') => {
                Err(UpdateError::Directory(directory.clone()))
            }
            path => Ok(path),
        })
        .collect()
}

/// An update that cannot be applied. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UpdateError {
    /// An invalid rule.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// An invalid directory.
    #[error(
        "`{0}` cannot be added to the workspace: give the path of a directory, absolute or below the working directory, and not the root of all files"
    )]
    Directory(String),
    /// A switch to bypassPermissions that was not allowed at the start.
    #[error(
        "permission mode bypassPermissions must be allowed when the session is made (`PermissionPolicy::allow_bypass`)"
    )]
    BypassNotAllowed,
    /// A switch to bypassPermissions as root.
    #[error(
        "permission mode bypassPermissions is not for root: run as another user, or choose another mode"
    )]
    BypassAsRoot,
}
