//! Finds files in a workspace that need protection because a session reads or starts them: files of settings and
//! servers, and files that the commands of hooks and servers name.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use windlass_core::{RawJson, Spec};
use windlass_engine::machine::inline_servers;

use super::{ProjectConfig, Words};

/// The start command of a server process.
#[derive(Deserialize)]
struct Started {
    #[serde(default)]
    command: String,
    #[serde(default)]
    args: Vec<String>,
}

/// Adds these files to the program's own directories, and returns warnings about words of commands that are known only when
/// they run. `files` and `servers` were given to the session explicitly.
pub(crate) fn own_places(
    project_config: &ProjectConfig,
    files: &[String],
    servers: impl Iterator<Item = RawJson>,
    spec: &mut Spec,
) -> Vec<String> {
    let environment = &spec.environment;
    let roots = std::iter::once(&environment.cwd).chain(&environment.additional_directories);
    let roots: Vec<PathBuf> = roots.map(PathBuf::from).collect();
    let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
    let words = Words::new(&roots, environment.home.as_deref().map(Path::new));

    let mut places: Vec<PathBuf> = (files.iter())
        .flat_map(|path| words.of_file(Path::new(path)))
        .collect();

    let mut commands = commands(project_config, spec);
    commands.extend(servers.filter_map(|config| line(&config)));
    let named = words.of_commands(commands.iter().map(String::as_str));
    places.extend(named.places);

    let variables = project_config.found.variables().into_iter();
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

/// The commands of hooks and servers, and the command that provides a key.
fn commands(project_config: &ProjectConfig, spec: &Spec) -> Vec<String> {
    let hooks = project_config.found.hooks().commands.into_iter();
    let mut commands: Vec<String> = hooks.map(|hook| hook.command).collect();
    commands.extend(
        project_config
            .found
            .settings
            .api_key_helper(project_config.found.is_trusted)
            .map(|(_, command)| command.to_owned()),
    );
    let of_project = project_config.found.project_servers().unwrap_or_default();
    let of_person = project_config
        .found
        .personal_servers
        .clone()
        .unwrap_or_default();
    let of_agents = (spec.tools.agents.iter())
        .filter(|_| project_config.found.runs_programs)
        .flat_map(|agent| inline_servers(agent).into_values());
    let servers = (of_project.into_values())
        .chain(of_person.user.into_values())
        .chain(of_person.local.into_values())
        .chain(of_agents);
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
