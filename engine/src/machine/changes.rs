//! Changes of settings and files while a session runs.
//!
//! The configuration of sessions is rebuilt from flags, files and the `initialize` request. The running session adopts the
//! new configuration as soon as it is idle. If the configuration cannot be rebuilt, the request fails and nothing changes.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use windlass_core::{
    Input, RawJson,
    hook::{
        Occurrence, concerned,
        input::{ConfigChange, ConfigSource},
    },
    permission::{Destination, DirectoryChange, PermissionUpdate},
};

use super::{
    Engine,
    config::{Configuration, ConfigureRequest, Prepared},
    io::{Effect, Output},
    lifecycle::config_changed,
    pending::{Pending, Reread},
    state::Step,
};
use crate::protocol::{
    flags::effort,
    initialize::{GivenPlugin, Initialize},
    reply::{Reply, ReplyError},
    request::SettingsFile,
};

impl Engine {
    /// Reads settings and project files again.
    pub(super) fn reconfigure(&mut self, initialize: Initialize, reread: Reread) {
        if self.prepared.is_none() {
            let id = reread.request().to_owned();
            let refusal = ReplyError::new("`initialize` has not come yet");
            return self.reply(&id, &refusal.into());
        }
        self.step(Step::Reconfigure);
        let request = Box::new(ConfigureRequest::of(&initialize));
        let pending = Pending::Reconfigure(Box::new(initialize), reread);
        self.blocking_effect(Effect::Configure(request), pending);
    }

    fn reread(&mut self, reread: Reread) {
        let initialize = self.prepared.as_ref().map(|it| it.initialize.clone());
        self.reconfigure(initialize.unwrap_or_default(), reread);
    }

    /// Handles the result of reading settings and project files again.
    pub(super) fn reconfigured(
        &mut self,
        initialize: Initialize,
        reread: Reread,
        config: Result<Configuration, String>,
    ) {
        self.unblock();
        self.step(Step::GoneBack);
        if self.session.is_some() {
            self.step(Step::Begin);
        }
        let completed = config.and_then(|config| {
            let completed = config.completed(&self.launch, &initialize);
            completed.map_err(|error| error.to_string())
        });
        match completed {
            Ok(config) => self.replace_configuration(config, initialize),
            Err(reason) => {
                let refusal = ReplyError::new(reason);
                return self.reply(reread.request(), &refusal.into());
            }
        }
        match reread {
            Reread::FlagSettings(id, settings) => {
                self.apply(*settings);
                self.reply(&id, &Reply::done());
            }
            Reread::Written(id) => self.reply(&id, &Reply::done()),
            Reread::Skills(id, before) => self.skills_reread(&id, &before),
            Reread::OutputStyles(id) => {
                let names = self.prepared.as_ref().map(|it| it.config.style_names());
                let names = names.unwrap_or_default();
                self.reply(&id, &Reply::with(json!({"available_output_styles": names})));
            }
            Reread::Plugins(id) => self.plugins_reread(&id),
        }
    }

    /// Makes this the configuration of all further sessions.
    fn replace_configuration(&mut self, mut config: Configuration, initialize: Initialize) {
        let Some(before) = self.prepared.take() else {
            return;
        };
        // Keep the initial model, which a reset returns to: another model is chosen by a request, not by configuration.
        let model = before.spec().model.name.clone();
        Arc::make_mut(&mut config.spec).model.name = model;
        for warning in &config.warnings {
            if !before.config.warnings.contains(warning) {
                self.warn(warning);
            }
        }
        self.forget_unless_used(&before);
        self.prepared = Some(Arc::new(Prepared { config, initialize }));
        self.exchange_agents_servers();
        self.mark_stale();
    }

    /// Tells the host that a configuration is no longer needed, unless the running session uses it.
    fn forget_unless_used(&mut self, config: &Prepared) {
        let number = config.config.number;
        let of_session = self.session.as_ref().map(|it| it.prepared.config.number);
        if of_session != Some(number) {
            self.outbox.push(Output::Forget(number));
        }
    }

    /// Applies settings as if they had been given on the command line. Each key replaces its previous value; null removes it.
    /// Either all of them apply or none. The model, effort and rules take effect immediately, the rest from the next turn on.
    pub(super) fn apply_flag_settings(&mut self, id: String, settings: &RawJson) {
        match self.flag_settings(settings) {
            Ok((initialize, settings)) => {
                let reread = Reread::FlagSettings(id, Box::new(settings));
                self.reconfigure(initialize, reread);
            }
            Err(refusal) => self.reply(&id, &refusal.into()),
        }
    }

    /// Writes settings into a file: the output style into the local settings of the project, in force from the next turn on,
    /// or the effort into the user's settings, in force for later sessions.
    pub(super) fn update_settings(
        &mut self,
        id: String,
        file: SettingsFile,
        settings: BTreeMap<String, String>,
    ) {
        let destination = match self.settings_destination(file, &settings) {
            Ok(destination) => destination,
            Err(refusal) => return self.reply(&id, &refusal.into()),
        };
        let rereads = file == SettingsFile::LocalSettings;
        let write = Effect::WriteSettings(destination, settings);
        self.blocking_effect(write, Pending::Settings(id, rereads));
    }

    fn settings_destination(
        &self,
        file: SettingsFile,
        settings: &BTreeMap<String, String>,
    ) -> Result<Destination, ReplyError> {
        let (key, destination) = match file {
            SettingsFile::LocalSettings => ("outputStyle", Destination::LocalSettings),
            SettingsFile::UserSettings => ("effortLevel", Destination::UserSettings),
        };
        if let Some(other) = settings.keys().find(|given| *given != key) {
            let text = format!("nothing was written: {other} is not written there, only {key}");
            return Err(ReplyError::coded("unsupported_settings", text));
        }
        let is_known = |name: &String| effort(name).is_some();
        if file == SettingsFile::UserSettings
            && let Some(name) = settings.values().find(|name| !is_known(name))
        {
            let text = format!("nothing was written: no effort is named {name}");
            return Err(ReplyError::new(text));
        }
        let Some(prepared) = &self.prepared else {
            return Err(ReplyError::new("`initialize` has not come yet"));
        };
        let sources = prepared.config.sources;
        let is_read = match file {
            SettingsFile::LocalSettings => sources.local,
            SettingsFile::UserSettings => sources.user,
        };
        if !is_read {
            let text = "nothing was written: this session does not read that file (its setting sources leave it out)";
            return Err(ReplyError::new(text));
        }
        Ok(destination)
    }

    /// Handles the result of writing settings.
    pub(super) fn settings_written(
        &mut self,
        id: String,
        rereads: bool,
        written: Result<Vec<(Destination, String)>, String>,
    ) {
        self.unblock();
        match written {
            Ok(files) => {
                for (destination, file) in files {
                    self.occurred(config_changed(destination, file));
                }
                match rereads {
                    true => self.reread(Reread::Written(id)),
                    false => self.reply(&id, &Reply::done()),
                }
            }
            Err(reason) => self.reply(&id, &ReplyError::new(reason).into()),
        }
    }

    /// Reports an occurrence to the session if hooks are registered for it; if no session runs, when it begins.
    fn occurred(&mut self, occurrence: Occurrence) {
        let hooks = self.prepared.as_ref().map(|it| &it.spec().policy.hooks);
        if hooks.is_some_and(|hooks| !concerned(hooks, &occurrence).is_empty()) {
            self.tell_session(Input::Occurred(occurrence));
        }
    }

    pub(super) fn reload_skills(&mut self, id: String) {
        let before = self.skills();
        self.reread(Reread::Skills(id, before));
    }

    fn skills_reread(&mut self, id: &str, before: &[Value]) {
        if self.skills() != before {
            self.occurred(Occurrence::ConfigChange(ConfigChange {
                source: ConfigSource::Skills,
                file_path: None,
            }));
        }
        self.emit_commands();
        let skills = self.skills();
        self.reply(id, &Reply::with(json!({"skills": skills})));
    }

    pub(super) fn reload_output_styles(&mut self, id: String) {
        self.reread(Reread::OutputStyles(id));
    }

    /// Reads the folders of plugins, commands, agents and servers again, and those of further plugins.
    pub(super) fn reload_plugins(
        &mut self,
        id: String,
        adds: Vec<GivenPlugin>,
        refuse_if_busy: bool,
    ) {
        if refuse_if_busy && self.outbox.frames.is_busy() {
            let text = "nothing was reloaded: a turn is under way";
            let refusal = ReplyError::coded("reload_plugins_busy", text);
            return self.reply(&id, &refusal.into());
        }
        let initialize = self.prepared.as_ref().map(|it| it.initialize.clone());
        let mut initialize = initialize.unwrap_or_default();
        let known = initialize.plugins.get_or_insert_default();
        for plugin in adds {
            if !known.contains(&plugin) {
                known.push(plugin);
            }
        }
        self.reconfigure(initialize, Reread::Plugins(id));
    }

    fn plugins_reread(&mut self, id: &str) {
        self.emit_commands();
        if !self.exchange_plugins_servers(id) {
            let reply = self.plugins_reply();
            self.reply(id, &reply);
        }
    }

    /// What plugins there are, and what they bring.
    pub(super) fn plugins_reply(&self) -> Reply {
        let prepared = self.prepared.as_ref();
        let offers = prepared.map(|it| it.spec().initialization());
        let (commands, agents) = offers.map(|it| (it.commands, it.agents)).unzip();
        let plugins = prepared.map(|it| it.spec().environment.plugins.clone());
        let failed = prepared.map_or(0, |it| it.config.failed_plugins);
        Reply::with(json!({
            "commands": commands.unwrap_or_default(), "agents": agents.unwrap_or_default(),
            "plugins": plugins.unwrap_or_default(),
            "mcpServers": self.server_status()["mcpServers"], "error_count": failed,
        }))
    }

    /// Adds a folder below a working directory to the workspace as a root of its own. `named` is the folder as the request
    /// named it, `folder` its real path.
    pub(super) fn register_repo_root(
        &mut self,
        named: &str,
        folder: String,
    ) -> Result<(), ReplyError> {
        let refused = |why: &str| ReplyError::new(format!("{named} was not registered: {why}"));
        let Some(prepared) = &self.prepared else {
            return Err(refused("`initialize` has not come yet"));
        };
        let environment = &prepared.spec().environment;
        let mut roots: Vec<String> = match &self.session {
            Some(session) => {
                let permissions = session.core_session().permissions();
                permissions.directories(environment).to_vec()
            }
            None => environment.additional_directories.clone(),
        };
        roots.push(environment.cwd.clone());
        if roots.contains(&folder) {
            return Err(refused("it is one of the working directories already"));
        }
        if !roots.iter().any(|root| lies_below(&folder, root)) {
            return Err(refused("it does not lie below a working directory"));
        }
        let update = PermissionUpdate::AddDirectories(DirectoryChange {
            directories: vec![folder],
            destination: Destination::Session,
        });
        self.tell_session(Input::UpdatePermissions(vec![update]));
        Ok(())
    }
}

/// Whether a path lies strictly below another; both are absolute and real.
fn lies_below(path: &str, root: &str) -> bool {
    let rest = path.strip_prefix(root.trim_end_matches(['/', '\\']));
    rest.is_some_and(|rest| rest.starts_with(['/', '\\']))
}
