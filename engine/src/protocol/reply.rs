//! Replies to the SDK's control requests.

use serde::Serialize;
use serde_json::{Value, json};

/// The reply to a control request; each request gets exactly one.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Success, with the result if there is one.
    Success(Option<Value>),
    /// The reply to `initialize`, with the engine's offer. No earlier request of the engine is open.
    Initialized(Value),
    /// An error.
    Error(ReplyError),
}

/// Why a control request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ReplyError {
    /// The problem, for the caller.
    pub text: String,
    /// A machine-readable code, if there is one (`invalid_mode`).
    pub code: Option<&'static str>,
}

impl ReplyError {
    /// An error without a code.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            code: None,
        }
    }

    /// An error with a code.
    pub fn coded(code: &'static str, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            code: Some(code),
        }
    }

    /// The error for an unknown request.
    #[must_use]
    pub fn unsupported(subtype: &str) -> Self {
        Self::coded(
            "unsupported_request",
            format!("Unsupported control request subtype: {subtype}"),
        )
    }
}

impl Reply {
    /// Success without a result.
    #[must_use]
    pub fn done() -> Self {
        Self::Success(None)
    }

    /// Success with a result.
    pub fn with(value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(value) => Self::Success(Some(value)),
            // Encoding fails only for maps with non-string keys, which no reply contains; the caller would be told.
            Err(error) => Self::Error(ReplyError::new(format!(
                "the reply cannot be encoded: {error}"
            ))),
        }
    }

    /// The reply as a frame.
    #[must_use]
    pub fn to_frame(&self, request_id: &str) -> Value {
        let response = match self {
            Self::Success(None) => json!({"subtype": "success", "request_id": request_id}),
            Self::Success(Some(value)) => {
                json!({"subtype": "success", "request_id": request_id, "response": value})
            }
            Self::Initialized(value) => json!({
                "subtype": "success", "request_id": request_id, "response": value,
                "pending_permission_requests": [], "pending_user_dialog_requests": [],
            }),
            Self::Error(error) => {
                let mut response =
                    json!({"subtype": "error", "request_id": request_id, "error": error.text});
                if let Some(code) = error.code {
                    response["error_code"] = code.into();
                }
                response
            }
        };
        json!({"type": "control_response", "response": response})
    }
}

impl From<ReplyError> for Reply {
    fn from(error: ReplyError) -> Self {
        Self::Error(error)
    }
}

impl<E: Into<ReplyError>> From<Result<Value, E>> for Reply {
    fn from(result: Result<Value, E>) -> Self {
        match result {
            Ok(value) => Self::Success(Some(value)),
            Err(error) => Self::Error(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_names_its_request_inside() {
        assert_eq!(
            Reply::done().to_frame("r1"),
            json!({"type": "control_response", "response": {"subtype": "success", "request_id": "r1"}})
        );
        assert_eq!(
            Reply::with(json!({"mode": "plan"})).to_frame("r2")["response"]["response"]["mode"],
            "plan"
        );
        let initialized = Reply::Initialized(json!({"models": []})).to_frame("r0");
        assert_eq!(
            initialized["response"]["pending_permission_requests"],
            json!([])
        );
        let error = Reply::from(ReplyError::unsupported("dance")).to_frame("r3");
        assert_eq!(
            error["response"],
            json!({"subtype": "error", "request_id": "r3",
                "error": "Unsupported control request subtype: dance", "error_code": "unsupported_request"})
        );
    }
}
