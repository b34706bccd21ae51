//! Drives a session by hand: inputs in, outputs out, nothing else.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use serde_json::{Value, json};
use windlass_core::{
    EffectId, Input, Message, Millis, Now, Output, Prompt, RawJson, Session, SessionId, Spec,
    UnixMillis,
    effect::{
        Answer, Effect, Entry, HttpFailure, HttpFailureKind, HttpRequest, PermissionRequest,
        PermissionResponse, ResolvedPath, Stage,
    },
    message::{ResultMessage, SystemMessage},
    tool::{Access, PathParam, ToolCall, ToolDefinition, ToolResult},
    uuid_v4,
};
use windlass_testkit::validate_request;

pub(crate) const SEED: [u8; 32] = [7; 32];
pub(crate) const MODEL: &str = "claude-sonnet-4-6";
pub(crate) const CWD: &str = "/work";

/// A session, the time, and everything that came out of it.
pub(crate) struct Bench {
    pub(crate) session: Session,
    pub(crate) now: Now,
    /// Whether requests are held against the rules of the Messages API.
    pub(crate) checks_requests: bool,
    /// Every output, in order.
    pub(crate) outputs: Vec<Output>,
    /// Effects that are not answered to their end, oldest first.
    pub(crate) pending: VecDeque<(EffectId, Effect)>,
}

impl Bench {
    pub(crate) fn new(spec: Spec) -> Self {
        Self::seeded(spec, SEED)
    }

    /// For a wire format that is not the Messages API.
    pub(crate) fn new_unchecked(spec: Spec) -> Self {
        Self {
            checks_requests: false,
            ..Self::new(spec)
        }
    }

    pub(crate) fn seeded(mut spec: Spec, seed: [u8; 32]) -> Self {
        windlass_testkit::test_models(&mut spec);
        Self {
            session: Session::new(Arc::new(spec), session_id(), seed),
            now: Now {
                mono: Millis(1_000),
                wall: UnixMillis(1_700_000_000_000),
            },
            checks_requests: true,
            outputs: Vec::new(),
            pending: VecDeque::new(),
        }
    }

    /// Hands in an input that must be accepted.
    pub(crate) fn input(&mut self, input: Input) {
        let described = format!("{input:?}");
        self.session
            .handle(self.now, input)
            .unwrap_or_else(|error| panic!("{described}: {error}"));
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            match &output {
                Output::Effect(id, effect) => {
                    if let Effect::Http(request) = effect
                        && self.checks_requests
                    {
                        check_request(request);
                    }
                    let twice = self.pending.iter().any(|(running, _)| running == id);
                    assert!(!twice, "{id} is running already");
                    self.pending.push_back((*id, effect.clone()));
                }
                Output::Abandon(id) => self.pending.retain(|(running, _)| running != id),
                _ => {}
            }
            self.outputs.push(output);
        }
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.input(Input::Prompt(Prompt::text(text)));
    }

    pub(crate) fn interrupt(&mut self) {
        self.input(Input::Interrupt);
    }

    pub(crate) fn wait(&mut self, ms: u64) {
        self.now.mono = self.now.mono.after(ms);
        self.now.wall = UnixMillis(self.now.wall.0.saturating_add(ms));
    }

    /// Moves the clock to the deadline and says so.
    pub(crate) fn tick(&mut self) {
        let deadline = self.session.deadline().expect("a deadline");
        self.wait(deadline.since(self.now.mono));
        self.input(Input::Tick);
    }

    pub(crate) fn answer(&mut self, id: EffectId, answer: Answer) {
        if answer.is_last() {
            self.pending.retain(|(running, _)| *running != id);
        }
        self.input(Input::Answer(id, answer));
    }

    /// The oldest pending effect of a stage.
    pub(crate) fn of(&self, stage: Stage) -> (EffectId, Effect) {
        self.pending
            .iter()
            .find(|(id, _)| id.stage == stage)
            .cloned()
            .unwrap_or_else(|| panic!("no {stage:?} is pending, only {:?}", self.pending))
    }

    pub(crate) fn pending_stages(&self) -> Vec<Stage> {
        self.pending.iter().map(|(id, _)| id.stage).collect()
    }

    pub(crate) fn asked(&self) -> (EffectId, HttpRequest) {
        match self.of(Stage::Model) {
            (id, Effect::Http(request)) => (id, request),
            other => panic!("not a request: {other:?}"),
        }
    }

    /// The body of the pending request.
    pub(crate) fn body(&self) -> Value {
        serde_json::from_slice(&self.asked().1.body_bytes()).expect("a JSON body")
    }

    pub(crate) fn reply(&mut self, reply: &Reply) {
        let (id, _) = self.asked();
        for answer in reply.answers() {
            self.answer(id, answer);
        }
    }

    pub(crate) fn says(&mut self, text: &str) {
        self.reply(&Reply::text(text));
    }

    pub(crate) fn calls(&self) -> Vec<(EffectId, ToolCall)> {
        self.pending
            .iter()
            .filter_map(|(id, effect)| match effect {
                Effect::CallTool(call) => Some((*id, call.clone())),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn call(&self, tool_use_id: &str) -> (EffectId, ToolCall) {
        self.calls()
            .into_iter()
            .find(|(_, call)| call.tool_use_id == tool_use_id)
            .unwrap_or_else(|| panic!("{tool_use_id} does not run: {:?}", self.calls()))
    }

    pub(crate) fn finish(&mut self, tool_use_id: &str, text: &str) {
        let (id, _) = self.call(tool_use_id);
        self.answer(id, Answer::Tool(ToolResult::text(text)));
    }

    pub(crate) fn question(&self) -> (EffectId, PermissionRequest) {
        match self.of(Stage::Ask) {
            (id, Effect::AskPermission(request)) => (id, request),
            other => panic!("not a question: {other:?}"),
        }
    }

    pub(crate) fn decide(&mut self, response: PermissionResponse) {
        let (id, _) = self.question();
        self.answer(id, Answer::Permission(response));
    }

    /// Resolves the oldest resolve effect: relative paths below the working directory.
    pub(crate) fn resolve(&mut self) {
        let (id, effect) = self.of(Stage::Resolve);
        let Effect::Resolve(paths) = effect else {
            panic!("not a resolve: {effect:?}");
        };
        let real = paths
            .iter()
            .map(|asked| {
                let path = match asked.path.strip_prefix('/') {
                    Some(_) => asked.path.clone(),
                    None => format!("{CWD}/{}", asked.path),
                };
                Ok(ResolvedPath::at(path))
            })
            .collect();
        self.answer(id, Answer::Resolved(real));
    }

    /// Acknowledges what is being saved; the first of it.
    pub(crate) fn saved(&mut self) -> Entry {
        self.saved_all().swap_remove(0)
    }

    /// Acknowledges what is being saved.
    pub(crate) fn saved_all(&mut self) -> Vec<Entry> {
        let found = self
            .pending
            .iter()
            .find_map(|(id, effect)| match effect {
                Effect::Persist(entries) => Some((*id, entries.clone())),
                _ => None,
            })
            .unwrap_or_else(|| panic!("nothing is being saved, only {:?}", self.pending));
        self.answer(found.0, Answer::Persisted);
        assert!(!found.1.is_empty(), "an entry");
        found.1
    }

    pub(crate) fn messages(&self) -> Vec<&Message> {
        self.outputs
            .iter()
            .filter_map(|output| match output {
                Output::Message(message) => Some(message),
                _ => None,
            })
            .collect()
    }

    /// The messages as JSON, as an application reads them.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.messages()
            .iter()
            .map(|message| serde_json::from_str(&message.to_line()).expect("a line of JSON"))
            .collect()
    }

    pub(crate) fn lines_of(&self, kind: &str) -> Vec<Value> {
        self.lines()
            .into_iter()
            .filter(|line| line["type"] == kind)
            .collect()
    }

    pub(crate) fn results(&self) -> Vec<&ResultMessage> {
        self.messages()
            .into_iter()
            .filter_map(|message| match message {
                Message::Result(result) => Some(result),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn result(&self) -> &ResultMessage {
        self.results().last().expect("a result")
    }

    pub(crate) fn retries(&self) -> Vec<&windlass_core::message::ApiRetry> {
        self.messages()
            .into_iter()
            .filter_map(|message| match message {
                Message::System(SystemMessage::ApiRetry(retry)) => Some(retry),
                _ => None,
            })
            .collect()
    }

    /// Every request so far.
    pub(crate) fn requests(&self) -> Vec<&HttpRequest> {
        self.outputs
            .iter()
            .filter_map(|output| match output {
                Output::Effect(_, Effect::Http(request)) => Some(request),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn cancelled(&self) -> Vec<EffectId> {
        self.outputs
            .iter()
            .filter_map(|output| match output {
                Output::Cancel(id) => Some(*id),
                _ => None,
            })
            .collect()
    }

    /// The conversation as the next request would carry it.
    pub(crate) fn history(&self) -> Vec<Value> {
        self.session
            .history()
            .lines()
            .map(|line| serde_json::from_slice(&line).expect("a message"))
            .collect()
    }
}

pub(crate) fn check_request(request: &HttpRequest) {
    let body = request.body_bytes();
    if let Err(faults) = validate_request(&body) {
        panic!(
            "the API would refuse this request: {faults:#?}\n{}",
            String::from_utf8_lossy(&body)
        );
    }
}

pub(crate) fn session_id() -> SessionId {
    uuid_v4([1; 16])
}

/// What a model server answers.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// How the exchange ends after the body.
    pub(crate) end: Answer,
}

impl Reply {
    pub(crate) fn text(text: &str) -> Self {
        Self::message(&[json!({"type": "text", "text": text})])
    }

    pub(crate) fn call(id: &str, name: &str, input: Value) -> Self {
        Self::message(&[tool_use(id, name, input)])
    }

    /// A streamed message of these blocks.
    pub(crate) fn message(blocks: &[Value]) -> Self {
        Self::stopped(blocks, stop_reason_of(blocks))
    }

    pub(crate) fn stopped(blocks: &[Value], stop_reason: &str) -> Self {
        Self::stream(sse(
            blocks,
            stop_reason,
            &json!({"input_tokens": 10}),
            &json!({"output_tokens": 5}),
        ))
    }

    pub(crate) fn stream(body: String) -> Self {
        Self {
            status: 200,
            headers: vec![("content-type".into(), "text/event-stream".into())],
            body: body.into_bytes(),
            end: Answer::HttpEnd,
        }
    }

    pub(crate) fn json(body: &Value) -> Self {
        Self {
            headers: vec![("content-type".into(), "application/json".into())],
            ..Self::stream(body.to_string())
        }
    }

    pub(crate) fn error(status: u16, kind: &str, message: &str) -> Self {
        let body = json!({"type": "error", "error": {"type": kind, "message": message}});
        Self {
            status,
            ..Self::json(&body)
        }
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same, with the connection broken after so many bytes of the body.
    pub(crate) fn cut_at(mut self, at: usize) -> Self {
        self.body.truncate(at);
        self.end = Answer::HttpFailed(HttpFailure::new(
            HttpFailureKind::Interrupted,
            "the connection broke",
        ));
        self
    }

    pub(crate) fn head(&self) -> Answer {
        Answer::HttpHead {
            status: self.status,
            headers: self.headers.clone(),
        }
    }

    pub(crate) fn answers(&self) -> Vec<Answer> {
        vec![
            self.head(),
            Answer::HttpBody(Bytes::from(self.body.clone())),
            self.end.clone(),
        ]
    }
}

pub(crate) fn stop_reason_of(blocks: &[Value]) -> &'static str {
    if blocks.iter().any(|block| block["type"] == "tool_use") {
        "tool_use"
    } else {
        "end_turn"
    }
}

pub(crate) fn tool_use(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

pub(crate) fn event(data: &Value) -> String {
    let kind = data["type"].as_str().unwrap_or("");
    format!("event: {kind}\ndata: {data}\n\n")
}

/// A message as the events of a stream, with a few deltas a block.
pub(crate) fn sse(
    blocks: &[Value],
    stop_reason: &str,
    start_usage: &Value,
    end_usage: &Value,
) -> String {
    let mut out = event(&message_start(start_usage));
    for (index, block) in blocks.iter().enumerate() {
        for data in block_events(index, block) {
            out += &event(&data);
        }
    }
    out += &event(&json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason, "stop_sequence": null},
        "usage": end_usage,
    }));
    out + &event(&json!({"type": "message_stop"}))
}

pub(crate) fn message_start(usage: &Value) -> Value {
    json!({"type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
    }})
}

pub(crate) fn block_events(index: usize, block: &Value) -> Vec<Value> {
    let start = |block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta =
        |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let mut events = match block["type"].as_str() {
        Some("text") => {
            let mut events = vec![start(json!({"type": "text", "text": ""}))];
            for part in halves(block["text"].as_str().unwrap_or("")) {
                events.push(delta(json!({"type": "text_delta", "text": part})));
            }
            events
        }
        Some("thinking") => {
            let mut events = vec![start(
                json!({"type": "thinking", "thinking": "", "signature": ""}),
            )];
            for part in halves(block["thinking"].as_str().unwrap_or("")) {
                events.push(delta(json!({"type": "thinking_delta", "thinking": part})));
            }
            if let Some(signature) = block["signature"].as_str() {
                events.push(delta(
                    json!({"type": "signature_delta", "signature": signature}),
                ));
            }
            events
        }
        Some("tool_use") => {
            let mut events = vec![start(json!({
                "type": "tool_use", "id": block["id"], "name": block["name"], "input": {},
            }))];
            // A string stands for the text that is streamed as input, whatever it is.
            let input = match &block["input"] {
                Value::String(text) => text.clone(),
                input => input.to_string(),
            };
            for part in halves(&input) {
                events.push(delta(
                    json!({"type": "input_json_delta", "partial_json": part}),
                ));
            }
            events
        }
        _ => vec![start(block.clone())],
    };
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

fn halves(text: &str) -> [&str; 2] {
    let mut middle = text.len() / 2;
    while !text.is_char_boundary(middle) {
        middle -= 1;
    }
    let (a, b) = text.split_at(middle);
    [a, b]
}

pub(crate) fn raw(value: &Value) -> RawJson {
    RawJson::parse(value.to_string()).expect("JSON")
}

/// A tool that takes any object.
pub(crate) fn tool(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, "Does something.", raw(&json!({"type": "object"})))
}

/// A tool with one path.
pub(crate) fn file_tool(name: &str, access: Access) -> ToolDefinition {
    let schema = json!({
        "type": "object",
        "properties": {"file_path": {"type": "string"}},
        "required": ["file_path"],
    });
    let mut tool = ToolDefinition::new(name, "Does something with a file.", raw(&schema));
    tool.annotations.read_only = access == Access::Read;
    tool.paths = vec![PathParam {
        field: "file_path".into(),
        access,
        default_cwd: false,
        read_first: false,
    }];
    tool
}

pub(crate) fn bash() -> ToolDefinition {
    let schema = json!({
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    });
    let mut tool = ToolDefinition::new("Bash", "Runs a command.", raw(&schema));
    tool.command_param = Some("command".into());
    tool
}

/// A spec with these tools in which everything may run.
pub(crate) fn spec_with(tools: Vec<ToolDefinition>) -> Spec {
    let mut spec = Spec::with_tools(tools);
    windlass_testkit::test_models(&mut spec);
    spec.policy.permissions.mode = windlass_core::permission::Mode::BypassPermissions;
    spec.environment.cwd = CWD.into();
    spec.model.retry.jitter_percent = 0;
    spec
}

/// The same, with nobody having approved anything and somebody to ask.
pub(crate) fn asking_spec(tools: Vec<ToolDefinition>) -> Spec {
    let mut spec = spec_with(tools);
    spec.policy.permissions.mode = windlass_core::permission::Mode::Default;
    spec.policy.permissions.can_ask = true;
    spec
}

pub(crate) fn rules(texts: &[&str]) -> Vec<windlass_core::permission::Rule> {
    texts
        .iter()
        .map(|text| windlass_core::permission::Rule::parse(text).expect("a rule"))
        .collect()
}
