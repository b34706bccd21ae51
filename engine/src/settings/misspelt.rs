//! Keys of settings whose names are nearly those by which something is forbidden: what they say would be missed without a word.

use std::collections::BTreeMap;

use serde::{Deserialize, de::IgnoredAny};
use windlass_core::{RawJson, permission::nearest_name};

/// Keys of a settings file by which something is forbidden or confined.
const KEYS: [&str; 2] = ["permissions", "sandbox"];

/// Keys below `permissions`.
const OF_PERMISSIONS: [&str; 6] = [
    "additionalDirectories",
    "allow",
    "ask",
    "defaultMode",
    "deny",
    "disableBypassPermissionsMode",
];

/// What people call rules to deny.
const DENYING: [&str; 6] = [
    "denied",
    "block",
    "disallow",
    "disallowed",
    "disallowedTools",
    "forbid",
];

/// What is wrong with the first such key, and what it should be. Other keys that nobody here knows are tolerated.
pub(super) fn misspelt_key(settings: &RawJson) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Permissions {
        permissions: BTreeMap<String, IgnoredAny>,
    }
    let whole: BTreeMap<String, IgnoredAny> = settings.decode().ok()?;
    let of_whole = whole.keys().find_map(|key| {
        let rules = OF_PERMISSIONS[1..3].contains(&key.as_str()) || *key == "deny";
        match (rules || DENYING.contains(&key.as_str()), meant(key, &KEYS)) {
            (true, _) => Some(format!(
                "rules stand below `permissions`, not in `{key}`: write {{\"permissions\": {{\"deny\": […]}}}}"
            )),
            (false, Some(meant)) => Some(unknown(key, meant)),
            (false, None) => None,
        }
    });
    let below = settings
        .decode::<Permissions>()
        .unwrap_or_default()
        .permissions;
    of_whole.or_else(|| {
        below.keys().find_map(|key| {
            let denying = DENYING.contains(&key.as_str()).then_some("deny");
            let meant = denying.or_else(|| meant(key, &OF_PERMISSIONS))?;
            Some(unknown(
                &format!("permissions.{key}"),
                &format!("permissions.{meant}"),
            ))
        })
    })
}

fn unknown(key: &str, meant: &str) -> String {
    format!("no key is named `{key}`: did you mean `{meant}`?")
}

/// The known key that a misspelt one is nearest to.
fn meant<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let is_known = known.contains(&key);
    (!is_known).then(|| nearest_name(key, known))?
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
            (r#"{"deny": ["Bash"]}"#, "below `permissions`"),
            (r#"{"disallowedTools": ["Bash"]}"#, "below `permissions`"),
        ] {
            let found = misspelt_key(&RawJson::parse(text).unwrap()).unwrap_or_default();
            assert!(found.contains(named), "{text}: {found}");
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
