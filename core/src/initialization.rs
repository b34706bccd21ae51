//! What a session offers before the first prompt: commands, agents, models, output styles, account.

use alloc::{borrow::ToOwned, string::String, vec, vec::Vec};

use serde::{Deserialize, Serialize};

pub use crate::environment::SlashCommand;
use crate::{agent::AgentInfo, context::OutputStyle, model::Effort, spec::Spec};

/// The answer to an initialisation request (Agent SDK reference, `SDKControlInitializeResponse`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Initialization {
    /// Slash commands that a prompt may begin with.
    pub commands: Vec<SlashCommand>,
    /// Agents that can be started.
    pub agents: Vec<AgentInfo>,
    /// The output style in use.
    pub output_style: String,
    /// The available output styles.
    pub available_output_styles: Vec<String>,
    /// The models that can be chosen: empty until a host that knows models adds them.
    pub models: Vec<ModelInfo>,
    /// The account that is billed.
    pub account: AccountInfo,
}

/// A model that can be chosen (Agent SDK reference, `ModelInfo`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// The value to set as the model.
    pub value: String,
    /// Its display name.
    pub display_name: String,
    /// What it is for, and its prices.
    pub description: String,
    /// Whether it supports the effort setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supports_effort: Option<bool>,
    /// The supported effort levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported_effort_levels: Option<Vec<Effort>>,
    /// Whether it supports adaptive thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supports_adaptive_thinking: Option<bool>,
    /// The model that the value stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_model: Option<String>,
    /// Whether it has fast responses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supports_fast_mode: Option<bool>,
    /// Whether thinking can be switched off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supports_thinking_off: Option<bool>,
}

/// The account that is billed, as far as the host knows (Agent SDK reference, `AccountInfo`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AccountInfo {
    /// The email address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The organisation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// The kind of subscription.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscription_type: Option<String>,
    /// The source of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_source: Option<String>,
    /// The source of the API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_source: Option<String>,
}

impl Spec {
    /// What a session with this spec offers.
    #[must_use]
    pub fn initialization(&self) -> Initialization {
        let environment = &self.environment;
        let style = self
            .prompt
            .output_style
            .as_ref()
            .map(|style| style.name.clone());
        let default = || "default".to_owned();
        let mut styles = vec![default()];
        styles.extend(OutputStyle::built_in().into_iter().map(|style| style.name));
        if let Some(style) = style.as_ref().filter(|style| !styles.contains(style)) {
            styles.push(style.clone());
        }
        let key = Some(environment.api_key_source.clone());
        Initialization {
            commands: environment.commands.clone(),
            agents: self.tools.agents.infos(),
            output_style: style.unwrap_or_else(default),
            available_output_styles: styles,
            models: Vec::new(),
            account: AccountInfo {
                api_key_source: key.filter(|source| !source.is_empty()),
                ..AccountInfo::default()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn api_6_a_spec_says_what_its_sessions_offer() {
        let mut spec = Spec::default();
        spec.environment.api_key_source = "user".to_string();
        spec.environment.commands = vec![SlashCommand {
            name: "compact".to_string(),
            description: "Sums up the conversation".to_string(),
            argument_hint: "[instructions]".to_string(),
        }];
        let json = serde_json::to_value(spec.initialization()).unwrap();
        let command = &json["commands"][0];
        assert_eq!(command["name"], "compact");
        assert_eq!(command["argumentHint"], "[instructions]");
        assert_eq!(json["output_style"], "default");
        assert_eq!(json["available_output_styles"][0], "default");
        assert_eq!(json["account"], serde_json::json!({"apiKeySource": "user"}));
        let agents = json["agents"].as_array().unwrap();
        assert!(agents.iter().any(|agent| agent["name"] == "Explore"));
    }
}
