//! What settings add to the environment: variables, and the command that prints a key.

use std::collections::BTreeMap;

use windlass_core::permission::Source;

use super::LoadedSettings;

impl LoadedSettings {
    /// The variables, each from the strongest source that sets it. `folder_may` decides which ones the folder's files may
    /// set: all of them for a trusted folder, otherwise none that [`changes_programs`](super::changes_programs).
    pub fn env(&self, folder_may: impl Fn(&str) -> bool) -> BTreeMap<&str, &str> {
        let mut env = BTreeMap::new();
        for sourced in self.sources.iter().rev() {
            let set = sourced.settings.env.iter();
            let counts = |name: &str| !sourced.source.belongs_to_folder() || folder_may(name);
            let set = set.filter(|(name, _)| counts(name));
            env.extend(set.map(|(name, value)| (name.as_str(), value.as_str())));
        }
        env
    }

    /// A variable of [`env`](Self::env), with the source that sets it.
    pub fn variable(
        &self,
        name: &str,
        folder_may: impl Fn(&str) -> bool,
    ) -> Option<(Source, &str)> {
        self.sources.iter().find_map(|it| {
            let counts = !it.source.belongs_to_folder() || folder_may(name);
            let value = it.settings.env.get(name).filter(|_| counts)?;
            Some((it.source, value.as_str()))
        })
    }

    /// The variables that the folder's files set without permission, by source.
    pub fn env_left_out(&self, folder_may: impl Fn(&str) -> bool) -> Vec<(Source, Vec<&str>)> {
        let of_folder = (self.sources.iter()).filter(|sourced| sourced.source.belongs_to_folder());
        let left_out = of_folder.map(|sourced| {
            let names = sourced.settings.env.keys().map(String::as_str);
            (
                sourced.source,
                names.filter(|name| !folder_may(name)).collect(),
            )
        });
        left_out
            .filter(|(_, names): &(Source, Vec<&str>)| !names.is_empty())
            .collect()
    }

    /// The command that prints the API key for the model server, with its source. A folder's files name one only if the folder is
    /// trusted: it is run, and what it prints is sent.
    #[must_use]
    pub fn api_key_helper(&self, trusted: bool) -> Option<(Source, &str)> {
        self.counting(trusted).find_map(|it| {
            let command = it.settings.api_key_helper.as_deref()?;
            Some((it.source, command))
        })
    }
}
