//! Answers to the SDK's control requests.

use serde::Serialize;
use serde_json::{Value, json};

/// What becomes of a control request: exactly one of them a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// It was done; what it gives, if it gives anything.
    Success(Option<Value>),
    /// The engine is set up; what it offers. No question from before waits for an answer.
    Initialized(Value),
    /// It was not.
    Error(ReplyError),
}

/// Why a control request was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ReplyError {
    /// What is wrong, for the caller.
    pub text: String,
    /// A name for programs, where there is one (`invalid_mode`).
    pub code: Option<&'static str>,
}

impl ReplyError {
    /// An error with its text alone.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            code: None,
        }
    }

    /// An error with a name for programs.
    pub fn coded(code: &'static str, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            code: Some(code),
        }
    }

    /// A request that this engine does not know.
    #[must_use]
    pub fn unsupported(subtype: &str) -> Self {
        Self::coded(
            "unsupported_request",
            format!("Unsupported control request subtype: {subtype}"),
        )
    }
}

impl Reply {
    /// Done, with nothing to say.
    #[must_use]
    pub fn done() -> Self {
        Self::Success(None)
    }

    /// Done, with something to say.
    pub fn with(value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(value) => Self::Success(Some(value)),
            // Only maps whose keys are no strings; no reply has one, but if one had, the caller should hear of it.
            Err(error) => Self::Error(ReplyError::new(format!(
                "the reply cannot be encoded: {error}"
            ))),
        }
    }

    /// The frame.
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
