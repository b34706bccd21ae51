//! Converts promises of the JavaScript host to streams of answers.

use std::{
    cell::RefCell,
    collections::VecDeque,
    future::Future,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::{
    future::{self, Either},
    stream,
};
use js_sys::{Function, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use windlass_core::{
    EffectId, RawJson,
    effect::{Answer, HttpFailure, HttpFailureKind},
    hook::HookAnswer,
    host::{CancelSignal, Cancelled},
    tool::{ApprovedCommand, ToolCall, ToolResult},
};

use crate::imports::{Abort, Exchange, WasmHost, reason};

/// The answers to a request: head, body, end. Dropping the stream aborts the request.
pub(crate) fn exchange(sent: Promise, abort: Abort) -> impl Stream<Item = Answer> {
    enum State {
        Sent(Promise),
        Reading(Exchange),
        Over,
    }
    stream::unfold((State::Sent(sent), abort), |(state, abort)| async move {
        let (answer, state) = match state {
            State::Sent(promise) => match JsFuture::from(promise).await {
                Ok(value) => {
                    let exchange: Exchange = value.unchecked_into();
                    let head = Answer::HttpHead {
                        status: exchange.status(),
                        headers: pairs(exchange.headers()),
                    };
                    (head, State::Reading(exchange))
                }
                Err(exception) => (failed(&exception), State::Over),
            },
            State::Reading(exchange) => match JsFuture::from(exchange.read()).await {
                Ok(piece) if piece.is_undefined() => (Answer::HttpEnd, State::Over),
                Ok(piece) => {
                    let bytes = Uint8Array::new(&piece).to_vec();
                    (
                        Answer::HttpBody(Bytes::from(bytes)),
                        State::Reading(exchange),
                    )
                }
                Err(exception) => (failed(&exception), State::Over),
            },
            State::Over => return None,
        };
        if answer.is_last() {
            abort.disarm();
        }
        Some((answer, (state, abort)))
    })
}

fn pairs(names_and_values: Vec<String>) -> Vec<(String, String)> {
    let mut rest = names_and_values.into_iter();
    let mut pairs = Vec::new();
    while let (Some(name), Some(value)) = (rest.next(), rest.next()) {
        pairs.push((name.to_ascii_lowercase(), value));
    }
    pairs
}

/// The `kind` of an exception, if it has one.
pub(crate) fn kind_of(exception: &JsValue) -> Option<String> {
    let kind = Reflect::get(exception, &JsValue::from_str("kind"));
    kind.ok().and_then(|kind| kind.as_string())
}

/// Describes an exception; its `kind` may say what failed. Without one, the server was not reached.
fn failed(exception: &JsValue) -> Answer {
    let kind = match kind_of(exception).as_deref() {
        Some("interrupted") => HttpFailureKind::Interrupted,
        Some("refused") => HttpFailureKind::Refused,
        Some("too-large") => HttpFailureKind::TooLarge,
        _ => HttpFailureKind::Connect,
    };
    Answer::HttpFailed(HttpFailure {
        kind,
        message: reason(exception),
    })
}

/// The answers of a tool: its progress reports, then its result.
pub(crate) struct ToolAnswers {
    result: JsFuture,
    read: ReadResult,
    reports: Rc<RefCell<Reports>>,
    cancelled: Option<Cancelled>,
    abort: Abort,
    /// Called by JavaScript while the tool runs.
    _report: Closure<dyn FnMut(String)>,
    done: bool,
}

/// Reads the JSON of a result; says what is wrong with it.
type ReadResult = fn(&RawJson) -> Result<ToolResult, String>;

#[derive(Default)]
struct Reports {
    texts: VecDeque<String>,
    waker: Option<Waker>,
}

impl ToolAnswers {
    /// Runs a tool of the agent.
    pub(crate) fn of_call(
        host: &WasmHost,
        id: EffectId,
        call: &ToolCall,
        cancel: &CancelSignal,
    ) -> Self {
        let run = |signal: &JsValue, report: &Function| {
            let (id, encoded) = (id.to_string(), to_json(call));
            let line = judged_line(call);
            host.call_tool(&id, &encoded, call.input.get(), line, signal, report)
        };
        let read: ReadResult = |json| json.decode().map_err(|error| error.to_string());
        Self::start(run, read, cancel)
    }

    /// Starts a tool with a signal that cancels it and a function that takes its progress reports.
    pub(crate) fn start(
        run: impl FnOnce(&JsValue, &Function) -> Promise,
        read: ReadResult,
        cancel: &CancelSignal,
    ) -> Self {
        let reports = Rc::new(RefCell::new(Reports::default()));
        let for_tool = Rc::clone(&reports);
        let report = Closure::new(move |text| {
            let mut reports = for_tool.borrow_mut();
            reports.texts.push_back(text);
            if let Some(waker) = reports.waker.take() {
                waker.wake();
            }
        });
        let abort = Abort::new();
        let result = run(&abort.signal(), report.as_ref().unchecked_ref());
        Self {
            result: JsFuture::from(result),
            read,
            reports,
            cancelled: Some(cancel.cancelled()),
            abort,
            _report: report,
            done: false,
        }
    }
}

impl Stream for ToolAnswers {
    type Item = Answer;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Answer>> {
        let this = &mut *self;
        if this.done {
            return Poll::Ready(None);
        }
        if let Some(cancelled) = &mut this.cancelled
            && Pin::new(cancelled).poll(cx).is_ready()
        {
            this.abort.abort();
            this.cancelled = None;
        }
        let mut reports = this.reports.borrow_mut();
        if let Some(text) = reports.texts.pop_front() {
            return Poll::Ready(Some(Answer::Progress(text)));
        }
        reports.waker = Some(cx.waker().clone());
        drop(reports);
        Pin::new(&mut this.result).poll(cx).map(|settled| {
            this.done = true;
            this.abort.disarm();
            Some(Answer::Tool(result(settled, this.read)))
        })
    }
}

/// The line for a shell of the page, if the parts of a command were judged one by one: what was read of it, printed anew.
fn judged_line(call: &ToolCall) -> Option<String> {
    match call.command.as_ref()? {
        ApprovedCommand::AsWritten => None,
        ApprovedCommand::Plan(plan) => Some(windlass_shell::print(&plan.script, &|_| None)),
    }
}

/// The result of a tool. If it throws, the exception becomes the error text.
fn result(settled: Result<JsValue, JsValue>, read: ReadResult) -> ToolResult {
    match settled {
        Ok(value) => value
            .as_string()
            .ok_or_else(|| "it is no text".to_owned())
            .and_then(|json| RawJson::parse(json).map_err(|error| error.to_string()))
            .and_then(|json| read(&json))
            .unwrap_or_else(|error| {
                ToolResult::error(format!(
                    "The tool gave a result that cannot be used: {error}"
                ))
            }),
        Err(exception) => ToolResult::error(reason(&exception)),
    }
}

/// The answer of a hook: its output, or the reason why there is none. When it is cancelled, its signal fires and nobody waits for
/// it any longer; dropping the stream has the same effect.
pub(crate) fn hook_answer(
    ran: Promise,
    abort: Abort,
    cancel: CancelSignal,
) -> impl Stream<Item = Answer> {
    stream::once(async move {
        match future::select(JsFuture::from(ran), cancel.cancelled()).await {
            Either::Left((settled, _)) => {
                abort.disarm();
                Answer::Hook(output(settled))
            }
            Either::Right(_) => Answer::Cancelled,
        }
    })
}

fn output(settled: Result<JsValue, JsValue>) -> HookAnswer {
    match settled {
        Ok(value) => match value.as_string().map(RawJson::parse) {
            Some(Ok(output)) => HookAnswer::Output(output),
            Some(Err(error)) => HookAnswer::Failed(format!("its output is no JSON: {error}")),
            None => HookAnswer::Failed("it gave no output".to_owned()),
        },
        Err(exception) => HookAnswer::Failed(reason(&exception)),
    }
}

/// The core's own types have string keys, so encoding cannot fail.
pub(crate) fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
