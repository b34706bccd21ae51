//! The tools that are available at all, before any rule.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::tool_name;
use crate::json::RawJson;

/// Which tools are offered (Agent SDK reference, option `tools`): a list of names, an empty one for none, or the preset, which
/// stands for all tools.
///
/// It does not affect tools of MCP servers: whoever connects a server wants its tools. `disallowedTools` can exclude them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolSet {
    /// All tools.
    #[default]
    Preset,
    /// Only these tools.
    Only(Vec<String>),
}

impl ToolSet {
    /// Whether a tool is offered.
    #[must_use]
    pub fn offers(&self, tool: &str) -> bool {
        match self {
            Self::Preset => true,
            Self::Only(_) if tool.starts_with("mcp__") => true,
            Self::Only(names) => names.iter().any(|name| tool_name::is_listed(name, tool)),
        }
    }
}

/// The name of the preset in the Agent SDK reference.
const PRESET: &str = "claude_code";

#[derive(Serialize, Deserialize)]
struct PresetForm {
    #[serde(rename = "type")]
    kind: String,
    preset: String,
}

impl Serialize for ToolSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Only(names) => names.serialize(serializer),
            Self::Preset => PresetForm {
                kind: "preset".into(),
                preset: PRESET.into(),
            }
            .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ToolSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(deserializer)?;
        if !raw.is_object() {
            return raw.read().map(Self::Only).map_err(de::Error::custom);
        }
        let form: PresetForm = raw.read().map_err(de::Error::custom)?;
        if form.kind == "preset" && form.preset == PRESET {
            Ok(Self::Preset)
        } else {
            let problem =
                r#"`tools` is a list of names or {"type": "preset", "preset": "claude_code"}"#;
            Err(de::Error::custom(problem))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_just_these_an_empty_one_none_and_the_preset_all() {
        let read = |json: &str| serde_json::from_str::<ToolSet>(json);
        for (json, tool, expected) in [
            (r#"["Bash","Task"]"#, "Bash", true),
            (r#"["Bash","Task"]"#, "Agent", true),
            (r#"["Bash(git:*)"]"#, "Bash", true),
            (r#"["Bash"]"#, "Read", false),
            ("[]", "Read", false),
            ("[]", "mcp__a__b", true),
            (r#"{"type":"preset","preset":"claude_code"}"#, "Read", true),
        ] {
            let set = read(json).unwrap();
            assert_eq!(set.offers(tool), expected, "{json} {tool}");
            assert_eq!(serde_json::to_string(&set).unwrap(), json);
        }
        for bad in ["7", r#""Bash""#, r#"{"type":"preset","preset":"x"}"#] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
