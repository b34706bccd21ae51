//! `windlass plugin check` of a folder.

use std::{collections::BTreeMap, path::Path};

use windlass::plugins::{InspectedComponent, PluginContent, PluginTree};

use super::{candidate::Candidate, error::InstallError, source::Source, texts::Texts};

/// What the folder of a plugin is.
pub(in crate::cli::plugin) struct CheckedFolder {
    pub(in crate::cli::plugin) name: String,
    pub(in crate::cli::plugin) version: String,
    pub(in crate::cli::plugin) digest: String,
    /// What it runs with the rights of the user, a line for each hook and server.
    pub(in crate::cli::plugin) programs: Vec<String>,
    /// Its commands, agents, skills and output styles.
    pub(in crate::cli::plugin) texts: Texts,
    /// Its components, by their files.
    pub(in crate::cli::plugin) components: BTreeMap<String, InspectedComponent>,
}

/// Examines a folder as `windlass plugin add` does. Installs and runs nothing.
///
/// # Errors
/// [`InstallError`]: it would not be installed.
pub(in crate::cli::plugin) fn check_folder(folder: &Path) -> Result<CheckedFolder, InstallError> {
    let real = std::fs::canonicalize(folder).map_err(InstallError::at(folder))?;
    let tree = PluginTree::read(&real)?;
    let content = PluginContent::Folder(tree.clone());
    let candidate = Candidate::examine(&content, &Source::Path(real), None)?;
    let components = candidate.plugin.components.iter().filter_map(|locked| {
        let file = tree.files().get(&locked.file)?;
        // It was inspected as a part of the folder.
        let component = InspectedComponent::of(file.content.clone()).ok()?;
        Some((locked.file.clone(), component))
    });
    let components = components.collect();
    Ok(CheckedFolder {
        name: candidate.name,
        version: candidate.plugin.version,
        digest: candidate.plugin.digest,
        programs: candidate.plugin.programs,
        texts: candidate.texts,
        components,
    })
}
