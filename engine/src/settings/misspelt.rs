//! Detects settings keys whose names resemble those of restrictions, which would otherwise be ignored silently.

use std::collections::BTreeMap;

use serde::{Deserialize, de::IgnoredAny};
use windlass_core::{RawJson, permission::nearest_name};

use super::sandbox::{nearest_sandbox_key, unknown_sandbox_keys};

/// Top-level keys that restrict something.
const KEYS: [&str; 3] = ["hooks", "permissions", "sandbox"];

/// Keys below `permissions`.
const OF_PERMISSIONS: [&str; 6] = [
    "additionalDirectories",
    "allow",
    "ask",
    "defaultMode",
    "deny",
    "disableBypassPermissionsMode",
];

/// Common mistaken names for deny rules.
const DENYING: [&str; 7] = [
    "denies",
    "denied",
    "block",
    "disallow",
    "disallowed",
    "disallowedTools",
    "forbid",
];

/// The first such key, with its path, and the name that was probably meant. Other unknown keys are tolerated.
pub(super) fn misspelt_key(settings: &RawJson) -> Option<(Vec<String>, String)> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Permissions {
        permissions: BTreeMap<String, IgnoredAny>,
    }
    let whole: BTreeMap<String, IgnoredAny> = settings.decode().ok()?;
    let of_whole = whole.keys().find_map(|key| {
        let rules = OF_PERMISSIONS.contains(&key.as_str());
        let problem = match (rules || DENYING.contains(&key.as_str()), meant(key, &KEYS)) {
            (true, _) => {
                "it stands below `permissions`: write {\"permissions\": {\"deny\": […]}}".to_owned()
            }
            (false, meant) => unknown(meant?),
        };
        Some((vec![key.clone()], problem))
    });
    let of_whole = of_whole.or_else(|| {
        let unknown_keys = unknown_sandbox_keys(settings);
        unknown_keys.iter().find_map(|key| {
            let meant = nearest_sandbox_key(key)?;
            let steps = key.split('.').map(str::to_owned).collect();
            Some((steps, unknown(&meant)))
        })
    });
    let below = settings
        .decode::<Permissions>()
        .unwrap_or_default()
        .permissions;
    of_whole.or_else(|| {
        below.keys().find_map(|key| {
            let denying = DENYING.contains(&key.as_str()).then_some("deny");
            let meant = denying.or_else(|| meant(key, &OF_PERMISSIONS))?;
            Some((
                vec!["permissions".to_owned(), key.clone()],
                unknown(&format!("permissions.{meant}")),
            ))
        })
    })
}

fn unknown(meant: &str) -> String {
    format!("no key is named so: did you mean `{meant}`?")
}

/// The known key that resembles a misspelt one, or of which one is a prefix of the other.
fn meant<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    if known.contains(&key) {
        return None;
    }
    let begins = |known: &&&str| {
        let is_cut = key.len() >= 12 && known.starts_with(key);
        is_cut || matches!(**known, "deny") && key.starts_with(*known)
    };
    nearest_name(key, known).or_else(|| known.iter().find(begins).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_a_key_that_forbids_is_named_and_others_are_tolerated() {
        for (text, named) in [
            (r#"{"permissions": {"Deny": []}}"#, "permissions.deny"),
            (r#"{"permissions": {"denied": []}}"#, "permissions.deny"),
            (r#"{"permissions": {"disallow": []}}"#, "permissions.deny"),
            (r#"{"permissions": {"asks": []}}"#, "permissions.ask"),
            (r#"{"permission": {"deny": []}}"#, "`permissions`"),
            (r#"{"Sandbox": {"enabled": true}}"#, "`sandbox`"),
            (r#"{"permissions": {"denyRules": []}}"#, "permissions.deny"),
            (
                r#"{"permissions": {"disableBypassPermissions": "disable"}}"#,
                "permissions.disableBypassPermissionsMode",
            ),
            (r#"{"defaultMode": "plan"}"#, "below `permissions`"),
            (r#"{"sandbox": {"enable": true}}"#, "sandbox.enabled"),
            (
                r#"{"sandbox": {"filesystem": {"denyread": []}}}"#,
                "sandbox.filesystem.denyRead",
            ),
            (r#"{"Hooks": {}}"#, "`hooks`"),
            (r#"{"hook": {}}"#, "`hooks`"),
            (r#"{"deny": ["Bash"]}"#, "below `permissions`"),
            (r#"{"disallowedTools": ["Bash"]}"#, "below `permissions`"),
        ] {
            let (key, found) = misspelt_key(&RawJson::parse(text).unwrap()).unwrap_or_default();
            assert!(found.contains(named), "{text}: {found}");
            let last = key.last().unwrap();
            assert!(text.contains(&format!("\"{last}\"")), "{text}: {key:?}");
        }
        for text in [
            r#"{"permissions": {"deny": [], "allow": [], "disableAutoMode": "x"}}"#,
            r#"{"sandbox": {}, "spinnerTipsEnabled": true, "hooks": {}, "env": {}}"#,
            r#"{"permissions": 3}"#,
            "[]",
        ] {
            assert_eq!(misspelt_key(&RawJson::parse(text).unwrap()), None, "{text}");
        }
    }
}
