//! Plugins named by their folder or component file: what the host reads of them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use windlass_core::message::PluginInfo;
use windlass_engine::{
    plugin::{MANIFEST, PLACES, Plugin, PluginError, SOURCES},
    project::MAX_FILE_BYTES,
    protocol::flags::PluginDir,
};

use crate::{
    plugins::{
        ComponentGrant, Declaration, GrantedComponent, InspectError, InspectedComponent,
        KeptGrants, PluginTree, is_component_file,
    },
    regular::{self, Link},
    text_path::text_path,
};

/// A plugin that is loaded.
#[derive(Debug)]
pub(crate) struct PluginOnDisk {
    /// Whether it is installed as one component, in a place that is closed altogether.
    pub(crate) is_closed: bool,
    /// What its folder brings; nothing for a component file.
    pub(crate) plugin: Option<Plugin>,
    /// Its component files.
    pub(crate) components: Vec<ComponentOnDisk>,
    /// As sessions announce it.
    pub(crate) info: PluginInfo,
}

/// A component that was read.
#[derive(Debug)]
pub(crate) struct ComponentOnDisk {
    pub(crate) path: PathBuf,
    pub(crate) source: ComponentSource,
    /// What it was granted for good.
    pub(crate) kept: Option<ComponentGrant>,
    /// The version of this name that was granted something, where it is another file than this one.
    pub(crate) granted_before: Option<String>,
}

/// What is known of a component, and runs.
#[derive(Debug)]
pub(crate) enum ComponentSource {
    /// Its file was read.
    Read(InspectedComponent),
    /// It is installed: its file was read then, and is again with the first call.
    Installed(Box<GrantedComponent>),
}

/// The folder of an installed plugin.
#[derive(Debug, Clone, Copy)]
pub(crate) enum InstalledFolder {
    /// It has none: it is one component.
    None,
    /// Somebody changed it, and nothing of it is read.
    Changed,
    /// It is as it was installed.
    Intact {
        /// Whether what runs with the rights of the user is left out.
        components_only: bool,
    },
}

/// Why a plugin cannot be loaded. Nothing of it is used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PluginDirError {
    /// The path leads nowhere, or cannot be read.
    #[error("the plugin {path} cannot be loaded: {reason}")]
    Path {
        /// The path as it was named.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// One of its files cannot be used.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// One of its components would not be loaded.
    #[error("the plugin {path} cannot be loaded: {}: {}", .component.display(), .fault.with_remedy())]
    Component {
        /// The path as it was named.
        path: String,
        /// The component.
        component: PathBuf,
        /// What is wrong with it.
        fault: InspectError,
    },
}

impl ComponentOnDisk {
    fn declaration(&self) -> &Declaration {
        match &self.source {
            ComponentSource::Read(inspected) => &inspected.inspection().declaration,
            ComponentSource::Installed(granted) => granted.component.declaration(),
        }
    }

    fn digest(&self) -> &str {
        match &self.source {
            ComponentSource::Read(inspected) => inspected.digest(),
            ComponentSource::Installed(granted) => granted.component.digest(),
        }
    }

    /// The name that it declares.
    pub(crate) fn name(&self) -> &str {
        &self.declaration().name
    }

    /// The names of its tools.
    fn tools(&self) -> impl Iterator<Item = &str> {
        let tools = self.declaration().tools.iter();
        tools.map(|tool| tool.name.as_str())
    }
}

impl PluginOnDisk {
    /// Reads a plugin. A relative path starts from this working directory.
    ///
    /// # Errors
    /// [`PluginDirError`].
    pub(crate) fn read(
        named: &PluginDir,
        cwd: &Path,
        components_only: bool,
    ) -> Result<Self, PluginDirError> {
        let fault = |reason: String| PluginDirError::Path {
            path: named.path.clone(),
            reason,
        };
        let real = fs::canonicalize(cwd.join(&named.path)).map_err(|error| {
            fault(match error.kind() {
                std::io::ErrorKind::NotFound => {
                    "there is no such file or folder: check the path".to_owned()
                }
                _ => error.to_string(),
            })
        })?;
        let info = |name: &str| PluginInfo {
            name: name.to_owned(),
            path: real.display().to_string(),
        };
        if real.is_file() {
            let stem = real.file_stem().unwrap_or_default().to_string_lossy();
            if !is_component_file(&real) {
                return Err(fault(
                    "it is neither a folder nor a component (.wasm)".to_owned(),
                ));
            }
            return Ok(Self {
                is_closed: false,
                plugin: None,
                info: info(&stem),
                components: check(&named.path, vec![real])?,
            });
        }
        let folder = text_path(&real).map_err(|_| fault("its name is not UTF-8".to_owned()))?;
        let read = |file: &str| read_within(&real, file);
        let mut plugin = Plugin::read(folder, components_only, &read)?;
        PluginTree::check_places(&plugin, |place| real.join(place).exists())?;
        if named.without_servers {
            plugin.servers.clear();
        }
        let components =
            components(&real).map_err(|error| fault(format!("components: {error}")))?;
        if !real.join(MANIFEST).exists() && !PLACES.iter().any(|place| real.join(place).exists()) {
            return Err(fault(format!(
                "it is no plugin: it has neither a {MANIFEST} nor any of {}",
                PLACES.join(", ")
            )));
        }
        if components.is_empty() && !brings_more(&real, &plugin) && has_sources(&real) {
            return Err(fault(format!(
                "it has sources and was not built: `windlass plugin build {}` makes its component",
                real.display()
            )));
        }
        let read = Self {
            is_closed: false,
            info: info(&plugin.name),
            components: check(&named.path, components)?,
            plugin: Some(plugin),
        };
        read.with_tools_of_different_names()
    }

    /// # Errors
    /// [`PluginDirError::Path`]: two of its components have a tool of the same name.
    fn with_tools_of_different_names(self) -> Result<Self, PluginDirError> {
        let mut known: BTreeMap<&str, &Path> = BTreeMap::new();
        for component in &self.components {
            for tool in component.tools() {
                if let Some(other) = known.insert(tool, &component.path) {
                    let file = |path: &Path| {
                        let name = path.file_name().unwrap_or_default();
                        name.to_string_lossy().into_owned()
                    };
                    let (one, two) = (file(other), file(&component.path));
                    return Err(PluginDirError::Path {
                        path: self.info.path.clone(),
                        reason: format!(
                            "its components {one} and {two} both have the tool {tool}: remove the one that is not wanted"
                        ),
                    });
                }
            }
        }
        Ok(self)
    }

    /// An installed plugin. Of one that is one component, no file is read.
    ///
    /// # Errors
    /// [`PluginDirError`].
    pub(crate) fn installed(
        path: &Path,
        granted: Vec<GrantedComponent>,
        name: &str,
        folder: InstalledFolder,
    ) -> Result<Self, PluginDirError> {
        let info = PluginInfo {
            name: name.to_owned(),
            path: path.to_string_lossy().into_owned(),
        };
        let plugin = match folder {
            InstalledFolder::None | InstalledFolder::Changed => None,
            InstalledFolder::Intact { components_only } => {
                let folder = text_path(path).map_err(|fault| PluginDirError::Path {
                    path: info.path.clone(),
                    reason: fault.to_string(),
                })?;
                let real = fs::canonicalize(path).map_err(|error| PluginDirError::Path {
                    path: info.path.clone(),
                    reason: error.to_string(),
                })?;
                let read = |file: &str| read_within(&real, file);
                Some(Plugin::read(folder, components_only, &read)?)
            }
        };
        let read = Self {
            is_closed: matches!(folder, InstalledFolder::None),
            plugin,
            components: granted
                .into_iter()
                .map(ComponentOnDisk::installed)
                .collect(),
            info,
        };
        read.with_tools_of_different_names()
    }

    /// The plugin, if it can be loaded beside these; `None` if it is one of them, named once more.
    ///
    /// # Errors
    /// [`PluginDirError`]: another one has its name, or a tool of that name.
    pub(crate) fn beside(self, others: &[Self]) -> Result<Option<Self>, PluginDirError> {
        for other in others {
            if other.info.path == self.info.path {
                return Ok(None);
            }
            let taken = |what: String| PluginDirError::Path {
                path: self.info.path.clone(),
                reason: format!("the plugin {} has {what} already", other.info.path),
            };
            if other.info.name == self.info.name {
                return Err(taken(format!("the name {}", self.info.name)));
            }
            let mut theirs = other.tools();
            if let Some(tool) = theirs.find(|tool| self.tools().any(|own| own == *tool)) {
                return Err(taken(format!("a tool {tool}")));
            }
        }
        Ok(Some(self))
    }

    /// Notes what its components were granted for good.
    pub(crate) fn look_up(&mut self, grants: &KeptGrants) {
        for component in &mut self.components {
            let kept = grants.components.get(component.digest());
            component.kept = kept.map(|kept| kept.grant.clone());
            let other = grants.other_of_name(component.name(), component.digest());
            component.granted_before = other.map(|other| other.version.clone());
        }
    }

    /// Whether one of its components judges calls.
    pub(crate) fn judges(&self) -> bool {
        let mut components = self.components.iter();
        components.any(|component| component.declaration().judges())
    }

    /// The names of its tools.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        let components = self.components.iter();
        components.flat_map(ComponentOnDisk::tools)
    }
}

impl ComponentOnDisk {
    fn installed(granted: GrantedComponent) -> Self {
        Self {
            path: granted.component.path().to_path_buf(),
            kept: Some(granted.grant.clone()),
            granted_before: None,
            source: ComponentSource::Installed(Box::new(granted)),
        }
    }
}

/// Checks that a host would load the components, so that a plugin is loaded as a whole or not at all.
fn check(plugin: &str, components: Vec<PathBuf>) -> Result<Vec<ComponentOnDisk>, PluginDirError> {
    let mut checked = Vec::new();
    for component in components {
        let inspected = InspectedComponent::read_resolved(&component);
        let inspected = inspected.and_then(|inspected| {
            inspected.check_limits()?;
            Ok(inspected)
        });
        let inspected = inspected.map_err(|fault| PluginDirError::Component {
            path: plugin.to_owned(),
            component: component.clone(),
            fault,
        })?;
        checked.push(ComponentOnDisk {
            source: ComponentSource::Read(inspected),
            path: component,
            kept: None,
            granted_before: None,
        });
    }
    Ok(checked)
}

/// Whether the folder of a plugin has something for a session beside components.
fn brings_more(folder: &Path, plugin: &Plugin) -> bool {
    let mut others = PLACES.iter().filter(|place| **place != "components");
    plugin.places != Default::default()
        || plugin.runs().is_some()
        || others.any(|place| folder.join(place).exists())
}

/// Whether the folder is one that components are built in.
fn has_sources(folder: &Path) -> bool {
    SOURCES.iter().any(|file| folder.join(file).is_file())
}

/// The component files of a plugin's folder, sorted by name.
fn components(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder.join("components")) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if !is_component_file(&path) {
            continue;
        }
        let real = fs::canonicalize(&path)?;
        // It is not part of the plugin. Without it the plugin would lack what it may be there for, such as a judge.
        if !real.starts_with(folder) {
            return Err(std::io::Error::other(format!(
                "{} leads out of the plugin's folder: put the file itself there",
                path.display()
            )));
        }
        found.push(real);
    }
    found.sort();
    Ok(found)
}

/// A file in a plugin's folder; links must not lead out of it.
fn read_within(folder: &Path, file: &str) -> Result<Option<String>, String> {
    let real = match fs::canonicalize(folder.join(file)) {
        Ok(real) => real,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !real.starts_with(folder) {
        return Err("it lies outside of the plugin's folder".to_owned());
    }
    let content = regular::read(&real, Link::Refused, MAX_FILE_BYTES);
    let content = content.map_err(|error| error.to_string())?;
    let text = String::from_utf8(content);
    text.map(Some)
        .map_err(|_| "it is not UTF-8 text".to_owned())
}
