//! Tools and hooks that are components: those that come with windlass, and component files named by the embedder.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use etcetera::BaseStrategy;
use windlass_core::{
    message::PluginInfo,
    permission::literal_pattern,
    spec::Environment,
    tool::{Access, DenyPattern, GrantRoot, ToolDefinition},
};

use super::{BuildError, of_files::OfFiles, offered_hook::OfferedHook, offered_tool::OfferedTool};
use crate::{
    files::Files,
    host::RunTool,
    os,
    plugins::{
        Cache, ClosedPlaces, ComponentGrant, HookTerms, InspectError, InspectedComponent,
        InstalledComponent, LoadError, LogSink, Plugin, PluginHost, PluginHostConfig, StateScope,
        plugins_of_user, state_of_user,
    },
};

/// The component host, and the component files beside the built-in components.
#[derive(Default)]
pub(super) struct Components {
    pub(super) host: Option<PluginHost>,
    /// The component files.
    pub(super) files: Vec<ComponentFile>,
}

/// A component file of the embedder, or of the person.
pub(super) struct ComponentFile {
    pub(super) path: PathBuf,
    pub(super) grant: ComponentGrant,
    pub(super) content: Content,
}

/// What is run of a component file.
pub(super) enum Content {
    /// Whatever it has when the agent is built.
    Any,
    /// What has this digest, and nothing else.
    Pinned(String),
    /// What was read of it before.
    Read(InspectedComponent),
    /// What was installed, by the name that messages call it: known without its file.
    Installed(String, InstalledComponent),
}

impl ComponentFile {
    /// What messages call it: what is installed has a name, and its file one that says nothing to a person.
    fn called(&self) -> &Path {
        match &self.content {
            Content::Installed(name, _) => Path::new(name),
            _ => &self.path,
        }
    }

    /// The plugin, with nothing granted yet.
    fn loaded(&self, host: &PluginHost) -> Result<Plugin, BuildError> {
        Ok(match &self.content {
            Content::Installed(name, component) => host.load_installed(name, component),
            _ => host.load_inspected(&plugin_name(&self.path), &self.inspected()?),
        })
    }

    /// The component, read unless it was before.
    fn inspected(&self) -> Result<InspectedComponent, BuildError> {
        let path = &self.path;
        if let Content::Read(inspected) = &self.content {
            return Ok(inspected.clone());
        }
        let inspected = InspectedComponent::read(path).map_err(|error| match error {
            InspectError::Fault(fault) => BuildError::Plugin(LoadError {
                component: plugin_name(path),
                fault,
            }),
            error => BuildError::PluginFile {
                path: path.clone(),
                reason: error.to_string(),
            },
        })?;
        match &self.content {
            Content::Pinned(digest) if digest != inspected.digest() => {
                Err(BuildError::PluginChanged { path: path.clone() })
            }
            _ => Ok(inspected),
        }
    }
}

impl Components {
    /// The tools that come with windlass. Only reads their declarations: wasmtime does not start before the first call.
    pub(super) fn built_in(&mut self) -> Result<Vec<OfferedTool>, BuildError> {
        let host = self.host();
        let mut tools = Vec::new();
        for component in windlass_builtin::COMPONENTS {
            let plugin = host.load_trusted(component.name, component.bytes)?;
            tools.extend(offered(&plugin, plugin.trusted()));
        }
        Ok(tools)
    }

    /// What the component files bring to a session in this environment, beside the built-in tools that are offered.
    pub(super) fn of_files(
        &mut self,
        built_in: &[OfferedTool],
        environment: &Environment,
    ) -> Result<OfFiles, BuildError> {
        let mut brought = OfFiles::default();
        let closed_places = Arc::new(ClosedPlaces {
            private: environment.private_paths.clone(),
            own: environment.own_directories.clone(),
        });
        let host = self.host();
        let mut loaded = Vec::new();
        for file in &self.files {
            let path = &file.path;
            let plugin = file.loaded(&host)?;
            let grant = with_real_paths(file.called(), &file.grant)?;
            let plugin = plugin.granted(&grant);
            let plugin = plugin.map_err(|fault| BuildError::PluginGranted {
                plugin: file.called().to_owned(),
                fault,
            })?;
            let plugin = plugin.closing(&closed_places);
            brought
                .tools
                .extend(offered(&plugin, plugin.tools().iter().cloned()));
            brought.infos.push(PluginInfo {
                name: plugin.name().to_owned(),
                path: path.to_string_lossy().into_owned(),
            });
            loaded.push(plugin);
        }
        // All are components but Bash and those that ask a model.
        let is_component = |tool: &&OfferedTool| {
            tool.definition.command_param.is_none() && !tool.definition.asks_model
        };
        let components = built_in.iter().filter(is_component);
        let components = components.chain(&brought.tools);
        let terms = HookTerms {
            enforcing: Arc::new(
                components
                    .map(|tool| tool.definition.name.clone())
                    .collect(),
            ),
            closed: self.places().iter().map(|place| closed(place)).collect(),
        };
        for plugin in loaded {
            brought
                .hooks
                .extend(plugin.granted_hooks(&terms).map(|hook| OfferedHook {
                    name: hook.name(),
                    matcher: hook.matcher(),
                    runner: Arc::new(hook),
                }));
        }
        Ok(brought)
    }

    /// The directories of compiled components and of the keys of their seals, and those of the state of plugins. Only windlass
    /// may access them.
    pub(super) fn places(&self) -> Vec<PathBuf> {
        let of_user = Cache::of_user();
        let other = self.host.as_ref().and_then(PluginHost::cache);
        let places = of_user.iter().chain(other).flat_map(Cache::places);
        let places = places.map(Path::to_path_buf).chain(plugins_of_user());
        places.chain(self.own_state()).collect()
    }

    /// Where the state of plugins lies that is not the user's: of the embedder's host, and of grants.
    fn own_state(&self) -> impl Iterator<Item = PathBuf> {
        let of_host = self.host.as_ref().and_then(PluginHost::state);
        let of_grants = self
            .files
            .iter()
            .filter_map(|file| file.grant.state_directory.as_deref());
        of_host.into_iter().chain(of_grants).map(Path::to_path_buf)
    }

    /// The directories of the embedder's own component host, created if missing, as real paths.
    pub(super) fn own_places_made(&self) -> Vec<PathBuf> {
        let cache = self.host.as_ref().and_then(PluginHost::cache);
        let mut places = cache.map(Cache::places_made).unwrap_or_default();
        let is_durable = |file: &ComponentFile| file.grant.state == StateScope::Durable;
        if self.files.iter().any(is_durable) {
            for state in self.own_state().chain(state_of_user()) {
                // As for the cache: what cannot be made here, no command can make.
                let _ = os::create_private_directory(&state);
                places.extend(fs::canonicalize(state));
            }
        }
        places
    }

    /// The one host that runs all components.
    fn host(&mut self) -> PluginHost {
        let host = self
            .host
            .get_or_insert_with(|| default_plugin_host(LogSink::default()));
        host.clone()
    }
}

/// A place that no hook reaches, whatever it was granted.
fn closed(place: &Path) -> DenyPattern {
    DenyPattern {
        pattern: literal_pattern(&place.to_string_lossy()),
        access: Access::Read,
    }
}

/// Tools of a component, and what runs them.
fn offered(
    plugin: &Plugin,
    tools: impl Iterator<Item = ToolDefinition>,
) -> impl Iterator<Item = OfferedTool> {
    let runner: Arc<dyn RunTool> = Arc::new(plugin.clone());
    tools.map(move |definition| OfferedTool {
        definition,
        runner: Arc::clone(&runner),
    })
}

/// The grant, whose directories have to be granted by their real paths: calls are judged by these.
fn with_real_paths(plugin: &Path, grant: &ComponentGrant) -> Result<ComponentGrant, BuildError> {
    let unreachable = |path: &str, reason: String| BuildError::PluginGrant {
        plugin: plugin.to_owned(),
        directory: PathBuf::from(path),
        reason,
    };
    // Whoever can put a link there would choose another directory than the one that was granted.
    let no_link = |path: &str, real: &Path| match Path::new(path) == real {
        true => Ok(()),
        false => {
            let reason = format!(
                "a link leads from there to {}: grant a directory by its real path",
                real.display()
            );
            Err(unreachable(path, reason))
        }
    };
    let mut grant = grant.clone();
    // The workspace has no path.
    let named = |root: &&GrantRoot| !root.path.is_empty();
    for root in grant.directories.roots().iter().filter(named) {
        let real = fs::canonicalize(&root.path);
        let real = real.map_err(|error| unreachable(&root.path, error.to_string()))?;
        no_link(&root.path, &real)?;
    }
    for role in grant.roles.values_mut() {
        let real = role.real();
        let real = real.map_err(|error| unreachable(&role.path, error.to_string()))?;
        no_link(&role.path, Path::new(&real.path))?;
        *role = real;
    }
    Ok(grant)
}

/// The component host unless the embedder sets one: compiled code is kept in the user's cache directory. No grant
/// covers that directory or the configuration directory. Components log there.
pub(crate) fn default_plugin_host(log: LogSink) -> PluginHost {
    let cache = Cache::of_user();
    let configuration = etcetera::choose_base_strategy()
        .map(|base| base.config_dir().join("windlass"))
        .ok();
    let protected: Vec<PathBuf> = cache
        .iter()
        .flat_map(Cache::places)
        .map(Path::to_path_buf)
        .chain(configuration)
        .collect();
    PluginHost::new(PluginHostConfig {
        cache,
        files: Arc::new(Files::new(protected)),
        state: state_of_user(),
        log,
        ..PluginHostConfig::default()
    })
}

fn plugin_name(path: &Path) -> String {
    let name = path.file_stem().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
