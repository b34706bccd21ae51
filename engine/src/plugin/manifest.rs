//! `.claude-plugin/plugin.json`: what a plugin says of itself.

use serde::Deserialize;
use windlass_core::RawJson;

/// `.claude-plugin/plugin.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) name: Option<String>,
    pub(super) hooks: Option<RawJson>,
    pub(super) mcp_servers: Option<RawJson>,
    pub(super) commands: Option<RawJson>,
    pub(super) agents: Option<RawJson>,
    pub(super) skills: Option<RawJson>,
    pub(super) output_styles: Option<RawJson>,
    lsp_servers: Option<RawJson>,
    pub(super) version: Option<RawJson>,
    /// The keys that are not known.
    #[serde(skip)]
    unknown: Vec<String>,
}

/// The keys of a manifest that have an effect here, or are said to have none.
const KNOWN: [&str; 9] = [
    "agents",
    "commands",
    "hooks",
    "lspServers",
    "mcpServers",
    "name",
    "outputStyles",
    "skills",
    "version",
];

/// The keys of a manifest that are for people and marketplaces.
const FOR_PEOPLE: [&str; 11] = [
    "$schema",
    "author",
    "category",
    "dependencies",
    "description",
    "displayName",
    "homepage",
    "keywords",
    "license",
    "repository",
    "tags",
];

impl Manifest {
    /// Notes which of these keys are not known.
    pub(super) fn note_unknown(&mut self, keys: impl Iterator<Item = String>) {
        let is_known = |key: &String| {
            let mut known = KNOWN.iter().chain(&FOR_PEOPLE);
            known.any(|known| known == key)
        };
        self.unknown = keys.filter(|key| !is_known(key)).collect();
    }

    /// What it has and is not followed, as phrases.
    pub(super) fn without_effect(&self) -> Vec<String> {
        let servers = self.lsp_servers.iter();
        let servers = servers.map(|_| "`lspServers` of its plugin.json".to_owned());
        let unknown = self.unknown.iter();
        let unknown =
            unknown.map(|key| format!("`{key}` of its plugin.json, a key that is not known here"));
        servers.chain(unknown).collect()
    }
}
