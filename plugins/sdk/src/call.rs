//! Reading a call and building its result.

use serde::{Serialize, de::DeserializeOwned};

use crate::{Content, Image, Observation, ToolCall, ToolResult};

/// Why a tool failed, in the words the model reads: what, where and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(String);

impl ToolError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl From<String> for ToolError {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<ToolError> for ToolResult {
    fn from(error: ToolError) -> Self {
        Self {
            is_error: true,
            ..Self::text(error.0)
        }
    }
}

impl ToolCall {
    /// Reads the input into a type.
    ///
    /// # Errors
    /// [`ToolError`] with the name of the tool and what does not fit, if the input is not of that shape. The host has
    /// checked the input against the declared schema, so this happens where the two disagree.
    pub fn parse_input<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_str(&self.input).map_err(|error| {
            ToolError::new(format!("The input of {} does not fit: {error}.", self.name))
        })
    }

    /// The observations of this file by earlier calls, oldest first.
    pub fn observations<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Observation> {
        self.observed
            .iter()
            .filter(move |observation| observation.path == path)
    }
}

impl ToolResult {
    /// A successful text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Text(text.into())],
            is_error: false,
            structured: None,
            observed: Vec::new(),
        }
    }

    /// A successful image. `media_type` is `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub fn image(media_type: impl Into<String>, data: Vec<u8>) -> Self {
        Self {
            content: vec![Content::Image(Image {
                media_type: media_type.into(),
                data,
            })],
            is_error: false,
            structured: None,
            observed: Vec::new(),
        }
    }

    /// Adds the structured output for programs.
    ///
    /// # Errors
    /// [`ToolError`] if the value has no JSON form (a map with keys that are not strings).
    pub fn with_structured<T: Serialize + ?Sized>(mut self, value: &T) -> Result<Self, ToolError> {
        self.structured = Some(structured(value)?);
        Ok(self)
    }

    /// Adds a file that this call saw or wrote.
    #[must_use]
    pub fn with_observation(mut self, observation: Observation) -> Self {
        self.observed.push(observation);
        self
    }
}

/// The structured output for programs as JSON text.
pub(crate) fn structured<T: Serialize + ?Sized>(value: &T) -> Result<String, ToolError> {
    serde_json::to_string(value).map_err(|error| {
        ToolError::new(format!("The structured output has no JSON form: {error}."))
    })
}
