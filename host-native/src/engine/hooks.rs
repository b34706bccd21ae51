//! The hooks of settings: commands.

use std::{collections::BTreeMap, sync::Arc};

use super::surroundings::Surroundings;
use crate::host::RunHook;

/// The commands that settings name, by the names under which the core knows them.
pub(super) type Commands = BTreeMap<String, Arc<dyn RunHook>>;

/// The commands of these settings.
#[cfg(unix)]
pub(super) fn commands(surroundings: &Surroundings) -> Commands {
    use crate::hooks::HookCommand;

    let variables: Vec<(String, String)> = surroundings
        .variables()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let named = surroundings.hooks().commands.into_iter();
    named
        .map(|hook| {
            let command = HookCommand::new(hook.command, &surroundings.places.project)
                .with_variables(variables.clone());
            let command: Arc<dyn RunHook> = match hook.is_async {
                true => Arc::new(command.going_on_by_itself()),
                false => Arc::new(command),
            };
            (hook.name, command)
        })
        .collect()
}

/// There is no shell for them.
#[cfg(not(unix))]
pub(super) fn commands(_: &Surroundings) -> Commands {
    Commands::new()
}
