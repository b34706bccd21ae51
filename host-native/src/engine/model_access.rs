//! What an engine adds to its requests to the model server, and when it sends none.

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use windlass_core::{
    RawJson,
    effect::{Answer, HttpFailure, HttpFailureKind, HttpRequest},
    json::RawObject,
};
use windlass_engine::protocol::flags::Provider;

use super::launch::Launch;
use crate::http::Auth;

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

/// What is added to requests to the model server; or why none is sent.
#[derive(Default)]
pub(super) struct ModelAccess {
    /// Why no request is sent, for the person.
    refusal: Option<String>,
    /// Further headers.
    headers: Vec<(String, String)>,
    /// Fields of the body that replace those of the request.
    body: Vec<(String, RawJson)>,
    /// What is wrong with variables, for people.
    pub(super) warnings: Vec<String>,
}

impl ModelAccess {
    /// Reads it from the environment, to which the settings have added their variables.
    pub(super) fn read(launch: &Launch, variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut access = Self {
            refusal: elsewhere(&variable).or_else(|| without_key(launch, &variable)),
            ..Self::default()
        };
        if launch.flags.provider != Provider::Anthropic {
            return access;
        }
        if launch.is_subscription {
            let betas = OAUTH_BETAS.join(",");
            access.headers.push(("anthropic-beta".to_owned(), betas));
        }
        if let Some(token) = launch.second_token() {
            let bearer = format!("Bearer {token}");
            access.headers.push(("authorization".to_owned(), bearer));
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

    /// The answer to a request that is not sent, or the request as it is sent.
    pub(super) fn prepare(
        &self,
        request: HttpRequest,
    ) -> Result<HttpRequest, BoxStream<'static, Answer>> {
        if let Some(reason) = &self.refusal {
            let failure = HttpFailure::new(HttpFailureKind::Refused, reason);
            return Err(stream::once(async { Answer::HttpFailed(failure) }).boxed());
        }
        let mut request = request;
        for (name, value) in &self.headers {
            let known = request
                .headers
                .iter_mut()
                .find(|(known, _)| known.eq_ignore_ascii_case(name));
            match known {
                Some((_, features)) if name == "anthropic-beta" => {
                    features.push(',');
                    features.push_str(value);
                }
                Some((_, known)) => known.clone_from(value),
                None => request.headers.push((name.clone(), value.clone())),
            }
        }
        if !self.body.is_empty() {
            request.body = self.extended(&request);
        }
        Ok(request)
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
fn without_key(launch: &Launch, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_named = launch.base_url.is_some() || variable("ANTHROPIC_CUSTOM_HEADERS").is_some();
    let lacks = matches!(launch.auth, Auth::None) && launch.flags.provider == Provider::Anthropic;
    (lacks && !is_named).then(|| {
        "No request was sent: there is no key. Set ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN, or name a server with ANTHROPIC_BASE_URL."
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
