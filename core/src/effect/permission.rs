//! The question whether a call may run, and the answer of whoever decides.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{
    json::{self, RawJson},
    permission::{self, PermissionUpdate},
};

/// The question whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// The model's id of the call.
    pub tool_use_id: String,
    /// The tool.
    pub tool_name: String,
    /// The input as the model gave it. Whoever shows its command to a person does so by [`visible`](permission::visible).
    pub input: RawJson,
    /// The path outside the granted directories that made it ask, if one did.
    pub blocked_path: Option<String>,
    /// Why it is asked, in one sentence, in which nothing is hidden.
    pub decision_reason: String,
    /// Changes of the permissions of which each lets such calls run unasked, the narrowest first; hand back
    /// those that are accepted as `updatedPermissions`. Empty where none would help.
    #[serde(default)]
    pub suggestions: Vec<PermissionUpdate>,
    /// The subagent that calls; none for the main thread.
    #[serde(default)]
    pub agent_id: Option<String>,
}

impl PermissionRequest {
    /// The narrowest rule among the suggestions (`Bash(npm test)`): for a plain "always".
    #[must_use]
    pub fn suggested_rule(&self) -> Option<String> {
        permission::first_rule(&self.suggestions)
    }
}

/// The answer of whoever decides (Agent SDK reference, `PermissionResult`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "behavior", rename_all = "lowercase")]
pub enum PermissionResponse {
    /// Run it.
    Allow {
        /// Run it with this input instead; it is validated again.
        #[serde(rename = "updatedInput", skip_serializing_if = "Option::is_none")]
        updated_input: Option<RawJson>,
        /// Changes of the permissions that hold from now on: all of them, or none if one does not apply.
        #[serde(rename = "updatedPermissions", skip_serializing_if = "Vec::is_empty")]
        updated_permissions: Vec<PermissionUpdate>,
    },
    /// Do not run it.
    Deny {
        /// What the model reads.
        message: String,
        /// End the run too.
        interrupt: bool,
    },
}

impl<'de> Deserialize<'de> for PermissionResponse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Allow {
            #[serde(default)]
            updated_input: Option<RawJson>,
            #[serde(default)]
            updated_permissions: Option<RawJson>,
        }
        #[derive(Deserialize)]
        struct Deny {
            message: String,
            #[serde(default)]
            interrupt: bool,
        }
        let (kind, raw) = json::tagged(deserializer, "behavior")?;
        match kind.as_str() {
            "allow" => raw.read().map(|allow: Allow| Self::Allow {
                updated_input: allow.updated_input,
                // The call was allowed, whatever else the answer says: what cannot be read changes nothing.
                updated_permissions: allow
                    .updated_permissions
                    .and_then(|updates| updates.read().ok())
                    .unwrap_or_default(),
            }),
            "deny" => raw.read().map(|deny: Deny| Self::Deny {
                message: deny.message,
                interrupt: deny.interrupt,
            }),
            other => {
                let problem = format!("the behavior is allow or deny, not {other}");
                return Err(de::Error::custom(problem));
            }
        }
        .map_err(de::Error::custom)
    }
}

impl PermissionResponse {
    /// A plain yes.
    #[must_use]
    pub fn allow() -> Self {
        Self::Allow {
            updated_input: None,
            updated_permissions: Vec::new(),
        }
    }

    /// A no with its reason.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny {
            message: message.into(),
            interrupt: false,
        }
    }
}
