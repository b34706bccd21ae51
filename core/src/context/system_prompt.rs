//! The settings of the system prompt: none, a text, or the preset with additions and an output style (Agent SDK reference,
//! `systemPrompt`).

use alloc::{borrow::ToOwned, format, string::String};

use serde::{Deserialize, Serialize};

/// The system prompt.
///
/// In JSON null, a string, or `{"type":"preset","preset":"claude_code","append":"…"}` (Agent SDK reference,
/// `SystemPromptPreset`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PromptForm", into = "PromptForm")]
pub enum SystemPrompt {
    /// No system prompt.
    #[default]
    None,
    /// Only this text.
    Text(String),
    /// The preset (`claude_code`): an agent that develops software with tools.
    Preset {
        /// Text that is appended to it.
        append: Option<String>,
    },
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum PromptForm {
    Nothing(()),
    Text(String),
    Preset(PresetForm),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PresetForm {
    #[serde(rename = "type")]
    kind: PresetKind,
    preset: PresetName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    append: Option<String>,
}

#[derive(Clone, Serialize, Deserialize)]
enum PresetKind {
    #[serde(rename = "preset")]
    Preset,
}

#[derive(Clone, Serialize, Deserialize)]
enum PresetName {
    #[serde(rename = "claude_code")]
    ClaudeCode,
}

impl From<PromptForm> for SystemPrompt {
    fn from(form: PromptForm) -> Self {
        match form {
            PromptForm::Nothing(()) => Self::None,
            PromptForm::Text(text) => Self::Text(text),
            PromptForm::Preset(form) => Self::Preset {
                append: form.append,
            },
        }
    }
}

impl From<SystemPrompt> for PromptForm {
    fn from(prompt: SystemPrompt) -> Self {
        match prompt {
            SystemPrompt::None => Self::Nothing(()),
            SystemPrompt::Text(text) => Self::Text(text),
            SystemPrompt::Preset { append } => Self::Preset(PresetForm {
                kind: PresetKind::Preset,
                preset: PresetName::ClaudeCode,
                append,
            }),
        }
    }
}

impl From<&str> for SystemPrompt {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SystemPrompt {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl SystemPrompt {
    /// Appends a text, separated by an empty line.
    #[must_use]
    pub fn with_appended(self, more: &str) -> Self {
        let joined = |before: String| format!("{before}\n\n{more}");
        match self {
            Self::None => Self::Text(more.to_owned()),
            Self::Text(text) => Self::Text(joined(text)),
            Self::Preset { append } => Self::Preset {
                append: Some(append.map_or_else(|| more.to_owned(), joined)),
            },
        }
    }
}

/// An output style: how the agent writes. It modifies the preset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputStyle {
    /// Its name in settings.
    pub name: String,
    /// Its purpose, in a sentence.
    #[serde(default)]
    pub description: String,
    /// Instructions for the model.
    pub instructions: String,
    /// Whether the preset's rules for software development stay; otherwise the style replaces them.
    #[serde(default)]
    pub keep_coding_instructions: bool,
}

impl OutputStyle {
    /// The styles that ship with this version, besides the default one.
    #[must_use]
    pub fn built_in() -> [Self; 2] {
        [
            Self {
                name: "Explanatory".to_owned(),
                description: "Explains choices and the ways of the code base while working"
                    .to_owned(),
                instructions: EXPLANATORY.to_owned(),
                keep_coding_instructions: true,
            },
            Self {
                name: "Learning".to_owned(),
                description: "Leaves small, telling pieces of the work to the user".to_owned(),
                instructions: LEARNING.to_owned(),
                keep_coding_instructions: true,
            },
        ]
    }
}

const EXPLANATORY: &str = "\
The user wants to understand the work, not only to have it. Before and after a piece of it, add two or three sentences in your answer (not in the code) about what is interesting there: why this way and not another, which pattern of this code base it follows, what would go wrong otherwise. Speak of this code, not of programming in general. Apart from that be brief and concrete; name places in code as `path:line`.";

const LEARNING: &str = "\
The user wants to learn by doing. Do the routine parts yourself. Where a decision shapes the result (an algorithm, an interface, the treatment of an error), and five to ten lines would express it, leave these to the user: prepare the place, mark it with `TODO(human)`, explain in a few sentences what has to be decided and what speaks for each way, and wait. Look at what the user wrote, say honestly what you think of it, and go on. Leave at most one such place open at a time.";
