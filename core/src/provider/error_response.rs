//! Error handling that all wire formats share.

use alloc::{borrow::ToOwned, format, string::String};

use super::{ApiError, WireError};
use crate::{json::Fault, model::ErrorClass};

/// The error for a response with this status and this message of the server.
pub(super) fn of_status(status: u16, said: &str) -> ApiError {
    of_class(class_of_status(status), status, said)
}

/// The same if the server's message determines the class better than the status.
pub(super) fn of_class(class: ErrorClass, status: u16, said: &str) -> ApiError {
    let advice = match class {
        ErrorClass::AuthenticationFailed => ": check the API key",
        ErrorClass::BillingError => ": check the account's credit",
        _ => "",
    };
    ApiError {
        class,
        status: Some(status),
        message: format!("API error {status}{advice} ({said})"),
        retryable: retryable(status),
        too_long: status == 413 || (status == 400 && is_too_long(said)),
    }
}

/// An error that was reported within a response.
pub(super) fn in_stream(class: ErrorClass, retryable: bool, said: &str) -> ApiError {
    ApiError {
        class,
        status: None,
        message: format!("API error in the middle of the response ({said})"),
        retryable,
        too_long: is_too_long(said),
    }
}

/// Whether this message says that the conversation is too long; few servers have a code for that.
fn is_too_long(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    [
        "prompt is too long",
        "exceed context limit",
        "context window",
        "context length",
        "context_length",
        "context size",
    ]
    .iter()
    .any(|words| said.contains(words))
}

/// Whether the same request may succeed later.
pub(super) fn retryable(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

pub(super) fn class_of_status(status: u16) -> ErrorClass {
    match status {
        401 | 403 => ErrorClass::AuthenticationFailed,
        402 => ErrorClass::BillingError,
        429 => ErrorClass::RateLimit,
        400..=499 => ErrorClass::InvalidRequest,
        500..=599 => ErrorClass::ServerError,
        _ => ErrorClass::Unknown,
    }
}

/// The type and the message of an error combined.
pub(super) fn describe(kind: &str, message: &str) -> String {
    match (kind, message) {
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

/// A stream event that is not JSON.
pub(super) fn garbled_event(data: &[u8], error: &Fault) -> WireError {
    WireError::garbled(&format!(
        "an event is not JSON ({error}); {}",
        excerpt(data)
    ))
}
