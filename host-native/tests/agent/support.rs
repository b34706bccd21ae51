//! What the tests stand on: a scripted model, and words for what came out.

use futures_util::StreamExt;
use serde_json::{Value, json};
use windlass::{
    Agent, AgentBuilder, Message, ResultMessage, Run,
    core::spec::RetryPolicy,
    model_server::{ModelServer, Script},
};

/// A scripted model behind an address on loopback.
pub(crate) struct Model(ModelServer);

impl Model {
    /// A model that follows these exchanges (`docs/scripted-model.md`).
    pub(crate) fn of(exchanges: Value) -> Self {
        let script = json!({ "exchanges": exchanges }).to_string();
        Self::playing(Script::parse(&script).unwrap())
    }

    /// A model that says these texts, one a request.
    pub(crate) fn says<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self::playing(Script::says(texts))
    }

    fn playing(script: Script) -> Self {
        Self(ModelServer::start(script).unwrap())
    }

    /// An agent that asks this model and never retries.
    pub(crate) fn agent(&self) -> AgentBuilder {
        let retry = RetryPolicy {
            max_retries: 0,
            ..RetryPolicy::default()
        };
        Agent::builder()
            .base_url(self.0.url())
            .api_key("sk-test")
            .retry(retry)
    }

    /// The bodies of the requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let requests = self.0.requests();
        let body = |body: &[u8]| serde_json::from_slice(body).expect("a JSON body");
        requests.iter().map(|request| body(&request.body)).collect()
    }

    /// Fails with a report when a request was not expected, or one that was expected never came.
    pub(crate) fn verify(&self) {
        if let Err(unmet) = self.0.verify() {
            panic!("{unmet}");
        }
    }
}

/// A response that calls tools, each by name and input.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let blocks: Vec<Value> = calls
        .iter()
        .map(|(name, input)| json!({ "type": "tool_use", "name": name, "input": input }))
        .collect();
    json!({ "respond": { "content": blocks } })
}

/// An exchange that expects the result of the first call of the response before, and ends the run.
pub(crate) fn done_after(result: &str, is_error: bool) -> Value {
    json!({
        "expect": { "tool_results": [{ "id": "toolu_1_1", "contains": result, "is_error": is_error }] },
        "respond": "done"
    })
}

/// Everything a run says.
pub(crate) async fn messages(run: &mut Run) -> Vec<Message> {
    run.collect().await
}

/// The kinds of messages, in order.
pub(crate) fn kinds(messages: &[Message]) -> Vec<String> {
    let kind = |message: &Message| {
        let value: Value = serde_json::from_str(&message.to_line()).unwrap();
        value["type"].as_str().unwrap().to_owned()
    };
    messages.iter().map(kind).collect()
}

/// The results of tools in the message stream, as text.
pub(crate) fn tool_results(messages: &[Message]) -> Vec<String> {
    messages
        .iter()
        .filter_map(|message| match message {
            Message::User(user) => Some(user),
            _ => None,
        })
        .flat_map(|user| &user.message.content)
        .map(|block| {
            let block: Value = block.decode().unwrap();
            block["content"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// The text of a result that was a success.
pub(crate) fn text(result: ResultMessage) -> String {
    assert!(!result.is_error, "{:?}", result.errors);
    result.result.unwrap()
}

/// Counts how many holders there are at a time, and says when the last one is gone.
#[derive(Clone)]
pub(crate) struct Guard {
    _alive: tokio::sync::mpsc::Sender<()>,
}

impl Guard {
    /// A guard, and what ends when all its clones are dropped.
    pub(crate) fn new() -> (Self, tokio::sync::mpsc::Receiver<()>) {
        let (alive, gone) = tokio::sync::mpsc::channel(1);
        (Self { _alive: alive }, gone)
    }
}
