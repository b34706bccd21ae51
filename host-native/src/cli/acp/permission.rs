//! Questions of the engine about calls, as the editor asks them.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::{
    effect::{PermissionRequest, PermissionResponse},
    permission::{Destination, Mode, PermissionUpdate, visible_line},
    tools::CoreTool,
};

use super::tool_call::Shown;
use crate::cli::question::lasting;

/// Runs this call.
const ALLOW: &str = "allow";

/// Runs this call, and others of its kind in this session.
const ALWAYS: &str = "allow_always";

/// Does not run it.
const REJECT: &str = "reject";

/// The question about a call.
pub(super) fn question(session: &str, request: &PermissionRequest, cwd: &Path) -> Value {
    let input: Value = request.input.decode().unwrap_or_default();
    let mut call = Shown::of(&request.tool_name, &input, cwd).fields();
    call["toolCallId"] = request.tool_use_id.clone().into();
    call["rawInput"] = input;
    json!({"sessionId": session, "toolCall": call, "options": options(request)})
}

fn options(request: &PermissionRequest) -> Vec<Value> {
    let option = |id, name: &str, kind| json!({"optionId": id, "name": name, "kind": kind});
    if is_plan(request) {
        return vec![
            option(ALWAYS, "Yes, and accept edits", "allow_always"),
            option(ALLOW, "Yes, and ask about edits", "allow_once"),
            option(REJECT, "No, keep planning", "reject_once"),
        ];
    }
    let always = lasting(request).map(|update| {
        let name = format!("Allow {} in this session", words(&update));
        option(ALWAYS, &name, "allow_always")
    });
    let once = option(ALLOW, "Allow", "allow_once");
    let reject = option(REJECT, "Reject", "reject_once");
    let all = [Some(once), always, Some(reject)];
    all.into_iter().flatten().collect()
}

/// What the editor answered. Anything but an option that was offered denies.
pub(super) fn response(request: &PermissionRequest, answer: &Value) -> PermissionResponse {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Outcome {
        outcome: String,
        option_id: String,
    }
    let allowing = |update: Option<PermissionUpdate>| PermissionResponse::Allow {
        updated_input: None,
        updated_permissions: update.into_iter().collect(),
    };
    let outcome = answer.get("outcome").cloned().unwrap_or_default();
    let outcome: Outcome = serde_json::from_value(outcome).unwrap_or_default();
    if outcome.outcome == "cancelled" {
        return PermissionResponse::Deny {
            message: "The person cancelled instead of answering.".to_owned(),
            interrupt: true,
        };
    }
    match outcome.option_id.as_str() {
        ALLOW => allowing(None),
        ALWAYS if is_plan(request) => allowing(Some(PermissionUpdate::SetMode {
            mode: Mode::AcceptEdits,
            destination: Destination::Session,
        })),
        ALWAYS => lasting(request).map_or_else(denied, |update| allowing(Some(update))),
        _ => denied(),
    }
}

fn denied() -> PermissionResponse {
    PermissionResponse::deny("The person rejected this call.")
}

fn is_plan(request: &PermissionRequest) -> bool {
    CoreTool::parse(&request.tool_name) == Some(CoreTool::ExitPlanMode)
}

/// What a change of the permissions lets run, in short.
fn words(update: &PermissionUpdate) -> String {
    let said = match update {
        PermissionUpdate::AddRules(change) | PermissionUpdate::ReplaceRules(change) => {
            let rules = change.rules.iter().map(ToString::to_string);
            rules.collect::<Vec<_>>().join(", ")
        }
        PermissionUpdate::SetMode {
            mode: Mode::AcceptEdits,
            ..
        } => "all edits of the workspace".to_owned(),
        PermissionUpdate::SetMode { mode, .. } => format!("what the mode {} does", mode.name()),
        PermissionUpdate::AddDirectories(change) => change.directories.join(", "),
        _ => "this".to_owned(),
    };
    visible_line(&said)
}

#[cfg(test)]
mod tests {
    use windlass_core::RawJson;

    use super::*;

    #[test]
    fn only_an_option_that_was_offered_allows() {
        let request = PermissionRequest {
            tool_use_id: "toolu_1".to_owned(),
            tool_name: "Bash".to_owned(),
            input: RawJson::parse(r#"{"command":"make"}"#).unwrap(),
            blocked_path: None,
            decision_reason: String::new(),
            suggestions: Vec::new(),
            agent_id: None,
        };
        let allows = |answer: Value| {
            matches!(
                response(&request, &answer),
                PermissionResponse::Allow { .. }
            )
        };
        let selected = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
        assert!(allows(selected(ALLOW)));
        for answer in [
            selected(REJECT),
            selected(ALWAYS),
            selected("something"),
            json!({"outcome": {"outcome": "cancelled"}}),
            json!({"outcome": "selected"}),
            Value::Null,
        ] {
            assert!(!allows(answer.clone()), "{answer}");
        }
        assert_eq!(options(&request).len(), 2, "nothing lasting was suggested");
    }
}
