//! Questions of MCP servers to the person: the SDK is asked, and where nobody is, they are declined.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use windlass_core::RawJson;

use crate::{
    machine::{
        Engine, Topic,
        io::{ConnectionId, Effect, Question},
        pending::Pending,
        questions::{NoAnswer, Purpose},
    },
    protocol::sdk_request::{Elicitation, SdkRequest},
};

/// What the SDK answers.
#[derive(Deserialize)]
struct Answered {
    action: Action,
    #[serde(default)]
    content: Option<Map<String, Value>>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Decline,
    Cancel,
}

impl Engine {
    /// Passes a question of the server with this name on to the SDK.
    pub(super) fn elicited(
        &mut self,
        connection: ConnectionId,
        server: &str,
        number: u64,
        asked: &RawJson,
    ) {
        let elicitation = Elicitation::read(server, asked);
        match elicitation {
            Ok(elicitation) if self.launch.face.has_lines() => {
                self.note(Topic::Mcp, || format!("{server} asks the person"));
                let purpose = Purpose::Elicitation(connection, number);
                self.ask(&SdkRequest::Elicitation(elicitation), purpose);
            }
            // A program has nobody to ask.
            _ => self.answer_server(connection, number, Action::Decline, None),
        }
    }

    /// Hands the SDK's answer to the server. One that is none declines.
    pub(in crate::machine) fn elicitation_answered(
        &mut self,
        connection: ConnectionId,
        number: u64,
        answer: Result<RawJson, NoAnswer>,
    ) {
        let answer = answer.ok().and_then(|it| it.decode::<Answered>().ok());
        let (action, content) = match answer {
            Some(answer) => (answer.action, answer.content),
            None => (Action::Decline, None),
        };
        self.answer_server(connection, number, action, content);
    }

    fn answer_server(
        &mut self,
        connection: ConnectionId,
        number: u64,
        action: Action,
        content: Option<Map<String, Value>>,
    ) {
        let name = match action {
            Action::Accept => "accept",
            Action::Decline => "decline",
            Action::Cancel => "cancel",
        };
        let mut answer = json!({"action": name});
        if let (Action::Accept, Some(content)) = (action, content) {
            answer["content"] = content.into();
        }
        let answer = RawJson::encode(&answer).unwrap_or_else(|_| RawJson::empty_object());
        let question = Question::Elicited { number, answer };
        self.effect(Effect::Ask(connection, question), Pending::Elicited);
    }
}
