//! What becomes authority in a workspace because the engine was told to read or start it: files of settings and servers, and what the
//! commands of hooks and servers name.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use windlass_core::{RawJson, Spec};
use windlass_engine::machine::inline_servers;

use super::{launch::Launch, server_config::read_config, surroundings::Surroundings};
use crate::agent::Words;

/// What starts a server that is a program.
#[derive(Deserialize)]
struct Started {
    #[serde(default)]
    command: String,
    #[serde(default)]
    args: Vec<String>,
}

/// Adds them to the directories that are the program's own, and says which words of commands nobody can read before they run.
pub(super) fn add(launch: &Launch, surroundings: &Surroundings, spec: &mut Spec) -> Vec<String> {
    let environment = &spec.environment;
    let roots = std::iter::once(&environment.cwd).chain(&environment.additional_directories);
    let roots: Vec<PathBuf> = roots.map(PathBuf::from).collect();
    let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
    let words = Words::new(&roots, environment.home.as_deref().map(Path::new));

    let files = launch
        .flags
        .settings
        .iter()
        .chain(&launch.flags.mcp_configs);
    let files = files.filter(|text| !text.trim_start().starts_with('{'));
    let mut places: Vec<PathBuf> = files
        .flat_map(|path| words.of_file(Path::new(path)))
        .collect();

    let commands = commands(launch, surroundings, spec);
    let named = words.of_commands(commands.iter().map(String::as_str));
    places.extend(named.places);

    let variables = surroundings.variables().into_iter();
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    places.extend(words.of_variables(variables));

    places.sort();
    places.dedup();
    let own = &mut spec.environment.own_directories;
    for place in places {
        let place = place.display().to_string();
        if !own.contains(&place) {
            own.push(place);
        }
    }
    let unread = named.unread.iter().map(|word| {
        format!(
            "what `{word}` is in the command of a hook or server is known only when that runs: if it is a file of the workspace, \
             protect it by a rule"
        )
    });
    unread.collect()
}

/// The commands of hooks and servers, and what gives a key.
fn commands(launch: &Launch, surroundings: &Surroundings, spec: &Spec) -> Vec<String> {
    let hooks = surroundings.hooks().commands.into_iter();
    let mut commands: Vec<String> = hooks.map(|hook| hook.command).collect();
    commands.extend(surroundings.settings.api_key_helper().map(str::to_owned));
    let of_project = surroundings.project_servers().unwrap_or_default();
    let given = (launch.flags.mcp_configs.iter()).filter_map(|text| read_config(text).ok());
    let of_agents = (spec.agents.iter())
        .filter(|_| surroundings.runs_programs())
        .map(inline_servers);
    let servers = of_project.into_values();
    let servers = servers.chain(given.flat_map(|servers| servers.into_values()));
    let servers = servers.chain(of_agents.flat_map(|servers| servers.into_values()));
    commands.extend(servers.filter_map(|config| line(&config)));
    commands
}

/// The command of a server, as a line.
fn line(config: &RawJson) -> Option<String> {
    let started: Started = config.decode().ok()?;
    let quoted = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    let words: Vec<String> = std::iter::once(&started.command)
        .chain(&started.args)
        .map(quoted)
        .collect();
    (!started.command.is_empty()).then(|| words.join(" "))
}
