//! JSON-RPC 2.0 with an editor: one message a line.
//!
//! Written by hand, because it is little, and because the crate of the protocol switches on `preserve_order` of `serde_json` for
//! the whole program: texts that an engine writes here would then differ from those that the same engine writes in a page. The
//! tests speak to it by the official SDK of the protocol, which checks every message.

use std::{
    collections::HashMap,
    io,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::{mpsc, oneshot},
};

/// Why a request fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub(super) struct RpcError {
    code: i32,
    message: String,
}

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// The line is no JSON.
    pub(super) fn parse(problem: impl Into<String>) -> Self {
        Self::new(-32_700, problem)
    }

    /// The line is no message of the protocol.
    pub(super) fn invalid_request(problem: impl Into<String>) -> Self {
        Self::new(-32_600, problem)
    }

    /// There is no such method.
    pub(super) fn no_method(name: &str) -> Self {
        Self::new(-32_601, format!("there is no method {name}"))
    }

    /// The parameters cannot be used.
    pub(super) fn invalid_params(problem: impl Into<String>) -> Self {
        Self::new(-32_602, problem)
    }

    /// The request was understood, and has failed.
    pub(super) fn failed(problem: impl Into<String>) -> Self {
        Self::new(-32_603, problem)
    }

    /// There is no key for the model server.
    pub(super) fn auth_required(problem: impl Into<String>) -> Self {
        Self::new(-32_000, problem)
    }

    /// What the request is about does not exist.
    pub(super) fn not_found(problem: impl Into<String>) -> Self {
        Self::new(-32_002, problem)
    }
}

/// A message of the editor.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    /// It wants an answer under this id.
    Request(Value, String, Value),
    /// It wants none.
    Notification(String, Value),
    /// It answers the request of this id.
    Response(u64, Result<Value, RpcError>),
}

impl Incoming {
    /// Reads a line.
    ///
    /// # Errors
    /// The id and the error to answer with.
    pub(super) fn read(line: &str) -> Result<Self, (Value, RpcError)> {
        #[derive(Deserialize)]
        struct Frame {
            #[serde(default)]
            id: Option<Value>,
            #[serde(default)]
            method: Option<String>,
            #[serde(default)]
            params: Value,
            #[serde(default)]
            result: Option<Value>,
            #[serde(default)]
            error: Option<RpcError>,
        }
        let value: Value = serde_json::from_str(line)
            .map_err(|error| (Value::Null, RpcError::parse(error.to_string())))?;
        let id = value.get("id").cloned().unwrap_or_default();
        let frame: Frame = serde_json::from_value(value)
            .map_err(|error| (id.clone(), RpcError::invalid_request(error.to_string())))?;
        match (frame.method, frame.id, frame.error) {
            (Some(method), Some(id), _) => Ok(Self::Request(id, method, frame.params)),
            (Some(method), None, _) => Ok(Self::Notification(method, frame.params)),
            (None, Some(id), error) => {
                let number = id.as_u64();
                let number = number.ok_or_else(|| unexpected(id, "no request has this id"))?;
                let answer = error.map_or_else(|| Ok(frame.result.unwrap_or_default()), Err);
                Ok(Self::Response(number, answer))
            }
            (None, None, _) => Err(unexpected(Value::Null, "a message has a method or an id")),
        }
    }
}

fn unexpected(id: Value, problem: &str) -> (Value, RpcError) {
    (id, RpcError::invalid_request(problem))
}

/// Parameters in the form of a method.
///
/// # Errors
/// What is wrong with them.
pub(super) fn params<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    serde_json::from_value(params).map_err(|error| RpcError::invalid_params(error.to_string()))
}

/// The way to the editor. What is sent after it has gone is lost.
pub(super) struct Editor {
    lines: mpsc::UnboundedSender<String>,
    requests: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Value, RpcError>>>>,
}

impl Editor {
    /// The way to the editor, and the lines to write to it.
    pub(super) fn new() -> (Self, mpsc::UnboundedReceiver<String>) {
        let (lines, written) = mpsc::unbounded_channel();
        let editor = Self {
            lines,
            requests: AtomicU64::new(0),
            waiting: Mutex::default(),
        };
        (editor, written)
    }

    /// Tells the editor something.
    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Asks the editor, and returns its answer once it comes.
    pub(super) fn request(
        &self,
        method: &str,
        params: &Value,
    ) -> oneshot::Receiver<Result<Value, RpcError>> {
        let id = self.requests.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.waiting().insert(id, sender);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        answer
    }

    /// Answers a request of the editor.
    pub(super) fn respond(&self, id: &Value, answer: Result<Value, RpcError>) {
        self.send(&match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        });
    }

    /// Hands an answer of the editor to whoever waits for it.
    pub(super) fn answered(&self, id: u64, answer: Result<Value, RpcError>) {
        if let Some(waiting) = self.waiting().remove(&id) {
            // Nobody waits any more.
            let _ = waiting.send(answer);
        }
    }

    fn send(&self, message: &Value) {
        // The editor has gone, which ends the connection elsewhere.
        let _ = self.lines.send(message.to_string());
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Result<Value, RpcError>>>> {
        // A panic elsewhere leaves the table whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request of the editor that is still to be answered.
pub(super) struct Responder {
    editor: std::sync::Arc<Editor>,
    id: Value,
}

impl Responder {
    pub(super) fn new(editor: std::sync::Arc<Editor>, id: Value) -> Self {
        Self { editor, id }
    }

    /// Answers it.
    pub(super) fn respond(self, answer: Result<Value, RpcError>) {
        self.editor.respond(&self.id, answer);
    }
}

/// Writes lines until there are no more, or the editor has gone.
///
/// # Errors
/// The editor reads no more.
pub(super) async fn write<W: AsyncWrite + Unpin>(
    mut lines: mpsc::UnboundedReceiver<String>,
    mut output: W,
) -> io::Result<()> {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_what_is_none_is_answered() {
        let read = Incoming::read;
        assert_eq!(
            read(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}}"#),
            Ok(Incoming::Request(
                "a".into(),
                "m".to_owned(),
                json!({"x": 1})
            ))
        );
        assert_eq!(
            read(r#"{"method":"m"}"#),
            Ok(Incoming::Notification("m".to_owned(), Value::Null))
        );
        assert_eq!(
            read(r#"{"id":3,"error":{"code":-1,"message":"no"}}"#),
            Ok(Incoming::Response(3, Err(RpcError::new(-1, "no"))))
        );
        for (line, id, code) in [
            ("{", Value::Null, -32_700),
            ("[]", Value::Null, -32_600),
            (r#"{"id":7,"method":1}"#, json!(7), -32_600),
            (r#"{"id":"x"}"#, json!("x"), -32_600),
        ] {
            let (to, error) = read(line).unwrap_err();
            assert_eq!((to, error.code), (id, code), "{line}");
        }
    }
}
