//! How a turn has ended, in the words of the protocol.

use serde_json::{Value, json};

use super::rpc::RpcError;

/// The answer to a prompt.
pub(super) fn stopped(reason: &str) -> Value {
    json!({ "stopReason": reason })
}

/// The reason why a turn has ended, by its result.
///
/// # Errors
/// The turn has failed, for this reason.
pub(super) fn outcome(result: &Value) -> Result<&'static str, RpcError> {
    match (result["subtype"].as_str(), result["stop_reason"].as_str()) {
        (Some("error_max_turns"), _) => Ok("max_turn_requests"),
        (_, Some("refusal")) => Ok("refusal"),
        _ if result["is_error"] == true => {
            let said = result["result"].as_str().map(ToOwned::to_owned);
            let errors = result["errors"].as_array().map(|errors| {
                let errors = errors.iter().filter_map(Value::as_str);
                errors.collect::<Vec<_>>().join("; ")
            });
            Err(RpcError::failed(said.or(errors).unwrap_or_default()))
        }
        (_, Some("max_tokens")) => Ok("max_tokens"),
        _ => Ok("end_turn"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_ends_for_a_reason_or_has_failed() {
        let reason = |result: Value| outcome(&result).map_err(|error| error.to_string());
        assert_eq!(
            reason(json!({"subtype": "success", "stop_reason": "end_turn"})),
            Ok("end_turn")
        );
        assert_eq!(
            reason(json!({"subtype": "success", "stop_reason": "refusal", "is_error": true})),
            Ok("refusal")
        );
        assert_eq!(
            reason(json!({"subtype": "success", "stop_reason": "max_tokens"})),
            Ok("max_tokens")
        );
        assert_eq!(
            reason(json!({"subtype": "error_max_turns", "is_error": true})),
            Ok("max_turn_requests")
        );
        let failed =
            json!({"subtype": "error_during_execution", "is_error": true, "errors": ["a", "b"]});
        assert_eq!(reason(failed), Err("a; b".to_owned()));
    }
}
