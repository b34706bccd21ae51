//! Settings and files that change while a session runs.
//!
//! What sessions are made of is drawn anew from flags, files and what the SDK brought along; the session that runs goes on with it
//! as soon as it is quiet. What cannot be drawn is an error, and then everything is as before.

use std::{collections::BTreeMap, fs};

use serde_json::{Map, Value, json};
use windlass_core::{
    Input, RawJson,
    hook::{
        Occurrence, concerned,
        input::{ConfigChange, ConfigSource},
    },
    permission::{
        Behavior, Destination, DirectoryChange, PermissionSettings, PermissionUpdate, Rule,
        RuleChange, RuleError, RuleValue,
    },
};
use windlass_engine::protocol::{
    flags::effort,
    initialize::Initialize,
    reply::{Reply, ReplyError},
    request::SettingsFile,
};

use super::{actor::Engine, host::config_changed, preparing::Prepared, surroundings::resolved};
use crate::{files::digest_of, settings::write_settings};

/// The settings that have an effect on a session that runs.
const EFFECTIVE: [&str; 8] = [
    "agent",
    "disableAllHooks",
    "effortLevel",
    "env",
    "hooks",
    "model",
    "outputStyle",
    "permissions",
];

impl Engine {
    /// Draws anew what sessions are made of.
    fn redraw(&mut self, initialize: Initialize) -> Result<(), ReplyError> {
        let Some(prepared) = &self.prepared else {
            return Err(ReplyError::new("`initialize` has not come yet"));
        };
        let renewed = prepared.blueprint.renewed(&self.launch, &initialize);
        let mut blueprint = renewed.map_err(|error| ReplyError::new(error.to_string()))?;
        // What the session began with is what it goes back to: another model is chosen, not drawn.
        let before = &prepared.blueprint.spec.model;
        blueprint.spec.model.clone_from(before);
        for warning in &blueprint.warnings {
            self.warn(warning);
        }
        self.prepared = Some(Prepared {
            blueprint,
            initialize,
        });
        self.connect_agents_servers();
        self.made_of_changed();
        Ok(())
    }

    fn reread(&mut self) -> Result<(), ReplyError> {
        let initialize = self.prepared.as_ref().map(|it| it.initialize.clone());
        self.redraw(initialize.unwrap_or_default())
    }

    /// Settings as if they had been on the command line, each key in the place of what was said of it before; null for none.
    /// All of them hold, or none: the model, effort and rules at once, the rest from the next turn on.
    pub(super) fn apply_flag_settings(&mut self, settings: &RawJson) -> Result<(), ReplyError> {
        let given: Map<String, Value> = settings
            .decode()
            .map_err(|error| ReplyError::new(format!("the settings are no object: {error}")))?;
        let unknown: Vec<&str> = given
            .keys()
            .map(String::as_str)
            .filter(|key| !EFFECTIVE.contains(key))
            .collect();
        if !unknown.is_empty() {
            let text = format!(
                "nothing was applied: a session that runs does not take in {}; it takes in {}",
                unknown.join(", "),
                EFFECTIVE.join(", ")
            );
            return Err(ReplyError::coded("unsupported_settings", text));
        }
        let chosen_effort = match given.get("effortLevel").and_then(Value::as_str) {
            None => None,
            Some(name) => Some(effort(name).ok_or_else(|| {
                ReplyError::new(format!("nothing was applied: no effort is named {name}"))
            })?),
        };
        let Some(prepared) = &self.prepared else {
            return Err(ReplyError::new("`initialize` has not come yet"));
        };
        let before = prepared.blueprint.surroundings.given();
        let mut layer: Map<String, Value> = before
            .and_then(|given| given.raw.decode().ok())
            .unwrap_or_default();
        let old_rules = before.map(|given| given.settings.permissions.clone());
        for (key, value) in &given {
            match value {
                Value::Null => layer.remove(key),
                value => layer.insert(key.clone(), value.clone()),
            };
        }
        let mut initialize = prepared.initialize.clone();
        // Texts, numbers and maps with text keys: encoding cannot fail.
        initialize.settings = RawJson::encode(&layer).ok();
        let new_rules: PermissionSettings = match layer.get("permissions") {
            None => PermissionSettings::default(),
            Some(permissions) => serde_json::from_value(permissions.clone())
                .map_err(|error| ReplyError::new(format!("permissions: {error}")))?,
        };
        let mode = given
            .get("permissions")
            .and(new_rules.default_mode)
            .filter(|mode| *mode != self.mode());
        if let Some(refusal) = mode.and_then(|mode| self.mode_refusal(mode)) {
            return Err(refusal);
        }
        let wrong = |error: RuleError| ReplyError::new(format!("permissions: {error}"));
        let old_rules = old_rules.unwrap_or_default();
        let gone = rule_changes(&old_rules, PermissionUpdate::RemoveRules).map_err(wrong)?;
        let new = rule_changes(&new_rules, PermissionUpdate::AddRules).map_err(wrong)?;
        self.redraw(initialize)?;
        if given.contains_key("permissions") {
            let mut updates = self.not_said_otherwise(gone);
            updates.extend(new);
            self.tell(Input::UpdatePermissions(updates));
        }
        if let Some(mode) = mode {
            self.tell(Input::SetMode(mode));
        }
        if let Some(model) = given.get("model") {
            let spec = self.prepared.as_ref().map(|it| &it.blueprint.spec);
            let name = model.as_str().filter(|name| *name != "default");
            let model = name.zip(spec).map(|(name, spec)| resolved(spec, name));
            self.choose_model(model);
        }
        if given.contains_key("effortLevel") {
            self.tell(Input::SetEffort(chosen_effort));
        }
        Ok(())
    }

    /// Of rules that are taken away those that no flag says, too.
    fn not_said_otherwise(&self, mut gone: Vec<PermissionUpdate>) -> Vec<PermissionUpdate> {
        let Some(prepared) = &self.prepared else {
            return gone;
        };
        let said = &prepared.blueprint.spec.permissions.rules;
        for update in &mut gone {
            let PermissionUpdate::RemoveRules(change) = update else {
                continue;
            };
            let said = match change.behavior {
                Behavior::Allow => &said.allow,
                Behavior::Ask => &said.ask,
                Behavior::Deny => &said.deny,
            };
            let source = change.destination.source();
            let is_said = |value: &RuleValue| {
                let mut same = said.iter().filter(|rule| rule.source() == source);
                same.any(|rule| rule.value() == *value)
            };
            change.rules.retain(|value| !is_said(value));
        }
        gone
    }

    /// Writes settings into a file: the output style into the project's local ones, which holds from the next turn on; the effort
    /// into the person's, which holds for later sessions.
    pub(super) fn update_settings(
        &mut self,
        file: SettingsFile,
        settings: &BTreeMap<String, String>,
    ) -> Result<(), ReplyError> {
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
        let surroundings = &prepared.blueprint.surroundings;
        let is_read = match file {
            SettingsFile::LocalSettings => surroundings.sources.local,
            SettingsFile::UserSettings => surroundings.sources.user,
        };
        if !is_read {
            let text = "nothing was written: this session does not read that file (its setting sources leave it out)";
            return Err(ReplyError::new(text));
        }
        let places = &surroundings.places;
        write_settings(places, destination, settings)
            .map_err(|error| ReplyError::new(error.to_string()))?;
        let changed = places
            .file(destination)
            .map(|path| config_changed(places, &path));
        if let Some(changed) = changed {
            self.occurred(changed);
        }
        match file {
            SettingsFile::LocalSettings => self.reread(),
            SettingsFile::UserSettings => Ok(()),
        }
    }

    /// Tells the hooks that want to hear of it, now or when the session begins.
    fn occurred(&mut self, occurrence: Occurrence) {
        let hooks = self.prepared.as_ref().map(|it| &it.blueprint.spec.hooks);
        if hooks.is_some_and(|hooks| !concerned(hooks, &occurrence).is_empty()) {
            self.tell(Input::Occurred(occurrence));
        }
    }

    pub(super) async fn reload_skills(&mut self) -> Reply {
        let before = self.skills();
        if let Err(error) = self.reread() {
            return error.into();
        }
        if self.skills() != before {
            self.occurred(Occurrence::ConfigChange(ConfigChange {
                source: ConfigSource::Skills,
                file_path: None,
            }));
        }
        self.say_commands().await;
        Reply::with(json!({"skills": self.skills()}))
    }

    pub(super) fn reload_output_styles(&mut self) -> Result<Value, ReplyError> {
        self.reread()?;
        let surroundings = self.prepared.as_ref().map(|it| &it.blueprint.surroundings);
        let names = surroundings.map(|it| it.style_names()).unwrap_or_default();
        Ok(json!({"available_output_styles": names}))
    }

    /// There are no plugins to read anew; what else is read with them is.
    pub(super) async fn reload_plugins(&mut self, adds: bool, refuse_if_busy: bool) -> Reply {
        if adds {
            return ReplyError::new("nothing was reloaded: plugins are not loaded here").into();
        }
        if refuse_if_busy && self.output.frames().await.is_busy() {
            let text = "nothing was reloaded: a turn is under way";
            return ReplyError::coded("reload_plugins_busy", text).into();
        }
        if let Err(error) = self.reread() {
            return error.into();
        }
        self.say_commands().await;
        let offers = self
            .prepared
            .as_ref()
            .map(|it| it.blueprint.spec.initialization());
        let (commands, agents) = offers.map(|it| (it.commands, it.agents)).unzip();
        Reply::with(json!({
            "commands": commands.unwrap_or_default(), "agents": agents.unwrap_or_default(), "plugins": [],
            "mcpServers": self.server_status()["mcpServers"], "error_count": 0,
        }))
    }

    /// Makes a folder below one of the workspace part of it by itself.
    pub(super) fn register_repo_root(&mut self, folder: &str) -> Result<(), ReplyError> {
        let refused = |why: &str| ReplyError::new(format!("{folder} was not registered: {why}"));
        let real = fs::canonicalize(self.cwd().join(folder))
            .map_err(|error| refused(&error.to_string()))?;
        if !real.is_dir() {
            return Err(refused("it is not a directory"));
        }
        let Some(prepared) = &self.prepared else {
            return Err(refused("`initialize` has not come yet"));
        };
        let environment = &prepared.blueprint.spec.environment;
        let mut roots: Vec<String> = match &self.live {
            Some(live) => {
                let session = live.session.look();
                session.permissions().directories(environment).to_vec()
            }
            None => environment.additional_directories.clone(),
        };
        roots.push(environment.cwd.clone());
        let name = real.display().to_string();
        if roots.contains(&name) {
            return Err(refused("it is one of the working directories already"));
        }
        if !roots.iter().any(|root| real.starts_with(root)) {
            return Err(refused("it does not lie below a working directory"));
        }
        let update = PermissionUpdate::AddDirectories(DirectoryChange {
            directories: vec![name],
            destination: Destination::Session,
        });
        self.tell(Input::UpdatePermissions(vec![update]));
        Ok(())
    }

    /// The SDK saw the model read a file. A file that has changed since is to be read again.
    pub(super) fn seed_read_state(&mut self, path: &str, mtime: i64) -> Result<(), ReplyError> {
        let refused = |error: std::io::Error| ReplyError::new(format!("{path}: {error}"));
        let real = match fs::canonicalize(self.cwd().join(path)) {
            // It has changed most of all.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            real => real.map_err(refused)?,
        };
        let modified = fs::metadata(&real).and_then(|meta| meta.modified());
        let since = modified.map_err(refused)?;
        let since = since
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        if i64::try_from(since.as_millis()).is_ok_and(|now| now > mtime) {
            return Ok(());
        }
        let seen = windlass_core::tool::Observation {
            digest: fs::File::open(&real).and_then(digest_of).map_err(refused)?,
            path: real.display().to_string(),
            whole: true,
        };
        self.tell(Input::Seen(seen));
        Ok(())
    }
}

/// Rules of settings that came as if on the command line, as changes.
fn rule_changes(
    settings: &PermissionSettings,
    change: impl Fn(RuleChange) -> PermissionUpdate,
) -> Result<Vec<PermissionUpdate>, RuleError> {
    let mut updates = Vec::new();
    for (behavior, entries) in [
        (Behavior::Allow, &settings.allow),
        (Behavior::Ask, &settings.ask),
        (Behavior::Deny, &settings.deny),
    ] {
        let rules = entries.iter().map(|entry| Rule::parse(&entry.rule));
        let rules: Vec<_> = rules
            .map(|rule| rule.map(|rule| rule.value()))
            .collect::<Result<_, _>>()?;
        if !rules.is_empty() {
            updates.push(change(RuleChange {
                rules,
                behavior,
                destination: Destination::CliArg,
            }));
        }
    }
    Ok(updates)
}
