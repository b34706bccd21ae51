//! Your own host around the native one: it records every effect, and stores the transcript, which the native host does not.
//!
//! You can also start from scratch: implement [`Host`] and drive a [`Session`] with [`drive`], on any runtime.

use std::sync::{Mutex, PoisonError};

use futures_util::{Stream, stream};
use windlass::{
    Agent, Message, NativeHost, NoInput, Tool,
    core::{
        EffectId, Host, Input, Millis, Now, Prompt, Session, Spec, Uuid, drive,
        effect::{
            Answer, Entry, HttpRequest, PermissionRequest, PermissionResponse, ResolvePath,
            ResolvedPath,
        },
        host::CancelSignal,
        tool::ToolCall,
    },
    model_server::{ModelServer, Script},
};

/// Forwards everything to the native host and records it.
struct Recorder {
    inner: NativeHost,
    effects: Mutex<Vec<String>>,
    transcript: Mutex<Vec<Entry>>,
}

impl Recorder {
    fn note(&self, id: EffectId) {
        let mut effects = self.effects.lock().unwrap_or_else(PoisonError::into_inner);
        effects.push(id.to_string());
    }
}

impl Host for Recorder {
    fn now(&self) -> Now {
        self.inner.now()
    }

    async fn sleep(&self, until: Millis) {
        self.inner.sleep(until).await;
    }

    fn http(&self, id: EffectId, request: HttpRequest) -> impl Stream<Item = Answer> {
        self.note(id);
        self.inner.http(id, request)
    }

    async fn resolve(
        &self,
        id: EffectId,
        paths: Vec<ResolvePath>,
    ) -> Vec<Result<ResolvedPath, String>> {
        self.note(id);
        self.inner.resolve(id, paths).await
    }

    fn call_tool(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        self.note(id);
        self.inner.call_tool(id, call, cancel)
    }

    async fn ask_permission(&self, id: EffectId, request: PermissionRequest) -> PermissionResponse {
        self.note(id);
        self.inner.ask_permission(id, request).await
    }

    /// Answer when the entries are stored: a program with a database would await it here.
    async fn persist(&self, id: EffectId, entries: Vec<Entry>) -> Result<(), String> {
        self.note(id);
        let mut transcript = self.transcript.lock().map_err(|e| e.to_string())?;
        transcript.extend(entries);
        Ok(())
    }

    async fn message(&self, message: Message) {
        self.inner.message(message).await;
    }
}

const SCRIPT: &str = r#"{ "exchanges": [
    { "respond": { "content": [{ "type": "tool_use", "name": "nod", "input": {} }] } },
    { "respond": "I nodded." }
] }"#;

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ModelServer::start(Script::parse(SCRIPT)?)?;
    let nod = Tool::new("nod", "Nods", |_: NoInput| async { "nodded" });
    let agent = Agent::builder()
        .base_url(model.url())
        .tool(nod)
        .allowed_tools(["nod"])
        .build()?;

    // The agent's parts: the host of its sessions and, below, their spec.
    let (inner, mut messages) = agent.host();
    let mut spec = Spec::clone(&agent.spec());
    spec.policy.persist = true;

    let host = Recorder {
        inner,
        effects: Mutex::default(),
        transcript: Mutex::default(),
    };
    let mut session = Session::new(spec.into(), Uuid::from_u128(1), [1; 32]);
    let inputs = stream::iter([Input::Prompt(Prompt::text("Nod, please."))]);

    // The messages wait in a channel, so they must be received while the session is driven.
    let shown = tokio::spawn(async move {
        while let Some(message) = messages.recv().await {
            if let Message::Result(result) = message {
                println!("{}", result.result.unwrap_or_default());
            }
        }
    });
    drive(&mut session, &host, inputs).await?;

    let Recorder {
        effects,
        transcript,
        inner,
    } = host;
    drop(inner); // and with it the sender of the messages
    shown.await?;
    for effect in effects.into_inner()? {
        println!("effect {effect}");
    }
    println!("{} transcript entries", transcript.into_inner()?.len());

    model.verify()?;
    Ok(())
}
