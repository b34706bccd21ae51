//! The tools that come with windlass.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use etcetera::BaseStrategy;
use windlass_core::tool::ToolDefinition;

use super::BuildError;
#[cfg(unix)]
use crate::bash::Bash;
use crate::{
    files::Files,
    host::RunTool,
    plugins::{Cache, LoadError, Plugin, PluginHost, PluginHostConfig},
    sandbox::Sandbox,
};

/// A tool with what runs it.
pub(super) struct Offered {
    pub(super) definition: ToolDefinition,
    pub(super) runner: Arc<dyn RunTool>,
}

/// Which of the built-in tools an agent has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selection {
    None,
    All,
    Named(Vec<String>),
}

impl Selection {
    /// The chosen tools. Reads declarations only: wasmtime does not start before the first call.
    pub(super) fn take(
        self,
        plugins: &PluginHost,
        sandbox: Option<&Sandbox>,
    ) -> Result<Vec<Offered>, BuildError> {
        let names = match self {
            Self::None => return Ok(Vec::new()),
            Self::Named(names) if names.is_empty() => return Ok(Vec::new()),
            Self::All => return Ok(all(plugins, sandbox)?),
            Self::Named(names) => names,
        };
        let all = all(plugins, sandbox)?;
        let is_known = |name: &&String| all.iter().any(|tool| tool.definition.name == **name);
        if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
            let known: Vec<&str> = all.iter().map(|t| t.definition.name.as_str()).collect();
            return Err(BuildError::UnknownTool {
                name: unknown.clone(),
                known: known.join(", "),
            });
        }
        Ok(all
            .into_iter()
            .filter(|tool| names.contains(&tool.definition.name))
            .collect())
    }
}

/// Every built-in tool, in the order in which they are offered.
fn all(plugins: &PluginHost, sandbox: Option<&Sandbox>) -> Result<Vec<Offered>, LoadError> {
    let mut tools = Vec::new();
    for component in windlass_builtin::COMPONENTS {
        tools.extend(of_plugin(&plugins.load(component.name, component.bytes)?));
    }
    #[cfg(unix)]
    tools.push(match sandbox {
        None => Offered {
            definition: Bash::definition(),
            runner: Arc::new(Bash::new()),
        },
        Some(sandbox) => Offered {
            definition: Bash::definition_in(sandbox),
            runner: Arc::new(Bash::new().confined_by(sandbox.clone())),
        },
    });
    #[cfg(not(unix))]
    let _ = sandbox;
    Ok(tools)
}

/// The tools of a component.
pub(super) fn of_plugin(plugin: &Plugin) -> Vec<Offered> {
    let runner: Arc<dyn RunTool> = Arc::new(plugin.clone());
    plugin
        .tools()
        .iter()
        .map(|definition| Offered {
            definition: definition.clone(),
            runner: Arc::clone(&runner),
        })
        .collect()
}

/// Where components run unless the embedder says otherwise: compiled code is kept in the user's cache
/// directory, which no grant reaches; nor does one reach the configuration.
pub(super) fn default_plugin_host() -> PluginHost {
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
        ..PluginHostConfig::default()
    })
}
