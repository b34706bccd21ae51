//! Control requests of the engine to the SDK.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use windlass_core::{
    RawJson,
    effect::{PermissionRequest, PermissionResponse},
    hook::HookCall,
    json::JsonError,
    tools::{Consent, CoreTool},
};

use super::{
    frame_limit::{Shortened, TooLong, shortened},
    line::to_line,
};

/// A request in its wire format.
#[derive(Debug, Clone, Serialize)]
pub struct SdkRequestFrame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    request_id: &'a str,
    request: &'a SdkRequest,
}

/// A control request to the SDK.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SdkRequest {
    /// Ask whether a call may run.
    CanUseTool(Box<CanUseTool>),
    /// Run a hook callback.
    HookCallback(HookCallback),
    /// Deliver a JSON-RPC message to an MCP server in the SDK's process.
    McpMessage {
        /// The server.
        server_name: String,
        /// The message.
        message: RawJson,
    },
    /// Ask the person what an MCP server wants to know.
    Elicitation(Elicitation),
}

impl SdkRequest {
    /// Encodes the request as a line of at most `longest` bytes, if there is a limit. Long texts of a call or hook input are
    /// cut, and restored in the answer. A message to a server and a question of one are never cut, because they would then be other ones.
    ///
    /// # Errors
    /// [`TooLong`] if the request cannot be sent.
    pub fn to_shortened_line(
        &self,
        request_id: &str,
        longest: Option<usize>,
    ) -> Result<Shortened, TooLong> {
        let line = to_line(&self.to_frame(request_id));
        let longest = longest.unwrap_or(usize::MAX);
        match self {
            Self::McpMessage { .. } | Self::Elicitation(_) if line.len() > longest => {
                Err(TooLong {
                    length: line.len(),
                    longest,
                })
            }
            _ => shortened(line, longest),
        }
    }
}

/// The fields of `can_use_tool`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CanUseTool {
    tool_name: String,
    display_name: String,
    input: RawJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    permission_suggestions: Vec<windlass_core::permission::PermissionUpdate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_path: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    decision_reason: String,
    tool_use_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    requires_user_interaction: bool,
}

/// The fields of `elicitation`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Elicitation {
    mcp_server_name: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_schema: Option<RawJson>,
}

impl Elicitation {
    /// The question of a server, from the parameters of `elicitation/create`.
    ///
    /// # Errors
    /// [`JsonError`] if they are none.
    pub fn read(server: &str, asked: &RawJson) -> Result<Self, JsonError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Asked {
            message: String,
            mode: Option<String>,
            url: Option<String>,
            elicitation_id: Option<String>,
            requested_schema: Option<RawJson>,
        }
        let asked: Asked = asked.decode()?;
        Ok(Self {
            mcp_server_name: server.to_owned(),
            message: asked.message,
            mode: asked.mode,
            url: asked.url,
            elicitation_id: asked.elicitation_id.filter(|id| !id.is_empty()),
            requested_schema: asked.requested_schema,
        })
    }
}

/// The fields of `hook_callback`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HookCallback {
    callback_id: String,
    input: RawJson,
    tool_use_id: String,
}

impl SdkRequest {
    /// The permission request for a call.
    #[must_use]
    pub fn can_use_tool(request: PermissionRequest) -> Self {
        #[derive(Deserialize)]
        struct Described {
            description: String,
        }
        let described = request.input.decode::<Described>().ok();
        let core_tool = CoreTool::parse(&request.tool_name);
        Self::CanUseTool(Box::new(CanUseTool {
            display_name: request.tool_name.clone(),
            description: described.map(|it| windlass_core::permission::visible(&it.description)),
            requires_user_interaction: core_tool
                .is_some_and(|it| it.consent(&request.input) == Consent::Person),
            tool_name: request.tool_name,
            input: request.input,
            permission_suggestions: request.suggestions,
            blocked_path: request.blocked_path,
            decision_reason: request.decision_reason,
            tool_use_id: request.tool_use_id,
            agent_id: request.agent_id,
        }))
    }

    /// The request to run a callback. `id` is used as the call's id if the event belongs to no call; the fields of `context`
    /// are added to the event's own.
    #[must_use]
    pub fn hook_callback(call: HookCall, id: &str, context: Map<String, Value>) -> Self {
        let with_context = || {
            let mut input: BTreeMap<String, RawJson> = call.input.decode()?;
            for (name, value) in &context {
                input.insert(name.clone(), RawJson::encode(value)?);
            }
            RawJson::encode(&input)
        };
        // The core always writes an object. If it did not, the callback would get the input unchanged.
        let input = with_context().unwrap_or_else(|_| call.input.clone());
        Self::HookCallback(HookCallback {
            callback_id: call.hook,
            input,
            tool_use_id: call.tool_use_id.unwrap_or_else(|| id.to_owned()),
        })
    }

    /// The request as a frame.
    #[must_use]
    pub fn to_frame<'a>(&'a self, request_id: &'a str) -> SdkRequestFrame<'a> {
        SdkRequestFrame {
            kind: "control_request",
            request_id,
            request: self,
        }
    }
}

/// The frame that cancels a request.
#[must_use]
pub fn cancel_frame(request_id: &str) -> Value {
    json!({"type": "control_cancel_request", "request_id": request_id})
}

/// Parses the SDK's answer to `can_use_tool`: the decision, or a denial that states the error.
#[must_use]
pub fn permission_response(answer: Result<RawJson, String>) -> PermissionResponse {
    let failed = |reason: String| {
        PermissionResponse::deny(format!("Tool permission request failed: Error: {reason}"))
    };
    match answer {
        Ok(raw) => raw
            .decode()
            .unwrap_or_else(|error| failed(format!("the answer is no decision: {error}"))),
        Err(reason) => failed(reason),
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::hook::{HookEvent, HookKind};

    use super::*;

    fn raw(json: &str) -> RawJson {
        RawJson::parse(json).unwrap()
    }

    fn question(tool: &str, input: &str) -> PermissionRequest {
        PermissionRequest {
            tool_use_id: "toolu_1".to_owned(),
            tool_name: tool.to_owned(),
            input: raw(input),
            blocked_path: Some("/elsewhere/x".to_owned()),
            decision_reason: "the path is outside".to_owned(),
            suggestions: serde_json::from_value(json!([
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
            ]))
            .unwrap(),
            agent_id: None,
        }
    }

    fn frame(request: &SdkRequest) -> Value {
        serde_json::to_value(request.to_frame("r")).unwrap()
    }

    #[test]
    fn a_question_carries_what_a_callback_is_shown() {
        let input = r#"{"command":"touch x","description":"make a file","n":1.0}"#;
        let sent = frame(&SdkRequest::can_use_tool(question("Bash", input)));
        assert_eq!(sent["type"], "control_request");
        assert_eq!(sent["request_id"], "r");
        let request = &sent["request"];
        assert_eq!(request["subtype"], "can_use_tool");
        assert_eq!(request["tool_name"], "Bash");
        assert_eq!(request["input"]["command"], "touch x");
        assert_eq!(request["description"], "make a file");
        assert_eq!(request["tool_use_id"], "toolu_1");
        assert_eq!(request["blocked_path"], "/elsewhere/x");
        assert_eq!(request["decision_reason"], "the path is outside");
        assert_eq!(
            request["permission_suggestions"],
            json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}])
        );
        assert!(request.get("requires_user_interaction").is_none());
        let line = super::super::line::to_line(
            &SdkRequest::can_use_tool(question("Bash", input)).to_frame("r"),
        );
        assert!(
            line.contains(r#""n":1.0"#),
            "the input as the model wrote it: {line}"
        );
    }

    #[test]
    fn what_only_a_person_can_answer_says_so() {
        for tool in ["AskUserQuestion", "ExitPlanMode"] {
            let sent = frame(&SdkRequest::can_use_tool(question(tool, "{}")));
            assert_eq!(sent["request"]["requires_user_interaction"], true, "{tool}");
        }
    }

    #[test]
    fn a_hook_always_has_an_id_to_speak_of() {
        let mut call = HookCall {
            hook: "hook_3".to_owned(),
            event: HookEvent::Stop,
            input: raw(r#"{"hook_event_name":"Stop"}"#),
            tool_use_id: None,
            timeout_ms: 1,
            kind: HookKind::Trusted,
            deny: Vec::new(),
        };
        let sent = frame(&SdkRequest::hook_callback(
            call.clone(),
            "fresh",
            Map::new(),
        ));
        assert_eq!(
            sent["request"],
            json!({"subtype": "hook_callback", "callback_id": "hook_3",
                "input": {"hook_event_name": "Stop"}, "tool_use_id": "fresh"})
        );
        call.tool_use_id = Some("toolu_1".to_owned());
        let context = Map::from_iter([("prompt_id".to_owned(), json!("p1"))]);
        let sent = frame(&SdkRequest::hook_callback(call, "fresh", context));
        assert_eq!(sent["request"]["input"]["prompt_id"], "p1");
        assert_eq!(sent["request"]["tool_use_id"], "toolu_1");
    }

    #[test]
    fn an_answer_that_decides_nothing_denies() {
        let allow = permission_response(Ok(raw(
            r#"{"behavior":"allow","updatedInput":{"a":1},"toolUseID":"x","decisionClassification":"y"}"#,
        )));
        assert!(
            matches!(
                allow,
                PermissionResponse::Allow {
                    updated_input: Some(_),
                    ..
                }
            ),
            "{allow:?}"
        );
        let deny = permission_response(Ok(raw(
            r#"{"behavior":"deny","message":"no","interrupt":true}"#,
        )));
        assert_eq!(
            deny,
            PermissionResponse::Deny {
                message: "no".to_owned(),
                interrupt: true
            }
        );
        for answer in [
            Ok(raw("{}")),
            Ok(raw("7")),
            Ok(raw(r#"{"behavior":"maybe"}"#)),
            Err("boom".to_owned()),
        ] {
            let PermissionResponse::Deny { message, interrupt } = permission_response(answer)
            else {
                panic!("allowed");
            };
            assert!(
                message.starts_with("Tool permission request failed: Error: "),
                "{message}"
            );
            assert!(!interrupt);
        }
    }
}
