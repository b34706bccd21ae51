//! Plugins as folders: what they bring, read from their files.
//!
//! | what | where |
//! |---|---|
//! | name, version, description | `.claude-plugin/plugin.json`; without it, the plugin is called like its folder |
//! | commands, agents, skills, output styles | `commands/**/*.md`, `agents/**/*.md`, `skills/*/SKILL.md`, `output-styles/**/*.md`, each named `plugin:name`; also in the places of the folder that the manifest names for them |
//! | hooks | `hooks/hooks.json`, or `hooks` in the manifest |
//! | MCP servers | `.mcp.json`, or `mcpServers` in the manifest |
//! | tools as components | `components/*.wasm`, which the host loads |
//!
//! `${CLAUDE_PLUGIN_ROOT}` in all of these stands for the folder. Whoever names a folder as a plugin lets its hooks and
//! servers run with the rights of the user; its components have what they are granted.

mod manifest;
mod programs;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::RawJson;

use self::manifest::Manifest;
use crate::{
    path::TextPath,
    project::{PLUGIN_ROOT, PluginPlaces},
    settings::HookSettings,
};

/// The longest name of a plugin, in bytes.
const LONGEST_NAME: usize = 64;

/// What a plugin's folder brings, apart from its Markdown files and components.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plugin {
    /// Its name, which precedes the names of its commands, agents and skills.
    pub name: String,
    /// Its folder, as a real path.
    pub folder: TextPath,
    /// The hooks that run commands.
    pub hooks: HookSettings,
    /// The MCP servers, by the names under which sessions know them (`plugin:name:server`).
    pub servers: BTreeMap<String, RawJson>,
    /// Where else in the folder its Markdown files are.
    pub places: PluginPlaces,
    /// What is in the folder and has no effect.
    pub ignored: Vec<String>,
}

/// Why a folder is no plugin that can be loaded. Nothing of it is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plugin {folder} cannot be loaded: {file}: {problem}")]
pub struct PluginError {
    /// The folder.
    pub folder: TextPath,
    /// The file in it.
    pub file: String,
    /// What is wrong with it, and what to do.
    pub problem: String,
}

/// How the files of a plugin are read: by their path in its folder. `None` if there is no such file.
pub type ReadPluginFile<'a> = &'a dyn Fn(&str) -> Result<Option<String>, String>;

/// The file that says what a folder is.
pub const MANIFEST: &str = ".claude-plugin/plugin.json";

/// The places in a folder that bring something. One of them makes a plugin of a folder without a [`MANIFEST`].
pub const PLACES: [&str; 7] = [
    "commands",
    "agents",
    "skills",
    "output-styles",
    "hooks",
    ".mcp.json",
    "components",
];

/// The files from which the build of a component starts, one for each language.
pub const SOURCES: [&str; 3] = ["Cargo.toml", "package.json", "app.py"];

impl Plugin {
    /// Reads a plugin's folder. With `components_only`, nothing that runs with the rights of the user is read.
    ///
    /// # Errors
    /// [`PluginError`] naming the file: a plugin is loaded as a whole or not at all.
    pub fn read(
        folder: TextPath,
        components_only: bool,
        read: ReadPluginFile<'_>,
    ) -> Result<Self, PluginError> {
        let files = PluginFiles {
            folder,
            read,
            is_rooted: true,
        };
        files.plugin(components_only)
    }

    /// The same with `${CLAUDE_PLUGIN_ROOT}` as it stands in the files: to be shown, and compared with another version that lies
    /// elsewhere.
    ///
    /// # Errors
    /// As [`Plugin::read`].
    pub fn as_written(folder: TextPath, read: ReadPluginFile<'_>) -> Result<Self, PluginError> {
        let files = PluginFiles {
            folder,
            read,
            is_rooted: false,
        };
        files.plugin(false)
    }
}

/// The files of a plugin.
struct PluginFiles<'a> {
    folder: TextPath,
    read: ReadPluginFile<'a>,
    /// Whether the folder is put in place of its variable.
    is_rooted: bool,
}

impl PluginFiles<'_> {
    fn plugin(self, components_only: bool) -> Result<Plugin, PluginError> {
        let manifest = self.manifest()?;
        let name = match &manifest.name {
            Some(name) => name.clone(),
            None => self.folder.file_name().unwrap_or_default().to_owned(),
        };
        if !is_name(&name) {
            let takes = format!(
                "`{name}` is no name of a plugin, which takes 1 to {LONGEST_NAME} small letters, digits and hyphens"
            );
            let remedy = match manifest.name {
                Some(_) => "write another `name`",
                None => {
                    "the plugin is called like its folder: rename that, or write a `name` into this file"
                }
            };
            return Err(self.fault(MANIFEST, format!("{takes}: {remedy}")));
        }
        let mut plugin = Plugin {
            name,
            ..Plugin::default()
        };
        if !components_only {
            let hooks = self.hooks(manifest.hooks.as_ref())?;
            plugin.hooks = match self.is_rooted {
                true => hooks.of_plugin(&plugin.name, &self.folder),
                false => hooks,
            };
            plugin.servers = self.servers(manifest.mcp_servers.as_ref(), &plugin.name)?;
        }
        plugin.ignored = manifest.without_effect();
        plugin.places = self.places(&manifest)?;
        plugin.folder = self.folder;
        Ok(plugin)
    }

    fn fault(&self, file: &str, problem: String) -> PluginError {
        PluginError {
            folder: self.folder.clone(),
            file: file.to_owned(),
            problem,
        }
    }

    fn manifest(&self) -> Result<Manifest, PluginError> {
        // A struct could be read from a list, too.
        let fields: Option<BTreeMap<String, RawJson>> = self.json(MANIFEST)?;
        let Some(fields) = fields else {
            return Ok(Manifest::default());
        };
        let mut manifest: Manifest = self.json(MANIFEST)?.unwrap_or_default();
        manifest.note_unknown(fields.into_keys());
        let version = manifest.version.as_ref().map(RawJson::decode::<String>);
        match version {
            Some(Err(_)) => {
                let problem = "`version` is no text: write \"1.0.0\" or the like".to_owned();
                Err(self.fault(MANIFEST, problem))
            }
            _ => Ok(manifest),
        }
    }

    fn json<T: for<'de> Deserialize<'de>>(&self, file: &str) -> Result<Option<T>, PluginError> {
        let text = (self.read)(file).map_err(|problem| self.fault(file, problem))?;
        let Some(text) = text else {
            return Ok(None);
        };
        self.parsed(file, &text).map(Some)
    }

    fn parsed<T: for<'de> Deserialize<'de>>(
        &self,
        file: &str,
        text: &str,
    ) -> Result<T, PluginError> {
        // A byte order mark is not part of the text.
        let text = text.trim_start_matches('\u{feff}');
        serde_json::from_str(text)
            .map_err(|error| self.fault(file, format!("{error}. Mend the file")))
    }

    /// A value of the manifest that is given itself, or as the name of a file in the folder; without one, the usual file. With the
    /// file that it stands in.
    fn value(
        &self,
        given: Option<&RawJson>,
        usual: &str,
    ) -> Result<Option<(RawJson, String)>, PluginError> {
        let Some(given) = given else {
            let found = self.json(usual)?;
            return Ok(found.map(|value| (value, usual.to_owned())));
        };
        let Ok(file) = given.decode::<String>() else {
            return Ok(Some((given.clone(), MANIFEST.to_owned())));
        };
        let file = file.trim_start_matches("./");
        let found = self.json(file)?;
        match found {
            Some(value) => Ok(Some((value, file.to_owned()))),
            None => Err(self.fault(file, format!("{MANIFEST} names it, and it does not exist: put it there, or write another path"))),
        }
    }

    fn places(&self, manifest: &Manifest) -> Result<PluginPlaces, PluginError> {
        Ok(PluginPlaces {
            commands: self.paths("commands", manifest.commands.as_ref())?,
            agents: self.paths("agents", manifest.agents.as_ref())?,
            skills: self.paths("skills", manifest.skills.as_ref())?,
            output_styles: self.paths("outputStyles", manifest.output_styles.as_ref())?,
        })
    }

    /// The paths under a key of the manifest: one, or a list. They are relative to the folder and do not leave it.
    fn paths(&self, key: &str, given: Option<&RawJson>) -> Result<Vec<String>, PluginError> {
        let Some(given) = given else {
            return Ok(Vec::new());
        };
        let one = given.decode::<String>().map(|path| vec![path]);
        let paths = one.or_else(|_| given.decode::<Vec<String>>());
        let paths = paths.map_err(|_| {
            self.fault(
                MANIFEST,
                format!("`{key}` must be a path in the plugin's folder, or a list of such paths"),
            )
        })?;
        let within = |path: String| {
            match place_within(&path) {
            Some(place) => Ok(place),
            None => Err(self.fault(
                MANIFEST,
                format!("`{key}` names `{path}`, which is no path in the plugin's folder: write one that starts from there"),
            )),
        }
        };
        paths.into_iter().map(within).collect()
    }

    fn hooks(&self, given: Option<&RawJson>) -> Result<HookSettings, PluginError> {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct HooksFile {
            hooks: Option<RawJson>,
        }
        let Some((value, file)) = self.value(given, "hooks/hooks.json")? else {
            return Ok(HookSettings::default());
        };
        // The file has them under the key `hooks`, beside a description.
        let whole: HooksFile = value.decode().unwrap_or_default();
        let hooks = whole.hooks.unwrap_or(value);
        self.parsed(&file, &self.rooted(hooks.get()))
    }

    fn servers(
        &self,
        given: Option<&RawJson>,
        plugin: &str,
    ) -> Result<BTreeMap<String, RawJson>, PluginError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ServersFile {
            mcp_servers: BTreeMap<String, RawJson>,
        }
        let Some((value, file)) = self.value(given, ".mcp.json")? else {
            return Ok(BTreeMap::new());
        };
        let text = self.rooted(value.get());
        // A map of servers, or one with the map under its usual key.
        let servers = match serde_json::from_str::<ServersFile>(&text) {
            Ok(whole) => whole.mcp_servers,
            Err(_) => self.parsed(&file, &text)?,
        };
        let named = servers.into_iter();
        Ok(named
            .map(|(server, config)| {
                (
                    format!("plugin:{plugin}:{server}"),
                    self.knowing_root(config),
                )
            })
            .collect())
    }

    /// The configuration of a server whose program finds the folder in its environment.
    fn knowing_root(&self, config: RawJson) -> RawJson {
        let read = config.decode::<serde_json::Map<String, Value>>().ok();
        let Some(mut server) = read.filter(|it| self.is_rooted && it.contains_key("command"))
        else {
            return config;
        };
        let env = server.entry("env").or_insert_with(|| json!({}));
        if let Some(env) = env.as_object_mut() {
            for (name, value) in variables(&self.folder) {
                env.entry(name).or_insert_with(|| json!(value));
            }
        }
        RawJson::encode(&server).unwrap_or(config)
    }

    /// A JSON text with the folder in place of its variable.
    fn rooted(&self, json: &str) -> String {
        if !self.is_rooted {
            return json.to_owned();
        }
        let folder = RawJson::string(self.folder.as_str());
        // Without its quotation marks: it stands within a string.
        let inner = folder
            .get()
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        json.replace(PLUGIN_ROOT, inner.unwrap_or_default())
    }
}

/// What the programs of a plugin in this folder find in their environment.
#[must_use]
pub fn variables(folder: &TextPath) -> [(&'static str, String); 2] {
    [
        ("CLAUDE_PLUGIN_ROOT", folder.to_string()),
        // Python would write what it compiled into the folder, which then were not what was installed.
        ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
    ]
}

/// A relative path without its empty and `.` parts; `None` if it is absolute, leads out, or is the folder itself.
fn place_within(path: &str) -> Option<String> {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    let leaves = path.starts_with('/')
        || parts
            .iter()
            .any(|part| *part == ".." || part.contains(['\\', ':']));
    (!leaves && !parts.is_empty()).then(|| parts.join("/"))
}

/// Whether it is the name of a plugin: 1 to 64 small letters, digits and hyphens, no hyphen first. Names precede those of commands
/// and servers, and files and lists of grants have them in theirs.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('-')
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
