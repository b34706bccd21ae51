//! The SDK's side of the pipes.

use std::{collections::VecDeque, path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use windlass::{
    engine::{Ending, Launch, serve},
    model_server::{ModelServer, Script},
};

/// No test takes so long; one that waits for a frame that never comes fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// An engine, the model behind it, and the folder it works in.
pub(crate) struct Sdk {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    serving: JoinHandle<Ending>,
    stop: CancellationToken,
    /// What has come and was not asked for yet.
    ahead: VecDeque<Value>,
    pub(crate) model: ModelServer,
    pub(crate) folder: Arc<tempfile::TempDir>,
}

impl Sdk {
    /// An engine started with these flags; the model follows these exchanges, or this script, in which `${cwd}` is the folder.
    pub(crate) fn start(flags: &[&str], exchanges: Value) -> Self {
        Self::start_in(Arc::new(tempfile::tempdir().unwrap()), flags, exchanges)
    }

    /// The same in a folder in which another may have been before.
    pub(crate) fn start_in(
        folder: Arc<tempfile::TempDir>,
        flags: &[&str],
        exchanges: Value,
    ) -> Self {
        Self::start_with(&[], folder, flags, exchanges)
    }

    /// The same with further variables in the environment.
    pub(crate) fn start_with(
        variables: &[(&str, &str)],
        folder: Arc<tempfile::TempDir>,
        flags: &[&str],
        exchanges: Value,
    ) -> Self {
        let work = folder.path().to_path_buf();
        Self::start_at(&work, variables, folder, flags, exchanges)
    }

    /// The same that works in another folder than the one that holds its configuration.
    pub(crate) fn start_at(
        work: &Path,
        variables: &[(&str, &str)],
        folder: Arc<tempfile::TempDir>,
        flags: &[&str],
        exchanges: Value,
    ) -> Self {
        let cwd = folder.path().canonicalize().unwrap().display().to_string();
        let exchanges: Value =
            serde_json::from_str(&exchanges.to_string().replace("${cwd}", &cwd)).unwrap();
        let script = match exchanges.is_array() {
            true => json!({ "exchanges": exchanges }),
            false => exchanges,
        };
        let script = script.to_string();
        let model = ModelServer::start(Script::parse(&script).unwrap()).unwrap();
        let url = model.url();
        let mut words: Vec<String> = [
            "--output-format",
            "stream-json",
            "--verbose",
            "--input-format",
            "stream-json",
        ]
        .map(ToOwned::to_owned)
        .to_vec();
        words.extend(["--system-prompt".to_owned(), String::new()]);
        words.extend(flags.iter().map(ToString::to_string));
        let config = folder.path().join(".config").display().to_string();
        let given = |name: &str| {
            let given = variables.iter().find(|(given, _)| *given == name);
            given.map(|(_, value)| (*value).to_owned())
        };
        let mut launch = Launch::read(&words, |name| match name {
            name if given(name).is_some() => given(name),
            "CLAUDE_CONFIG_DIR" => Some(config.clone()),
            "ANTHROPIC_BASE_URL" => Some(url.clone()),
            "ANTHROPIC_API_KEY" => Some("sk-test".to_owned()),
            "CLAUDE_CODE_SDK_READS_SESSION_STATE" => Some("1".to_owned()),
            "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS" => Some("60000".to_owned()),
            "CLAUDE_CODE_MAX_RETRIES" => Some("0".to_owned()),
            "CLAUDE_AGENT_SDK_CLIENT_APP" => Some("tests".to_owned()),
            _ => None,
        })
        .unwrap();
        launch.cwd = Some(work.to_path_buf());
        let (input, engine_input) = duplex(1024 * 1024);
        let (engine_output, output) = duplex(1024 * 1024);
        let stop = CancellationToken::new();
        let stopping = stop.clone();
        let serving = tokio::spawn(async move {
            serve(launch, engine_input, engine_output, stopping)
                .await
                .unwrap()
        });
        Self {
            input: Some(input),
            output: BufReader::new(output).lines(),
            serving,
            stop,
            ahead: VecDeque::new(),
            model,
            folder,
        }
    }

    /// Writes bytes as they are.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    pub(crate) async fn send(&mut self, frame: Value) {
        self.write(format!("{frame}\n").as_bytes()).await;
    }

    pub(crate) async fn prompt(&mut self, text: &str) {
        let frame = json!({"type": "user", "session_id": "", "message": {"role": "user", "content": text},
            "parent_tool_use_id": null});
        self.send(frame).await;
    }

    /// Makes a control request and waits for its reply, what comes before it is kept.
    pub(crate) async fn request(&mut self, request: Value) -> Value {
        let id = format!("req_{}", request["subtype"].as_str().unwrap());
        self.send(json!({"type": "control_request", "request_id": id, "request": request}))
            .await;
        self.reply_to(&id).await
    }

    /// The reply to a request that was made; what comes before it is kept.
    pub(crate) async fn reply_to(&mut self, id: &str) -> Value {
        let mut kept = VecDeque::new();
        loop {
            let frame = self.next().await.expect("a reply before the output ends");
            if frame["type"] == "control_response" && frame["response"]["request_id"] == id {
                kept.append(&mut self.ahead);
                self.ahead = kept;
                return frame["response"].clone();
            }
            kept.push_back(frame);
        }
    }

    pub(crate) async fn initialize(&mut self, mut fields: Value) -> Value {
        fields["subtype"] = "initialize".into();
        let reply = self.request(fields).await;
        assert_eq!(reply["subtype"], "success", "{reply}");
        reply["response"].clone()
    }

    /// Answers a request of the engine.
    pub(crate) async fn answer(&mut self, request: &Value, response: Value) {
        let id = &request["request_id"];
        let response = json!({"subtype": "success", "request_id": id, "response": response});
        self.send(json!({"type": "control_response", "response": response}))
            .await;
    }

    /// Answers a request of the engine with an error.
    pub(crate) async fn fail(&mut self, request: &Value, error: &str) {
        let response =
            json!({"subtype": "error", "request_id": request["request_id"], "error": error});
        self.send(json!({"type": "control_response", "response": response}))
            .await;
    }

    /// The bodies of the requests that the model got so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let requests = self.model.requests();
        let body = |bytes: &[u8]| serde_json::from_slice(bytes).unwrap();
        requests.iter().map(|request| body(&request.body)).collect()
    }

    /// Frames up to the first of this kind, that one included, with hooks and questions answered on the way.
    pub(crate) async fn until_answering(
        &mut self,
        kind: &str,
        mut answer: impl FnMut(&Value) -> Value,
    ) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let frame = self.next().await.expect("a frame before the output ends");
            let found = kind_of(&frame);
            let asks = [
                "control_request hook_callback",
                "control_request can_use_tool",
            ];
            if found != kind && asks.contains(&found.as_str()) {
                let answer = answer(&frame["request"]);
                self.answer(&frame, answer).await;
            }
            frames.push(frame);
            if found == kind {
                return frames;
            }
        }
    }

    /// The next frame; none when the output has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        if let Some(frame) = self.ahead.pop_front() {
            return Some(frame);
        }
        let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await;
        let line = line.expect("a frame").unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// Frames up to the first of this kind, that one included.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let Some(frame) = self.next().await else {
                panic!("no {kind} among {:?}", kinds(&frames));
            };
            let found = kind_of(&frame) == kind;
            frames.push(frame);
            if found {
                return frames;
            }
        }
    }

    /// The first frame of this kind.
    pub(crate) async fn first(&mut self, kind: &str) -> Value {
        self.until(kind).await.pop().unwrap()
    }

    /// Ends the input; the rest of the output and how the engine ended.
    pub(crate) async fn close(mut self) -> (Vec<Value>, Ending) {
        self.input = None;
        let mut rest = Vec::new();
        while let Some(frame) = self.next().await {
            rest.push(frame);
        }
        let ending = tokio::time::timeout(PATIENCE, self.serving).await;
        (rest, ending.expect("an end").unwrap())
    }

    /// Tells the engine to stop, as a signal does.
    pub(crate) async fn stop(mut self) -> Ending {
        self.stop.cancel();
        while self.next().await.is_some() {}
        tokio::time::timeout(PATIENCE, self.serving)
            .await
            .expect("an end")
            .unwrap()
    }

    /// Reads no more.
    pub(crate) async fn hang_up(self) -> Ending {
        let Self {
            serving,
            input,
            output,
            ..
        } = self;
        drop(output);
        let ending = tokio::time::timeout(PATIENCE, serving)
            .await
            .expect("an end")
            .unwrap();
        drop(input);
        ending
    }
}

/// Type, and subtype or what stands for it.
pub(crate) fn kind_of(frame: &Value) -> String {
    let kind = frame["type"].as_str().unwrap();
    let detail = match kind {
        "control_request" => frame["request"]["subtype"].as_str(),
        "system" if frame["subtype"] == "session_state_changed" => frame["state"].as_str(),
        "system" => frame["subtype"].as_str(),
        _ => None,
    };
    detail.map_or_else(|| kind.to_owned(), |detail| format!("{kind} {detail}"))
}

pub(crate) fn kinds(frames: &[Value]) -> Vec<String> {
    frames.iter().map(kind_of).collect()
}

/// A response that calls a tool.
pub(crate) fn calls(name: &str, input: Value) -> Value {
    json!({"respond": {"content": [{"type": "tool_use", "name": name, "input": input}]}})
}

pub(crate) fn says(text: &str) -> Value {
    json!({ "respond": text })
}

/// The frames of a kind.
pub(crate) fn all<'a>(frames: &'a [Value], kind: &str) -> Vec<&'a Value> {
    frames
        .iter()
        .filter(|frame| kind_of(frame) == kind)
        .collect()
}

/// A response that calls several tools at once.
pub(crate) fn calls_all(tools: &[(&str, Value)]) -> Value {
    let block =
        |(name, input): &(&str, Value)| json!({"type": "tool_use", "name": name, "input": input});
    let blocks: Vec<Value> = tools.iter().map(block).collect();
    json!({"respond": {"content": blocks}})
}

/// The same exchange, for requests like this.
pub(crate) fn expecting(mut exchange: Value, expected: Value) -> Value {
    exchange["expect"] = expected;
    exchange
}

/// The text of a tool result.
pub(crate) fn result_text(frame: &Value) -> String {
    match &frame["message"]["content"][0]["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    }
}
