//! AskUserQuestion: questions with choices for the user (Agent SDK reference, `AskUserQuestionInput`, `AskUserQuestionOutput`).
//!
//! The questions are asked through the permission request: whoever decides about the call shows the questions to the user and
//! allows it with an input that has an additional field `answers`, from question to text. Nobody else can fill it in: answers
//! that the model writes are removed before anybody sees them.

use alloc::{format, string::String, vec::Vec};

use serde::{Deserialize, Deserializer, Serialize};

use super::{Done, answered};
use crate::{
    json::{RawJson, RawObject},
    sorted::SortedMap,
};

pub(super) const DESCRIPTION: &str = "Asks the person up to four questions, each with two to four choices, and waits for the answers. \
Use it when the work depends on a preference, a decision or a fact that only they can give; not for what you can find out yourself, \
and not to have a plan approved. Besides the choices they can always answer in their own words, so offer no `Other`. \
Put the choice that you would take first and say so in its label. Set multiSelect where several choices can hold together.";

pub(super) const INPUT_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "questions": {
      "type": "array",
      "minItems": 1,
      "maxItems": 4,
      "items": {
        "type": "object",
        "properties": {
          "question": { "type": "string", "minLength": 1, "description": "The whole question, ending with a question mark" },
          "header": { "type": "string", "minLength": 1, "maxLength": 12, "description": "A word or two that stands for the question where space is short" },
          "options": {
            "type": "array",
            "minItems": 2,
            "maxItems": 4,
            "items": {
              "type": "object",
              "properties": {
                "label": { "type": "string", "minLength": 1, "description": "The choice in one to five words" },
                "description": { "type": "string", "description": "What it means, or what follows from it" }
              },
              "required": ["label", "description"]
            }
          },
          "multiSelect": { "type": "boolean", "description": "Whether several choices may be taken" }
        },
        "required": ["question", "header", "options", "multiSelect"]
      }
    }
  },
  "required": ["questions"]
}"#;

/// The field of the input with the user's answers.
const ANSWERS: &str = "answers";

/// The input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskUserQuestionInput {
    /// One to four questions.
    pub questions: Vec<Question>,
    /// The user's answers by question. Set by whoever asked the questions, never by the model.
    #[serde(default)]
    pub answers: Option<Answers>,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The whole question.
    pub question: String,
    /// A short label for the question: at most 12 characters.
    pub header: String,
    /// Two to four choices.
    pub options: Vec<Choice>,
    /// Whether several choices may be selected.
    pub multi_select: bool,
}

/// A choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Its label.
    pub label: String,
    /// Its meaning.
    pub description: String,
}

/// Answers by question, in the order in which they were given. Several choices are one text, separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers(pub Vec<(String, String)>);

impl Serialize for Answers {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(question, answer)| (question, answer)))
    }
}

impl<'de> Deserialize<'de> for Answers {
    /// Several choices may also be a list of texts.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Given {
            One(String),
            Several(Vec<String>),
        }
        impl Given {
            fn into_text(self) -> String {
                match self {
                    Self::One(text) => text,
                    Self::Several(texts) => texts.join(", "),
                }
            }
        }
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Answers;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("an object from question to answer")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Answers, A::Error> {
                let mut answers = Vec::new();
                while let Some((question, answer)) = map.next_entry::<String, Given>()? {
                    answers.push((question, answer.into_text()));
                }
                Ok(Answers(answers))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

/// The structured output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskUserQuestionOutput {
    /// The questions.
    pub questions: Vec<Question>,
    /// The answers; a question that is missing was not answered.
    pub answers: Answers,
}

/// Removes the answers from the model's input, which only a person may give.
pub(super) fn without_answers(input: RawJson) -> RawJson {
    match RawObject::parse(input.get()) {
        Ok(mut object) if object.get(ANSWERS).is_some() => {
            object.remove(ANSWERS);
            object.to_raw()
        }
        _ => input,
    }
}

/// Checks what the schema cannot express: the questions, and the choices of each, must differ from each other.
pub(super) fn fault(input: &RawJson) -> Option<String> {
    let input: AskUserQuestionInput = match input.read() {
        Ok(input) => input,
        Err(error) => return Some(format!("The input cannot be used: {error}")),
    };
    if let Some(question) = twice(input.questions.iter().map(|q| &q.question)) {
        return Some(format!(
            "The question `{question}` is asked twice: every question must differ from the others."
        ));
    }
    input.questions.iter().find_map(|question| {
        let label = twice(question.options.iter().map(|option| &option.label))?;
        Some(format!(
            "The question `{}` offers `{label}` twice: every choice needs a label of its own.",
            question.question
        ))
    })
}

/// The first text that occurs twice.
fn twice<'a>(mut texts: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let mut seen = SortedMap::new();
    texts.find(|text| seen.insert(text.trim(), ()).is_some())
}

pub(super) fn run(input: AskUserQuestionInput) -> Done {
    let mut answers = input.answers.unwrap_or_default();
    answers.0.retain(|(_, answer)| !answer.trim().is_empty());
    let output = AskUserQuestionOutput {
        questions: input.questions,
        answers,
    };
    answered(summary(&output), &output).into()
}

fn summary(output: &AskUserQuestionOutput) -> String {
    let answers = &output.answers.0;
    if answers.is_empty() {
        return "The questions were put, but nobody answered. Decide by what you know, and say what you assumed."
            .into();
    }
    let mut text = String::from("The person answered:");
    for (question, answer) in answers {
        text.push_str(&format!("\n- {question} {answer}"));
    }
    let left = (output.questions.iter()).filter(|asked| {
        let is_it = |(question, _): &(String, String)| *question == asked.question;
        !answers.iter().any(is_it)
    });
    for question in left {
        text.push_str(&format!("\n- {} (no answer)", question.question));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_several_choices_are_one_text() {
        let given = r#"{"Which?":["A","B"],"Why?":"so"}"#;
        let answers: Answers = serde_json::from_str(given).unwrap();
        let encoded = RawJson::encode(&answers).unwrap();
        assert_eq!(encoded.get(), r#"{"Which?":"A, B","Why?":"so"}"#);
    }

    #[test]
    fn the_models_own_answers_are_dropped_and_nothing_else() {
        let input = r#"{"answers":{"q":"A"},"questions":[1.50]}"#;
        let stripped = without_answers(RawJson::parse(input).unwrap());
        assert_eq!(stripped.get(), r#"{"questions":[1.50]}"#);
    }
}
