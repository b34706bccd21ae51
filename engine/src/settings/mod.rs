//! Settings: parsing their files, merging them, and changing their texts.
//!
//! | source | file | strength |
//! |---|---|---|
//! | policy | the organisation's file, then `--managed-settings` | strongest |
//! | flag | `--settings`, a file or JSON | |
//! | local | `.claude/settings.local.json` of the project | |
//! | project | `.claude/settings.json` of the project | |
//! | user | `settings.json` in the user's configuration directory | weakest |
//!
//! A single value is taken from the strongest source that has it. `env` is merged by variable name. Rules, directories and
//! hooks of all sources are combined. Policy and flag settings are read whatever sources are selected (Agent SDK reference,
//! `SettingSource`). Unknown keys are tolerated, except names that resemble those of restrictions. A key with a value of the
//! wrong type is an error, and then no file is used.

mod change;
mod environment;
mod hooks;
mod misspelt;
mod pretty;
mod read;
mod sandbox;
mod servers;
mod text;
mod trust;
mod variables;
mod write;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de};
use windlass_core::{
    RawJson,
    permission::{Layer, PermissionSettings, Source},
};

pub use self::{
    change::{change_permissions, changed, check_rules},
    hooks::{CommandHook, HookSettings, SettingsHooks},
    sandbox::{
        Ripgrep, SandboxFilesystem, SandboxNetwork, SandboxSettings, SandboxSource,
        unknown_sandbox_keys,
    },
    servers::{PersonalServers, set_local_server, set_server},
    text::{FaultKey, SettingsFault, SettingsText, Step},
    trust::{is_trusted, trust},
    variables::{changes_programs, is_plain},
    write::{WriteError, Written, write_permissions, write_texts},
};
use crate::path::TextPath;

/// A source of settings that can be deselected (Agent SDK reference, `SettingSource`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingSource {
    /// The user's settings for all projects.
    User,
    /// The project's settings, shared by everyone who works on it.
    Project,
    /// The user's settings for this project.
    Local,
}

/// The sources that are read. The default is all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingSources {
    /// The user's settings.
    pub user: bool,
    /// The project's settings.
    pub project: bool,
    /// The local settings.
    pub local: bool,
}

impl SettingSources {
    /// All sources.
    pub const ALL: Self = Self {
        user: true,
        project: true,
        local: true,
    };
    /// No source.
    pub const NONE: Self = Self {
        user: false,
        project: false,
        local: false,
    };

    /// Parses the value of `--setting-sources`: names separated by commas; an empty text for none.
    ///
    /// # Errors
    /// [`UnknownSource`] for a name that is not a source.
    pub fn parse(list: &str) -> Result<Self, UnknownSource> {
        let mut sources = Self::NONE;
        for name in list.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            match name {
                "user" => sources.user = true,
                "project" => sources.project = true,
                "local" => sources.local = true,
                other => return Err(UnknownSource(other.to_owned())),
            }
        }
        Ok(sources)
    }

    /// Whether a source is read.
    #[must_use]
    pub fn has(self, source: SettingSource) -> bool {
        match source {
            SettingSource::User => self.user,
            SettingSource::Project => self.project,
            SettingSource::Local => self.local,
        }
    }
}

impl Default for SettingSources {
    fn default() -> Self {
        Self::ALL
    }
}

/// An unknown source of settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no setting source {0:?}: the sources are user, project and local")]
pub struct UnknownSource(pub String);

/// The supported settings of a file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Settings {
    /// Permission rules, permission mode, additional directories.
    pub permissions: PermissionSettings,
    /// Environment variables for the engine and the programs that it starts.
    #[serde(deserialize_with = "variables")]
    pub env: BTreeMap<String, String>,
    /// The model.
    pub model: Option<String>,
    /// The models that may be chosen, by short or full name; the default always may.
    pub available_models: Option<Vec<String>>,
    /// The names that models have on the model server, by their own.
    pub model_overrides: BTreeMap<String, String>,
    /// The name of the output style.
    pub output_style: Option<String>,
    /// Hooks: commands that run on events.
    pub hooks: HookSettings,
    /// Disables all hooks, of whatever source.
    pub disable_all_hooks: Option<bool>,
    /// `"disable"`: the mode `auto` is `default`. Also accepted below `permissions`.
    pub disable_auto_mode: Option<String>,
    /// A command that prints the API key for the model server.
    pub api_key_helper: Option<String>,
    /// The agent that the main thread runs as.
    pub agent: Option<String>,
    /// The effort level of the model.
    pub effort_level: Option<String>,
    /// The language of answers.
    pub language: Option<String>,
    /// The sandbox settings for commands.
    pub sandbox: Option<SandboxSettings>,
    /// Enables all servers of the project's `.mcp.json`.
    pub enable_all_project_mcp_servers: Option<bool>,
    /// The servers of the project's `.mcp.json` to enable.
    pub enabled_mcpjson_servers: Vec<String>,
    /// The servers of the project's `.mcp.json` to disable.
    pub disabled_mcpjson_servers: Vec<String>,
}

/// Accepts texts, and the other scalars that people write in place of texts.
fn variables<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let read: BTreeMap<String, Scalar> = BTreeMap::deserialize(deserializer)?;
    for (name, Scalar(value)) in &read {
        // No program could be started with such a variable.
        if name.contains('\0') || value.contains('\0') {
            let problem = format!("the variable {name:?} holds a zero byte");
            return Err(de::Error::custom(problem));
        }
        if name.len() + value.len() > MAX_VARIABLE {
            let problem = format!(
                "the variable {} is longer than {MAX_VARIABLE} bytes",
                name.chars().take(100).collect::<String>()
            );
            return Err(de::Error::custom(problem));
        }
    }
    let texts = read.into_iter();
    Ok(texts.map(|(name, Scalar(value))| (name, value)).collect())
}

/// The value of a variable.
struct Scalar(String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = RawJson::deserialize(deserializer)?;
        let text = value.get();
        let is_scalar = text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
            || matches!(text, "true" | "false");
        match value.decode::<String>() {
            Ok(text) => Ok(Self(text)),
            Err(_) if is_scalar => Ok(Self(text.to_owned())),
            Err(_) => Err(de::Error::custom("the value of a variable is a text")),
        }
    }
}

/// The maximum length of a variable, name and value, in bytes: the limit of Linux for a program, less `=` and the final zero
/// byte.
const MAX_VARIABLE: usize = (128 << 10) - 2;

/// The settings of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourcedSettings {
    /// The source.
    pub source: Source,
    /// The file; `None` for settings of the command line.
    pub path: Option<TextPath>,
    /// The supported settings.
    pub settings: Settings,
    /// The complete text, including unsupported settings.
    pub text: SettingsText,
}

/// The settings of all sources, the strongest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadedSettings {
    /// The sources that have settings.
    pub sources: Vec<SourcedSettings>,
    /// The project's folder.
    project: TextPath,
    /// The user's configuration directory.
    user: TextPath,
}

impl LoadedSettings {
    /// The settings of these sources, the strongest first. Rules that start with a single `/` are relative to the project's
    /// folder, or for user settings to the configuration directory.
    #[must_use]
    pub fn new(sources: Vec<SourcedSettings>, project: TextPath, user: TextPath) -> Self {
        Self {
            sources,
            project,
            user,
        }
    }

    /// The model named by the strongest source that names one.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.first(|settings| settings.model.as_deref())
    }

    /// The sandbox settings of all sources and of the command line, which only managed settings override. Settings of a
    /// folder that open the sandbox apply only if the folder is trusted.
    #[must_use]
    pub fn sandbox(
        &self,
        trusted: bool,
        command_line: Option<&SandboxSettings>,
    ) -> SandboxSettings {
        let of = |sourced: &'_ SourcedSettings| match sourced.source {
            Source::PolicySettings => SandboxSource::Managed,
            source if source.belongs_to_folder() && !trusted => SandboxSource::Folder,
            _ => SandboxSource::Trusted,
        };
        let files = self.sources.iter();
        let files = files.filter_map(|it| Some((of(it), it.settings.sandbox.as_ref()?)));
        let (managed, others): (Vec<_>, Vec<_>) =
            files.partition(|(source, _)| *source == SandboxSource::Managed);
        let command_line = command_line.map(|settings| (SandboxSource::Trusted, settings));
        let strongest_first = managed.into_iter().chain(command_line).chain(others);
        SandboxSettings::merged(strongest_first)
    }

    /// Whether a source disables the mode `auto`. A folder's files may do so whether or not the folder is trusted.
    #[must_use]
    pub fn disables_auto_mode(&self) -> bool {
        let disables = |value: &Option<String>| value.as_deref() == Some("disable");
        (self.sources.iter().map(|it| &it.settings)).any(|it| {
            disables(&it.disable_auto_mode) || disables(&it.permissions.disable_auto_mode)
        })
    }

    /// The output style named by the strongest source that names one, whether or not it exists.
    #[must_use]
    pub fn output_style(&self) -> Option<&str> {
        self.first(|settings| settings.output_style.as_deref())
    }

    /// A single value, from the strongest source that has it.
    pub fn first<'a, T>(&'a self, value: impl Fn(&'a Settings) -> Option<T>) -> Option<T> {
        self.sources.iter().find_map(|s| value(&s.settings))
    }

    /// A single value of the managed settings, which no flag overrides.
    pub(crate) fn managed<'a, T>(&'a self, value: impl Fn(&'a Settings) -> Option<T>) -> Option<T> {
        let mut sources = self.sources.iter();
        sources.find_map(|it| {
            let is_managed = it.source == Source::PolicySettings;
            is_managed.then(|| value(&it.settings)).flatten()
        })
    }

    /// The permissions as layers, for [`Layered::of`](windlass_core::permission::Layered::of). `trusted` says whether the
    /// project's folder is trusted: otherwise its files cannot widen permissions.
    #[must_use]
    pub fn layers(&self, trusted: bool) -> Vec<Layer> {
        let layer = |sourced: &SourcedSettings| Layer {
            source: sourced.source,
            root: self.root_of(sourced.source),
            trusted,
            settings: sourced.settings.permissions.clone(),
        };
        self.sources.iter().map(layer).collect()
    }

    /// The hooks of all sources, the strongest first; none if a source disables hooks. Hooks of an untrusted folder are left
    /// out.
    #[must_use]
    pub fn hooks(&self, trusted: bool) -> SettingsHooks {
        let mut hooks = SettingsHooks::default();
        if self.are_hooks_off(trusted) {
            return hooks;
        }
        for sourced in self.counting(trusted) {
            hooks.add(sourced.source, &sourced.settings.hooks);
        }
        hooks
    }

    /// Whether a source disables all hooks.
    #[must_use]
    pub fn are_hooks_off(&self, trusted: bool) -> bool {
        let off = self
            .counting(trusted)
            .find_map(|it| it.settings.disable_all_hooks);
        off == Some(true)
    }

    /// The sources that count for hooks: an untrusted folder may neither add hooks nor disable them.
    fn counting(&self, trusted: bool) -> impl Iterator<Item = &SourcedSettings> {
        let sources = self.sources.iter();
        sources.filter(move |sourced| trusted || !sourced.source.belongs_to_folder())
    }

    /// The folder to which rules with a single `/` are relative.
    fn root_of(&self, source: Source) -> Option<String> {
        let folder = match source {
            Source::ProjectSettings | Source::LocalSettings => &self.project,
            Source::UserSettings => &self.user,
            _ => return None,
        };
        Some(folder.to_string())
    }
}
