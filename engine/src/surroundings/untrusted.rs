//! What the files of a folder would do that nobody has trusted, for people.

use windlass_core::{
    agent::AgentSource,
    permission::{Rule, RuleName},
};

use super::Surroundings;
use crate::machine::inline_servers;

impl Surroundings {
    /// What the folder's files would do once a person has trusted it, as phrases.
    pub(super) fn untrusted(&self, rules: &[Rule], grants: &[String]) -> Vec<String> {
        let of_folder = || {
            let sources = self.settings.sources.iter();
            sources.filter(|sourced| sourced.source.belongs_to_folder())
        };
        let ours = self.settings.hooks(false).commands;
        let hooks = self.settings.hooks(true).commands.into_iter();
        let hooks = hooks.filter(|hook| !ours.contains(hook));
        let servers = self.servers_of_project().unwrap_or_default();
        let variables = self.settings.env_left_out(|_| false).into_iter();
        let variables = variables.flat_map(|(_, names)| names);
        let agents = self.project.agents.iter().filter(|agent| {
            agent.source == AgentSource::Project && !inline_servers(agent).is_empty()
        });
        let mut phrases: Vec<String> = hooks
            .map(|hook| format!("run the hook `{}`", hook.command))
            .chain(
                servers
                    .keys()
                    .map(|name| format!("start the MCP server {name}")),
            )
            .chain(agents.map(|agent| format!("start the MCP servers of the agent {}", agent.name)))
            .chain(variables.map(|name| format!("set the variable {name}")))
            .chain(
                rules
                    .iter()
                    .map(|rule| format!("allow {}", RuleName::from(rule))),
            )
            .chain(
                grants
                    .iter()
                    .map(|name| format!("allow what /{name} asks for")),
            )
            .collect();
        for sourced in of_folder() {
            let settings = &sourced.settings;
            let mode = settings.permissions.default_mode;
            phrases.extend(mode.map(|mode| format!("begin in the mode {}", mode.name())));
            let directories = settings.permissions.additional_directories.iter();
            phrases.extend(directories.map(|directory| format!("open the directory {directory}")));
            if settings.sandbox.is_some() {
                phrases.push("open the sandbox as they say".to_owned());
            }
            if settings.disable_all_hooks == Some(true) {
                phrases.push("turn hooks off".to_owned());
            }
        }
        phrases
    }
}
