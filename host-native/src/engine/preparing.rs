//! What sessions are made of, once it can be known.

use std::collections::BTreeMap;

use windlass_core::RawJson;
use windlass_engine::protocol::initialize::Initialize;

use super::{
    actor::Engine,
    build::{Blueprint, blueprint},
    debug_log::Topic,
    keeping::TakenUp,
    servers::read_config,
};

/// What is known once it is known what sessions are made of.
pub(super) struct Prepared {
    pub(super) blueprint: Blueprint,
    pub(super) initialize: Initialize,
}

impl Engine {
    /// Makes what sessions are made of, if it is not made yet. False when it cannot be.
    pub(super) async fn prepare(&mut self, initialize: Initialize) -> Result<(), String> {
        if self.prepared.is_some() {
            return Ok(());
        }
        let decides = initialize.settings.is_some()
            || initialize.managed_settings.is_some()
            || initialize.disallowed_tools.is_some();
        let base = match self.base.take() {
            Some(base) if !decides => Ok(base),
            _ => blueprint(&self.launch, &initialize),
        };
        let completed = base.and_then(|mut blueprint| {
            blueprint.complete(&self.launch, &initialize)?;
            Ok(blueprint)
        });
        let blueprint = completed.map_err(|error| error.to_string())?;
        self.log.note(Topic::Engine, || {
            let spec = &blueprint.spec;
            let mode = spec.permissions.mode.name();
            format!(
                "session {}, model {}, mode {mode}, {} tools, {} hooks",
                self.session_id,
                spec.model,
                spec.tools.len(),
                spec.hooks.len()
            )
        });
        {
            let mut frames = self.output.frames().await;
            frames.belongs_to(self.session_id);
            if let Some(TakenUp { saved, .. }) = &self.taken_up {
                frames.counting_on(&saved.cost_state());
            }
        }
        for warning in &blueprint.warnings {
            self.warn(warning);
        }
        let surroundings = &blueprint.surroundings;
        self.servers.set_variables(surroundings.variables());
        let of_project = match self.launch.flags.strict_mcp_config {
            true => BTreeMap::new(),
            false => surroundings.project_servers().unwrap_or_else(|problem| {
                self.warn(&problem);
                BTreeMap::new()
            }),
        };
        let mut configs: BTreeMap<String, RawJson> = BTreeMap::new();
        for text in &self.launch.flags.mcp_configs {
            match read_config(text) {
                Ok(more) => configs.extend(more),
                Err(problem) => self.warn(&problem),
            }
        }
        configs.extend(
            initialize
                .mcp_servers
                .iter()
                .flatten()
                .map(|(name, config)| (name.clone(), config.clone())),
        );
        // A folder that nobody has trusted could hand the keys to a program of its own.
        self.servers.let_keys_be_named(surroundings.is_trusted());
        for (name, config) in of_project {
            self.servers.add_of_project(&name, config);
        }
        self.servers.let_keys_be_named(true);
        // Who names a server means this one, whatever the project's file says.
        for (name, config) in configs {
            self.servers.add(&name, config, false);
        }
        for name in initialize.sdk_mcp_servers.iter().flatten() {
            self.servers.add_sdk(name);
        }
        self.prepared = Some(Prepared {
            blueprint,
            initialize,
        });
        for name in self.servers.names() {
            self.connect(None, &name, None);
        }
        self.connect_agents_servers();
        Ok(())
    }
}
