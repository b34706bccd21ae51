//! What a session reads from the disk: settings, and the project's files.

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

use self::project_files::ProjectFilesReader;
pub(crate) use self::{commands::Commands, own_places::own_places, started::Words};
use crate::{
    settings::{
        SettingsError, SettingsPlaces, is_trusted, read_personal_servers, read_project_servers,
    },
    store::ConfigDir,
    text_path::{lossy, text_path},
};

/// The locations of the files, and which of them are read.
pub(crate) struct Whereabouts<'a> {
    /// The user's configuration directory.
    pub(crate) config: ConfigDir,
    pub(crate) home: Option<&'a Path>,
    /// The project's folder.
    pub(crate) project: PathBuf,
    pub(crate) sources: SettingSources,
    pub(crate) trust: ProjectTrust,
    /// Additional settings: a file or JSON.
    pub(crate) settings: Option<&'a str>,
    /// The organisation's settings file; `None` if none is read.
    pub(crate) managed_file: Option<PathBuf>,
    /// Additional settings of the organisation, as JSON.
    pub(crate) managed: Option<&'a str>,
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProjectConfigError {
    /// A settings file is invalid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Rules are invalid; without them, more would be allowed than intended.
    #[error("the permissions of the settings cannot be used: {0}")]
    Permissions(String),
}

/// Settings and project files, with their locations.
pub(crate) struct ProjectConfig {
    pub(crate) places: SettingsPlaces,
    project_places: ProjectPlaces,
    /// Their content.
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
            // An agent is built only for a path that is UTF-8.
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
            found.servers = read_project_servers(&places.project.join(".mcp.json"));
        }
        if sources.user || sources.local {
            let personal = read_personal_servers(&places.config, home, &places.project);
            found.personal_servers = personal.map(|mut servers| {
                if !sources.user {
                    servers.user.clear();
                }
                if !sources.local {
                    servers.local.clear();
                }
                servers
            });
        }
        Ok(Self {
            places,
            project_places,
            found,
        })
    }

    /// Applies the permissions of the settings to a spec. Returns warnings about what was left out.
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

    /// Reads the project's files, and applies everything to a spec whose permissions are complete; flags take
    /// precedence and are applied later. Returns warnings about what was left out.
    pub(crate) fn apply(&mut self, spec: &mut Spec) -> Vec<String> {
        let mut warnings = Vec::new();
        // Settings, transcripts, agents: these files influence later sessions.
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
        let plugins = self.found.plugin_folders();
        self.found.project = self
            .project_places
            .load(self.found.sources, &plugins, &reader);
        warnings.extend(self.found.apply(spec));
        warnings
    }
}
