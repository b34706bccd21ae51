//! The connection to the editor: which methods there are, and who answers them.
//!
//! What takes time is done beside it, and what must keep its order (prompts and their cancellation) is put into the queue of its
//! session at once.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};

use super::{
    rpc::{Editor, Incoming, Responder, RpcError, params},
    session::Command,
    sessions::Sessions,
};

/// The version of the protocol.
const VERSION: u32 = 1;

/// Reads what the editor wants until its input ends.
pub(super) async fn read(sessions: &Arc<Sessions>, editor: Arc<Editor>) {
    let mut lines = BufReader::new(stdin()).lines();
    // Input that cannot be read counts as ended.
    while let Ok(Some(line)) = lines.next_line().await {
        if line.trim().is_empty() {
            continue;
        }
        match Incoming::read(&line) {
            Ok(Incoming::Request(id, method, params)) => {
                let responder = Responder::new(editor.clone(), id);
                request(sessions, &editor, &method, params, responder);
            }
            Ok(Incoming::Notification(method, params)) => notification(sessions, &method, params),
            Ok(Incoming::Response(id, answer)) => editor.answered(id, answer),
            Err((id, error)) => editor.respond(&id, Err(error)),
        }
    }
}

fn request(
    sessions: &Arc<Sessions>,
    editor: &Arc<Editor>,
    method: &str,
    given: Value,
    responder: Responder,
) {
    let (sessions, editor) = (sessions.clone(), editor.clone());
    match method {
        "initialize" => responder.respond(Ok(offer())),
        // Nobody signs in here: the key is in the environment.
        "authenticate" => responder.respond(Ok(json!({}))),
        "session/new" => drop(tokio::spawn(async move {
            match params(given) {
                Ok(given) => sessions.begin(given, editor, responder).await,
                Err(error) => responder.respond(Err(error)),
            }
        })),
        "session/load" => drop(tokio::spawn(async move {
            match params(given) {
                Ok(given) => sessions.load(given, editor, responder).await,
                Err(error) => responder.respond(Err(error)),
            }
        })),
        "session/list" => drop(tokio::spawn(async move {
            let listed = match params(given) {
                Ok(given) => sessions.list(given).await,
                Err(error) => Err(error),
            };
            responder.respond(listed);
        })),
        "session/close" => drop(tokio::spawn(async move {
            let closed = match params::<Named>(given) {
                Ok(named) => sessions.close(&named.session_id).await,
                Err(error) => Err(error),
            };
            responder.respond(closed);
        })),
        "session/prompt" | "session/set_mode" | "session/set_config_option" => {
            let named = params::<Named>(given.clone());
            let found = named.and_then(|named| sessions.get(&named.session_id));
            match found {
                Err(error) => responder.respond(Err(error)),
                Ok(session) => session.tell(match method {
                    "session/prompt" => Command::Prompt(given, responder),
                    "session/set_mode" => Command::SetMode(given, responder),
                    _ => Command::SetOption(given, responder),
                }),
            }
        }
        _ => responder.respond(Err(RpcError::no_method(method))),
    }
}

fn notification(sessions: &Sessions, method: &str, given: Value) {
    if method != "session/cancel" {
        return; // notifications of later versions may be ignored
    }
    let session = params::<Named>(given).and_then(|named| sessions.get(&named.session_id));
    if let Ok(session) = session {
        session.tell(Command::Cancel);
    }
}

/// What names a session.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    session_id: String,
}

/// What this agent can do.
fn offer() -> Value {
    json!({
        "protocolVersion": VERSION,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": true, "embeddedContext": true},
            "mcpCapabilities": {"http": true, "sse": true},
            "sessionCapabilities": {"list": {}, "close": {}, "additionalDirectories": {}},
        },
        "authMethods": [],
        "agentInfo": {"name": "windlass", "title": "windlass", "version": env!("CARGO_PKG_VERSION")},
    })
}
