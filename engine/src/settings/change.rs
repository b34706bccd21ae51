//! Changes of settings files: from the old text of a file to its new text.

use windlass_core::{
    RawJson,
    json::RawObject,
    permission::{
        DirectoryChange, PermissionUpdate, Rule, RuleChange, RuleEntry, RuleError, RuleValue,
    },
};

use super::{pretty::pretty, text::MAX_DEPTH};

/// The text of a settings file after a change. Other keys, their order and their values are preserved.
///
/// # Errors
/// The problem of the text, or the reason why `change` rejects it.
pub fn changed(
    text: &str,
    change: impl FnOnce(&mut RawObject) -> Result<(), String>,
) -> Result<String, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let text = if text.is_empty() { "{}" } else { text };
    let mut settings = object(text)?;
    if settings.to_raw().depth() > MAX_DEPTH {
        return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
    }
    change(&mut settings)?;
    Ok(pretty(&settings.to_raw()))
}

/// Checks the rules in permission updates.
///
/// # Errors
/// [`RuleError`] for the first rule that would be rejected when it is read again.
pub fn check_rules(updates: &[PermissionUpdate]) -> Result<(), RuleError> {
    for update in updates {
        if let PermissionUpdate::AddRules(change) | PermissionUpdate::ReplaceRules(change) = update
        {
            for rule in &change.rules {
                rule.to_rule()?;
            }
        }
    }
    Ok(())
}

/// Applies permission updates in order.
///
/// # Errors
/// The part of the existing permissions that cannot be parsed.
pub fn change_permissions<'a>(
    settings: &mut RawObject,
    updates: impl IntoIterator<Item = &'a PermissionUpdate>,
) -> Result<(), String> {
    let mut permissions = match settings.get("permissions") {
        Some(permissions) => object(permissions.get())?,
        None => RawObject::default(),
    };
    for update in updates {
        apply(&mut permissions, update)?;
    }
    settings.set("permissions", permissions.to_raw());
    Ok(())
}

pub(super) fn object(json: &str) -> Result<RawObject, String> {
    RawObject::parse(json).map_err(|error| error.reason)
}

fn apply(permissions: &mut RawObject, update: &PermissionUpdate) -> Result<(), String> {
    match update {
        PermissionUpdate::AddRules(change) => {
            let mut rules = list(permissions, change.behavior.name())?;
            for rule in &change.rules {
                if !rules.iter().any(|known| is_rule(known, rule)) {
                    rules.push(RawJson::string(&rule.to_string()));
                }
            }
            set(permissions, change.behavior.name(), &rules);
        }
        PermissionUpdate::ReplaceRules(RuleChange {
            rules, behavior, ..
        }) => {
            let rules: Vec<RawJson> = (rules.iter())
                .map(|rule| RawJson::string(&rule.to_string()))
                .collect();
            set(permissions, behavior.name(), &rules);
        }
        PermissionUpdate::RemoveRules(change) => {
            let mut rules = list(permissions, change.behavior.name())?;
            rules.retain(|known| !change.rules.iter().any(|rule| is_rule(known, rule)));
            set(permissions, change.behavior.name(), &rules);
        }
        PermissionUpdate::SetMode { mode, .. } => {
            permissions.set("defaultMode", RawJson::string(mode.name()));
        }
        PermissionUpdate::AddDirectories(DirectoryChange { directories, .. }) => {
            let mut known = list(permissions, DIRECTORIES)?;
            for directory in directories {
                let directory = RawJson::string(directory);
                if !known.contains(&directory) {
                    known.push(directory);
                }
            }
            set(permissions, DIRECTORIES, &known);
        }
        PermissionUpdate::RemoveDirectories(DirectoryChange { directories, .. }) => {
            let mut known = list(permissions, DIRECTORIES)?;
            let gone: Vec<RawJson> = directories.iter().map(|d| RawJson::string(d)).collect();
            known.retain(|directory| !gone.contains(directory));
            set(permissions, DIRECTORIES, &known);
        }
    }
    Ok(())
}

const DIRECTORIES: &str = "additionalDirectories";

fn list(permissions: &RawObject, key: &str) -> Result<Vec<RawJson>, String> {
    let Some(list) = permissions.get(key) else {
        return Ok(Vec::new());
    };
    let decoded = list.decode();
    decoded.map_err(|error| format!("`permissions.{key}`: {}", error.reason))
}

fn set(permissions: &mut RawObject, key: &str, list: &[RawJson]) {
    // Values that are already JSON always encode.
    let list = RawJson::encode(list).unwrap_or_else(|_| RawJson::null());
    permissions.set(key, list);
}

/// Whether an entry of a file is this rule, in any spelling.
fn is_rule(entry: &RawJson, rule: &RuleValue) -> bool {
    let Ok(entry) = entry.decode::<RuleEntry>() else {
        return false;
    };
    let same_text = entry.rule == rule.to_string();
    let parsed = || Some((Rule::parse(&entry.rule).ok()?, rule.to_rule().ok()?));
    same_text || parsed().is_some_and(|(known, rule)| known.value() == rule.value())
}
