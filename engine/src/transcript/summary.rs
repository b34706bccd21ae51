//! What lists show of a session, and what was said in it, without taking it up.

use serde::Deserialize;
use windlass_core::RawJson;

/// The title and the prompts of a session, as far as its lines say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The title that somebody gave it.
    pub title: Option<String>,
    /// The title that a model gave it. This engine asks none for one; Claude Code does.
    pub generated_title: Option<String>,
    /// What was said first.
    pub first_prompt: Option<String>,
    /// How many prompts there were.
    pub prompts: usize,
}

/// Something that was said in a session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Said {
    /// By the person, or by a program in their place.
    Prompt(String),
    /// By the model.
    Answer(String),
    /// The model called a tool.
    Call {
        /// The tool.
        tool: String,
        /// What it was called with.
        input: RawJson,
    },
}

/// As much of a line as is looked at here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    r#type: String,
    #[serde(default)]
    custom_title: Option<String>,
    #[serde(default)]
    ai_title: Option<String>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    content: RawJson,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    input: Option<RawJson>,
}

impl Summary {
    /// From the lines of a transcript. What is no line of one is passed over.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut summary = Self::default();
        for line in lines(text) {
            if let Some(title) = &line.custom_title {
                summary.title = Some(title.clone());
            }
            if let Some(title) = &line.ai_title {
                summary.generated_title = Some(title.clone());
            }
            for said in said_in(&line) {
                if let Said::Prompt(prompt) = said {
                    summary.prompts += 1;
                    summary.first_prompt.get_or_insert(prompt);
                }
            }
        }
        summary
    }

    /// What stands for the session in a list: the title that somebody gave it, else the one that a model gave it, else what
    /// was said first.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        let names = [&self.title, &self.generated_title, &self.first_prompt];
        names.into_iter().find_map(Option::as_deref)
    }
}

/// What was said, in the order of the lines: prompts, answers and calls, without results and subagents.
pub fn said(text: &str) -> impl Iterator<Item = Said> {
    lines(text).flat_map(|line| said_in(&line))
}

fn lines(text: &str) -> impl Iterator<Item = Line> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
}

fn said_in(line: &Line) -> Vec<Said> {
    let Some(message) = line.message.as_ref().filter(|_| !line.is_sidechain) else {
        return Vec::new();
    };
    let is_prompt = match line.r#type.as_str() {
        "user" => true,
        "assistant" => false,
        _ => return Vec::new(),
    };
    let of_text = |text: String| match is_prompt {
        true => Said::Prompt(text),
        false => Said::Answer(text),
    };
    if is_prompt && line.is_meta {
        return Vec::new();
    }
    if let Ok(text) = message.content.decode::<String>() {
        return vec![of_text(text)];
    }
    let blocks: Vec<Block> = message.content.decode().unwrap_or_default();
    let said = blocks
        .into_iter()
        .filter_map(|block| match block.r#type.as_str() {
            "text" => Some(of_text(block.text)),
            "tool_use" => Some(Said::Call {
                tool: block.name,
                input: block.input?,
            }),
            _ => None,
        });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = concat!(
        r#"{"type":"user","message":{"role":"user","content":"Look around."}}"#,
        "\n",
        r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look."},{"type":"tool_use","id":"t","name":"Glob","input":{"pattern":"*"}}]}}"#,
        "\n",
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"a"}]}}"#,
        "\n",
        r#"{"type":"user","isSidechain":true,"message":{"content":"of a subagent"}}"#,
        "\nhalf a line\n",
        r#"{"type":"custom-title","customTitle":"Looking","sessionId":"s"}"#,
        "\n",
        r#"{"type":"user","message":{"content":[{"type":"text","text":"And now?"}]}}"#,
        "\n",
    );

    #[test]
    fn sess_2_a_summary_has_title_and_first_prompt() {
        let expected = Summary {
            title: Some("Looking".to_owned()),
            generated_title: None,
            first_prompt: Some("Look around.".to_owned()),
            prompts: 2,
        };
        assert_eq!(Summary::read(LINES), expected);
        assert_eq!(Summary::read(""), Summary::default());
    }

    #[test]
    fn sess_5_a_title_that_somebody_gave_comes_before_a_generated_one_and_that_before_the_prompt() {
        const GENERATED: &str =
            "{\"type\":\"ai-title\",\"aiTitle\":\"A look around\",\"sessionId\":\"s\"}\n";
        let prompt = LINES.lines().next().unwrap();
        assert_eq!(Summary::read(prompt).name(), Some("Look around."));
        let generated = format!("{prompt}\n{GENERATED}");
        assert_eq!(Summary::read(&generated).name(), Some("A look around"));
        let both = format!("{LINES}{GENERATED}");
        assert_eq!(Summary::read(&both).name(), Some("Looking"));
        assert_eq!(Summary::default().name(), None);
    }

    #[test]
    fn what_was_said_is_without_results_and_subagents() {
        let expected = [
            Said::Prompt("Look around.".to_owned()),
            Said::Answer("I look.".to_owned()),
            Said::Call {
                tool: "Glob".to_owned(),
                input: RawJson::parse(r#"{"pattern":"*"}"#).unwrap(),
            },
            Said::Prompt("And now?".to_owned()),
        ];
        assert_eq!(said(LINES).collect::<Vec<_>>(), expected);
    }
}
