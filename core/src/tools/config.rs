//! Config: reads and changes settings of the running session (Agent SDK reference, `ConfigInput`, `ConfigOutput`).
//!
//! | setting | values | set |
//! |---|---|---|
//! | `model` | a model's name, `default` | from the next request on |
//! | `effort` | `low`, `medium`, `high`, `max`, `default` | from the next request on |
//! | `thinking` | `adaptive`, `disabled`, a budget in tokens; `true` and `false`; `default` | from the next request on |
//! | `permissionMode` | the mode's name | only to `plan`: a model may hold itself back, not let itself loose |
//! | `outputStyle` | the style's name | no |
//!
//! Reading needs no consent; a change is judged like any other call.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
};

use serde::{Deserialize, Serialize};

use super::{Change, Consent, Done, Seen, answered};
use crate::{
    json::{RawJson, RawObject},
    model::{Effort, Thinking},
    permission::Mode,
};

pub(super) const DESCRIPTION: &str = "Reads or changes a setting of this session. Without `value` it tells the setting, with one it changes it. \
Settings: model (a model's name), effort (low, medium, high, max), thinking (adaptive, disabled, or a budget in tokens), \
permissionMode (can only be changed to plan), outputStyle (can only be read). The value `default` goes back to how the session began. \
Change a setting only when the person asked for it.";

pub(super) const INPUT_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "setting": { "type": "string", "minLength": 1, "description": "The setting's name" },
    "value": { "type": ["string", "boolean", "number"], "description": "The new value; left out to read it" }
  },
  "required": ["setting"]
}"#;

/// Restores the setting of the spec.
const DEFAULT: &str = "default";

/// The input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigInput {
    /// The setting's name.
    pub setting: String,
    /// The new value: a text, a number, true or false.
    #[serde(default)]
    pub value: Option<RawJson>,
}

/// The structured output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigOutput {
    /// Whether it succeeded.
    pub success: bool,
    /// The requested operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<ConfigOperation>,
    /// The setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// The value that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<RawJson>,
    /// The value before the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_value: Option<RawJson>,
    /// The value after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_value: Option<RawJson>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The operation: reading or changing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConfigOperation {
    /// Reading.
    Get,
    /// Changing.
    Set,
}

/// Reading needs no consent.
pub(super) fn consent(input: &RawJson) -> Consent {
    match RawObject::parse(input.get()) {
        Ok(fields) if fields.get("value").is_none() => Consent::Free,
        _ => Consent::Judged,
    }
}

/// A setting that the core supports.
#[derive(Clone, Copy)]
enum Setting {
    Model,
    Effort,
    Thinking,
    PermissionMode,
    OutputStyle,
}

impl Setting {
    const ALL: [(&'static str, Self); 5] = [
        ("model", Self::Model),
        ("effort", Self::Effort),
        ("thinking", Self::Thinking),
        ("permissionMode", Self::PermissionMode),
        ("outputStyle", Self::OutputStyle),
    ];

    fn parse(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        Some(all.find(|(known, _)| *known == name)?.1)
    }

    fn value(self, seen: &Seen<'_>) -> RawJson {
        match self {
            Self::Model => RawJson::string(seen.model),
            Self::Effort => seen.spec.model.effort.map_or_else(
                || RawJson::string(DEFAULT),
                |effort| RawJson::string(effort.name()),
            ),
            Self::Thinking => thinking_value(seen.spec.model.thinking),
            Self::PermissionMode => RawJson::string(seen.mode.name()),
            Self::OutputStyle => RawJson::string(&seen.spec.environment.output_style),
        }
    }

    /// The change for a value, and the resulting value.
    fn change(self, value: &RawJson, seen: &Seen<'_>) -> Result<(Change, RawJson), String> {
        let text = value.read::<String>().ok();
        let is_default = text.as_deref() == Some(DEFAULT);
        match self {
            Self::Model => match text.filter(|name| !name.trim().is_empty()) {
                Some(_) if is_default => Ok((
                    Change::Model(None),
                    RawJson::string(&seen.session_spec.model.name),
                )),
                Some(name) => Ok((Change::Model(Some(name)), value.clone())),
                None => Err("takes the name of a model, or `default`".to_owned()),
            },
            Self::Effort if is_default => {
                let effort = seen.session_spec.model.effort.map_or(DEFAULT, Effort::name);
                Ok((Change::Effort(None), RawJson::string(effort)))
            }
            Self::Effort => match text.as_deref().and_then(Effort::parse) {
                Some(effort) => Ok((Change::Effort(Some(effort)), value.clone())),
                None => Err("takes low, medium, high, max or default".to_owned()),
            },
            Self::Thinking => {
                let chosen = match is_default {
                    true => None,
                    false => Some(thinking_of(value).ok_or(
                        "takes adaptive, disabled, default, true, false or a budget in tokens",
                    )?),
                };
                let new = thinking_value(chosen.unwrap_or(seen.session_spec.model.thinking));
                Ok((Change::Thinking(chosen), new))
            }
            Self::PermissionMode => match text.as_deref() {
                Some("plan") => Ok((Change::Mode(Some(Mode::Plan)), value.clone())),
                _ => Err(
                    "can only be changed to plan here; another mode is for the person to choose"
                        .to_owned(),
                ),
            },
            Self::OutputStyle => Err("can only be read".to_owned()),
        }
    }
}

fn thinking_of(value: &RawJson) -> Option<Thinking> {
    if let Ok(budget) = value.read::<u32>() {
        let budget_tokens = Some(budget).filter(|tokens| *tokens > 0)?;
        return Some(Thinking::Enabled {
            budget_tokens: Some(budget_tokens),
        });
    }
    match value.get() {
        "true" => Some(Thinking::Adaptive),
        "false" => Some(Thinking::Disabled),
        _ => match value.read::<String>().ok()?.as_str() {
            "adaptive" => Some(Thinking::Adaptive),
            "enabled" => Some(Thinking::Enabled {
                budget_tokens: None,
            }),
            "disabled" => Some(Thinking::Disabled),
            _ => None,
        },
    }
}

fn thinking_value(thinking: Thinking) -> RawJson {
    match thinking {
        Thinking::Default => RawJson::string(DEFAULT),
        Thinking::Adaptive => RawJson::string("adaptive"),
        Thinking::Disabled => RawJson::string("disabled"),
        Thinking::Enabled {
            budget_tokens: None,
        } => RawJson::string("enabled"),
        Thinking::Enabled {
            budget_tokens: Some(tokens),
        } => {
            // A number: encoding cannot fail.
            RawJson::encode(&tokens).unwrap_or_else(|_| RawJson::null())
        }
    }
}

pub(super) fn run(input: &ConfigInput, seen: &Seen<'_>) -> Done {
    let name = input.setting.trim();
    let operation = match input.value {
        None => ConfigOperation::Get,
        Some(_) => ConfigOperation::Set,
    };
    let output = ConfigOutput {
        operation: Some(operation),
        setting: Some(name.to_owned()),
        ..ConfigOutput::default()
    };
    let Some(setting) = Setting::parse(name) else {
        let known = Setting::ALL.map(|(name, _)| name).join(", ");
        return refused(
            output,
            format!("There is no setting `{name}`. The settings are: {known}."),
        );
    };
    let previous = setting.value(seen);
    let Some(value) = &input.value else {
        let output = ConfigOutput {
            success: true,
            value: Some(previous.clone()),
            ..output
        };
        return answered(format!("{name} is {previous}."), &output).into();
    };
    match setting.change(value, seen) {
        Err(problem) => refused(output, format!("{name} {problem}.")),
        Ok((change, new)) => {
            let text = format!("{name} was {previous} and is {new} from the next request on.");
            let output = ConfigOutput {
                success: true,
                previous_value: Some(previous),
                new_value: Some(new),
                ..output
            };
            Done {
                result: answered(text, &output),
                changes: alloc::vec![change],
            }
        }
    }
}

fn refused(output: ConfigOutput, problem: String) -> Done {
    let output = ConfigOutput {
        error: Some(problem.to_string()),
        ..output
    };
    let mut result = answered(problem, &output);
    result.is_error = true;
    result.into()
}
