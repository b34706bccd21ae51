//! Answers that fail: which class, and whether asking again may help.

use serde_json::{Value, json};
use windlass_core::{message::ErrorClass, provider::ApiError};

use super::{decode, exchange, formats, head_and_body};

/// What each format makes of the same failure.
fn failures(respond: &Value) -> Vec<(&'static str, ApiError)> {
    formats()
        .into_iter()
        .map(|(format, provider)| {
            let (status, kind, body) = head_and_body(&exchange(&provider, respond, true));
            let error = match status {
                200 => decode(&*provider, &kind, &[&body])
                    .unwrap_err()
                    .into_api_error(),
                _ => provider.error(status, &body),
            };
            (format, error)
        })
        .collect()
}

#[test]
fn error_responses_have_the_same_class_in_every_format() {
    use ErrorClass::*;
    for (kind, status, class, retryable) in [
        ("invalid_request_error", 400, InvalidRequest, false),
        ("authentication_error", 401, AuthenticationFailed, false),
        ("billing_error", 402, BillingError, false),
        ("permission_error", 403, AuthenticationFailed, false),
        ("not_found_error", 404, InvalidRequest, false),
        ("request_too_large", 413, InvalidRequest, false),
        ("rate_limit_error", 429, RateLimit, true),
        ("api_error", 500, ServerError, true),
        ("timeout_error", 504, ServerError, true),
        ("overloaded_error", 529, ServerError, true),
    ] {
        let respond = json!({"error": {"type": kind, "message": "because"}});
        for (format, error) in failures(&respond) {
            assert_eq!(error.class, class, "{format} {kind}");
            assert_eq!(error.retryable, retryable, "{format} {kind}");
            assert_eq!(error.status, Some(status), "{format} {kind}");
            let words = format!("{kind}: because");
            assert!(
                error.message.contains(&words),
                "{format}: {}",
                error.message
            );
        }
    }
}

#[test]
fn error_responses_may_be_anything() {
    use ErrorClass::*;
    for (status, body, class, retryable, words) in [
        (
            502,
            "<html>\n<h1>Bad Gateway</h1>",
            ServerError,
            true,
            "<h1>Bad Gateway",
        ),
        (503, "", ServerError, true, "empty"),
        (408, "too slow", InvalidRequest, true, "too slow"),
        (
            409,
            "{\"error\":{}}",
            InvalidRequest,
            true,
            "no details given",
        ),
        (418, "[]", InvalidRequest, false, "[]"),
        (429, "slow down", RateLimit, true, "slow down"),
    ] {
        for (format, error) in failures(&json!({"status": status, "body": body})) {
            assert_eq!(error.class, class, "{format} {status}");
            assert_eq!(error.retryable, retryable, "{format} {status}");
            assert!(error.message.contains(words), "{format}: {}", error.message);
        }
    }
}

#[test]
fn an_error_in_the_middle_of_a_stream_ends_it() {
    use ErrorClass::*;
    for (kind, class, retryable) in [
        ("overloaded_error", ServerError, true),
        ("rate_limit_error", RateLimit, true),
        ("invalid_request_error", InvalidRequest, false),
        ("tomorrow_error", Unknown, true),
    ] {
        let respond = json!({"text": "Hello there.", "stream": {"delta_chars": 2}, "faults": [
            {"after_events": 4, "error": {"type": kind, "message": "because"}}
        ]});
        for (format, error) in failures(&respond) {
            assert_eq!(error.class, class, "{format} {kind}");
            assert_eq!(error.retryable, retryable, "{format} {kind}");
            assert!(
                error.message.contains("because"),
                "{format}: {}",
                error.message
            );
        }
    }
}

#[test]
fn what_is_no_response_is_named() {
    for (body, kind, retryable, words) in [
        ("<html>Log in</html>", "text/html", false, "<html>Log in"),
        (
            "{\"hello\": 1}",
            "application/json",
            false,
            "check the base URL",
        ),
        (
            "{\"model\": \"m\", \"choices\": [{\"ind",
            "application/json",
            true,
            "closed the stream",
        ),
        ("", "application/json", false, "the body is empty"),
        ("data: <html>\n\n", "text/event-stream", true, "<html>"),
        ("", "text/event-stream", true, "closed the stream"),
    ] {
        let respond = json!({"body": body, "headers": {"content-type": kind}});
        for (format, error) in failures(&respond) {
            assert_eq!(error.retryable, retryable, "{format} {body}");
            assert!(error.message.contains(words), "{format}: {}", error.message);
        }
    }
}
