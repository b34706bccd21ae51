//! Return values of closures.

use std::fmt::Display;

use serde::Serialize;
use windlass_core::{RawJson, tool::ToolResult};

/// A value that a tool may return. The model reads it as text.
///
/// Implemented for text, numbers, `bool`, `()`, [`serde_json::Value`], any `Serialize` inside [`Json`],
/// [`ToolResult`] for everything else that a result can hold, and a [`Result`] of any of these. An error goes to the
/// model as an error result, and the conversation continues.
pub trait IntoToolResult {
    /// The result of the call.
    fn into_tool_result(self) -> ToolResult;
}

/// A value as JSON: the model reads the text, and programs find the value in `tool_use_result`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> ToolResult {
        match RawJson::encode(&self.0) {
            Ok(json) => ToolResult {
                structured: Some(json.clone()),
                ..ToolResult::text(json.get())
            },
            Err(error) => ToolResult::error(format!("The tool's result is not JSON: {error}")),
        }
    }
}

impl IntoToolResult for serde_json::Value {
    fn into_tool_result(self) -> ToolResult {
        Json(self).into_tool_result()
    }
}

impl IntoToolResult for RawJson {
    fn into_tool_result(self) -> ToolResult {
        Json(self).into_tool_result()
    }
}

impl IntoToolResult for ToolResult {
    fn into_tool_result(self) -> ToolResult {
        self
    }
}

/// Success without output.
impl IntoToolResult for () {
    fn into_tool_result(self) -> ToolResult {
        ToolResult::text("Done.")
    }
}

impl<T: IntoToolResult, E: Display> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> ToolResult {
        match self {
            Ok(value) => value.into_tool_result(),
            Err(error) => ToolResult::error(error.to_string()),
        }
    }
}

macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl IntoToolResult for $type {
            fn into_tool_result(self) -> ToolResult {
                ToolResult::text(self.to_string())
            }
        }
    )*};
}
as_text!(
    String, &str, bool, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64
);
