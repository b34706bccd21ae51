//! The provider conformance suite: what every wire format must do, from one table: a scripted model speaks each of them, and the same must
//! be understood, whatever the format, however the bytes are cut, whatever goes wrong.

#![allow(clippy::unwrap_used)]

mod answers;
mod failures;
mod openai_requests;
mod openai_servers;
mod sessions;

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::{
    Spec,
    history::{History, Role},
    prompt,
    provider::{Provider, Response, WireError, messages::MessagesApi, openai::ChatCompletions},
};
use windlass_testkit::{Piece, RequestView, Script, ScriptedModel};

/// The model that is asked.
const MODEL: &str = "m-1";

/// Every wire format, by its name.
fn formats() -> [(&'static str, Arc<dyn Provider>); 2] {
    [
        ("messages", Arc::new(MessagesApi)),
        ("chat completions", Arc::new(ChatCompletions::default())),
    ]
}

/// What a scripted model answers to a first request of this provider.
fn exchange(provider: &Arc<dyn Provider>, respond: &Value, stream: bool) -> Vec<Piece> {
    let script =
        json!({"exchanges": [{"expect": {"last_user_contains": "Hello"}, "respond": respond}]});
    let mut model = ScriptedModel::new(Script::parse(&script.to_string()).unwrap());
    let mut spec = Spec::default();
    spec.model.provider = provider.clone();
    spec.model.stream = stream;
    let mut history = History::default();
    let hello = windlass_core::Prompt::text("Hello");
    history.push(Role::User, hello.content);
    history.seal_for_request();
    let mut places = Vec::new();
    let view = history.view_for(provider.translator(), &mut places);
    let opening = windlass_core::provider::Opening {
        request: &spec.model_request(MODEL),
        system: &prompt::system_blocks(&spec),
        before_conversation: None,
        tools: &windlass_core::tools::offers(
            &spec,
            MODEL,
            &windlass_core::tools::CoreToolState::default(),
        ),
    };
    let request = provider.request(&spec.model_request(MODEL), &provider.prefix(&opening), view);
    let answer = model.answer(&RequestView {
        path: &request.path,
        headers: &request.headers,
        body: &request.body_bytes(),
    });
    model.verify().unwrap();
    answer
}

/// The head and the whole body of an answer.
fn head_and_body(answer: &[Piece]) -> (u16, String, Vec<u8>) {
    let mut head = (0, String::new());
    let mut body = Vec::new();
    for piece in answer {
        match piece {
            Piece::Head { status, headers } => {
                let kind = headers.iter().find(|(name, _)| name == "content-type");
                head = (*status, kind.unwrap().1.clone());
            }
            Piece::Bytes(bytes) => body.extend_from_slice(bytes),
            _ => {}
        }
    }
    (head.0, head.1, body)
}

/// What a provider makes of a successful answer whose body arrives in these pieces.
fn decode(
    provider: &dyn Provider,
    content_type: &str,
    pieces: &[&[u8]],
) -> Result<Response, WireError> {
    let mut decoder = provider.decoder(content_type, false);
    for piece in pieces {
        decoder.feed(piece)?;
    }
    decoder.finish()
}

/// The content of a response as the Messages API writes it; signatures, which not every format has, left out.
fn content(response: &Response) -> Value {
    let blocks = response.content.iter().map(|block| {
        let mut block: Value = serde_json::from_str(block.to_raw().get()).unwrap();
        block.as_object_mut().unwrap().remove("signature");
        block
    });
    blocks.collect()
}
