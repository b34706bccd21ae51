//! Settings files and project files, for agents that read them.

use std::path::{Path, PathBuf};

use windlass_core::{spec::DEFAULT_MODEL, spec::Spec};
use windlass_engine::settings::{SettingSource, SettingSources};

use super::{build_error::BuildError, builder::AgentBuilder};
use crate::{
    project_config::{ProjectConfig, ProjectConfigError, ProjectTrust, Whereabouts, own_places},
    settings::managed_settings_file,
};

/// Settings files and project files.
impl AgentBuilder {
    /// Reads these settings files, and the files beside them: `CLAUDE.md`, skills, agents, output styles, command
    /// hooks, and the MCP servers of `.mcp.json`. Default: none (Agent SDK reference, option
    /// `settingSources`).
    ///
    /// If any are read, the organisation's file is read as well ([`managed_settings_file`]) and takes precedence over
    /// the others. Values set on the builder take precedence over settings files. What a project's files allow, start
    /// and set applies only if a person has trusted the folder or [`trust_project`](Self::trust_project) is set;
    /// their deny and ask rules always apply. [`Agent::warnings`](super::Agent::warnings) lists what was left out. A
    /// prompt that begins with a command of these files or with a skill (`/review src`) is replaced by the command's
    /// text; the tools it allows are allowed for the session, and its model answers that prompt.
    pub fn setting_sources(mut self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        self.settings.sources = sources.into_iter().collect();
        self
    }

    /// Trusts the project's files: what they allow, start and set applies as if a person had trusted the folder.
    pub fn trust_project(mut self, trust: bool) -> Self {
        self.settings.trusts_project = trust;
        self
    }

    /// The folder of the user's settings, skills and agents. Default: `CLAUDE_CONFIG_DIR`, else `~/.claude`.
    pub fn config_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.settings.config = Some(folder.into());
        self
    }

    /// The organisation's settings file, read in addition to [`setting_sources`](Self::setting_sources).
    /// Default: [`managed_settings_file`].
    pub fn managed_settings(mut self, file: impl Into<PathBuf>) -> Self {
        self.settings.managed = Some(file.into());
        self
    }

    /// Reads the files, if any are enabled, and adds their layers, hooks, sandbox settings and variables to the builder.
    pub(super) fn take_project_config(
        &mut self,
        cwd: &Path,
    ) -> Result<Option<ProjectConfig>, BuildError> {
        if self.settings.sources.is_empty() {
            return Ok(None);
        }
        let has = |source| self.settings.sources.contains(&source);
        let home = etcetera::home_dir().ok();
        let config = self.settings.folder()?;
        let project_config = ProjectConfig::read(Whereabouts {
            config,
            home: home.as_deref(),
            project: cwd.to_path_buf(),
            sources: SettingSources {
                user: has(SettingSource::User),
                project: has(SettingSource::Project),
                local: has(SettingSource::Local),
            },
            trust: match self.settings.trusts_project {
                true => ProjectTrust::Everything,
                false => ProjectTrust::Nothing,
            },
            settings: None,
            managed_file: Some(
                (self.settings.managed.clone()).unwrap_or_else(managed_settings_file),
            ),
            managed: None,
        })?;
        self.layers.extend(project_config.found.layers());
        self.hooks.extend(project_config.commands());
        self.sandbox = project_config.found.sandbox(Some(&self.sandbox));
        self.variables = (project_config.found.variables().into_iter())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Ok(Some(project_config))
    }

    /// Adds the MCP servers of the project. Returns why others are left out.
    #[cfg(all(unix, feature = "mcp"))]
    pub(super) fn start_servers(
        &mut self,
        project_config: &ProjectConfig,
        cwd: &Path,
    ) -> Vec<String> {
        use crate::{credentials::is_withheld, mcp::ServerConfig};

        let servers = match project_config.found.project_servers() {
            Ok(servers) => servers,
            Err(problem) => return vec![problem],
        };
        let mut left_out = Vec::new();
        for (name, config) in servers {
            let variable = |name: &str| {
                let own = self.variables.get(name).cloned();
                let outer = || std::env::var(name).ok().filter(|_| !is_withheld(name));
                own.or_else(outer)
            };
            match ServerConfig::read(&name, &config, &variable) {
                Ok(ServerConfig::Stdio(server)) => {
                    let server = server.with_variables(&self.variables).directory(cwd);
                    self.outside_servers.push(ServerConfig::Stdio(server));
                }
                Ok(server) => self.outside_servers.push(server),
                Err(error) => left_out.push(format!("left out: {error}")),
            }
        }
        left_out
    }
}

/// Applies the files to a spec whose permissions are complete. Values set on the builder take precedence. Returns
/// warnings about what was left out.
pub(super) fn apply(project_config: &mut ProjectConfig, spec: &mut Spec) -> Vec<String> {
    let memory = std::mem::take(&mut spec.prompt.memory);
    let hooks = std::mem::take(&mut spec.policy.hooks);
    let (model, effort) = (spec.model.name.clone(), spec.model.effort);
    let style = spec.prompt.output_style.take();
    let mut warnings = project_config.apply(spec);
    spec.prompt.memory.extend(memory);
    spec.policy.hooks.splice(0..0, hooks);
    if model != DEFAULT_MODEL {
        spec.model.name = model;
    }
    spec.model.effort = effort.or(spec.model.effort);
    if let Some(style) = style {
        spec.environment.output_style.clone_from(&style.name);
        spec.prompt.output_style = Some(style);
    }
    warnings.extend(own_places(project_config, &[], std::iter::empty(), spec));
    warnings
}

impl From<ProjectConfigError> for BuildError {
    fn from(error: ProjectConfigError) -> Self {
        match error {
            ProjectConfigError::Settings(error) => Self::Settings(error),
            ProjectConfigError::Permissions(problem) => Self::PermissionSettings(problem),
        }
    }
}
