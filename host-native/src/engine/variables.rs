//! The variables of the environment that settings may replace: which models there are, how they are reached, how long commands may run.

use std::{collections::BTreeMap, fmt};

use windlass_engine::models;

/// Those that say how requests reach the model server, apart from keys and addresses, and how long commands may run.
const OF_HOST: [&str; 11] = [
    "ANTHROPIC_CUSTOM_HEADERS",
    "BASH_DEFAULT_TIMEOUT_MS",
    "BASH_MAX_OUTPUT_LENGTH",
    "BASH_MAX_TIMEOUT_MS",
    "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
    "CLAUDE_CODE_EXTRA_BODY",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_MANTLE",
    "CLAUDE_CODE_USE_VERTEX",
];

/// The variables that are set. Debug output shows names only: headers may hold keys.
#[derive(Clone, Default)]
pub(super) struct Variables(BTreeMap<&'static str, String>);

impl Variables {
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        let names = models::VARIABLES.into_iter().chain(OF_HOST);
        Self(
            names
                .filter_map(|name| Some((name, variable(name)?)))
                .collect(),
        )
    }

    /// The value of each with those of settings above them.
    pub(super) fn below<'a>(
        &'a self,
        settings: &'a BTreeMap<&str, &str>,
    ) -> impl Fn(&str) -> Option<String> + use<'a> {
        move |name| {
            let set = settings.get(name).map(|value| (*value).to_owned());
            let value = set.or_else(|| self.0.get(name).cloned());
            value.filter(|value| !value.is_empty())
        }
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
