//! One call of a tool, through a session of its own: what judges, runs and describes the calls of a model does the same for
//! this one. In the place of the model stands an answer that makes the call, and then one that ends the turn.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{
    Stream, StreamExt as _,
    future::{Either, select},
    stream,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use windlass_core::{
    EffectId, Host, Input, Message, Millis, Now, RawJson, Session, SessionId, Spec, drive,
    effect::{
        Answer, Effect, Entry, HttpRequest, PermissionRequest, PermissionResponse, Prompt,
        ResolvePath, ResolvedPath,
    },
    hook::HookCall,
    host::CancelSignal,
    tool::{ResultBlock, ToolCall, ToolResult},
};

use crate::{host::NativeHost, project_config::Commands};

/// Is told what a running tool says that it is doing.
pub type Report = dyn Fn(&str) + Send + Sync;

/// The id of the one call.
const CALL: &str = "toolu_served";

/// A call that is to be made.
pub(super) struct LoneCall<'a> {
    pub(super) spec: Arc<Spec>,
    pub(super) session: SessionId,
    pub(super) seed: [u8; 32],
    pub(super) tool: &'a str,
    pub(super) input: RawJson,
}

/// What performs a call, and who is told of it.
pub(super) struct Caller<'a> {
    pub(super) host: &'a NativeHost,
    pub(super) commands: &'a Commands,
    pub(super) report: &'a Report,
}

impl LoneCall<'_> {
    /// Makes the call and returns its result, whatever became of it.
    pub(super) async fn run(self, caller: &Caller<'_>, stop: CancellationToken) -> ToolResult {
        let host = CallHost {
            caller,
            answers: Mutex::new(vec![ended(), calls(self.tool, &self.input)]),
            result: Mutex::default(),
            is_done: CancellationToken::new(),
        };
        let mut session = Session::new(self.spec, self.session, self.seed);
        let prompt = Input::Prompt(Prompt::text("A client calls a tool."));
        let interrupt = {
            let is_done = host.is_done.clone();
            stream::once(async move {
                let (stopped, done) = (stop.cancelled_owned(), is_done.cancelled_owned());
                match select(Box::pin(stopped), Box::pin(done)).await {
                    Either::Left(_) => Some(Input::Interrupt),
                    Either::Right(_) => None,
                }
            })
        };
        let inputs = stream::iter([prompt]).chain(interrupt.filter_map(std::future::ready));
        let driven = drive(&mut session, &host, inputs).await;
        let result = host
            .result
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match (result, driven) {
            (Some(result), _) => result,
            (None, Err(error)) => ToolResult::error(format!("{} did not run: {error}", self.tool)),
            (None, Ok(())) => ToolResult::error(format!("{} was stopped.", self.tool)),
        }
    }
}

/// The host of the session of one call.
struct CallHost<'a> {
    caller: &'a Caller<'a>,
    /// The bodies of the model's answers, the last one first.
    answers: Mutex<Vec<String>>,
    result: Mutex<Option<ToolResult>>,
    is_done: CancellationToken,
}

impl Host for CallHost<'_> {
    fn now(&self) -> Now {
        self.caller.host.now()
    }

    fn sleep(&self, until: Millis) -> impl Future<Output = ()> {
        self.caller.host.sleep(until)
    }

    fn http(&self, _id: EffectId, _request: HttpRequest) -> impl Stream<Item = Answer> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let body = answers.pop().unwrap_or_else(ended);
        stream::iter([
            Answer::HttpHead {
                status: 200,
                headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            },
            Answer::HttpBody(body.into()),
            Answer::HttpEnd,
        ])
    }

    fn resolve(
        &self,
        id: EffectId,
        paths: Vec<ResolvePath>,
    ) -> impl Future<Output = Vec<Result<ResolvedPath, String>>> {
        self.caller.host.resolve(id, paths)
    }

    fn call_tool(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        let answers = self.caller.host.perform(id, Effect::CallTool(call), cancel);
        answers.inspect(|answer| {
            if let Answer::Progress(text) = answer {
                (self.caller.report)(text);
            }
        })
    }

    async fn ask_permission(
        &self,
        _id: EffectId,
        request: PermissionRequest,
    ) -> PermissionResponse {
        let tool = &request.tool_name;
        let rule = request.suggested_rule();
        let rule = rule.as_deref().unwrap_or(tool);
        let way = match request.suggestions.is_empty() {
            true => "No rule would allow it.".to_owned(),
            false => format!(
                "Whoever serves this tool can allow it in the settings or with --allowedTools \"{rule}\"."
            ),
        };
        let why = &request.decision_reason;
        PermissionResponse::deny(format!(
            "{tool} was not run: it needs permission ({why}), and nobody is asked here. {way}"
        ))
    }

    fn run_hook(
        &self,
        id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        match self.caller.commands.get(&call.hook) {
            Some(command) => command.run(id, call, cancel),
            None => self.caller.host.perform(id, Effect::RunHook(call), cancel),
        }
    }

    async fn persist(&self, _id: EffectId, _entries: Vec<Entry>) -> Result<(), String> {
        Ok(()) // nothing is kept of a call
    }

    async fn message(&self, message: Message) {
        match message {
            Message::User(user) => {
                let structured = user.tool_use_result;
                let result = (user.message.content.iter())
                    .find_map(|block| block.decode::<ResultOfCall>().ok());
                if let Some(result) = result.filter(|result| result.tool_use_id == CALL) {
                    let mut kept = self.result.lock().unwrap_or_else(PoisonError::into_inner);
                    *kept = Some(result.into_result(structured));
                }
            }
            Message::Result(_) => self.is_done.cancel(),
            _ => {}
        }
    }
}

/// A `tool_result` block.
#[derive(Deserialize)]
struct ResultOfCall {
    tool_use_id: String,
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    content: Option<Content>,
}

/// Its content.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Value>),
}

impl ResultOfCall {
    fn into_result(self, structured: Option<RawJson>) -> ToolResult {
        let content = match self.content {
            None => Vec::new(),
            Some(Content::Text(text)) => vec![ResultBlock::Text { text }],
            Some(Content::Blocks(blocks)) => blocks
                .into_iter()
                .filter_map(|block| serde_json::from_value(block).ok())
                .collect(),
        };
        ToolResult {
            content,
            is_error: self.is_error,
            structured: structured.filter(|_| !self.is_error),
            ..ToolResult::default()
        }
    }
}

/// An answer that calls the tool.
fn calls(tool: &str, input: &RawJson) -> String {
    let call = json!({"type": "tool_use", "id": CALL, "name": tool, "input": {}});
    let input = json!({"type": "input_json_delta", "partial_json": input.get()});
    answer(
        &[
            json!({"type": "content_block_start", "index": 0, "content_block": call}),
            json!({"type": "content_block_delta", "index": 0, "delta": input}),
            json!({"type": "content_block_stop", "index": 0}),
        ],
        "tool_use",
    )
}

/// An answer that ends the turn.
fn ended() -> String {
    let text = json!({"type": "text", "text": ""});
    let delta = json!({"type": "text_delta", "text": "Done."});
    answer(
        &[
            json!({"type": "content_block_start", "index": 0, "content_block": text}),
            json!({"type": "content_block_delta", "index": 0, "delta": delta}),
            json!({"type": "content_block_stop", "index": 0}),
        ],
        "end_turn",
    )
}

/// The events of an answer in the form of the Messages API.
fn answer(blocks: &[Value], stop_reason: &str) -> String {
    let usage = json!({"input_tokens": 0, "output_tokens": 0});
    let message = json!({"id": "msg_served", "type": "message", "role": "assistant", "model": "none", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage});
    let end = json!({"stop_reason": stop_reason, "stop_sequence": null});
    let first = [json!({"type": "message_start", "message": message})];
    let last = [
        json!({"type": "message_delta", "delta": end, "usage": usage}),
        json!({"type": "message_stop"}),
    ];
    let events = first.iter().chain(blocks).chain(&last);
    let lines = events.map(|event| {
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    });
    lines.collect()
}
