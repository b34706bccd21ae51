//! The servers of plugins, when plugins are read again.

use std::collections::BTreeMap;

use super::{requests::Then, server::Scope};
use crate::machine::Engine;

impl Engine {
    /// Ends the servers of plugins that are gone or say something else now, and starts those that have come. Returns whether the
    /// reply to this request waits for them.
    pub(in crate::machine) fn exchange_plugins_servers(&mut self, request: &str) -> bool {
        let Some(prepared) = &self.prepared else {
            return false;
        };
        let config = &prepared.config;
        let wanted = match self.launch.flags.only_given_servers() {
            true => BTreeMap::new(),
            false => config.plugin_servers.clone(),
        };
        let servers = &mut self.servers.session;
        servers.variables.clone_from(&config.variables);
        let gone: Vec<String> = (servers.all.iter())
            .filter(|(name, server)| {
                server.scope == Scope::Plugin && wanted.get(*name) != Some(&server.config)
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in &gone {
            self.let_go(&None, name);
            self.servers.session.all.remove(name);
        }
        let servers = &mut self.servers.session;
        let mut new = Vec::new();
        for (name, config) in wanted {
            // A server of that name that a person or a program has named stays.
            if !servers.all.contains_key(&name) {
                servers.add(&name, config, false).scope = Scope::Plugin;
                new.push((None, name));
            }
        }
        if !gone.is_empty() || !new.is_empty() {
            self.mark_stale();
        }
        let waits = !new.is_empty();
        if waits {
            self.connect_for(request, new, Then::PluginsReread);
        }
        waits
    }
}
