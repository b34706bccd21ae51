//! The agent of an engine: what flags, environment and plugins say, before any settings file is read.

use windlass_core::{
    permission::Rule,
    provider::openai::ChatCompletions,
    tool::{Access, PluginGrant},
};
use windlass_engine::{
    machine::{BUILTIN_TOOLS, ConfigureRequest, is_default},
    protocol::flags::Provider,
};

use super::{
    installed::{self, LeftOut},
    launch::Launch,
    start_error::StartError,
};
use crate::{
    Agent, BuildError,
    http::Auth,
    plugin_dir::{ComponentSource, PluginOnDisk},
    plugins::{GrantFile, PluginHost, plugins_of_user_made},
};

/// The plugins of the command line and of a request, with what their components were granted for good, and why others are left out.
pub(super) fn plugins(
    launch: &Launch,
    request: &ConfigureRequest,
) -> Result<(Vec<PluginOnDisk>, Vec<String>), StartError> {
    let flags = &launch.flags;
    let cwd = launch.directory();
    let (mut plugins, mut left_out): (Vec<PluginOnDisk>, _) = (Vec::new(), Vec::new());
    for named in flags.plugin_dirs.iter().chain(&request.plugins) {
        let read = PluginOnDisk::read(named, &cwd, flags.components_only);
        match read.and_then(|plugin| plugin.beside(&plugins)) {
            Ok(Some(plugin)) => plugins.push(plugin),
            Ok(None) => {}
            Err(error) if launch.needs_plugins => return Err(error.into()),
            Err(error) => left_out.push(error.to_string()),
        }
    }
    // Before anything runs that could put something else there.
    plugins_of_user_made();
    let installed = installed::plugins(flags)?;
    let has_any = installed.is_some() || plugins.iter().any(|plugin| !plugin.components.is_empty());
    if let Some(grants) = GrantFile::of_user().filter(|_| has_any) {
        let grants = grants.read()?;
        plugins
            .iter_mut()
            .for_each(|plugin| plugin.look_up(&grants));
        if let Some(installed) = installed {
            let faults = installed.add_to(&mut plugins, &grants, flags.components_only);
            let stops = |it: &&LeftOut| launch.needs_plugins || it.judges;
            if let Some(it) = faults.iter().find(stops) {
                return Err(StartError::Plugin(it.fault.clone()));
            }
            left_out.extend(faults.into_iter().map(|it| it.fault));
        }
    }
    Ok((plugins, left_out))
}

/// The agent described by flags and environment, without the tools that a request removes.
pub(super) fn agent(
    launch: &Launch,
    request: &ConfigureRequest,
    plugins: &[PluginOnDisk],
    host: &PluginHost,
) -> Result<Agent, StartError> {
    let flags = &launch.flags;
    let disallowed = &request.disallowed_tools;
    // Each session says how its requests authenticate (`model_key`).
    let mut endpoint = launch.endpoint();
    endpoint.auth.check().map_err(BuildError::from)?;
    endpoint.auth = Auth::None;
    let mut builder = Agent::builder().plugin_host(host.clone());
    if flags.provider == Provider::OpenAi {
        if flags.model.is_none() {
            return Err(StartError::Flag {
                flag: "provider",
                reason: "openai needs --model: servers of this kind have no model in common"
                    .to_owned(),
            });
        }
        builder = builder.provider(ChatCompletions::at(&endpoint.base_url));
    }
    let mut deny = flags.disallowed_tools.clone();
    deny.extend(disallowed.iter().cloned());
    builder = builder
        .endpoint(endpoint)
        .redacting(launch.redactor())
        .partial_messages(flags.include_partial_messages)
        .free_workspace_reads(true)
        .betas(flags.betas.iter().cloned())
        .allowed_tools(rules("allowedTools", flags.allowed_tools.clone())?)
        .disallowed_tools(rules("disallowedTools", deny)?);
    builder = match &flags.tools {
        None => builder.builtin_tools(),
        Some(names) if is_default(names) => builder.builtin_tools(),
        Some(names) => {
            let known = names
                .iter()
                .filter(|name| BUILTIN_TOOLS.contains(&name.as_str()));
            builder.tools(known.cloned())
        }
    };
    #[cfg(unix)]
    {
        builder = builder.outputs(launch.outputs.clone());
    }
    builder = builder.web_private_hosts(launch.web_private_hosts.iter().cloned());
    if let Some(turns) = flags.max_turns {
        builder = builder.max_turns(turns);
    }
    if let Some(amount) = flags.max_budget {
        builder = builder.max_budget(amount);
    }
    if let Some(cwd) = &launch.cwd {
        builder = builder.cwd(cwd);
    }
    for directory in &flags.add_dirs {
        builder = builder.add_dir(directory);
    }
    for component in plugins.iter().flat_map(|plugin| &plugin.components) {
        builder = match &component.source {
            ComponentSource::Installed(installed) => {
                builder.installed_plugins([installed.as_ref().clone()])
            }
            ComponentSource::Read(inspected) => {
                let workspace = || PluginGrant::workspace(Access::Write).into();
                let grant = component.kept.clone().unwrap_or_else(workspace);
                builder.plugin_inspected(&component.path, inspected.clone(), grant)
            }
        };
    }
    for prices in &launch.price_files {
        builder = builder.prices_file(prices);
    }
    Ok(builder.build()?)
}

/// What is to be said of components that were granted something before they changed.
pub(super) fn changed_components(plugins: &[PluginOnDisk]) -> impl Iterator<Item = String> {
    let components = plugins.iter().flat_map(|plugin| &plugin.components);
    let without = components.filter(|component| component.kept.is_none());
    without.filter_map(|component| {
        let version = component.granted_before.as_ref()?;
        let (path, name) = (component.path.display(), component.name());
        Some(format!(
            "{path} is not {name} {version}, which was granted something: it has the workspace and nothing else. `windlass plugin grant {path}` shows what is different"
        ))
    })
}

/// Parses rules. Any invalid one is an error, since its intention is unknown.
fn rules(flag: &'static str, texts: Vec<String>) -> Result<Vec<String>, StartError> {
    match texts.iter().find_map(|text| Rule::parse(text).err()) {
        None => Ok(texts),
        Some(error) => Err(StartError::Flag {
            flag,
            reason: error.to_string(),
        }),
    }
}
