//! `windlass plugin inspect`, and the installed plugins of `windlass plugin list`.

use serde_json::{Value, json};
use windlass::plugins::{InstalledPlugin, KeptGrants, PluginStore};

use super::{
    error::InstallError,
    store::{asks, of_user, wishes},
};
use crate::cli::{install_args::PluginInspectArgs, plain::one_line, plugin::grant::had};

/// What is known of an installed plugin, and whether its files are those that were installed.
///
/// # Errors
/// [`InstallError`]: there is none of that name.
pub(in crate::cli::plugin) fn inspect(args: &PluginInspectArgs) -> Result<String, InstallError> {
    let (store, grants) = of_user()?;
    let lockfile = store.read()?;
    let name = &args.name;
    let plugin = lockfile.plugins.get(name);
    let plugin = plugin.ok_or_else(|| InstallError::NotInstalled(name.clone()))?;
    let kept = grants.read()?;
    if args.json {
        let mut value = as_json(&store, name, plugin);
        value["intact"] = store.is_intact(name, plugin).into();
        value["asks"] = json!(asks(&store, name, plugin));
        value["programs"] = json!(plugin.programs);
        value["components"] = plugin
            .components
            .iter()
            .map(|component| {
                let granted = kept.components.get(&component.digest);
                json!({
                    "digest": component.digest,
                    "declaration": component.declaration,
                    "granted": granted.map(|kept| &kept.grant),
                })
            })
            .collect();
        return Ok(format!("{value}\n"));
    }
    let mut text = line(name, plugin);
    let files = match store.is_intact(name, plugin) {
        true => "as they were installed",
        false => "not those that were installed: `windlass plugin update` fetches them again",
    };
    let signed = plugin.key.as_deref().unwrap_or("nobody that was named");
    text.push_str(&format!(
        "  lies in   {}\n  files     {files}\n  signed by {}\n  asks to\n",
        store.path(name, plugin).display(),
        one_line(signed),
    ));
    for ask in wishes(&store, name, plugin) {
        text.push_str(&format!("    {}\n", one_line(&ask)));
    }
    if !plugin.programs.is_empty() {
        let runs = match plugin.runs_programs {
            true => "are started, with your rights".to_owned(),
            false => format!(
                "are not started: nobody agreed to them (`windlass plugin grant {} --programs`)",
                one_line(name)
            ),
        };
        text.push_str(&format!("  hooks and servers of it {runs}\n"));
    }
    text.push_str(&grants_of(&store, name, plugin, &kept)?);
    Ok(text)
}

/// What its components have.
fn grants_of(
    store: &PluginStore,
    name: &str,
    plugin: &InstalledPlugin,
    kept: &KeptGrants,
) -> Result<String, InstallError> {
    let mut text = String::new();
    for granted in store.components(name, plugin, kept)? {
        let declaration = granted.component.declaration();
        text.push_str(&format!(
            "  {} {}\n",
            one_line(&declaration.name),
            one_line(&declaration.version)
        ));
        text.push_str(&match kept.components.get(granted.component.digest()) {
            None => "  has nothing\n".to_owned(),
            has => had(has),
        });
    }
    Ok(text)
}

/// The installed plugins, a line for each and where it is from.
///
/// # Errors
/// [`InstallError`]: the lock file cannot be read.
pub(in crate::cli::plugin) fn list(is_json: bool) -> Result<String, InstallError> {
    let (store, _) = of_user()?;
    let plugins = store.read()?.plugins;
    if is_json {
        let all: Vec<Value> = plugins
            .iter()
            .map(|(name, plugin)| as_json(&store, name, plugin))
            .collect();
        return Ok(format!("{}\n", Value::from(all)));
    }
    let lines = plugins
        .iter()
        .map(|(name, plugin)| line(name, plugin) + &programs(plugin));
    Ok(match plugins.is_empty() {
        true => "no plugin is installed\n".to_owned(),
        false => format!("installed\n{}", lines.collect::<String>()),
    })
}

fn line(name: &str, plugin: &InstalledPlugin) -> String {
    format!(
        "{} {} ({})\n  from      {}\n",
        one_line(name),
        one_line(&plugin.version),
        plugin.digest,
        one_line(&plugin.source)
    )
}

/// What an installed folder runs, in the words in which a person agreed.
fn programs(plugin: &InstalledPlugin) -> String {
    let begins = match plugin.runs_programs {
        true => "  does    ",
        false => "  may not ",
    };
    let lines = plugin.programs.iter();
    lines
        .map(|program| format!("{begins}  {}\n", one_line(program)))
        .collect()
}

fn as_json(store: &PluginStore, name: &str, plugin: &InstalledPlugin) -> Value {
    json!({
        "name": name,
        "version": plugin.version,
        "source": plugin.source,
        "digest": plugin.digest,
        "key": plugin.key,
        "folder": plugin.folder,
        "runs_programs": plugin.runs_programs,
        "path": store.path(name, plugin),
    })
}
