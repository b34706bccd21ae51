//! The command line as a client of the engine, with the same protocol as an SDK: lines in both directions.

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

/// The buffer size between engine and client in each direction, in bytes.
const BUFFER: usize = 64 << 10;

/// The id of the first request.
const INITIALIZE: &str = "request-1";

/// Capacity of the channel for events of the engine.
const AHEAD: usize = 256;

/// An event from the engine.
pub(crate) enum EngineEvent {
    /// A message: parsed, and as the original line. A message of an unknown kind has only the line.
    Message(Option<Box<Message>>, String),
    /// A permission request that must be decided.
    Question(Question),
    /// Nothing is pending any more.
    Idle,
    /// A session can start, with what the engine offers.
    Ready(RawJson),
    /// The answer to another request, by the request's id.
    Reply(String, Result<RawJson, String>),
    /// No session can start, for this reason.
    Refused(String),
}

/// An engine that runs concurrently with its client.
pub(crate) struct Client {
    events: mpsc::Receiver<EngineEvent>,
    /// Lines for the engine; `None` after the end of the input.
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
        let (send_event, events) = mpsc::channel(AHEAD);
        tokio::spawn(write(waiting, ours.0));
        tokio::spawn(read(theirs.1, send_event, lines.downgrade()));
        Self {
            events,
            lines: Some(lines),
            engine,
            stop,
            requests: 0,
        }
    }

    /// The next event; `None` when the engine has ended.
    pub(crate) async fn next(&mut self) -> Option<EngineEvent> {
        self.events.recv().await
    }

    /// Sends a prompt.
    pub(crate) fn prompt(&self, text: &str) {
        self.prompt_with(&text.into());
    }

    /// Sends a prompt of these contents: a text, or blocks.
    pub(crate) fn prompt_with(&self, content: &Value) {
        let message = json!({"role": "user", "content": content});
        self.send(&json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": ""}));
    }

    /// Requests initialization of the session.
    pub(crate) fn initialize(&mut self) {
        self.request(&json!({"subtype": "initialize"}));
    }

    /// Interrupts the current turn gracefully.
    pub(crate) fn interrupt(&mut self) {
        self.request(&json!({"subtype": "interrupt"}));
    }

    /// Ends the input: the engine ends once nothing is pending.
    pub(crate) fn finish(&mut self) {
        self.lines = None;
    }

    /// How the engine ended. All events must have been received before.
    ///
    /// # Errors
    /// [`StartError`] if it could not start.
    pub(crate) async fn ended(self) -> Result<Ending, StartError> {
        match self.engine.await {
            Ok(ending) => ending,
            // It is never aborted, so it panicked, which was printed on standard error.
            Err(_) => Ok(Ending::Stopped),
        }
    }

    /// Why the engine has ended without being told to, in words.
    pub(crate) async fn why_ended(&mut self) -> String {
        match (&mut self.engine).await {
            Ok(Err(error)) => error.to_string(),
            _ => "the engine has ended".to_owned(),
        }
    }

    /// Stops everything at once.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        drop(self.events);
        // Whoever was told why it has ended has its result already.
        if !self.engine.is_finished() {
            // The result does not matter, since it was stopped.
            let _ = self.engine.await;
        }
    }

    /// Sends a request and returns its id.
    pub(crate) fn request(&mut self, request: &Value) -> String {
        self.requests += 1;
        let id = format!("request-{}", self.requests);
        self.send(&json!({"type": "control_request", "request_id": id, "request": request}));
        id
    }

    fn send(&self, frame: &Value) {
        if let Some(lines) = &self.lines {
            // The engine has ended; the reason is reported elsewhere.
            let _ = lines.send(frame.to_string());
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// Writes lines until the channel is closed.
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
    // Fails only if the stream is closed already.
    let _ = stream.shutdown().await;
}

/// Reads lines until the engine closes its output.
async fn read(
    stream: DuplexStream,
    events: mpsc::Sender<EngineEvent>,
    answers: mpsc::WeakUnboundedSender<String>,
) {
    let mut lines = BufReader::new(stream).lines();
    let mut questions = Questions::default();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(frame) = serde_json::from_str::<Frame>(&line) else {
            continue; // no line of an engine
        };
        let event = match frame.kind.as_str() {
            "control_request" => questions.put(frame, answers.clone()),
            "control_cancel_request" => {
                questions.withdraw(&frame.request_id);
                None
            }
            "control_response" => frame.response.map(Response::event),
            "keep_alive" | "transcript_mirror" => None,
            "system" if frame.subtype == "session_state_changed" => {
                (frame.state == "idle").then_some(EngineEvent::Idle)
            }
            _ => Some(EngineEvent::Message(message(&frame, &line), line)),
        };
        if let Some(event) = event
            && events.send(event).await.is_err()
        {
            return; // nobody listens any more
        }
    }
}

/// Parses a line as a message; `None` if its kind is unknown.
fn message(frame: &Frame, line: &str) -> Option<Box<Message>> {
    // The engine has a message kind for this that the core does not have.
    if frame.subtype == "api_retry" {
        let mut retry: Value = serde_json::from_str(line).ok()?;
        if retry["error"] == "overloaded" {
            retry["error"] = "server_error".into();
        }
        return serde_json::from_value(retry).ok();
    }
    serde_json::from_str(line).ok()
}

/// The fields that are read of every line.
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

/// The fields that are read of a response. That to the first request says whether there is a session.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    subtype: String,
    request_id: String,
    error: String,
    response: Option<RawJson>,
}

impl Response {
    fn event(self) -> EngineEvent {
        let answer = match self.subtype.as_str() {
            "error" => Err(self.error),
            _ => Ok(self.response.unwrap_or_else(RawJson::empty_object)),
        };
        match (self.request_id == INITIALIZE, answer) {
            (true, Ok(offer)) => EngineEvent::Ready(offer),
            (true, Err(problem)) => EngineEvent::Refused(problem),
            (false, answer) => EngineEvent::Reply(self.request_id, answer),
        }
    }
}

/// Open permission requests of the engine.
#[derive(Default)]
struct Questions(HashMap<String, AbortHandle>);

impl Questions {
    /// Passes a request on, and sends its answer back.
    fn put(
        &mut self,
        frame: Frame,
        answers: mpsc::WeakUnboundedSender<String>,
    ) -> Option<EngineEvent> {
        let id = frame.request_id;
        let Some(request) = frame.request.as_ref().and_then(permission_request) else {
            // No callback and no server was registered, so there can be no other request.
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
            // Nobody decides, so there is no answer, and the call does not run.
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
        Some(EngineEvent::Question(Question::new(request, sender)))
    }

    /// Withdraws a request; the person being asked sees it.
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

/// Parses a permission request; `None` for another request.
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

/// A decision in the form of the protocol.
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
