//! What an engine adds to its requests to the model server, and when it sends none.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{
    FutureExt as _,
    stream::{self, BoxStream, StreamExt as _},
};
use secrecy::SecretString;
use windlass_core::{
    EffectId, RawJson,
    effect::{Answer, HttpFailure, HttpFailureKind, HttpRequest},
    json::RawObject,
};
use windlass_engine::protocol::flags::Provider;

use super::{key_helper::KeyHelper, launch::Launch, model_key::ModelKey};
use crate::host::Transport;

/// Variables that ask for Claude on the servers of others, and whose servers these are. A key for one server must never reach
/// another, so that with one of them nothing is sent.
const ELSEWHERE: [(&str, &str); 5] = [
    ("CLAUDE_CODE_USE_ANTHROPIC_AWS", "Claude Platform on AWS"),
    ("CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"),
    ("CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"),
    ("CLAUDE_CODE_USE_MANTLE", "Amazon Bedrock"),
    ("CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"),
];

/// What requests need beside the key when a token of a subscription authenticates them.
const OAUTH_BETAS: [&str; 2] = ["oauth-2025-04-20", "extended-cache-ttl-2025-04-11"];

/// The status of an answer to a key that is not accepted.
const UNAUTHORIZED: u16 = 401;

/// What is added to requests to the model server; or why none is sent.
#[derive(Default)]
pub(super) struct ModelAccess {
    /// Why no request is sent, for the person.
    refusal: Option<String>,
    /// How they authenticate.
    pub(super) key: ModelKey,
    /// Further headers.
    headers: Vec<(String, String)>,
    /// Fields of the body that replace those of the request.
    body: Vec<(String, RawJson)>,
    /// What is wrong with variables, for people.
    pub(super) warnings: Vec<String>,
}

impl ModelAccess {
    /// Reads it from the environment, to which the settings have added their variables.
    pub(super) fn read(
        launch: &Launch,
        key: ModelKey,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let mut access = Self {
            refusal: elsewhere(&variable).or_else(|| without_key(launch, &key, &variable)),
            key,
            ..Self::default()
        };
        if launch.flags.provider != Provider::Anthropic {
            return access;
        }
        if access.key.is_subscription {
            let betas = OAUTH_BETAS.join(",");
            access.headers.push(("anthropic-beta".to_owned(), betas));
        }
        for line in variable("ANTHROPIC_CUSTOM_HEADERS")
            .unwrap_or_default()
            .lines()
        {
            match line.split_once(':') {
                Some((name, value)) if is_header(name.trim(), value.trim()) => {
                    let name = name.trim().to_ascii_lowercase();
                    access.headers.push((name, value.trim().to_owned()));
                }
                _ if line.trim().is_empty() => {}
                // The line may hold a key.
                _ => access.warnings.push(
                    "a line of ANTHROPIC_CUSTOM_HEADERS has no effect: it is not of the form `name: value`".to_owned(),
                ),
            }
        }
        if let Some(text) = variable("CLAUDE_CODE_EXTRA_BODY") {
            match RawObject::parse(&text) {
                Ok(object) => {
                    let fields = object.fields();
                    let fields = fields.map(|(name, value)| (name.to_owned(), value.clone()));
                    access.body = fields.collect();
                }
                Err(error) => access.warnings.push(format!(
                    "CLAUDE_CODE_EXTRA_BODY has no effect: it is not a JSON object: {error}"
                )),
            }
        }
        access
    }

    /// Sends a request, by a function that sends it as it is. A key that the command of the settings printed and that the server
    /// refuses is printed once more.
    fn send(
        self: &Arc<Self>,
        request: HttpRequest,
        send: impl Fn(HttpRequest) -> BoxStream<'static, Answer> + Send + 'static,
    ) -> BoxStream<'static, Answer> {
        if let Some(reason) = &self.refusal {
            return refused(reason);
        }
        match &self.key.helper {
            None => send(self.prepared(request, None)),
            Some(helper) => {
                let (access, helper) = (Arc::clone(self), Arc::clone(helper));
                async move { access.send_with(&helper, request, send).await }
                    .flatten_stream()
                    .boxed()
            }
        }
    }

    /// Sends a request with a key that the command of the settings prints.
    async fn send_with(
        &self,
        helper: &KeyHelper,
        request: HttpRequest,
        send: impl Fn(HttpRequest) -> BoxStream<'static, Answer>,
    ) -> BoxStream<'static, Answer> {
        let key = match helper.key().await {
            Ok(key) => key,
            Err(error) => return refused(&error.to_string()),
        };
        let mut answers = send(self.prepared(request.clone(), Some(&key)));
        let first = answers.next().await;
        let is_refused = |answer: &Answer| matches!(answer, Answer::HttpHead { status, .. } if *status == UNAUTHORIZED);
        if first.as_ref().is_some_and(is_refused) {
            match helper.after_refusal(&key).await {
                Ok(Some(newer)) => return send(self.prepared(request, Some(&newer))),
                // The server says what is wrong with the key.
                Ok(None) => {}
                Err(error) => return refused(&error.to_string()),
            }
        }
        stream::iter(first).chain(answers).boxed()
    }

    /// The request as it is sent, with a key that was printed for it.
    fn prepared(&self, request: HttpRequest, printed: Option<&SecretString>) -> HttpRequest {
        let mut request = request;
        let of_key = self.key.headers(printed).into_iter();
        let of_key = of_key.map(|(name, value)| (name.to_owned(), value));
        for (name, value) in of_key.chain(self.headers.iter().cloned()) {
            let known = request
                .headers
                .iter_mut()
                .find(|(known, _)| known.eq_ignore_ascii_case(&name));
            match known {
                Some((_, features)) if name == "anthropic-beta" => {
                    features.push(',');
                    features.push_str(&value);
                }
                Some((_, known)) => *known = value,
                None => request.headers.push((name, value)),
            }
        }
        if !self.body.is_empty() {
            request.body = self.extended(&request);
        }
        request
    }

    /// The body with the further fields; unchanged if it is no object.
    fn extended(&self, request: &HttpRequest) -> Vec<Bytes> {
        let text = String::from_utf8(request.body_bytes()).unwrap_or_default();
        let Ok(mut body) = RawObject::parse(&text) else {
            return request.body.clone();
        };
        for (name, value) in &self.body {
            body.set(name, value.clone());
        }
        vec![Bytes::from(body.to_raw().get().to_owned())]
    }
}

/// The answer to a request that is not sent.
fn refused(reason: &str) -> BoxStream<'static, Answer> {
    let failure = HttpFailure::new(HttpFailureKind::Refused, reason);
    stream::once(async { Answer::HttpFailed(failure) }).boxed()
}

/// Sends requests as flags, environment and settings say.
pub(super) struct AccessTransport {
    pub(super) access: Arc<ModelAccess>,
    pub(super) inner: Arc<dyn Transport>,
}

impl Transport for AccessTransport {
    fn send(&self, id: EffectId, request: HttpRequest) -> BoxStream<'static, Answer> {
        let inner = Arc::clone(&self.inner);
        self.access
            .send(request, move |request| inner.send(id, request))
    }
}

/// Why nothing is sent because Claude is wanted on the servers of somebody else.
fn elsewhere(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_on = |name: &str| {
        let value = variable(name).map(|value| value.trim().to_ascii_lowercase());
        value.is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false" | "no" | "off"))
    };
    let (name, server) = ELSEWHERE.iter().find(|(name, _)| is_on(name))?;
    Some(format!(
        "No request was sent, so that no key reaches the wrong server: {name} asks for Claude on {server}, which windlass cannot reach yet. Unset it to use Anthropic's API."
    ))
}

/// Why nothing is sent for want of a key. A server that was named may need none, or know its clients by other headers.
fn without_key(
    launch: &Launch,
    key: &ModelKey,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let is_named = launch.base_url.is_some() || variable("ANTHROPIC_CUSTOM_HEADERS").is_some();
    let lacks = key.is_none() && launch.flags.provider == Provider::Anthropic;
    (lacks && !is_named).then(|| {
        "No request was sent: there is no key. Set ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN, or `apiKeyHelper` in the settings, or name a server with ANTHROPIC_BASE_URL."
            .to_owned()
    })
}

/// Whether HTTP can carry this header.
fn is_header(name: &str, value: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty()
        && name.bytes().all(is_name)
        && value
            .bytes()
            .all(|byte| byte == b'\t' || byte >= b' ' && byte != 127)
}
