//! When tool definitions are deferred until they are searched for.

use alloc::{borrow::ToOwned, format, string::String};

use serde::{Deserialize, Serialize};

/// When tool definitions are deferred (`ENABLE_TOOL_SEARCH`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ToolSearchSetting {
    /// Never: every definition is in every request.
    Off,
    /// Always, for every tool that may be deferred.
    On,
    /// If the definitions together exceed this percentage of the model's context window.
    Auto {
        /// Percent, 0 to 100.
        percent: u8,
    },
}

impl Default for ToolSearchSetting {
    fn default() -> Self {
        Self::Auto { percent: 10 }
    }
}

impl ToolSearchSetting {
    /// Reads the value of `ENABLE_TOOL_SEARCH`: `auto`, `auto:N%`, `true` or `false`.
    ///
    /// # Errors
    /// [`ToolSearchSettingError`] with the value and the valid forms.
    pub fn parse(text: &str) -> Result<Self, ToolSearchSettingError> {
        let value = text.trim().to_ascii_lowercase();
        let percent = |number: &str| number.parse().ok().filter(|percent| *percent <= 100);
        let setting = match value.as_str() {
            "true" | "1" => Some(Self::On),
            "false" | "0" => Some(Self::Off),
            "auto" => Some(Self::default()),
            other => other
                .strip_prefix("auto:")
                .and_then(|n| percent(n.strip_suffix('%').unwrap_or(n)))
                .map(|percent| Self::Auto { percent }),
        };
        setting.ok_or_else(|| ToolSearchSettingError {
            value: text.to_owned(),
        })
    }
}

impl TryFrom<String> for ToolSearchSetting {
    type Error = ToolSearchSettingError;

    fn try_from(text: String) -> Result<Self, ToolSearchSettingError> {
        Self::parse(&text)
    }
}

impl From<ToolSearchSetting> for String {
    /// The value in the form that [`ToolSearchSetting::parse`] reads.
    fn from(setting: ToolSearchSetting) -> Self {
        match setting {
            ToolSearchSetting::On => "true".to_owned(),
            ToolSearchSetting::Off => "false".to_owned(),
            ToolSearchSetting::Auto { percent } => format!("auto:{percent}"),
        }
    }
}

/// An invalid value of `ENABLE_TOOL_SEARCH`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool search cannot be set to `{value}`: it takes auto, auto:N% (0 to 100), true or false")]
pub struct ToolSearchSettingError {
    /// The value.
    pub value: String,
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn the_setting_is_read_as_it_is_documented() {
        use ToolSearchSetting as S;
        for (text, expected) in [
            ("auto", Some(S::Auto { percent: 10 })),
            ("auto:5%", Some(S::Auto { percent: 5 })),
            ("AUTO:100", Some(S::Auto { percent: 100 })),
            ("true", Some(S::On)),
            (" false ", Some(S::Off)),
            ("auto:101%", None),
            ("auto:", None),
            ("yes", None),
        ] {
            assert_eq!(S::parse(text).ok(), expected, "{text}");
        }
        let error = S::parse("yes").unwrap_err().to_string();
        assert!(error.contains("`yes`") && error.contains("auto:N%"));
    }
}
