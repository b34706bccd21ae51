//! The effects of a test host.

use alloc::{string::String, vec::Vec};
use core::future::Future;

use futures_core::Stream;
use futures_util::{StreamExt, stream};
use windlass_core::{
    effect::{
        Answer, EffectId, Entry, HttpFailure, HttpFailureKind, HttpRequest, PermissionRequest,
        PermissionResponse,
    },
    hook::{HookAnswer, HookCall},
    host::{CancelSignal, Host},
    id::{Millis, Now},
    message::Message,
    permission::{ResolvePath, ResolvedPath},
    tool::{ToolCall, ToolResult},
};
use windlass_scripted_model::{Piece, RequestView};

use super::{HookStep, TestHost, ToolStep, hook::play as play_hook, normalised, tool::play};
use crate::clock::VirtualClock;

impl Host for TestHost {
    fn now(&self) -> Now {
        self.clock.now()
    }

    fn sleep(&self, until: Millis) -> impl Future<Output = ()> {
        self.clock.sleep_until(until)
    }

    fn http(&self, _id: EffectId, request: HttpRequest) -> impl Stream<Item = Answer> {
        let failure = self.http_failures.borrow_mut().pop_front();
        let pieces = match &failure {
            Some(_) => Vec::new(),
            None => self.answer(&request),
        };
        self.seen.borrow_mut().requests.push(request);
        let failed = stream::iter(failure.map(Answer::HttpFailed));
        failed.chain(answers(self.clock.clone(), pieces))
    }

    async fn resolve(
        &self,
        _id: EffectId,
        paths: Vec<ResolvePath>,
    ) -> Vec<Result<ResolvedPath, String>> {
        paths
            .iter()
            .map(|path| self.resolve_one(&path.path))
            .collect()
    }

    fn call_tool(
        &self,
        _id: EffectId,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        let steps = match self.tools.borrow_mut().get_mut(&call.name) {
            Some(run) => run(&call),
            None => Vec::from([ToolStep::Return(ToolResult::error(alloc::format!(
                "the test host has no tool {}; add it with TestHost::tool",
                call.name
            )))]),
        };
        self.seen.borrow_mut().calls.push(call);
        play(self.clock.clone(), steps, cancel)
    }

    fn run_hook(
        &self,
        _id: EffectId,
        call: HookCall,
        cancel: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        let failed = |reason: String| Vec::from([HookStep::End(HookAnswer::Failed(reason))]);
        let steps = match (
            self.hooks.borrow_mut().get_mut(&call.hook),
            call.input.decode(),
        ) {
            (Some(run), Ok(input)) => run(&input),
            (Some(_), Err(error)) => failed(alloc::format!("{error}")),
            (None, _) => failed(alloc::format!(
                "the test host has no {}; add it with TestHost::hook",
                call.hook
            )),
        };
        self.seen.borrow_mut().hooks.push(call);
        play_hook(self.clock.clone(), steps, cancel)
    }

    async fn ask_permission(
        &self,
        _id: EffectId,
        request: PermissionRequest,
    ) -> PermissionResponse {
        let response = (self.permission.borrow_mut())(&request);
        self.seen.borrow_mut().questions.push(request);
        response
    }

    async fn persist(&self, _id: EffectId, entries: Vec<Entry>) -> Result<(), String> {
        if let Some(reason) = self.persist_failures.borrow_mut().pop_front() {
            return Err(reason);
        }
        self.seen.borrow_mut().entries.extend(entries);
        Ok(())
    }

    async fn message(&self, message: Message) {
        self.inputs.borrow_mut().seen(&message);
        self.seen.borrow_mut().messages.push(message);
    }
}

impl TestHost {
    fn resolve_one(&self, path: &str) -> Result<ResolvedPath, String> {
        let path = normalised(&self.cwd, path);
        let real = match self.resolved.get(&path) {
            Some(told) => told.clone()?,
            None => path,
        };
        Ok(ResolvedPath::at(real))
    }

    fn answer(&self, request: &HttpRequest) -> Vec<Piece> {
        self.model.borrow_mut().answer(&RequestView {
            path: &request.path,
            headers: &request.headers,
            body: &request.body_bytes(),
        })
    }
}

/// Emits the pieces of an answer in virtual time.
fn answers(clock: VirtualClock, pieces: Vec<Piece>) -> impl Stream<Item = Answer> {
    stream::unfold(pieces.into_iter(), move |mut pieces| {
        let clock = clock.clone();
        async move {
            loop {
                let answer = match pieces.next()? {
                    Piece::Head { status, headers } => Answer::HttpHead { status, headers },
                    Piece::Bytes(bytes) => Answer::HttpBody(bytes),
                    Piece::End => Answer::HttpEnd,
                    Piece::Cut => Answer::HttpFailed(HttpFailure::new(
                        HttpFailureKind::Interrupted,
                        "the scripted model broke the connection",
                    )),
                    Piece::Hang => core::future::pending().await,
                    Piece::Delay(ms) => {
                        clock.sleep(ms).await;
                        continue;
                    }
                };
                return Some((answer, pieces));
            }
        }
    })
}
