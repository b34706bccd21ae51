//! The agent of an engine: what flags, environment and plugins say, before any settings file is read.

use windlass_core::{permission::Rule, provider::openai::ChatCompletions};
use windlass_engine::{
    machine::{BUILTIN_TOOLS, ConfigureRequest, is_default},
    protocol::flags::Provider,
};

use super::{launch::Launch, start_error::StartError};
use crate::{
    Agent, AgentBuilder,
    plugin_dir::PluginOnDisk,
    plugins::{GrantFile, KeptGrants},
};

/// The plugins of the command line and of a request, and why others are left out.
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
    Ok((plugins, left_out))
}

/// The agent described by flags and environment, without the tools that a request removes.
pub(super) fn agent(
    launch: &Launch,
    request: &ConfigureRequest,
    plugins: &[PluginOnDisk],
) -> Result<Agent, StartError> {
    let flags = &launch.flags;
    let disallowed = &request.disallowed_tools;
    let endpoint = launch.endpoint();
    let mut builder = Agent::builder();
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
    builder = with_components(builder, plugins)?;
    for prices in &launch.price_files {
        builder = builder.prices_file(prices);
    }
    Ok(builder.build()?)
}

/// The components, each with what was granted to it for good, or with the workspace alone.
fn with_components(
    mut builder: AgentBuilder,
    plugins: &[PluginOnDisk],
) -> Result<AgentBuilder, StartError> {
    let components = || plugins.iter().flat_map(|plugin| &plugin.components);
    if components().next().is_none() {
        return Ok(builder);
    }
    let kept = kept_grants()?;
    for component in components() {
        let (path, digest) = (&component.path, &component.digest);
        builder = match kept.components.get(digest) {
            Some(kept) => builder.plugin_pinned(path, digest, kept.grant.clone()),
            None => builder.plugin(path),
        };
    }
    Ok(builder)
}

fn kept_grants() -> Result<KeptGrants, StartError> {
    let file = GrantFile::of_user();
    Ok(file
        .map(|file| file.read())
        .transpose()?
        .unwrap_or_default())
}

/// What is to be said of components that were granted something before they changed.
pub(super) fn changed_components(plugins: &[PluginOnDisk]) -> Vec<String> {
    let Ok(kept) = kept_grants() else {
        return Vec::new(); // said already
    };
    let components = plugins.iter().flat_map(|plugin| &plugin.components);
    components
        .filter(|component| !kept.components.contains_key(&component.digest))
        .filter_map(|component| {
            let other = kept.other_of_name(&component.name, &component.digest)?;
            Some(format!(
                "{} is not {} {}, which was granted something: it has the workspace and nothing else. `windlass plugin grant {}` shows what is different",
                component.path.display(),
                other.name,
                other.version,
                component.path.display(),
            ))
        })
        .collect()
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
