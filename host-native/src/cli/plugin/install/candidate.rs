//! What a plugin is that is to be installed: its name, what it declares, and what it asks for.

use std::{collections::BTreeMap, path::Path};

use bytes::Bytes;
use serde::Deserialize;
use windlass::plugins::{
    DeclaredTool, InspectedComponent, Inspection, InstalledPlugin, LoadFault, LockedComponent,
    PluginContent, PluginTree, is_component_file,
};
use windlass_core::RawJson;
use windlass_engine::{
    TextPath,
    plugin::{MANIFEST, PLACES, Plugin, SOURCES},
};

use super::{
    error::{InstallError, LONGEST_VERSION},
    signature::PublicKey,
    source::Source,
    texts::Texts,
};

/// A plugin that would be loaded.
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) plugin: InstalledPlugin,
    /// Its components, by their digests.
    pub(super) components: BTreeMap<String, Inspection>,
    /// What of it runs with the rights of the user, as a phrase.
    pub(super) runs: Option<String>,
    /// Its commands, agents, skills and output styles.
    pub(super) texts: Texts,
}

impl Candidate {
    /// Examines a plugin as sessions load it. Runs nothing.
    ///
    /// # Errors
    /// [`InstallError`]: no session would load it.
    pub(super) fn examine(
        content: &PluginContent,
        source: &Source,
        key: Option<&PublicKey>,
    ) -> Result<Self, InstallError> {
        let plugin = InstalledPlugin {
            version: String::new(),
            source: source.text(),
            digest: content.digest(),
            key: key.map(PublicKey::text),
            folder: false,
            runs_programs: false,
            asks: Vec::new(),
            programs: Vec::new(),
            components: Vec::new(),
        };
        let mut candidate = Self {
            name: String::new(),
            plugin,
            components: BTreeMap::new(),
            runs: None,
            texts: Texts::default(),
        };
        match content {
            PluginContent::Component(bytes) => {
                let inspection = candidate.add(bytes, "", &source.text())?;
                candidate.name = inspection.declaration.name.clone();
                candidate.plugin.version = inspection.declaration.version.clone();
            }
            PluginContent::Folder(tree) => candidate.read_folder(tree, source)?,
        }
        Ok(candidate)
    }

    /// Whether a component asks for directories by their roles.
    pub(super) fn asks_for_roles(&self) -> bool {
        let mut inspections = self.components.values();
        inspections.any(|inspection| !inspection.declaration.grants.directories.is_empty())
    }

    /// The limits that its components declare, and what they say of their secrets.
    pub(super) fn details(&self) -> Vec<String> {
        let inspections = self.components.values();
        let details = inspections.flat_map(|inspection| inspection.declaration.details());
        details.collect()
    }

    fn add(&mut self, bytes: &Bytes, file: &str, called: &str) -> Result<Inspection, InstallError> {
        let refused = |fault: LoadFault| InstallError::Refused(called.to_owned(), fault);
        let component = InspectedComponent::of(bytes.clone()).map_err(refused)?;
        component.check_code().map_err(refused)?;
        let inspection = component.inspection().clone();
        let text = Inspection::declaration_text(bytes).map_err(refused)?;
        let declaration = RawJson::parse(text)
            .map_err(|error| refused(LoadFault::DeclarationShape(error.to_string())))?;
        let is_known = |tool: &DeclaredTool| {
            let others = self.components.values();
            let mut others = others.flat_map(|other| &other.declaration.tools);
            others.any(|other| other.name == tool.name)
        };
        let mut own = inspection.declaration.tools.iter();
        if let Some(tool) = own.find(|tool| is_known(tool)) {
            return Err(InstallError::ToolTwice {
                tool: tool.name.clone(),
                component: called.to_owned(),
            });
        }
        let name = &inspection.declaration.name;
        let mut others = self.components.values();
        if others.any(|other| other.declaration.name == *name) {
            return Err(InstallError::ComponentTwice {
                name: name.clone(),
                component: called.to_owned(),
            });
        }
        let digest = component.digest().to_owned();
        self.plugin.asks.extend(inspection.asks());
        self.plugin.components.push(LockedComponent {
            file: file.to_owned(),
            digest: digest.clone(),
            declaration,
        });
        self.components.insert(digest, inspection.clone());
        Ok(inspection)
    }

    fn read_folder(&mut self, tree: &PluginTree, source: &Source) -> Result<(), InstallError> {
        let files = tree.files();
        let has_manifest = files.contains_key(MANIFEST);
        let is_in = |file: &str, place: &str| {
            let rest = file.strip_prefix(place);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let brings = |file: &String| PLACES.iter().any(|place| is_in(file, place));
        if !has_manifest && !files.keys().any(brings) {
            return Err(InstallError::NotPlugin {
                folder: source.text(),
                places: PLACES.join(", "),
            });
        }
        let read = |file: &str| {
            // `./hooks.json` in a manifest is the file of that name.
            let file = file.strip_prefix("./").unwrap_or(file);
            let Some(file) = files.get(file) else {
                return Ok(None);
            };
            let text = String::from_utf8(file.content.to_vec());
            text.map(Some)
                .map_err(|_| "it is not UTF-8 text".to_owned())
        };
        let folder = TextPath::from(source.text());
        let plugin = Plugin::as_written(folder, &read)?;
        PluginTree::check_places(&plugin, |place| tree.has(place))?;
        self.plugin.folder = true;
        self.plugin.version = version(&read)?;
        for (file, content) in files.iter().filter(|(file, _)| is_component(file)) {
            let called = format!("{}/{file}", source.text());
            self.add(&content.content, file, &called)?;
        }
        self.plugin.programs = plugin.programs();
        self.runs = plugin.runs();
        self.texts = Texts::of(tree, &plugin);
        let is_empty =
            self.plugin.components.is_empty() && self.runs.is_none() && self.texts.are_none();
        let mut sources = SOURCES.iter();
        if is_empty && sources.any(|file| files.contains_key(*file)) {
            return Err(InstallError::NotBuilt(source.text()));
        }
        self.name = plugin.name;
        Ok(())
    }
}

#[derive(Default, Deserialize)]
struct Manifest {
    version: Option<String>,
}

/// Whether a file of a folder is one of its components: one that lies in `components/` itself.
fn is_component(file: &str) -> bool {
    let file = Path::new(file);
    file.parent() == Some(Path::new("components")) && is_component_file(file)
}

/// The version that a manifest names, if it does.
///
/// # Errors
/// [`InstallError::Version`]: it cannot be shown on a line.
fn version(read: &dyn Fn(&str) -> Result<Option<String>, String>) -> Result<String, InstallError> {
    let text = read(MANIFEST).ok().flatten().unwrap_or_default();
    let manifest: Manifest =
        serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
    let Some(version) = manifest.version else {
        return Ok("without version".to_owned());
    };
    let is_plain = version.bytes().all(|byte| byte.is_ascii_graphic());
    match (1..=LONGEST_VERSION).contains(&version.len()) && is_plain {
        true => Ok(version),
        false => Err(InstallError::Version(
            version.chars().take(LONGEST_VERSION).collect(),
        )),
    }
}
