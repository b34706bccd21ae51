//! The command line as a client of the engine, by the same protocol as an SDK: lines go in, lines come out.

use std::{collections::HashMap, fmt};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex},
    sync::{mpsc, oneshot},
    task::{AbortHandle, JoinHandle},
};
use tokio_util::sync::CancellationToken;
use windlass::engine::{Ending, Launch, StartError, serve};
use windlass_core::{
    Message, RawJson,
    effect::{PermissionRequest, PermissionResponse},
    permission::PermissionUpdate,
};

use super::question::Question;

/// Bytes that may wait between the engine and its client, in each direction.
const BUFFER: usize = 64 << 10;

/// The id of the first request.
const INITIALIZE: &str = "request-1";

/// What the engine has said and nobody has looked at yet.
const AHEAD: usize = 256;

/// What an engine says to its client.
pub(crate) enum Heard {
    /// A message: read, and as it was written. A kind that is not known here is only written.
    Message(Option<Box<Message>>, String),
    /// Somebody has to decide.
    Question(Question),
    /// Nothing is owed any more.
    Idle,
    /// A session can begin.
    Ready,
    /// No session can begin; why.
    Refused(String),
}

/// An engine that runs beside its client.
pub(crate) struct Client {
    heard: mpsc::Receiver<Heard>,
    /// Lines for the engine; none when no more will come.
    lines: Option<mpsc::UnboundedSender<String>>,
    engine: JoinHandle<Result<Ending, StartError>>,
    stop: CancellationToken,
    requests: u64,
}

impl Client {
    /// Starts an engine.
    pub(crate) fn start(launch: Launch) -> Self {
        let (ours, theirs) = (duplex(BUFFER), duplex(BUFFER));
        let stop = CancellationToken::new();
        let engine = tokio::spawn(serve(launch, ours.1, theirs.0, stop.clone()));
        let (lines, waiting) = mpsc::unbounded_channel();
        let (hears, heard) = mpsc::channel(AHEAD);
        tokio::spawn(write(waiting, ours.0));
        tokio::spawn(read(theirs.1, hears, lines.downgrade()));
        Self {
            heard,
            lines: Some(lines),
            engine,
            stop,
            requests: 0,
        }
    }

    /// The next thing that the engine says; none when it has ended.
    pub(crate) async fn next(&mut self) -> Option<Heard> {
        self.heard.recv().await
    }

    /// Says something to the model.
    pub(crate) fn prompt(&self, text: &str) {
        let message = json!({"role": "user", "content": text});
        self.send(&json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": ""}));
    }

    /// Has a session made ready.
    pub(crate) fn initialize(&mut self) {
        self.request(&json!({"subtype": "initialize"}));
    }

    /// Stops what is running, in good order.
    pub(crate) fn interrupt(&mut self) {
        self.request(&json!({"subtype": "interrupt"}));
    }

    /// No more will come: the engine ends once nothing is owed.
    pub(crate) fn finish(&mut self) {
        self.lines = None;
    }

    /// How the engine ended; everything it said must have been heard.
    ///
    /// # Errors
    /// [`StartError`] when it could not start.
    pub(crate) async fn ended(self) -> Result<Ending, StartError> {
        match self.engine.await {
            Ok(ending) => ending,
            // Nobody aborts it, so it panicked, and that was told on standard error.
            Err(_) => Ok(Ending::Stopped),
        }
    }

    /// Ends everything that runs, at once.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        drop(self.heard);
        // How it ended says nothing: it was told to.
        let _ = self.engine.await;
    }

    fn request(&mut self, request: &Value) {
        self.requests += 1;
        let id = format!("request-{}", self.requests);
        self.send(&json!({"type": "control_request", "request_id": id, "request": request}));
    }

    fn send(&self, frame: &Value) {
        if let Some(lines) = &self.lines {
            // The engine has ended, and says why elsewhere.
            let _ = lines.send(frame.to_string());
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// Writes lines until no more will come.
async fn write(mut waiting: mpsc::UnboundedReceiver<String>, mut stream: DuplexStream) {
    while let Some(line) = waiting.recv().await {
        if stream
            .write_all(format!("{line}\n").as_bytes())
            .await
            .is_err()
        {
            return; // the engine has ended
        }
    }
    // Closing what is gone already changes nothing.
    let _ = stream.shutdown().await;
}

/// Reads lines until the engine has said all.
async fn read(
    stream: DuplexStream,
    hears: mpsc::Sender<Heard>,
    answers: mpsc::WeakUnboundedSender<String>,
) {
    let mut lines = BufReader::new(stream).lines();
    let mut questions = Questions::default();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(frame) = serde_json::from_str::<Frame>(&line) else {
            continue; // no line of an engine
        };
        let heard = match frame.kind.as_str() {
            "control_request" => questions.put(frame, answers.clone()),
            "control_cancel_request" => {
                questions.withdraw(&frame.request_id);
                None
            }
            "control_response" => frame.response.and_then(Response::heard),
            "keep_alive" | "transcript_mirror" => None,
            "system" if frame.subtype == "session_state_changed" => {
                (frame.state == "idle").then_some(Heard::Idle)
            }
            _ => Some(Heard::Message(message(&frame, &line), line)),
        };
        if let Some(heard) = heard
            && hears.send(heard).await.is_err()
        {
            return; // nobody listens any more
        }
    }
}

/// A line as a message; none of a kind that is not known here.
fn message(frame: &Frame, line: &str) -> Option<Box<Message>> {
    // The engine knows it as a kind of its own, which the core has not.
    if frame.subtype == "api_retry" {
        let mut retry: Value = serde_json::from_str(line).ok()?;
        if retry["error"] == "overloaded" {
            retry["error"] = "server_error".into();
        }
        return serde_json::from_value(retry).ok();
    }
    serde_json::from_str(line).ok()
}

/// What is read of every line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Frame {
    #[serde(rename = "type")]
    kind: String,
    subtype: String,
    state: String,
    request_id: String,
    request: Option<RawJson>,
    response: Option<Response>,
}

/// What is read of a reply. Only that to the first request says whether there is a session at all.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    subtype: String,
    request_id: String,
    error: String,
}

impl Response {
    fn heard(self) -> Option<Heard> {
        (self.request_id == INITIALIZE).then(|| match self.subtype.as_str() {
            "error" => Heard::Refused(self.error),
            _ => Heard::Ready,
        })
    }
}

/// Questions of the engine that are open.
#[derive(Default)]
struct Questions(HashMap<String, AbortHandle>);

impl Questions {
    /// Hands a question on, and its answer back.
    fn put(&mut self, frame: Frame, answers: mpsc::WeakUnboundedSender<String>) -> Option<Heard> {
        let id = frame.request_id;
        let Some(request) = frame.request.as_ref().and_then(permission_request) else {
            // No callback was registered and no server: there is nothing else to ask for.
            let error = json!({"subtype": "error", "request_id": id, "error": "this client does not answer this"});
            answer(
                &answers,
                &json!({"type": "control_response", "response": error}),
            );
            return None;
        };
        let (sender, decided) = oneshot::channel();
        let of_question = id.clone();
        let waiting = tokio::spawn(async move {
            // Nobody takes the question: nothing runs without an answer.
            let Ok(response) = decided.await else { return };
            let response = decision(&response);
            let success =
                json!({"subtype": "success", "request_id": of_question, "response": response});
            answer(
                &answers,
                &json!({"type": "control_response", "response": success}),
            );
        });
        self.0.insert(id, waiting.abort_handle());
        Some(Heard::Question(Question::new(request, sender)))
    }

    /// Nobody wants to know any more. Whoever is being asked notices.
    fn withdraw(&mut self, id: &str) {
        if let Some(waiting) = self.0.remove(id) {
            waiting.abort();
        }
    }
}

fn answer(answers: &mpsc::WeakUnboundedSender<String>, frame: &Value) {
    if let Some(answers) = answers.upgrade() {
        // The engine has ended meanwhile.
        let _ = answers.send(frame.to_string());
    }
}

/// The question whether a call may run; none if it is another one.
fn permission_request(request: &RawJson) -> Option<PermissionRequest> {
    #[derive(Deserialize)]
    struct Form {
        subtype: String,
        tool_name: String,
        input: RawJson,
        tool_use_id: String,
        #[serde(default)]
        permission_suggestions: Vec<PermissionUpdate>,
        #[serde(default)]
        blocked_path: Option<String>,
        #[serde(default)]
        decision_reason: String,
        #[serde(default)]
        agent_id: Option<String>,
    }
    let form: Form = request.decode().ok()?;
    (form.subtype == "can_use_tool").then_some(PermissionRequest {
        tool_use_id: form.tool_use_id,
        tool_name: form.tool_name,
        input: form.input,
        blocked_path: form.blocked_path,
        decision_reason: form.decision_reason,
        suggestions: form.permission_suggestions,
        agent_id: form.agent_id,
    })
}

/// A decision as the protocol has it.
fn decision(response: &PermissionResponse) -> Value {
    match response {
        PermissionResponse::Allow {
            updated_input,
            updated_permissions,
        } => {
            let mut allow = json!({"behavior": "allow"});
            if let Some(input) = updated_input {
                allow["updatedInput"] = serde_json::to_value(input).unwrap_or_default();
            }
            if !updated_permissions.is_empty() {
                allow["updatedPermissions"] =
                    serde_json::to_value(updated_permissions).unwrap_or_default();
            }
            allow
        }
        PermissionResponse::Deny { message, interrupt } => {
            json!({"behavior": "deny", "message": message, "interrupt": interrupt})
        }
    }
}
