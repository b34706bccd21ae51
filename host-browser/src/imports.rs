//! The JavaScript object that a session is driven with. Its shape is `WasmHost` in `js/host.js`.

use std::cell::Cell;

use js_sys::{Function, Promise, Uint8Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The functions that only the platform can provide.
    #[derive(Debug, Clone)]
    pub type WasmHost;

    /// A monotonic clock, in milliseconds.
    #[wasm_bindgen(method)]
    pub(crate) fn mono(this: &WasmHost) -> f64;

    /// Milliseconds since 1970.
    #[wasm_bindgen(method)]
    pub(crate) fn wall(this: &WasmHost) -> f64;

    /// Resolves after this many milliseconds; the signal cancels the wait.
    #[wasm_bindgen(method)]
    pub(crate) fn sleep(this: &WasmHost, ms: f64, signal: &JsValue) -> Promise;

    /// Sends a request to the model; resolves to an [`Exchange`] once its head is there.
    #[wasm_bindgen(method)]
    pub(crate) fn send(
        this: &WasmHost,
        path: &str,
        headers: &js_sys::Array,
        body: &Uint8Array,
        signal: &JsValue,
    ) -> Promise;

    /// The real path of a path, or an exception with the reason.
    #[wasm_bindgen(method, catch)]
    pub(crate) fn resolve(this: &WasmHost, path: &str) -> Result<String, JsValue>;

    /// Runs a tool; the call and the result are JSON. The input, which is also part of the call, is passed as the model wrote it.
    /// If the parts of a command were judged one by one, `judged_line` is what runs instead of its text.
    #[wasm_bindgen(method, js_name = callTool)]
    pub(crate) fn call_tool(
        this: &WasmHost,
        effect: &str,
        call: &str,
        input: &str,
        judged_line: Option<String>,
        signal: &JsValue,
        progress: &Function,
    ) -> Promise;

    /// Connects to an MCP server, under a number from now on; resolves to what it offers, as JSON. If it rejects with an error
    /// whose `kind` is `needs-auth`, somebody has to sign in first.
    #[wasm_bindgen(method, js_name = connectServer)]
    pub(crate) fn connect_server(this: &WasmHost, connection: f64, name: &str) -> Promise;

    /// Calls a tool of an MCP server by the name that it has there; resolves to its result, as JSON.
    #[wasm_bindgen(method, js_name = callServerTool)]
    pub(crate) fn call_server_tool(
        this: &WasmHost,
        connection: f64,
        tool: &str,
        call: &str,
        signal: &JsValue,
        progress: &Function,
    ) -> Promise;

    /// Closes a connection to an MCP server, even while it is being made.
    #[wasm_bindgen(method)]
    pub(crate) fn disconnect(this: &WasmHost, connection: f64);

    /// Runs a hook: the call is JSON, and so is the output that it resolves to. Rejects with the reason if there is none.
    #[wasm_bindgen(method, js_name = runHook)]
    pub(crate) fn run_hook(this: &WasmHost, effect: &str, call: &str, signal: &JsValue) -> Promise;

    /// Asks for a permission decision; request and response are JSON.
    #[wasm_bindgen(method, js_name = askPermission)]
    pub(crate) fn ask_permission(this: &WasmHost, request: &str, signal: &JsValue) -> Promise;

    /// Receives a message, one line of JSON. Gives a promise that resolves when it was read: what follows on it is asked of the
    /// embedder after that.
    #[wasm_bindgen(method, catch)]
    pub(crate) fn message(this: &WasmHost, line: &str, is_result: bool)
    -> Result<JsValue, JsValue>;

    /// Receives messages that are events of a stream: a line of JSON as each of them is, but for the event, which is `null`, and the
    /// UUID, which is nil; so many events as JSON, between two of them a comma and a line feed; and as many UUIDs, without anything
    /// between them. Gives a promise where there is no room for more, which resolves when there is.
    #[wasm_bindgen(method, catch, js_name = streamEvents)]
    pub(crate) fn stream_events(
        this: &WasmHost,
        envelope: &str,
        events: &str,
        uuids: &str,
        count: usize,
    ) -> Result<JsValue, JsValue>;

    /// Learns that a call may run, and why.
    #[wasm_bindgen(method)]
    pub(crate) fn allowed(
        this: &WasmHost,
        effect: &str,
        tool_use_id: &str,
        parent_tool_use_id: Option<&str>,
        tool: &str,
        cause: &str,
    );

    /// Learns the id of the session.
    #[wasm_bindgen(method)]
    pub(crate) fn opened(this: &WasmHost, session: &str);

    /// Learns why no further prompt is answered.
    #[wasm_bindgen(method)]
    pub(crate) fn fault(this: &WasmHost, reason: &str);

    /// A warning for the person, such as a store that does not write.
    #[wasm_bindgen(method)]
    pub(crate) fn warning(this: &WasmHost, text: &str);
}

#[wasm_bindgen]
extern "C" {
    /// A response of the model that is arriving.
    pub(crate) type Exchange;

    #[wasm_bindgen(method, getter)]
    pub(crate) fn status(this: &Exchange) -> u16;

    /// Alternating names and values.
    #[wasm_bindgen(method, getter)]
    pub(crate) fn headers(this: &Exchange) -> Vec<String>;

    /// The next piece of the body as a `Uint8Array`, or `undefined` at the end.
    #[wasm_bindgen(method)]
    pub(crate) fn read(this: &Exchange) -> Promise;
}

#[wasm_bindgen]
extern "C" {
    /// The platform's `AbortController`.
    pub(crate) type AbortController;

    #[wasm_bindgen(constructor)]
    fn create() -> AbortController;

    #[wasm_bindgen(method, getter)]
    fn signal(this: &AbortController) -> JsValue;

    #[wasm_bindgen(method)]
    fn abort(this: &AbortController);

    #[wasm_bindgen(method, js_name = abort)]
    fn abort_for(this: &AbortController, reason: &JsValue);
}

/// Aborts work in JavaScript: when requested, and when this is dropped before the work is done.
pub(crate) struct Abort {
    controller: AbortController,
    /// Whether somebody may look at the reason, which is an exception then, with a trace of the stack.
    is_seen: bool,
    done: Cell<bool>,
}

impl Abort {
    pub(crate) fn new() -> Self {
        Self::whose_reason(true)
    }

    /// For work that does not look at the reason, and is aborted all the time.
    pub(crate) fn unseen() -> Self {
        Self::whose_reason(false)
    }

    fn whose_reason(is_seen: bool) -> Self {
        Self {
            controller: AbortController::create(),
            is_seen,
            done: Cell::new(false),
        }
    }

    pub(crate) fn signal(&self) -> JsValue {
        self.controller.signal()
    }

    /// Called when the work is done: there is nothing left to abort.
    pub(crate) fn disarm(&self) {
        self.done.set(true);
    }

    pub(crate) fn abort(&self) {
        if self.done.replace(true) {
            return;
        }
        match self.is_seen {
            true => self.controller.abort(),
            false => self.controller.abort_for(&JsValue::NULL),
        }
    }
}

impl Drop for Abort {
    fn drop(&mut self) {
        self.abort();
    }
}

/// The message of an exception, in one line.
pub(crate) fn reason(exception: &JsValue) -> String {
    if let Some(error) = exception.dyn_ref::<js_sys::Error>() {
        return String::from(error.message());
    }
    exception
        .as_string()
        .unwrap_or_else(|| String::from(js_sys::Object::from(exception.clone()).to_string()))
}
