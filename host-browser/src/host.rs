//! Performs the effects of a session by calling the JavaScript host.

use futures_core::Stream;
use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use windlass_core::{
    EffectId, Host, Message, Millis, Now, RawJson, UnixMillis,
    effect::{
        Answer, Entry, HttpRequest, PermissionRequest, PermissionResponse, ResolvePath,
        ResolvedPath,
    },
    hook::HookCall,
    host::CancelSignal,
    tool::ToolCall,
};
use windlass_engine::machine::{EngineHost, StoreEffects};

use crate::{
    answers::{ToolAnswers, exchange, hook_answer, to_json},
    imports::{Abort, WasmHost, reason},
    store::JsStore,
    stream_events::StreamEvents,
};

/// A single-threaded host.
#[derive(Debug)]
pub(crate) struct BrowserHost {
    pub(crate) js: WasmHost,
    pub(crate) kept: StoreEffects<JsStore>,
    pub(crate) stream_events: StreamEvents,
}

impl BrowserHost {
    pub(crate) fn new(js: WasmHost, store: Option<JsStore>) -> Self {
        Self {
            stream_events: StreamEvents::new(js.clone()),
            js,
            kept: StoreEffects::new(store),
        }
    }
}

impl Host for BrowserHost {
    fn now(&self) -> Now {
        // Whole milliseconds, far below 2^53; negative values and NaN become 0.
        Now {
            mono: Millis(self.js.mono() as u64),
            wall: UnixMillis(self.js.wall() as u64),
        }
    }

    async fn sleep(&self, until: Millis) {
        let abort = Abort::unseen();
        let ms = until.since(Host::now(self).mono);
        // If a clock fails, the sleep never ends, so that the driver does not loop.
        let slept = JsFuture::from(self.js.sleep(ms as f64, &abort.signal())).await;
        abort.disarm();
        if slept.is_err() {
            std::future::pending::<()>().await;
        }
    }

    fn http(&self, _: EffectId, request: HttpRequest) -> impl Stream<Item = Answer> {
        let headers: Array = request
            .headers
            .iter()
            .flat_map(|(name, value)| [JsValue::from_str(name), JsValue::from_str(value)])
            .collect();
        let body = Uint8Array::from(request.body_bytes().as_slice());
        let abort = Abort::new();
        let sent = self
            .js
            .send(&request.path, &headers, &body, &abort.signal());
        exchange(sent, abort)
    }

    async fn resolve(
        &self,
        _: EffectId,
        paths: Vec<ResolvePath>,
    ) -> Vec<Result<ResolvedPath, String>> {
        let resolve = |asked: &ResolvePath| match self.js.resolve(&asked.path) {
            Ok(path) => Ok(ResolvedPath::at(path)),
            Err(exception) => Err(reason(&exception)),
        };
        paths.iter().map(resolve).collect()
    }

    fn call_tool(
        &self,
        id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        ToolAnswers::of_call(&self.js, id, &call, &cancel)
    }

    fn run_hook(
        &self,
        id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        let abort = Abort::new();
        let ran = (self.js).run_hook(&id.to_string(), &to_json(&call), &abort.signal());
        hook_answer(ran, abort, cancel)
    }

    async fn ask_permission(&self, _: EffectId, request: PermissionRequest) -> PermissionResponse {
        let abort = Abort::new();
        let asked = to_json(&request);
        let decided = JsFuture::from(self.js.ask_permission(&asked, &abort.signal())).await;
        abort.disarm();
        let response = match decided {
            Ok(answer) => answer
                .as_string()
                .and_then(|json| RawJson::parse(json).ok())
                .and_then(|json| json.decode().ok()),
            Err(exception) => Some(PermissionResponse::deny(format!(
                "asking for permission failed: {}",
                reason(&exception)
            ))),
        };
        response.unwrap_or_else(|| {
            PermissionResponse::deny("the answer to the permission question could not be read")
        })
    }

    /// The engine appends entries to the transcript itself.
    async fn persist(&self, _: EffectId, _: Vec<Entry>) -> Result<(), String> {
        Ok(())
    }

    async fn message(&self, message: Message) {
        EngineHost::message(self, message).await;
    }
}
