//! Structured output: the answer to a prompt as a value of a JSON Schema (LOOP-18).
//!
//! The model is offered one more tool, [`TOOL`], whose input is the answer; so it works with every provider that supports tools.
//! A valid call ends the run at once. An invalid call is answered with the validator's message, and an answer in plain text with
//! a reminder. After too many of them the run ends with `error_max_structured_output_retries`.

use alloc::{borrow::ToOwned, format, string::String};

use serde::{Deserialize, Serialize};

use crate::{
    json::RawJson,
    schema::{Schema, SchemaError, SchemaFaults},
    tool::ToolDefinition,
};

/// The tool through which the model gives its answer.
pub const TOOL: &str = "StructuredOutput";

/// Default number of retries after the first attempt.
pub const DEFAULT_RETRIES: u32 = 5;

const DESCRIPTION: &str = "Hands over the final answer. Its input is the answer itself, in exactly the form that \
is asked for. Call it once, alone, when everything else is done; what is only written as text does not count as the answer.";

/// The format of the answer (Agent SDK reference, `outputFormat`).
///
/// In JSON `{"schema": …, "max_retries": 5, "plain_text": "is_a_fault"}`; only the schema is required.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "OutputForm", into = "OutputForm")]
pub struct OutputFormat {
    tool: ToolDefinition,
    schema: Schema,
    /// How often the model may retry after an answer that was invalid or was not given through the tool.
    pub max_retries: u32,
    /// What happens after an answer in plain text.
    pub plain_text: PlainText,
}

/// What happens when the model ends its turn without having called [`TOOL`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlainText {
    /// The model is asked again, as after an invalid answer. For programs, which cannot continue without the value.
    #[default]
    IsAFault,
    /// The model is reminded once. A second answer in plain text is accepted, and the result has no `structured_output`. This is
    /// what the SDKs' engine does.
    IsRemindedOnce,
}

impl OutputFormat {
    /// An output format with this schema. It must say `"type": "object"`, as every tool's input schema does.
    ///
    /// # Errors
    /// [`SchemaError`]: the text is not a schema, or a schema of something other than an object.
    pub fn new(schema: RawJson) -> Result<Self, SchemaError> {
        let read = Schema::read(schema.get())?;
        if !read.is_of_objects() {
            return Err(SchemaError {
                place: "#/type".to_owned(),
                problem: "structured output is an object: put other values into a field of one"
                    .to_owned(),
            });
        }
        Ok(Self {
            tool: ToolDefinition::new(TOOL, DESCRIPTION, schema),
            schema: read,
            max_retries: DEFAULT_RETRIES,
            plain_text: PlainText::default(),
        })
    }

    /// The tool as it is offered to the model.
    #[must_use]
    pub fn tool(&self) -> &ToolDefinition {
        &self.tool
    }

    /// Checks an answer.
    ///
    /// # Errors
    /// [`SchemaFaults`]: everything that does not match the schema.
    pub fn validate(&self, answer: &RawJson) -> Result<(), SchemaFaults> {
        self.schema.validate(answer.get())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputForm {
    schema: RawJson,
    #[serde(default)]
    max_retries: Option<u32>,
    #[serde(default)]
    plain_text: PlainText,
}

impl TryFrom<OutputForm> for OutputFormat {
    type Error = String;

    fn try_from(form: OutputForm) -> Result<Self, String> {
        let format =
            Self::new(form.schema).map_err(|error| format!("the schema is unusable {error}"))?;
        Ok(Self {
            max_retries: form.max_retries.unwrap_or(format.max_retries),
            plain_text: form.plain_text,
            ..format
        })
    }
}

impl From<OutputFormat> for OutputForm {
    fn from(format: OutputFormat) -> Self {
        Self {
            schema: format.tool.input_schema,
            max_retries: Some(format.max_retries),
            plain_text: format.plain_text,
        }
    }
}

/// The message for the model when its answer does not match the schema.
pub(crate) fn misfit(faults: &SchemaFaults) -> String {
    format!(
        "The answer does not fit its schema: {faults}. Call {TOOL} again with all of this put right."
    )
}

/// The message for the model when it answered in plain text.
pub(crate) const REMINDER: &str = "The answer was not handed over yet. Call the tool StructuredOutput with the final answer as its input.";
