//! What a plugin's folder runs with the rights of the user, in words for whoever shall agree to it.

use serde::Deserialize;

use super::Plugin;
use crate::mcp::server_words;

impl Plugin {
    /// What of it runs with the rights of the user, as a phrase; `None` if nothing does.
    #[must_use]
    pub fn runs(&self) -> Option<String> {
        let hooks = self
            .hooks
            .commands
            .iter()
            .map(|(_, hooks)| hooks.len())
            .sum();
        let counted = |count: usize, one: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            many => Some(format!("{many} {one}s")),
        };
        let parts = [
            counted(hooks, "hook"),
            counted(self.servers.len(), "MCP server"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" and "))
    }

    /// What of it runs with the rights of the user, a line for each hook and server.
    #[must_use]
    pub fn programs(&self) -> Vec<String> {
        let mut programs = Vec::new();
        for (matcher, hooks) in &self.hooks.commands {
            let of = match matcher.matcher.to_string() {
                of if of.is_empty() => matcher.event.name().to_owned(),
                of => format!("{} of {of}", matcher.event.name()),
            };
            let lines = hooks
                .iter()
                .map(|hook| format!("run a hook at {of} with your rights: {}", hook.command));
            programs.extend(lines);
        }
        programs.extend(self.servers.iter().map(|(name, config)| {
            #[derive(Default, Deserialize)]
            #[serde(default)]
            struct Server {
                command: String,
                url: String,
            }
            let server: Server = config.decode().unwrap_or_default();
            let does = match server.command.is_empty() && !server.url.is_empty() {
                true => "connect to",
                false => "start",
            };
            format!(
                "{does} the MCP server {name} with your rights: {}",
                server_words(config)
            )
        }));
        programs
    }
}
