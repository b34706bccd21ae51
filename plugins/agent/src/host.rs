//! Performs the effects of the core by calling the component's imports.

use std::{future::Future, rc::Rc};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream;
use windlass_core::{
    EffectId, Host, Message, Millis, Now, Spec, UnixMillis,
    effect::{
        Answer, Entry, HttpFailure, HttpFailureKind, HttpRequest, PermissionRequest,
        PermissionResponse, ResolvePath, ResolvedPath,
    },
    host::CancelSignal,
    permission::Specifier,
    tool::ToolCall,
};
use windlass_plugin::http;

use crate::{bindings::windlass::host::clock, shared_state::SharedState, tools::Tools};

/// The maximum size of a piece of a response, in bytes.
const PIECE: u32 = 64 * 1024;

/// A host that calls the imports of the component. Its futures never wait, because the imports block.
#[derive(Debug)]
pub(crate) struct ImportHost {
    shared: Rc<SharedState>,
    tools: Tools,
}

impl ImportHost {
    pub(crate) fn new(spec: &Spec, shared: Rc<SharedState>) -> Self {
        let rules = &spec.policy.permissions.rules;
        let by_path = [&rules.allow, &rules.ask, &rules.deny]
            .into_iter()
            .flatten()
            .any(|rule| matches!(rule.specifier, Specifier::Path(_)));
        Self {
            shared,
            tools: Tools::granted(&spec.environment.cwd, by_path),
        }
    }
}

impl Host for ImportHost {
    fn now(&self) -> Now {
        let clock::Instant { mono, wall } = clock::now();
        // Whole milliseconds since 1970, exact as f64; what is negative or no number becomes 0.
        Now {
            mono: Millis(mono as u64),
            wall: UnixMillis(wall as u64),
        }
    }

    async fn sleep(&self, until: Millis) {
        clock::wait_until(until.0 as f64);
    }

    fn http(&self, _: EffectId, request: HttpRequest) -> impl Stream<Item = Answer> {
        stream::unfold(Exchange::Unsent(request), |exchange| async {
            exchange.step()
        })
    }

    fn resolve(
        &self,
        _: EffectId,
        paths: Vec<ResolvePath>,
    ) -> impl Future<Output = Vec<Result<ResolvedPath, String>>> {
        let resolved = paths.iter().map(|asked| self.tools.resolve(&asked.path));
        std::future::ready(resolved.collect())
    }

    fn call_tool(
        &self,
        _: EffectId,
        call: ToolCall,
        _: CancelSignal,
    ) -> impl Stream<Item = Answer> {
        stream::once(async move { Answer::Tool(self.tools.call(&call)) })
    }

    async fn ask_permission(&self, _: EffectId, request: PermissionRequest) -> PermissionResponse {
        // Not reached: the spec does not permit permission questions.
        PermissionResponse::deny(format!(
            "{}: there is nobody to ask.",
            request.decision_reason
        ))
    }

    async fn persist(&self, _: EffectId, _: Vec<Entry>) -> Result<(), String> {
        Ok(()) // the spec asks for no transcript
    }

    async fn message(&self, message: Message) {
        self.shared.say(&message).await;
    }
}

/// The state of an HTTP request.
enum Exchange {
    Unsent(HttpRequest),
    Reading(http::Body),
    Over,
}

impl Exchange {
    fn step(self) -> Option<(Answer, Self)> {
        Some(match self {
            Self::Unsent(request) => match http::send(&to_import(request)) {
                Ok(response) => {
                    let headers = response
                        .headers
                        .into_iter()
                        .map(|header| (header.name, header.value));
                    let head = Answer::HttpHead {
                        status: response.status,
                        headers: headers.collect(),
                    };
                    (head, Self::Reading(response.body))
                }
                Err(failure) => (failed(failure), Self::Over),
            },
            Self::Reading(body) => match body.read(PIECE) {
                Ok(bytes) if bytes.is_empty() => (Answer::HttpEnd, Self::Over),
                Ok(bytes) => (Answer::HttpBody(Bytes::from(bytes)), Self::Reading(body)),
                Err(failure) => (failed(failure), Self::Over),
            },
            Self::Over => return None,
        })
    }
}

fn to_import(request: HttpRequest) -> http::Request {
    http::Request {
        method: request.method.to_owned(),
        url: request.path,
        headers: request
            .headers
            .into_iter()
            .map(|(name, value)| http::Header { name, value })
            .collect(),
        body: request.body.into_iter().map(Vec::from).collect(),
    }
}

fn failed(failure: http::Failure) -> Answer {
    use http::Failure as F;
    let (kind, message) = match failure {
        F::Connect(message) => (HttpFailureKind::Connect, message),
        F::Interrupted(message) => (HttpFailureKind::Interrupted, message),
        F::Refused(message) => (HttpFailureKind::Refused, message),
        F::TooLarge(message) => (HttpFailureKind::TooLarge, message),
    };
    Answer::HttpFailed(HttpFailure { kind, message })
}
