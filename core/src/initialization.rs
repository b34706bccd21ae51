//! What a session offers before the first prompt: commands, agents, models, output styles, account.

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use serde::{Deserialize, Serialize};

pub use crate::environment::SlashCommand;
use crate::{
    agent::AgentInfo,
    context::OutputStyle,
    model::Effort,
    price::{Catalogue, ModelFacts},
    spec::Spec,
};

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
    /// Known models.
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
    /// Its limits and prices.
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
            models: self.model.catalogue.infos(),
            account: AccountInfo {
                api_key_source: key.filter(|source| !source.is_empty()),
                ..AccountInfo::default()
            },
        }
    }
}

impl Catalogue {
    /// The known models, in the form that an application can show.
    #[must_use]
    pub fn infos(&self) -> Vec<ModelInfo> {
        self.models().map(info).collect()
    }
}

fn info(model: &ModelFacts) -> ModelInfo {
    let levels = vec![Effort::Low, Effort::Medium, Effort::High, Effort::Max];
    ModelInfo {
        value: model.prefix.clone(),
        display_name: display_name(&model.prefix),
        description: format!(
            "{} tokens in, {} out; ${} and ${} per million",
            thousands(model.context_window),
            thousands(model.max_output_tokens),
            model.input,
            model.output
        ),
        supports_effort: Some(model.effort),
        supported_effort_levels: model.effort.then_some(levels),
        supports_adaptive_thinking: Some(model.adaptive_thinking),
    }
}

fn thousands(tokens: u64) -> String {
    match tokens {
        0 => "unknown".to_owned(),
        tokens => format!("{}K", tokens / 1000),
    }
}

/// `claude-opus-4-6` as people write it: Claude Opus 4.6.
fn display_name(value: &str) -> String {
    let mut out = String::new();
    let mut after_number = false;
    for part in value.split('-').filter(|part| !part.is_empty()) {
        let number = part.bytes().all(|b| b.is_ascii_digit());
        if !out.is_empty() {
            out.push(if number && after_number { '.' } else { ' ' });
        }
        let mut letters = part.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
        after_number = number;
    }
    out
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn names_for_people() {
        assert_eq!(display_name("claude-opus-4-6"), "Claude Opus 4.6");
        assert_eq!(display_name("claude-3-5-haiku"), "Claude 3.5 Haiku");
        assert_eq!(display_name("llama"), "Llama");
        assert_eq!(display_name(""), "");
    }

    #[test]
    fn api_7_a_model_says_what_it_supports() {
        let models = Catalogue::built_in().infos();
        let find = |value: &str| models.iter().find(|model| model.value == value).unwrap();
        let json = serde_json::to_value(find("claude-sonnet-4-6")).unwrap();
        let expected = serde_json::json!({
            "value": "claude-sonnet-4-6",
            "displayName": "Claude Sonnet 4.6",
            "description": "200K tokens in, 64K out; $3 and $15 per million",
            "supportsEffort": true,
            "supportedEffortLevels": ["low", "medium", "high", "max"],
            "supportsAdaptiveThinking": true,
        });
        assert_eq!(json, expected);
        assert_eq!(find("claude-haiku-4-5").supports_effort, Some(false));
        assert_eq!(find("claude-haiku-4-5").supported_effort_levels, None);
    }

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
        assert!(!json["models"].as_array().unwrap().is_empty());
    }
}
