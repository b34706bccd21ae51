//! Parses the lines that an SDK sends.

use serde::Deserialize;
use windlass_core::{Prompt, RawJson, Uuid, content::Block, effect::Delivery};

use super::{reply::ReplyError, request::Request};

/// A valid line.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Inbound {
    /// A control request of the SDK. It gets exactly one reply, even if it is invalid.
    Request {
        /// The id for the reply.
        id: String,
        /// The parsed request, or the error to reply.
        request: Result<Request, ReplyError>,
    },
    /// The answer to a request of the engine.
    Response {
        /// The id of the engine's request.
        id: String,
        /// The answer's value (an empty object if it has none), or the SDK's error text.
        answer: Result<RawJson, String>,
    },
    /// The SDK cancels a control request of its own.
    Cancel {
        /// The id of the request.
        id: String,
    },
    /// A user message.
    User(UserFrame),
    /// A line that needs no action: a keep-alive, or a type of a later version.
    Ignored,
}

/// An invalid line. The session continues.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a line of {length} bytes from the SDK is not usable: {problem}")]
pub struct InboundError {
    /// The length of the line in bytes.
    pub length: usize,
    /// The problem.
    pub problem: String,
    /// The id of the control request that it was meant to be, if it can be found: its sender waits for a reply.
    pub request_id: Option<String>,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    request_id: Option<String>,
    #[serde(default)]
    request: Option<RawJson>,
    #[serde(default)]
    response: Option<RawJson>,
}

#[derive(Deserialize)]
struct Response {
    subtype: String,
    request_id: String,
    #[serde(default)]
    response: Option<RawJson>,
    #[serde(default)]
    error: Option<RawJson>,
}

impl Inbound {
    /// Parses a line.
    ///
    /// # Errors
    /// [`InboundError`]; with the id of the request, if the line was meant to be one, because it still needs a reply.
    pub fn parse(line: &str) -> Result<Self, InboundError> {
        let fault = |problem: String, request_id: Option<String>| InboundError {
            length: line.len(),
            problem,
            request_id,
        };
        let envelope: Envelope = serde_json::from_str(line)
            .map_err(|error| fault(error.to_string(), request_id_in(line)))?;
        match envelope.kind.as_str() {
            "control_request" => {
                let Some(id) = envelope.request_id else {
                    return Err(fault(
                        "a control_request without a request_id".to_owned(),
                        None,
                    ));
                };
                let request = match &envelope.request {
                    Some(request) => Request::read(request),
                    None => Err(ReplyError::new("the control_request has no `request`")),
                };
                Ok(Self::Request { id, request })
            }
            "control_response" => {
                let response: Option<Response> = match &envelope.response {
                    Some(response) => response.decode().ok(),
                    None => None,
                };
                let Some(response) = response else {
                    let problem = "a control_response without subtype and request_id";
                    return Err(fault(problem.to_owned(), None));
                };
                Ok(Self::Response {
                    id: response.request_id,
                    answer: match response.subtype.as_str() {
                        "success" => Ok(match response.response {
                            Some(value) if value.get() != "null" => value,
                            _ => RawJson::empty_object(),
                        }),
                        _ => Err(response.error.map_or_else(
                            || "no reason was given".to_owned(),
                            |error| error.decode().unwrap_or_else(|_| error.get().to_owned()),
                        )),
                    },
                })
            }
            "control_cancel_request" => match envelope.request_id {
                Some(id) => Ok(Self::Cancel { id }),
                None => Err(fault(
                    "a control_cancel_request without a request_id".to_owned(),
                    None,
                )),
            },
            "user" => match serde_json::from_str(line) {
                Ok(frame) => Ok(Self::User(frame)),
                Err(error) => Err(fault(format!("no user message: {error}"), None)),
            },
            _ => Ok(Self::Ignored),
        }
    }
}

/// The request id in an invalid or incomplete line that was meant to be a control request.
#[must_use]
pub fn request_id_in(line: &str) -> Option<String> {
    id_in(line, "\"control_request\"")
}

/// The id of the request that an invalid line was meant to answer. The code that waits for the answer must not wait for ever.
#[must_use]
pub fn answered_id_in(line: &str) -> Option<String> {
    id_in(line, "\"control_response\"")
}

fn id_in(line: &str, kind: &str) -> Option<String> {
    if !line.contains(kind) {
        return None;
    }
    let (_, after) = line.split_once("\"request_id\"")?;
    let after = after.trim_start().strip_prefix(':')?.trim_start();
    let mut strings = serde_json::Deserializer::from_str(after).into_iter::<String>();
    strings.next()?.ok()
}

/// A user message as sent by an SDK.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct UserFrame {
    /// The role and content.
    pub message: UserText,
    /// The message's id, if the application gave it one: any text, usually a UUID.
    pub uuid: Option<String>,
    /// The origin of the message (`{"kind": "human"}`).
    pub origin: Option<RawJson>,
    /// The text is taken literally, without slash commands.
    pub client_composed: bool,
    /// If false, the model is not asked now; it reads the message with the next prompt.
    #[serde(rename = "shouldQuery")]
    pub should_query: Option<bool>,
    /// `now`, `next` or `later`.
    pub priority: Option<String>,
    /// Pasted text, which some applications keep apart from the prompt.
    pub pasted_content: Option<String>,
}

/// The role and content of a user message.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct UserText {
    /// A text, or a list of content blocks.
    pub content: Option<RawJson>,
}

impl UserFrame {
    /// The id, if it is a UUID.
    #[must_use]
    pub fn parsed_uuid(&self) -> Option<Uuid> {
        self.uuid.as_deref().and_then(|id| Uuid::try_parse(id).ok())
    }

    /// The origin, if the message was written by a person: the result repeats it only then.
    #[must_use]
    pub fn human_origin(&self) -> Option<RawJson> {
        #[derive(Deserialize)]
        struct Origin {
            kind: String,
        }
        let origin = self.origin.as_ref()?;
        let kind = origin.decode::<Origin>().ok()?.kind;
        (kind == "human").then(|| origin.clone())
    }

    /// The content as blocks of the Messages API; `None` if it has no valid form.
    #[must_use]
    pub fn blocks(&self) -> Option<Vec<RawJson>> {
        let content = self.message.content.as_ref()?;
        let mut blocks = match content.decode::<String>() {
            Ok(text) => vec![Block::text(&text).to_raw()],
            Err(_) => content.decode::<Vec<RawJson>>().ok()?,
        };
        let pasted = self
            .pasted_content
            .as_deref()
            .filter(|text| !text.is_empty());
        blocks.extend(pasted.map(|text| Block::text(text).to_raw()));
        Some(blocks)
    }

    /// The text, if the content is plain text. It may be a slash command.
    #[must_use]
    pub fn plain_text(&self) -> Option<String> {
        Prompt::blocks(self.blocks()?).plain_text()
    }

    /// The message as a prompt under an id; `None` if its content is invalid.
    #[must_use]
    pub fn to_prompt(&self, uuid: Uuid, is_answering: bool) -> Option<Prompt> {
        let delivery = match (self.should_query, self.priority.as_deref()) {
            (Some(false), _) => Delivery::Append,
            (_, Some("later")) => Delivery::FollowUp,
            _ if is_answering => Delivery::Steer,
            _ => Delivery::FollowUp,
        };
        let prompt = Prompt::blocks(self.blocks()?).with_uuid(uuid);
        Some(prompt.delivered(delivery))
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::uuid_v4;

    use super::*;

    fn user(line: &str) -> UserFrame {
        match Inbound::parse(line) {
            Ok(Inbound::User(frame)) => frame,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_prompt_is_a_text_or_blocks() {
        let text = user(
            r#"{"type":"user","session_id":"","message":{"role":"user","content":"hi"},"parent_tool_use_id":null}"#,
        );
        assert_eq!(text.plain_text().as_deref(), Some("hi"));
        let blocks = user(
            r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","source":{"n":1.0}}]}}"#,
        );
        assert_eq!(blocks.plain_text(), None);
        let read = blocks.blocks().unwrap();
        assert_eq!(
            read[1].get(),
            r#"{"type":"image","source":{"n":1.0}}"#,
            "untouched"
        );
        assert_eq!(
            user(r#"{"type":"user","message":{"content":7}}"#).blocks(),
            None
        );
        assert_eq!(user(r#"{"type":"user"}"#).blocks(), None);
    }

    #[test]
    fn when_a_prompt_enters_follows_from_its_fields_and_what_goes_on() {
        let delivery = |rest: &str, answering| {
            let line = format!(r#"{{"type":"user","message":{{"content":"x"}}{rest}}}"#);
            let uuid = uuid_v4([1; 16]);
            user(&line).to_prompt(uuid, answering).unwrap().delivery
        };
        assert_eq!(delivery("", false), Delivery::FollowUp);
        assert_eq!(delivery("", true), Delivery::Steer);
        assert_eq!(delivery(r#","priority":"later""#, true), Delivery::FollowUp);
        assert_eq!(delivery(r#","shouldQuery":false"#, true), Delivery::Append);
        assert_eq!(
            delivery(r#","shouldQuery":true,"unknown":[1]"#, true),
            Delivery::Steer
        );
    }

    #[test]
    fn only_people_are_an_origin() {
        let origin = |origin: &str| {
            user(&format!(
                r#"{{"type":"user","message":{{"content":"x"}},"origin":{origin}}}"#
            ))
            .human_origin()
        };
        assert_eq!(
            origin(r#"{"kind":"human"}"#).unwrap().get(),
            r#"{"kind":"human"}"#
        );
        assert_eq!(origin(r#"{"kind":"cron"}"#), None);
        assert_eq!(origin("null"), None);
        assert_eq!(origin("7"), None);
    }

    #[test]
    fn answers_are_values_or_words() {
        let answer = |response: &str| {
            let line = format!(r#"{{"type":"control_response","response":{response}}}"#);
            match Inbound::parse(&line) {
                Ok(Inbound::Response { id, answer }) => {
                    (id, answer.map(|raw| raw.get().to_owned()))
                }
                other => panic!("{other:?}"),
            }
        };
        let ok = |value: &str| ("r".to_owned(), Ok(value.to_owned()));
        let failed = |text: &str| ("r".to_owned(), Err(text.to_owned()));
        assert_eq!(
            answer(r#"{"subtype":"success","request_id":"r","response":{"a":1.0}}"#),
            ok(r#"{"a":1.0}"#)
        );
        assert_eq!(
            answer(r#"{"subtype":"success","request_id":"r"}"#),
            ok("{}")
        );
        assert_eq!(
            answer(r#"{"subtype":"success","request_id":"r","response":null}"#),
            ok("{}")
        );
        assert_eq!(
            answer(r#"{"subtype":"error","request_id":"r","error":"no"}"#),
            failed("no")
        );
        assert_eq!(
            answer(r#"{"subtype":"error","request_id":"r","error":{"x":1}}"#),
            failed(r#"{"x":1}"#)
        );
        assert_eq!(
            answer(r#"{"subtype":"error","request_id":"r"}"#),
            failed("no reason was given")
        );
    }

    #[test]
    fn what_is_unknown_is_ignored_and_what_is_broken_says_whose_it_was() {
        assert_eq!(
            Inbound::parse(r#"{"type":"keep_alive"}"#),
            Ok(Inbound::Ignored)
        );
        assert_eq!(
            Inbound::parse(r#"{"type":"tomorrow","request":7}"#),
            Ok(Inbound::Ignored)
        );
        let error = |line: &str| Inbound::parse(line).unwrap_err();
        assert_eq!(error("nonsense").request_id, None);
        assert!(
            error("[1]").problem.contains("expected"),
            "{:?}",
            error("[1]")
        );
        let cut = error(r#"{"type":"control_request","request_id":"req_7","request":{"sub"#);
        assert_eq!(cut.request_id.as_deref(), Some("req_7"));
        assert!(
            error(r#"{"type":"control_request","request":{}}"#)
                .problem
                .contains("request_id")
        );
        assert!(
            error(r#"{"type":"control_response","response":{}}"#)
                .problem
                .contains("request_id")
        );
        assert!(
            error(r#"{"type":"control_cancel_request"}"#)
                .problem
                .contains("request_id")
        );
        let nothing = Inbound::parse(r#"{"type":"control_request","request_id":"r"}"#);
        assert!(matches!(
            nothing,
            Ok(Inbound::Request {
                request: Err(_),
                ..
            })
        ));
    }
}
