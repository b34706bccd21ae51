//! Answers to the requests of a plugin, as its test gives them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde::Deserialize;
use serde_json::Value;
use windlass::plugins::{RecordedAnswer, RecordedNetwork, RecordedRequest};

/// A request that the plugin makes, and the answer to it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exchange {
    request: Wanted,
    response: Given,
}

/// What a request is like. What is left out may be anything.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default = "get")]
    method: String,
    url: String,
    /// Headers among others, with those of secrets.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The body as a text.
    body: Option<String>,
    /// The body as JSON.
    json: Option<Value>,
}

/// The answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The body as a text.
    #[serde(default)]
    body: String,
    /// The body as JSON, in place of a text.
    json: Option<Value>,
}

fn get() -> String {
    "GET".to_owned()
}

fn ok() -> u16 {
    200
}

impl Wanted {
    fn is_like(&self, request: RecordedRequest<'_>) -> bool {
        let has = |(name, value): (&String, &String)| request.header(name).any(|own| own == value);
        let is_json = |json: &Value| {
            serde_json::from_slice::<Value>(request.body).is_ok_and(|body| body == *json)
        };
        self.method == request.method
            && self.url == request.url
            && self.headers.iter().all(has)
            && (self.body.as_ref()).is_none_or(|body| body.as_bytes() == request.body)
            && self.json.as_ref().is_none_or(is_json)
    }
}

impl Given {
    fn answer(&self) -> RecordedAnswer {
        let body = match &self.json {
            Some(json) => json.to_string(),
            None => self.body.clone(),
        };
        let mut headers: Vec<(String, String)> = self.headers.clone().into_iter().collect();
        let named = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
        if self.json.is_some() && !headers.iter().any(named) {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        RecordedAnswer {
            status: self.status,
            headers,
            body: body.into_bytes(),
        }
    }
}

/// The exchanges of a test: each answers one request, the first that it fits.
#[derive(Debug, Clone)]
pub(super) struct Recording(Arc<Mutex<Heard>>);

#[derive(Debug)]
struct Heard {
    /// Those that no request was answered with yet.
    left: Vec<Exchange>,
    /// What is not as the test expects.
    faults: Vec<String>,
}

impl Recording {
    pub(super) fn new(exchanges: &[Exchange]) -> Self {
        let heard = Heard {
            left: exchanges.to_vec(),
            faults: Vec::new(),
        };
        Self(Arc::new(Mutex::new(heard)))
    }

    /// The network of a host that answers so.
    pub(super) fn network(&self) -> RecordedNetwork {
        let recording = self.clone();
        RecordedNetwork::new(move |request| recording.answer(request))
    }

    fn answer(&self, request: RecordedRequest<'_>) -> Result<RecordedAnswer, String> {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |exchange: &Exchange| exchange.request.is_like(request);
        if let Some(index) = heard.left.iter().position(fits) {
            return Ok(heard.left.remove(index).response.answer());
        }
        let RecordedRequest { method, url, .. } = request;
        let fault = format!("the test has no answer to {method} {url} as it was sent");
        heard.faults.push(fault.clone());
        Err(fault)
    }

    /// What was requested and not recorded since the last time that this was asked.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut heard.faults)
    }

    /// What was recorded and not requested.
    pub(super) fn unasked(&self) -> Vec<String> {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let requests = heard.left.iter().map(|exchange| &exchange.request);
        let text = |request: &Wanted| format!("{} {} was not sent", request.method, request.url);
        requests.map(text).collect()
    }
}
