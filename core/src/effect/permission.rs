//! Permission requests and responses.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{
    json::{self, RawJson},
    permission::{self, PermissionUpdate},
};

/// Asks whether a tool call may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// The model's id of the call.
    pub tool_use_id: String,
    /// The tool.
    pub tool_name: String,
    /// The input as the model sent it. To show its command to a person, pass it through [`visible`](permission::visible).
    pub input: RawJson,
    /// The path outside the granted directories that caused the request, if any.
    pub blocked_path: Option<String>,
    /// The reason for the request, in one sentence. Characters that would hide text are made visible in it.
    pub decision_reason: String,
    /// Permission updates, the narrowest first. Each of them alone would allow such calls without asking. Return the accepted
    /// ones as `updatedPermissions`. Empty if no update would help.
    #[serde(default)]
    pub suggestions: Vec<PermissionUpdate>,
    /// The subagent that makes the call; none on the main thread.
    #[serde(default)]
    pub agent_id: Option<String>,
}

impl PermissionRequest {
    /// The narrowest rule among the suggestions (`Bash(npm test)`), for a plain "always allow".
    #[must_use]
    pub fn suggested_rule(&self) -> Option<String> {
        permission::first_rule(&self.suggestions)
    }
}

/// The answer to a permission request (Agent SDK reference, `PermissionResult`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "behavior", rename_all = "lowercase")]
pub enum PermissionResponse {
    /// Run the call.
    Allow {
        /// Run the call with this input instead. It is validated again.
        #[serde(rename = "updatedInput", skip_serializing_if = "Option::is_none")]
        updated_input: Option<RawJson>,
        /// Permission updates that apply from now on. All of them apply, or none if one cannot be applied.
        #[serde(rename = "updatedPermissions", skip_serializing_if = "Vec::is_empty")]
        updated_permissions: Vec<PermissionUpdate>,
    },
    /// Do not run the call.
    Deny {
        /// The message for the model.
        message: String,
        /// Also end the run.
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
                // The call was allowed whatever else the answer contains: unreadable updates change nothing.
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
    /// Allows the call without changes.
    #[must_use]
    pub fn allow() -> Self {
        Self::Allow {
            updated_input: None,
            updated_permissions: Vec::new(),
        }
    }

    /// Denies the call with a message for the model.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny {
            message: message.into(),
            interrupt: false,
        }
    }
}
