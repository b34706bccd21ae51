//! The JSON form of a session's start, for hosts on the other side of a language boundary: a component, a browser module.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    effect::Prompt,
    id::{SessionId, Uuid},
    json::{Fault, RawJson, remedy_for},
    spec::{Spec, SpecJsonError},
};

/// The start of a session: its identity, its [`Spec`] and optionally the first prompt.
///
/// In JSON `{"seed": …, "session_id": …, "prompt": …, "spec": {…}}`. The seed is 64 hexadecimal digits and must be random, since
/// all ids are derived from it. The session id is a UUID and optional. The prompt is a text or an array of content blocks. `spec`
/// is one object with the fields of all parts of [`Spec`] under their own names, all of them optional. The larger ones are
/// `model`, `fallback_model`, `model_aliases`, `prices` (of [`ModelSpec`](crate::spec::ModelSpec)), `tools`, `tool_aliases`,
/// `sequential_tools` and `tool_search` (of [`ToolSpec`](crate::spec::ToolSpec)). `core_tools` names the tools of
/// [`Spec::offer`]; `tool_search` is a text as in `ENABLE_TOOL_SEARCH`; `permissions` is a
/// [`PermissionPolicy`](crate::permission::PermissionPolicy); `prices` is a price file; `provider` is `"anthropic"` (the
/// default), `"openai"`, or `{"openai": {…}}` with the settings of [`ChatCompletions`](crate::provider::openai::ChatCompletions);
/// `agents` are definitions by name, added to the built-in ones, and `agent` is the name of the agent that the main thread runs
/// as. Unknown fields are refused.
///
/// ```
/// use windlass_core::session_request::SessionRequest;
/// let request = SessionRequest::parse(
///     r#"{"seed": "0707070707070707070707070707070707070707070707070707070707070707",
///         "prompt": "Fix the failing tests",
///         "spec": {"limits": {"max_turns": 9}, "permissions": {"allow": ["Read"]}}}"#,
/// )?;
/// assert_eq!(request.spec.policy.limits.max_turns, Some(9));
/// # Ok::<(), windlass_core::session_request::SessionRequestError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SessionRequest {
    /// The seed that ids are derived from.
    pub seed: [u8; 32],
    /// The session's id. If absent, whoever starts the session derives it from the seed.
    pub session_id: Option<SessionId>,
    /// The first prompt.
    pub prompt: Option<Prompt>,
    /// The configuration of the session.
    pub spec: Spec,
}

/// An invalid session request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the session request is not usable: {reason}; {remedy}")]
pub struct SessionRequestError {
    /// What is wrong, and where.
    pub reason: String,
    /// How to fix it.
    pub remedy: String,
}

impl SessionRequestError {
    fn new(reason: impl ToString) -> Self {
        Self {
            reason: reason.to_string(),
            remedy: "correct it, or leave the field out".into(),
        }
    }

    /// An error of the JSON reader.
    fn from_reader(fault: &Fault) -> Self {
        let reason = fault.to_string();
        Self {
            remedy: remedy_for(&reason).into(),
            reason,
        }
    }

    /// The same error with another remedy.
    fn with_remedy(self, remedy: &str) -> Self {
        Self {
            remedy: remedy.into(),
            ..self
        }
    }
}

impl SessionRequest {
    /// Reads a session request.
    ///
    /// # Errors
    /// [`SessionRequestError`] naming the field, or line and column.
    pub fn parse(json: &str) -> Result<Self, SessionRequestError> {
        let form: SessionRequestForm<'_> = crate::json::read::from_str(json)
            .map_err(|fault: Fault| SessionRequestError::from_reader(&fault))?;
        let seed = hex_seed(&form.seed).ok_or_else(|| {
            SessionRequestError::new("`seed` must be 64 hexadecimal digits (32 random bytes)")
                .with_remedy(
                    "draw 32 random bytes and write them so; the same seed gives the same ids",
                )
        })?;
        Ok(Self {
            seed,
            session_id: form.session_id,
            prompt: (form.prompt.as_ref().map(Prompt::from_json)).transpose()?,
            spec: match form.spec {
                None => Spec::default(),
                Some(spec) => Spec::from_json(json, spec)?,
            },
        })
    }

    /// The request in the form that [`SessionRequest::parse`] reads: the first record of a journal.
    ///
    /// A wire format that is not one of this library's has no name and is left out. Whoever reads the request must set
    /// [`ModelSpec::provider`](crate::spec::ModelSpec::provider) again.
    #[must_use]
    pub fn to_json(&self) -> RawJson {
        let spec = self.spec.to_json();
        let form = SessionRequestForm {
            seed: self.seed.iter().map(|byte| format!("{byte:02x}")).collect(),
            session_id: self.session_id,
            prompt: (self.prompt.as_ref()).and_then(|prompt| RawJson::encode(&prompt.content).ok()),
            spec: Some(spec.raw()),
        };
        // Strings and raw JSON only: encoding cannot fail.
        RawJson::encode(&form).unwrap_or_else(|_| RawJson::empty_object())
    }
}

impl From<SpecJsonError> for SessionRequestError {
    fn from(error: SpecJsonError) -> Self {
        Self {
            reason: error.reason,
            remedy: error.remedy.into(),
        }
    }
}

/// 32 bytes from 64 hexadecimal digits.
fn hex_seed(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let mut seed = [0; 32];
    for (byte, place) in seed.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(text.get(place..place + 2)?, 16).ok()?;
    }
    Some(seed)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionRequestForm<'a> {
    seed: String,
    #[serde(default)]
    session_id: Option<Uuid>,
    #[serde(default)]
    prompt: Option<RawJson>,
    #[serde(borrow, default)]
    spec: Option<&'a RawValue>,
}

impl Prompt {
    /// Reads a prompt: a JSON string, or an array of content blocks.
    ///
    /// # Errors
    /// [`SessionRequestError`] if it is neither.
    pub fn from_json(json: &RawJson) -> Result<Self, SessionRequestError> {
        if let Ok(text) = json.read::<String>() {
            return Ok(Self::text(&text));
        }
        let content: Vec<RawJson> = json.read().unwrap_or_default();
        if content.is_empty() || !content.iter().all(RawJson::is_object) {
            return Err(SessionRequestError::new(
                "`prompt` must be a text or an array of content blocks",
            )
            .with_remedy(
                "write a text in quotes, or blocks such as {\"type\":\"text\",\"text\":…}",
            ));
        }
        Ok(Self::blocks(content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: &str = "00000000000000000000000000000000000000000000000000000000000000ff";

    fn parse(rest: &str) -> Result<SessionRequest, SessionRequestError> {
        SessionRequest::parse(&format!(r#"{{"seed": "{SEED}"{rest}}}"#))
    }

    #[test]
    fn what_is_left_out_is_as_in_the_default_spec() {
        let request = parse("").unwrap();
        assert_eq!(request.seed[31], 255);
        assert_eq!(request.spec.model.name, Spec::default().model.name);
        assert_eq!(
            request.spec.model.retry,
            crate::spec::RetryPolicy::default()
        );
        assert!(request.spec.model.stream);
        assert!(request.prompt.is_none());
    }

    #[test]
    fn a_prompt_is_a_text_or_blocks() {
        let text = parse(r#", "prompt": "hi""#).unwrap().prompt;
        assert_eq!(text, Some(Prompt::text("hi")));
        let blocks = parse(r#", "prompt": [{"type": "text", "text": "hi"}]"#).unwrap();
        assert_eq!(blocks.prompt.unwrap().content.len(), 1);
    }

    #[test]
    fn a_provider_has_a_name_and_perhaps_settings() {
        let path = |form: &str| {
            let request = parse(&format!(r#", "spec": {{"provider": {form}}}"#)).unwrap();
            let provider = &request.spec.model.provider;
            let prefix = provider.prefix(&crate::provider::Opening {
                request: &request.spec.model_request("m"),
                system: &[],
                before_conversation: None,
                tools: &[],
            });
            let mut places = Vec::new();
            let history = crate::history::History::default();
            let view = history.view(&mut places);
            provider
                .request(&request.spec.model_request("m"), &prefix, view)
                .path
        };
        assert_eq!(path(r#""anthropic""#), "/v1/messages");
        assert_eq!(path(r#""openai""#), "/v1/chat/completions");
        assert_eq!(
            path(r#"{"openai": {"path": "/x", "extra": {"temperature": 0.50}}}"#),
            "/x"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (rest, named) in [
            (r#", "prompt": 7"#, "`prompt` must be"),
            (r#", "prompt": []"#, "`prompt` must be"),
            (r#", "sped": {}"#, "sped"),
            (r#", "spec": {"modle": "m"}"#, "modle"),
            (
                r#", "spec": {"permissions": {"deny": ["Read("]}}"#,
                "permissions.deny",
            ),
            (
                r#", "spec": {"permissions": {"mode": "bypassPermissions"}}"#,
                "allow_bypass",
            ),
            (r#", "spec": {"prices": {"models": 1}}"#, "price file"),
            (
                r#", "spec": {"agent": "nobody"}"#,
                "the agents are: Explore",
            ),
            (
                r#", "spec": {"agents": {"a": {"description": "d", "prompt": "p", "maxTurns": 0}}}"#,
                "agent a cannot be used: its field `maxTurns`",
            ),
            (r#", "spec": {"provider": "open"}"#, "\"openai\""),
            (
                r#", "spec": {"provider": {"openai": {"pth": "/"}}}"#,
                "unknown field `pth`",
            ),
        ] {
            let error = parse(rest).unwrap_err().to_string();
            assert!(error.contains(named), "{rest}: {error}");
        }
        let error = SessionRequest::parse(r#"{"seed": "7"}"#)
            .unwrap_err()
            .to_string();
        assert!(error.contains("64 hexadecimal digits"), "{error}");
    }

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let json = r#"{"seed": "0707070707070707070707070707070707070707070707070707070707070707",
            "session_id": "01234567-89ab-4def-8123-456789abcdef", "prompt": "Fix it",
            "spec": {"provider": "openai", "model": "m", "limits": {"max_turns": 9, "max_budget": 0.25},
                "tools": [{"name": "T", "description": "d", "input_schema": {"type": "object"}}],
                "agents": {"mine": {"description": "d", "prompt": "p"}},
                "prices": {"models": [{"prefix": "m", "input": 1, "output": 2.5, "cache_read": 0, "cache_write": 3}]},
                "permissions": {"allow": ["Read"], "deny": ["Edit(secret/**)"], "can_ask": true},
                "skills": [{"name": "pdf", "description": "d", "content": "c", "allowed_tools": ["Read"]}],
                "environment": {"cwd": "/work"}, "persist": true}}"#;
        let request = SessionRequest::parse(json).unwrap();
        let written = request.to_json();
        let again = SessionRequest::parse(written.get()).unwrap();
        assert_eq!(again.to_json(), written);
        assert_eq!(again.seed, request.seed);
        assert_eq!(again.session_id, request.session_id);
        assert_eq!(again.prompt, request.prompt);
        assert_eq!(
            again.spec.model.provider.json_form(),
            request.spec.model.provider.json_form()
        );
        assert!(again.spec.model.provider.json_form().is_some());
        assert_eq!(again.spec.tools.definitions, request.spec.tools.definitions);
        assert_eq!(
            again.spec.policy.permissions.rules,
            request.spec.policy.permissions.rules
        );
        assert_eq!(again.spec.model.catalogue, request.spec.model.catalogue);
        assert_eq!(again.spec.policy.limits, request.spec.policy.limits);
        assert!(again.spec.tools.agents.get("mine").is_some());
        assert!(again.spec.policy.persist);
        assert_eq!(again.spec.tools.skills, request.spec.tools.skills);
        assert_eq!(
            again.spec.tools.skills[0].allowed_tools[0].to_string(),
            "Read"
        );
        assert_eq!(again.spec.environment, request.spec.environment);
    }

    #[test]
    fn what_is_wrong_in_a_spec_has_its_place_in_the_whole_text() {
        let place = |spec: &str, at: &str| {
            let text = format!("{{\"seed\": \"{SEED}\",\n \"spec\":\n{spec}}}");
            let error = SessionRequest::parse(&text).unwrap_err().to_string();
            assert!(error.contains(at), "{spec}: {error}");
        };
        // The fields belong to several parts; their order does not matter.
        place(
            "{\"limits\": {\"max_turns\": 1},\n\"model\": \"é\", \"stream\": 1}",
            "line 4 column",
        );
        place(
            "{\"stream\": true, \"hooks\": [],\n\n \"betas\": [7]}",
            "line 5 column",
        );
        place(
            "{\"model\": \"m\", \"model\": \"n\"}",
            "duplicate field `model`",
        );
        place("[]", "a JSON object");
        place("{\"max_tokens\": 1, \"mox_tokens\": 1}", "`max_tokens`");
    }

    #[test]
    fn what_is_null_is_left_out() {
        let spec =
            r#", "spec": {"model": null, "stream": null, "environment": null, "core_tools": null}"#;
        let request = parse(spec).unwrap();
        assert_eq!(request.spec.model.name, Spec::default().model.name);
        assert!(request.spec.model.stream);
    }
}
