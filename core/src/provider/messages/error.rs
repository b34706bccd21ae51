//! Error responses and error events.

use alloc::string::String;

use serde::Deserialize;

use crate::{
    model::ErrorClass,
    provider::{
        ApiError,
        error_response::{describe, excerpt, in_stream, of_status},
    },
};

/// The `error` object of the Messages API.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ErrorBody {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct Envelope {
    error: ErrorBody,
}

impl ErrorBody {
    fn described(&self) -> String {
        describe(&self.kind, &self.message)
    }
}

/// Interprets an error response; the body may be anything.
pub(super) fn from_response(status: u16, body: &[u8]) -> ApiError {
    let said = match crate::json::read::from_slice::<Envelope>(body) {
        Ok(envelope) => envelope.error.described(),
        Err(_) => excerpt(body),
    };
    of_status(status, &said)
}

/// Interprets an `error` event within a stream.
pub(super) fn from_event(error: &ErrorBody) -> ApiError {
    let (class, retryable) = match error.kind.as_str() {
        "authentication_error" | "permission_error" => (ErrorClass::AuthenticationFailed, false),
        "billing_error" => (ErrorClass::BillingError, false),
        "rate_limit_error" => (ErrorClass::RateLimit, true),
        "invalid_request_error" | "not_found_error" | "request_too_large" => {
            (ErrorClass::InvalidRequest, false)
        }
        "api_error" | "overloaded_error" | "timeout_error" => (ErrorClass::ServerError, true),
        _ => (ErrorClass::Unknown, true),
    };
    in_stream(class, retryable, &error.described())
}
