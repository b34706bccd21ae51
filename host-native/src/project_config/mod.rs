//! What a session finds on the disk: settings, and what a project brings along.

mod commands;
mod own_places;
mod project_files;
mod server_config;
mod started;

use std::path::{Path, PathBuf};

use windlass_core::Spec;
use windlass_engine::{project::ProjectPlaces, project_config, settings::SettingSources};

#[cfg(feature = "engine")]
pub use self::server_config::read_config;
pub use windlass_engine::project_config::ProjectTrust;

pub(crate) use self::{commands::Commands, own_places::own_places, started::Words};
use self::{project_files::ProjectFilesReader, server_config::read_project_config};
use crate::{
    settings::{SettingsError, SettingsPlaces, is_trusted},
    store::ConfigDir,
    text_path::{lossy, text_path},
};

/// Where the files are, and which of them are read.
pub(crate) struct Whereabouts<'a> {
    /// The person's.
    pub(crate) config: ConfigDir,
    pub(crate) home: Option<&'a Path>,
    /// The project's.
    pub(crate) project: PathBuf,
    pub(crate) sources: SettingSources,
    pub(crate) trust: ProjectTrust,
    /// Further settings, a file or JSON.
    pub(crate) settings: Option<&'a str>,
    /// The organisation's file; none where nobody reads one.
    pub(crate) managed_file: Option<PathBuf>,
    /// Further settings of the organisation, JSON.
    pub(crate) managed: Option<&'a str>,
}

/// What cannot be used of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProjectConfigError {
    /// A settings file.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Rules of the settings: without them more would be allowed than was meant to be.
    #[error("the permissions of the settings cannot be used: {0}")]
    Permissions(String),
}

/// Settings and project files, and where they were found.
pub(crate) struct ProjectConfig {
    pub(crate) places: SettingsPlaces,
    project_places: ProjectPlaces,
    /// What they say.
    pub(crate) found: project_config::ProjectConfig,
}

impl ProjectConfig {
    /// Reads settings and servers.
    pub(crate) fn read(at: Whereabouts<'_>) -> Result<Self, ProjectConfigError> {
        let Whereabouts {
            config,
            home,
            project,
            sources,
            trust,
            settings,
            managed_file,
            managed,
        } = at;
        let by_person = is_trusted(&config, home, &project);
        let project_places = ProjectPlaces {
            config: text_path(config.root()).ok(),
            // Of no other name is an agent built.
            cwd: lossy(&project),
            home: home.and_then(|home| text_path(home).ok()),
        };
        let places = SettingsPlaces {
            config,
            project,
            policy: managed_file,
        };
        let settings = places.load(sources, settings, managed)?;
        let folder = project_places.cwd.clone();
        let mut found =
            project_config::ProjectConfig::new(settings, sources, folder).trusted(by_person, trust);
        found.has_shell = cfg!(unix);
        found.inherited = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        if sources.project {
            found.servers = read_project_config(&places.project.join(".mcp.json"));
        }
        Ok(Self {
            places,
            project_places,
            found,
        })
    }

    /// Writes the permissions of the settings into a spec. What was left out comes back.
    pub(crate) fn apply_permissions(
        &mut self,
        spec: &mut Spec,
    ) -> Result<Vec<String>, ProjectConfigError> {
        let applied = self.found.permissions(spec);
        let applied = applied.map_err(ProjectConfigError::Permissions)?;
        let mut warnings = applied.warnings;
        for directory in applied.directories {
            match std::fs::canonicalize(&directory) {
                Ok(real) => spec
                    .environment
                    .additional_directories
                    .push(real.display().to_string()),
                Err(error) => warnings.push(format!(
                    "the additional directory {directory} is left out: {error}"
                )),
            }
        }
        Ok(warnings)
    }

    /// Reads what the project brings along, and writes all into a spec whose permissions are complete; flags are stronger and come
    /// behind. What was left out comes back.
    pub(crate) fn apply(&mut self, spec: &mut Spec) -> Vec<String> {
        let mut warnings = Vec::new();
        // Settings, transcripts, agents: what is there decides about later sessions.
        let own = self.places.config.root();
        if let Ok(own) = std::fs::canonicalize(own)
            && !Path::new(&spec.environment.cwd).starts_with(&own)
        {
            let own = own.display().to_string();
            spec.environment.own_directories.push(own);
        }
        if self.project_places.config.is_none() {
            let folder = self.places.config.root().display();
            warnings.push(format!("left out: {folder}: its name is not UTF-8"));
        }
        let reader = ProjectFilesReader::new(spec);
        self.found.project = self.project_places.load(self.found.sources, &reader);
        warnings.extend(self.found.apply(spec));
        warnings
    }
}
