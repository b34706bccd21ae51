//! Errors, in the various forms that servers of this format use.

use alloc::{borrow::ToOwned, format, string::String};

use serde_json::value::RawValue;

use crate::{
    json::{RawJson, RawObject},
    model::ErrorClass,
    provider::{ApiError, error_response as response},
};

/// The error information in a server's response.
#[derive(Debug, Default)]
struct Said {
    kind: String,
    message: String,
    /// A name (`insufficient_quota`), or a status as a number.
    code: String,
}

/// Interprets an error response; the body may be anything.
pub(super) fn from_response(status: u16, body: &[u8]) -> ApiError {
    let Some(said) = core::str::from_utf8(body).ok().and_then(Said::in_body) else {
        return response::of_status(status, &response::excerpt(body));
    };
    let words = said.words();
    match said.class() {
        // Sent with status 429, like a temporary rate limit, but waiting does not help.
        Some((ErrorClass::BillingError, _)) => ApiError {
            retryable: false,
            ..response::of_class(ErrorClass::BillingError, status, &words)
        },
        _ => response::of_status(status, &words),
    }
}

/// Interprets an error within a stream, or in place of a completion.
pub(super) fn in_stream(raw: &RawValue) -> ApiError {
    let said = Said::of_value(&RawJson::from(raw)).unwrap_or_default();
    let (class, retryable) = said.class().unwrap_or((ErrorClass::Unknown, true));
    response::in_stream(class, retryable, &said.words())
}

/// The finish reason is `error`, without further information.
pub(super) fn unexplained() -> ApiError {
    response::in_stream(ErrorClass::ServerError, true, "no details given")
}

impl Said {
    fn in_body(body: &str) -> Option<Self> {
        if let Ok(object) = RawObject::parse(body) {
            // `error` is an object, or a text (Ollama); `detail` is used by FastAPI; vLLM sends the object itself.
            let inner = object.get("error").or_else(|| object.get("detail"));
            return match inner {
                Some(value) => Self::of_value(value),
                None if object.get("message").is_some() => Some(Self::of_object(&object)),
                None => None,
            };
        }
        // Google sends a list with one element.
        let list: alloc::vec::Vec<RawJson> = crate::json::read::from_str(body).ok()?;
        Self::in_body(list.first().filter(|first| first.is_object())?.get())
    }

    fn of_value(value: &RawJson) -> Option<Self> {
        if let Ok(object) = RawObject::parse(value.get()) {
            return Some(Self::of_object(&object));
        }
        let message = match value.read::<String>() {
            Ok(text) => text,
            Err(_) if value.get() == "null" => return None,
            Err(_) => response::excerpt(value.get().as_bytes()),
        };
        Some(Self {
            message,
            ..Self::default()
        })
    }

    fn of_object(object: &RawObject) -> Self {
        let text = |key| object.get_string(key).unwrap_or_default();
        let code = object.get("code").map(RawJson::get).unwrap_or_default();
        Self {
            kind: text("type"),
            message: text("message"),
            code: code.trim_matches('"').to_owned(),
        }
    }

    fn words(&self) -> String {
        let kind = match self.code.as_str() {
            "" | "null" => self.kind.clone(),
            code if self.kind.is_empty() => code.to_owned(),
            code if code == self.kind => code.to_owned(),
            code => format!("{}, {code}", self.kind),
        };
        response::describe(&kind, &self.message)
    }

    /// The class of the error and whether it may be retried, if the names or a status in the code determine it.
    fn class(&self) -> Option<(ErrorClass, bool)> {
        let named = |name: &str| self.code == name || self.kind == name;
        if named("insufficient_quota") || named("billing_not_active") {
            return Some((ErrorClass::BillingError, false));
        }
        if let Ok(status @ 400..=599) = self.code.parse::<u16>() {
            let class = response::class_of_status(status);
            return Some((class, response::retryable(status)));
        }
        Some(match self.kind.as_str() {
            "rate_limit_error" | "rate_limit_exceeded" | "requests" | "tokens" => {
                (ErrorClass::RateLimit, true)
            }
            "authentication_error" | "permission_error" => {
                (ErrorClass::AuthenticationFailed, false)
            }
            "invalid_request_error" | "not_found_error" | "BadRequestError" => {
                (ErrorClass::InvalidRequest, false)
            }
            "server_error" | "api_error" | "overloaded_error" | "InternalServerError" => {
                (ErrorClass::ServerError, true)
            }
            _ => return None,
        })
    }
}
