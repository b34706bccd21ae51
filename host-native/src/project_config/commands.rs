//! Command hooks of settings.

use std::{collections::BTreeMap, sync::Arc};

use super::ProjectConfig;
use crate::host::RunHook;

/// Command hooks, by the names under which the core knows them.
pub(crate) type Commands = BTreeMap<String, Arc<dyn RunHook>>;

impl ProjectConfig {
    /// The command hooks of these settings.
    #[cfg(unix)]
    pub(crate) fn commands(&self) -> Commands {
        use windlass_engine::plugin;

        use crate::hooks::HookCommand;

        let variables = self.found.variables().into_iter();
        let variables: Vec<(String, String)> = variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let named = self.found.hooks().commands.into_iter();
        named
            .map(|hook| {
                let of_plugin = hook.plugin_root.as_ref().map(plugin::variables);
                let command = HookCommand::new(hook.command, &self.places.project)
                    .with_variables(variables.clone())
                    .with_variables(of_plugin.into_iter().flatten());
                let command: Arc<dyn RunHook> = match hook.is_async {
                    true => Arc::new(command.going_on_by_itself()),
                    false => Arc::new(command),
                };
                (hook.name, command)
            })
            .collect()
    }

    /// There is no shell for them on this system.
    #[cfg(not(unix))]
    pub(crate) fn commands(&self) -> Commands {
        Commands::new()
    }
}
