//! What a closure may give back.

use std::fmt::Display;

use serde::Serialize;
use windlass_core::{RawJson, tool::ToolResult};

/// A value that a tool may return. The model reads it as text.
///
/// Implemented for text, numbers and `bool`, `()`, [`serde_json::Value`], any `Serialize` inside [`Json`],
/// [`ToolResult`] itself for everything else that a result can carry, and a [`Result`] of any of these: its
/// error is told to the model, and the loop goes on.
pub trait IntoToolResult {
    /// The result of the call.
    fn into_tool_result(self) -> ToolResult;
}

/// A value as JSON: the model reads the text, programs find it in `tool_use_result`.
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

/// Done, and there is nothing to tell.
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
