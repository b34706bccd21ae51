//! Settings: what is read of their files, how they are merged, how their texts are changed.
//!
//! | source | file | strength |
//! |---|---|---|
//! | policy | the organisation's file, then `--managed-settings` | strongest |
//! | flag | `--settings`, a file or JSON | |
//! | local | `.claude/settings.local.json` of the project | |
//! | project | `.claude/settings.json` of the project | |
//! | user | `settings.json` in the user's configuration directory | weakest |
//!
//! Single values come from the strongest source that has them; `env` is merged by its names; rules, directories and hooks of
//! all sources count. Policy and flag are read whatever sources are selected (Agent SDK reference, `SettingSource`).
//! Keys that nobody here knows are tolerated, but for names that are nearly those by which something is forbidden; a key of the wrong
//! kind is an error, and then no file is used.

mod change;
mod hooks;
mod misspelt;
mod pretty;
mod read;
mod sandbox;
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
    text::{FaultKey, SettingsFault, SettingsText, Step},
    trust::{is_trusted, trust},
    variables::{changes_programs, is_plain},
    write::{WriteError, Written, write_permissions, write_texts},
};
use crate::path::TextPath;

/// A source of settings that can be left out (Agent SDK reference, `SettingSource`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingSource {
    /// The user's, for all projects.
    User,
    /// The project's, shared by those who work on it.
    Project,
    /// The user's, for this project.
    Local,
}

/// Which sources are read. All of them is what a command line means that says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingSources {
    /// The user's.
    pub user: bool,
    /// The project's.
    pub project: bool,
    /// The local ones.
    pub local: bool,
}

impl SettingSources {
    /// All.
    pub const ALL: Self = Self {
        user: true,
        project: true,
        local: true,
    };
    /// None.
    pub const NONE: Self = Self {
        user: false,
        project: false,
        local: false,
    };

    /// Reads a list as `--setting-sources` has it: names with commas between, nothing for none.
    ///
    /// # Errors
    /// [`UnknownSource`].
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

/// No source of settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no setting source {0:?}: the sources are user, project and local")]
pub struct UnknownSource(pub String);

/// What is read of a settings file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Settings {
    /// Rules, mode, directories.
    pub permissions: PermissionSettings,
    /// Variables for the engine and what it starts.
    #[serde(deserialize_with = "variables")]
    pub env: BTreeMap<String, String>,
    /// The model.
    pub model: Option<String>,
    /// The output style, by its name.
    pub output_style: Option<String>,
    /// Hooks: commands that run when something happens.
    pub hooks: HookSettings,
    /// No hook runs, from whatever source.
    pub disable_all_hooks: Option<bool>,
    /// A command that prints the key for the model server.
    pub api_key_helper: Option<String>,
    /// The agent that is the main thread.
    pub agent: Option<String>,
    /// How much effort the model makes.
    pub effort_level: Option<String>,
    /// The language of answers.
    pub language: Option<String>,
    /// The confinement of commands.
    pub sandbox: Option<SandboxSettings>,
    /// All servers of the project's `.mcp.json` are wanted.
    pub enable_all_project_mcp_servers: Option<bool>,
    /// Those of them that are wanted.
    pub enabled_mcpjson_servers: Vec<String>,
    /// Those of them that are not.
    pub disabled_mcpjson_servers: Vec<String>,
}

/// Texts, and what people write in the place of texts.
fn variables<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let read: BTreeMap<String, Scalar> = BTreeMap::deserialize(deserializer)?;
    for (name, Scalar(value)) in &read {
        // With such a variable no program could be started.
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

/// The longest variable, name and value, in bytes: what Linux lets a program have, less `=` and the zero at the end.
const MAX_VARIABLE: usize = (128 << 10) - 2;

/// Settings with their source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourcedSettings {
    /// Whose they are.
    pub source: Source,
    /// The file; none for what came on the command line.
    pub path: Option<TextPath>,
    /// What is read of them.
    pub settings: Settings,
    /// All of them as they are written, also what is not read.
    pub text: SettingsText,
}

/// The settings of all sources, the strongest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadedSettings {
    /// Each source that says something.
    pub sources: Vec<SourcedSettings>,
    /// The project's folder.
    project: TextPath,
    /// The user's configuration directory.
    user: TextPath,
}

impl LoadedSettings {
    /// Settings of these sources, the strongest first. Rules with a single `/` begin in the project's folder, those of the user in
    /// the configuration directory.
    #[must_use]
    pub fn new(sources: Vec<SourcedSettings>, project: TextPath, user: TextPath) -> Self {
        Self {
            sources,
            project,
            user,
        }
    }

    /// The model of the strongest source that names one.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.first(|settings| settings.model.as_deref())
    }

    /// The confinement of commands, from all sources and from the command line, which only the organisation's settings are
    /// stronger than. What a folder's own settings open counts only where a person has trusted the folder.
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

    /// The output style of the strongest source that names one, whether or not there is such a style.
    #[must_use]
    pub fn output_style(&self) -> Option<&str> {
        self.first(|settings| settings.output_style.as_deref())
    }

    /// The command that prints the key for the model server.
    #[must_use]
    pub fn api_key_helper(&self) -> Option<&str> {
        self.first(|settings| settings.api_key_helper.as_deref())
    }

    /// A single value, of the strongest source that has it.
    pub fn first<'a, T>(&'a self, value: impl Fn(&'a Settings) -> Option<T>) -> Option<T> {
        self.sources.iter().find_map(|s| value(&s.settings))
    }

    /// A single value of the organisation's settings, which no flag is stronger than.
    pub(crate) fn managed<'a, T>(&'a self, value: impl Fn(&'a Settings) -> Option<T>) -> Option<T> {
        let mut sources = self.sources.iter();
        sources.find_map(|it| {
            let is_managed = it.source == Source::PolicySettings;
            is_managed.then(|| value(&it.settings)).flatten()
        })
    }

    /// The variables, each from the strongest source that sets it. `folder_may` says which ones the files of the folder may set:
    /// all once a person has trusted it, before that none that [`changes_programs`].
    pub fn env(&self, folder_may: impl Fn(&str) -> bool) -> BTreeMap<&str, &str> {
        let mut env = BTreeMap::new();
        for sourced in self.sources.iter().rev() {
            let set = sourced.settings.env.iter();
            let counts = |name: &str| !sourced.source.belongs_to_folder() || folder_may(name);
            let set = set.filter(|(name, _)| counts(name));
            env.extend(set.map(|(name, value)| (name.as_str(), value.as_str())));
        }
        env
    }

    /// The variables that files of the folder set and may not, with the source that does.
    pub fn env_left_out(&self, folder_may: impl Fn(&str) -> bool) -> Vec<(Source, Vec<&str>)> {
        let of_folder = (self.sources.iter()).filter(|sourced| sourced.source.belongs_to_folder());
        let left_out = of_folder.map(|sourced| {
            let names = sourced.settings.env.keys().map(String::as_str);
            (
                sourced.source,
                names.filter(|name| !folder_may(name)).collect(),
            )
        });
        left_out
            .filter(|(_, names): &(Source, Vec<&str>)| !names.is_empty())
            .collect()
    }

    /// The permissions as layers, for [`Layered::of`](windlass_core::permission::Layered::of). `trusted` says whether a
    /// person has trusted the project's folder: what its files widen counts only then.
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

    /// The hooks of all sources, the strongest first; none where a source turns hooks off. Those of a folder that nobody
    /// has trusted are left out.
    #[must_use]
    pub fn hooks(&self, trusted: bool) -> SettingsHooks {
        let mut hooks = SettingsHooks::default();
        let mut counting = (self.sources.iter())
            .filter(|sourced| trusted || !sourced.source.belongs_to_folder())
            .peekable();
        // Who may not add a guard may not take one away either.
        let off = counting
            .clone()
            .find_map(|it| it.settings.disable_all_hooks);
        if off == Some(true) || counting.peek().is_none() {
            return hooks;
        }
        for sourced in counting {
            hooks.add(sourced.source, &sourced.settings.hooks);
        }
        hooks
    }

    /// Where rules with a single `/` begin.
    fn root_of(&self, source: Source) -> Option<String> {
        let folder = match source {
            Source::ProjectSettings | Source::LocalSettings => &self.project,
            Source::UserSettings => &self.user,
            _ => return None,
        };
        Some(folder.to_string())
    }
}
