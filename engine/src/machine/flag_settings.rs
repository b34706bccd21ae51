//! Settings that are applied as if they had been given on the command line (`apply_flag_settings`).

use serde_json::{Map, Value};
use windlass_core::{
    Input, RawJson,
    permission::{
        Behavior, Destination, Mode, PermissionSettings, PermissionUpdate, Rule, RuleChange,
        RuleError, RuleValue,
    },
    spec::Effort,
};

use super::Engine;
use crate::{
    models::resolved_model,
    protocol::{flags::effort, initialize::Initialize, reply::ReplyError},
};

/// The settings that affect a running session.
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

/// The changes that take effect immediately when flag settings are applied.
#[derive(Debug, Default)]
pub(super) struct FlagSettings {
    permissions: Option<(Vec<PermissionUpdate>, Vec<PermissionUpdate>)>,
    mode: Option<Mode>,
    /// The model's name; the inner `None` means the session's own.
    model: Option<Option<String>>,
    effort: Option<Option<Effort>>,
}

impl Engine {
    /// Reads such settings: the `initialize` request with all that are given so far, and the changes that take effect immediately.
    pub(super) fn flag_settings(
        &self,
        settings: &RawJson,
    ) -> Result<(Initialize, FlagSettings), ReplyError> {
        let given: Map<String, Value> = settings
            .decode()
            .map_err(|error| ReplyError::new(format!("the settings are no object: {error}")))?;
        // What is not there is off already: editors say so of modes that they know.
        let is_off = |value: &Value| matches!(value, Value::Null | Value::Bool(false));
        let unknown: Vec<&str> = (given.iter())
            .filter(|(key, value)| !EFFECTIVE.contains(&key.as_str()) && !is_off(value))
            .map(|(key, _)| key.as_str())
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
        let before = prepared.config.given();
        let mut layer: Map<String, Value> = before
            .and_then(|given| given.text.raw().decode().ok())
            .unwrap_or_default();
        let old_rules = before.map(|given| given.settings.permissions.clone());
        for (key, value) in &given {
            match value {
                Value::Null => layer.remove(key),
                value => layer.insert(key.clone(), value.clone()),
            };
        }
        let mut initialize = prepared.initialize.clone();
        // Texts, numbers and maps with string keys always encode.
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
        let model = given
            .get("model")
            .map(|model| model.as_str().filter(|name| *name != "default"));
        Ok((
            initialize,
            FlagSettings {
                permissions: given.contains_key("permissions").then_some((gone, new)),
                mode,
                model: model.map(|name| name.map(ToOwned::to_owned)),
                effort: given.contains_key("effortLevel").then_some(chosen_effort),
            },
        ))
    }

    /// Puts the settings into force.
    pub(super) fn apply(&mut self, settings: FlagSettings) {
        if let Some((gone, new)) = settings.permissions {
            let mut updates = self.not_said_otherwise(gone);
            updates.extend(new);
            self.tell_session(Input::UpdatePermissions(updates));
        }
        if let Some(mode) = settings.mode {
            self.tell_session(Input::SetMode(mode));
        }
        if let Some(name) = settings.model {
            let prepared = self.prepared.as_ref();
            let model = name.zip(prepared);
            let model = model.map(|(name, prepared)| resolved_model(prepared.spec(), &name));
            self.choose_model(model);
        }
        if let Some(effort) = settings.effort {
            self.tell_session(Input::SetEffort(effort));
        }
    }

    /// Drops from the rules to be removed those that a flag also defines.
    fn not_said_otherwise(&self, mut gone: Vec<PermissionUpdate>) -> Vec<PermissionUpdate> {
        let Some(prepared) = &self.prepared else {
            return gone;
        };
        let said = &prepared.spec().policy.permissions.rules;
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
}

/// Converts rules of flag settings to permission updates.
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
