//! A model that follows a script.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::{self, Write as _};

use bytes::Bytes;
use serde_json::Value;

use super::{
    body::{self, Piece},
    chat_history, chat_request,
    check::{Checked, ReadBody, check},
    history,
    request::{Asked, RequestView},
    script::{Action, ErrorScript, Exchange, Form, Matching, Response, Script},
    wire::{Context, WireFormat},
};

/// The model named in a response if neither script nor request names one.
const UNNAMED_MODEL: &str = "scripted";

/// A model endpoint without a network: it takes requests and returns the bytes of the answers.
///
/// The path determines the wire format: `…/chat/completions` uses OpenAI's, everything else that of the Messages API. The same
/// script serves both.
///
/// A request that the script does not expect is a *miss*: it is answered by an error of status 400 whose message says what was
/// expected and what was received, and it is recorded for [`verify`](Self::verify). A miss does not use up an exchange.
///
/// ```
/// use windlass_scripted_model::{Piece, RequestView, Script, ScriptedModel};
/// let mut model = ScriptedModel::new(Script::says(["Hello."]));
/// let body = br#"{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"Hi"}]}"#;
/// let answer = model.answer(&RequestView { path: "/v1/messages", headers: &[], body });
/// assert!(matches!(answer.first(), Some(Piece::Head { status: 200, .. })));
/// assert_eq!(answer.last(), Some(&Piece::End));
/// assert!(model.verify().is_ok());
/// ```
#[derive(Debug)]
pub struct ScriptedModel {
    script: Script,
    /// How often each exchange was used.
    used: Vec<u32>,
    /// Requests so far.
    requests: usize,
    misses: Vec<Miss>,
}

/// A request that the script did not expect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// The request, counted from 1.
    pub request: usize,
    /// The exchange that matches best, counted from 1; none if all are used up or the request could not be checked.
    pub nearest: Option<usize>,
    /// What was expected and what was found, in several lines.
    pub report: String,
}

/// What remains if a script was not followed completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// Requests that were not expected.
    pub misses: Vec<Miss>,
    /// Exchanges that were not used, as named in reports.
    pub unused: Vec<String>,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the script was not followed")?;
        for miss in &self.misses {
            write!(f, "\n{}", miss.report)?;
        }
        for exchange in &self.unused {
            write!(f, "\nunused: {exchange}")?;
        }
        Ok(())
    }
}

impl core::error::Error for Unmet {}

impl ScriptedModel {
    /// A model at the start of its script.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self {
            used: alloc::vec![0; script.exchanges.len()],
            script,
            requests: 0,
            misses: Vec::new(),
        }
    }

    /// Answers a request. The pieces must be sent in order; the last one is [`Piece::End`], [`Piece::Cut`] or [`Piece::Hang`].
    pub fn answer(&mut self, request: &RequestView<'_>) -> Vec<Piece> {
        self.requests += 1;
        let chosen = match self.read(request) {
            Ok(body) => self.choose(request, body.as_ref()),
            Err(miss) => Err(miss),
        };
        match chosen {
            Ok(index) => {
                self.used[index] += 1;
                self.respond(index, request)
            }
            Err(miss) => {
                let answer = self.refuse(request, &miss.report);
                self.misses.push(miss);
                answer
            }
        }
    }

    /// The number of requests so far, including misses.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.requests
    }

    /// Requests that were not expected.
    #[must_use]
    pub fn misses(&self) -> &[Miss] {
        &self.misses
    }

    /// Checks that the script was followed completely: no misses, and no unused exchanges.
    ///
    /// # Errors
    /// [`Unmet`]: the misses with their reports, and the unused exchanges.
    pub fn verify(&self) -> Result<(), Unmet> {
        let unused: Vec<String> = (self.script.exchanges.iter().zip(&self.used).enumerate())
            .filter(|(_, (exchange, used))| **used < exchange.repeat)
            .map(|(index, (exchange, used))| {
                let label = exchange.label(index);
                match exchange.repeat {
                    1 => label,
                    times => format!("{label}: used {used} of {times} times"),
                }
            })
            .collect();
        if unused.is_empty() && self.misses.is_empty() {
            return Ok(());
        }
        Err(Unmet {
            misses: self.misses.clone(),
            unused,
        })
    }

    /// Parses and validates the body, if anything depends on it.
    fn read(&self, request: &RequestView<'_>) -> Result<Option<ReadBody>, Miss> {
        let mut candidates = self.candidates();
        if !self.script.validate && candidates.all(|(_, exchange)| exchange.expect.is_empty()) {
            return Ok(None);
        }
        let miss = |found: &str| Miss {
            request: self.requests,
            nearest: None,
            report: format!(
                "scripted model: request {} is not valid\n{found}",
                self.requests
            ),
        };
        let body: Value = serde_json::from_slice(request.body)
            .map_err(|error| miss(&format!("  the body is not JSON: {error}")))?;
        let format = WireFormat::of(request.route());
        let faults = match format {
            _ if !self.script.validate => Vec::new(),
            WireFormat::ChatCompletions => chat_history::validate(&body),
            WireFormat::Messages if request.route().ends_with("/messages") => {
                history::validate_body(&body)
            }
            // Other endpoints, such as token counting, have different bodies.
            WireFormat::Messages => Vec::new(),
        };
        if !faults.is_empty() {
            let lines: Vec<String> = faults.iter().map(|f| format!("  {f}")).collect();
            return Err(miss(&lines.join("\n")));
        }
        Ok(Some(ReadBody {
            meant: match format {
                WireFormat::Messages => None,
                WireFormat::ChatCompletions => Some(chat_request::as_messages(&body)),
            },
            sent: body,
        }))
    }

    /// The exchanges that the next request may use.
    fn candidates(&self) -> impl Iterator<Item = (usize, &Exchange)> {
        let most = match self.script.matching {
            Matching::InOrder => 1,
            Matching::Any => usize::MAX,
        };
        (self.script.exchanges.iter().enumerate())
            .filter(|(index, exchange)| self.used[*index] < exchange.repeat)
            .take(most)
    }

    /// The exchange for a request.
    fn choose(&self, request: &RequestView<'_>, body: Option<&ReadBody>) -> Result<usize, Miss> {
        let mut nearest: Option<(usize, Vec<Checked>)> = None;
        for (index, exchange) in self.candidates() {
            let checks = check(&exchange.expect, request, body);
            let unmet = unmet(&checks);
            if unmet == 0 {
                return Ok(index);
            }
            if nearest
                .as_ref()
                .is_none_or(|(_, best)| unmet < self::unmet(best))
            {
                nearest = Some((index, checks));
            }
        }
        Err(Miss {
            request: self.requests,
            nearest: nearest.as_ref().map(|(index, _)| index + 1),
            report: self.report(nearest),
        })
    }

    /// The difference between a request and the exchange that matches best.
    fn report(&self, nearest: Option<(usize, Vec<Checked>)>) -> String {
        let number = self.requests;
        let Some((index, checks)) = nearest else {
            let total = self.script.exchanges.len();
            return format!(
                "scripted model: request {number} is one too many: all {total} exchanges are used up"
            );
        };
        let label = self.script.exchanges[index].label(index);
        let mut out = match self.script.matching {
            Matching::InOrder => format!("scripted model: request {number} is not {label}"),
            Matching::Any => format!(
                "scripted model: request {number} fits no exchange that is left; nearest is {label}"
            ),
        };
        for check in &checks {
            if let Some(found) = &check.found {
                // Writing to a String cannot fail.
                let _ = write!(
                    out,
                    "\n  {}\n    - expected {}\n    + found    {found}",
                    check.subject, check.expected
                );
            }
        }
        let met: Vec<&str> = (checks.iter().filter(|c| c.found.is_none()))
            .map(|c| c.subject.as_str())
            .collect();
        if !met.is_empty() {
            let _ = write!(out, "\n  as expected: {}", met.join(", "));
        }
        out
    }

    fn refuse(&self, request: &RequestView<'_>, report: &str) -> Vec<Piece> {
        let error = ErrorScript {
            kind: "invalid_request_error".to_owned(),
            message: report.to_owned(),
        };
        let format = WireFormat::of(request.route());
        self.error(format, &Response::text(""), &error)
    }

    fn error(&self, format: WireFormat, response: &Response, error: &ErrorScript) -> Vec<Piece> {
        let status = response.status.unwrap_or_else(|| error.status());
        let part = Bytes::from(format.error_object(error));
        self.send(
            format,
            response,
            status,
            "application/json",
            Vec::from([part]),
        )
    }

    fn send(
        &self,
        format: WireFormat,
        response: &Response,
        status: u16,
        content_type: &str,
        parts: Vec<Bytes>,
    ) -> Vec<Piece> {
        let request_id = format!("req_{}", self.requests);
        let headers = body::headers(content_type, &request_id, &response.headers);
        body::pieces(format, response, status, headers, parts)
    }

    fn respond(&self, index: usize, request: &RequestView<'_>) -> Vec<Piece> {
        let response = &self.script.exchanges[index].respond;
        let format = WireFormat::of(request.route());
        let message = match &response.action {
            Action::Cut => return body::cut_off(response),
            Action::Error(error) => return self.error(format, response, error),
            Action::Body(payload) => {
                let parts = body::payload_parts(payload);
                let status = response.status.unwrap_or(200);
                return self.send(format, response, status, "application/json", parts);
            }
            Action::Message(message) => message,
        };
        let asked = match format {
            WireFormat::Messages => Asked::read(request.body),
            WireFormat::ChatCompletions => Asked::read_chat(request.body),
        };
        let key = match self.used[index] {
            1 => (index + 1).to_string(),
            use_number => format!("{}r{use_number}", index + 1),
        };
        let context = Context {
            key: &key,
            model: (self.script.model.as_deref().or(asked.model.as_deref()))
                .unwrap_or(UNNAMED_MODEL),
            request_bytes: request.body.len(),
            include_usage: asked.include_usage,
        };
        let stream = match message.form {
            Form::Asked => asked.stream.unwrap_or(false),
            Form::Sse => true,
            Form::Json => false,
        };
        let status = response.status.unwrap_or(200);
        if stream {
            let events = format.events(message, &context);
            self.send(
                format,
                response,
                status,
                "text/event-stream; charset=utf-8",
                events,
            )
        } else {
            let object = format.json(message, &context);
            self.send(
                format,
                response,
                status,
                "application/json",
                Vec::from([object]),
            )
        }
    }
}

fn unmet(checks: &[Checked]) -> usize {
    checks.iter().filter(|check| check.found.is_some()).count()
}
