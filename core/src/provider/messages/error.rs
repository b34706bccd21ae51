//! Error responses and error events.

use alloc::{borrow::ToOwned, format, string::String};

use serde::Deserialize;

use crate::{message::ErrorClass, provider::ApiError};

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

/// What an error response means; the body may be anything.
pub(super) fn from_response(status: u16, body: &[u8]) -> ApiError {
    let said = match serde_json::from_slice::<Envelope>(body) {
        Ok(envelope) => describe(&envelope.error),
        Err(_) => excerpt(body),
    };
    let class = class_of_status(status);
    let advice = match class {
        ErrorClass::AuthenticationFailed => ": check the API key",
        ErrorClass::BillingError => ": check the account's credit",
        _ => "",
    };
    ApiError {
        class,
        status: Some(status),
        message: format!("API error {status}{advice} ({said})"),
        retryable: matches!(status, 408 | 409 | 429 | 500..=599),
    }
}

/// What an `error` event inside a stream means.
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
    ApiError {
        class,
        status: None,
        message: format!(
            "API error in the middle of the response ({})",
            describe(error)
        ),
        retryable,
    }
}

fn class_of_status(status: u16) -> ErrorClass {
    match status {
        401 | 403 => ErrorClass::AuthenticationFailed,
        402 => ErrorClass::BillingError,
        429 => ErrorClass::RateLimit,
        400..=499 => ErrorClass::InvalidRequest,
        500..=599 => ErrorClass::ServerError,
        _ => ErrorClass::Unknown,
    }
}

fn describe(error: &ErrorBody) -> String {
    match (error.kind.as_str(), error.message.as_str()) {
        ("", "") => "no details given".to_owned(),
        (kind, "") => kind.to_owned(),
        ("", message) => message.to_owned(),
        (kind, message) => format!("{kind}: {message}"),
    }
}

/// The beginning of a body that is not JSON, on one line.
pub(super) fn excerpt(body: &[u8]) -> String {
    const SHOWN: usize = 120;
    let head = &body[..body.len().min(4 * SHOWN)];
    let text = String::from_utf8_lossy(head);
    let mut line: String = text
        .split_whitespace()
        .flat_map(|word| [word, " "])
        .flat_map(str::chars)
        .take(SHOWN)
        .collect();
    line.truncate(line.trim_end().len());
    if line.is_empty() {
        "the body is empty".to_owned()
    } else {
        format!("the body begins with: {line}")
    }
}
