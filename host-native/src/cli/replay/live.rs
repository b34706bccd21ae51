//! The model's recorded decisions against the tools of today.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{Stream, StreamExt as _, stream};
use windlass::{
    Agent,
    core::{
        EffectId, Host, Input, Message, Millis, Now, Seeded, Session, drive,
        effect::{
            Answer, Entry, HttpFailure, HttpFailureKind, HttpRequest, PermissionRequest,
            PermissionResponse, ResolvePath, ResolvedPath,
        },
        host::CancelSignal,
        testkit::Journal,
        tool::{ToolCall, ToolResult},
    },
    host::NativeHost,
    http::{Auth, EndpointConfig},
};

use super::{Exit, StartError, say};

/// How much of a result a report shows, in characters.
const SHOWN: usize = 200;

/// Turns the session with live tools, and reports what they answer differently.
pub(super) async fn replay(journal: Journal) -> Result<Exit, StartError> {
    if journal.snapshot.is_some() {
        return Err(StartError::Unable(
            "the journal begins in the middle of a session; replay it without --live-tools"
                .to_owned(),
        ));
    }
    let host = LiveTools::new(native_host(&journal)?, &journal);
    let id = journal.task.session_id;
    let id = id.unwrap_or_else(|| Seeded::new(journal.task.seed).uuid());
    let mut session = Session::new(Arc::new(journal.task.spec), id, journal.task.seed);
    for step in journal.steps {
        // What the world did is done anew; what somebody said is said again, one thing after another.
        let said = matches!(
            step.input,
            Input::Prompt(_) | Input::SetMode(_) | Input::SetModel(_)
        );
        if said {
            let inputs = stream::iter([step.input]);
            drive(&mut session, &host, inputs)
                .await
                .map_err(|error| StartError::Unable(error.to_string()))?;
        }
    }
    Ok(host.report())
}

/// A host with the built-in tools, in the directory of the recording, that reaches no model.
fn native_host(journal: &Journal) -> Result<NativeHost, StartError> {
    let environment = &journal.task.spec.environment;
    let nowhere = EndpointConfig::new("http://127.0.0.1:9", Auth::None);
    let mut builder = Agent::builder()
        .endpoint(nowhere)
        .builtin_tools()
        .cwd(&environment.cwd);
    for directory in &environment.additional_directories {
        builder = builder.add_dir(directory);
    }
    let agent = builder.build()?;
    // Nobody reads the messages: they are not handed to this host.
    let (host, _) = agent.host();
    Ok(host)
}

/// A host whose model and people answer as recorded, and whose tools are real.
struct LiveTools {
    native: NativeHost,
    recorded: BTreeMap<EffectId, Vec<Answer>>,
    found: Mutex<Found>,
}

/// What was found out.
#[derive(Default)]
struct Found {
    calls: usize,
    drifts: Vec<String>,
}

impl LiveTools {
    fn new(native: NativeHost, journal: &Journal) -> Self {
        Self {
            native,
            recorded: journal.answers(),
            found: Mutex::default(),
        }
    }

    /// The recorded answers to an effect, up to its last one.
    fn recorded(&self, id: EffectId) -> Vec<Answer> {
        self.recorded.get(&id).cloned().unwrap_or_default()
    }

    fn drift(&self, what: String) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.drifts.push(what);
    }

    /// Holds the result of a call against the recorded one.
    fn compare(&self, id: EffectId, name: &str, tool_use_id: &str, now: &ToolResult) {
        let recorded = self.recorded(id);
        let before = recorded.iter().find_map(|answer| match answer {
            Answer::Tool(result) => Some(result),
            _ => None,
        });
        self.found
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .calls += 1;
        match before {
            Some(before) if said(before) == said(now) => {}
            Some(before) => self.drift(format!(
                "{name} {tool_use_id}: recorded {}, now {}",
                said(before),
                said(now)
            )),
            None => self.drift(format!(
                "{name} {tool_use_id}: not recorded, now {}",
                said(now)
            )),
        }
    }

    fn report(self) -> Exit {
        let found = self.found.into_inner();
        let found = found.unwrap_or_else(PoisonError::into_inner);
        if found.drifts.is_empty() {
            return say(&format!("no drift: {} tool calls", found.calls));
        }
        for drift in &found.drifts {
            if say(drift) == Exit::PipeClosed {
                return Exit::PipeClosed;
            }
        }
        Exit::Failed
    }
}

/// A result as the model reads it, in short.
fn said(result: &ToolResult) -> String {
    let mut text: String = serde_json::to_string(&result.content).unwrap_or_default();
    if let [windlass::core::tool::ResultBlock::Text { text: only }] = result.content.as_slice() {
        text = format!("{only:?}");
    }
    // Told apart by what is cut off as well.
    if text.chars().count() > SHOWN {
        let shown: String = text.chars().take(SHOWN).collect();
        text = format!("{shown}… ({} bytes, {:016x})", text.len(), digest(&text));
    }
    match result.is_error {
        true => format!("error {text}"),
        false => text,
    }
}

fn digest(text: &str) -> u64 {
    let mut digest = windlass::core::testkit::Digest::default();
    digest.add(text.as_bytes());
    digest.value()
}

fn refused(message: &str) -> Answer {
    Answer::HttpFailed(HttpFailure::new(HttpFailureKind::Refused, message))
}

impl Host for LiveTools {
    fn now(&self) -> Now {
        self.native.now()
    }

    fn sleep(&self, until: Millis) -> impl Future<Output = ()> {
        self.native.sleep(until)
    }

    fn http(&self, id: EffectId, _request: HttpRequest) -> impl Stream<Item = Answer> {
        let mut answers = self.recorded(id);
        if answers.is_empty() {
            self.drift(format!(
                "the run goes another way: nothing is recorded for the request {id}"
            ));
            answers.push(refused("the journal has no answer to this request"));
        } else if !answers.last().is_some_and(Answer::is_last) {
            answers.push(refused("the journal ends in the middle of this response"));
        }
        stream::iter(answers)
    }

    fn resolve(
        &self,
        id: EffectId,
        paths: Vec<ResolvePath>,
    ) -> impl Future<Output = Vec<Result<ResolvedPath, String>>> {
        self.native.resolve(id, paths)
    }

    fn call_tool(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        let (name, tool_use_id) = (call.name.clone(), call.tool_use_id.clone());
        let answers = self.native.call_tool(id, call, cancel);
        answers.inspect(move |answer| {
            if let Answer::Tool(result) = answer {
                self.compare(id, &name, &tool_use_id, result);
            }
        })
    }

    async fn ask_permission(&self, id: EffectId, request: PermissionRequest) -> PermissionResponse {
        let recorded = self
            .recorded(id)
            .into_iter()
            .find_map(|answer| match answer {
                Answer::Permission(response) => Some(response),
                _ => None,
            });
        recorded.unwrap_or_else(|| {
            self.drift(format!(
                "the run goes another way: nobody was asked about {} when it was recorded",
                request.tool_name
            ));
            PermissionResponse::deny("nobody was asked about this when the run was recorded")
        })
    }

    async fn persist(&self, _id: EffectId, _entries: Vec<Entry>) -> Result<(), String> {
        // A replay is not a conversation to be kept.
        Ok(())
    }

    async fn message(&self, _message: Message) {}
}
