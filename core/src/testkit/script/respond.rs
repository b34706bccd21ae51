//! What a request is answered.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use serde::{Deserialize, Deserializer};

use super::{
    BlockScript, Payload, ScriptError,
    block::BlockForm,
    owned, stray,
    value::{PayloadForm, TextForm, text_or_object},
};

/// What a request is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status; none means 200, or the one that belongs to the type of the error.
    pub status: Option<u16>,
    /// Headers, names in lower case; they replace those the model sends by itself.
    pub headers: BTreeMap<String, String>,
    /// The substance.
    pub action: Action,
    /// How the body is cut into pieces.
    pub chunks: Chunks,
    /// Waiting times.
    pub waits: Waits,
    /// What goes wrong on the way.
    pub faults: Vec<Fault>,
}

/// The substance of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A message of the model.
    Message(MessageScript),
    /// An error of the API.
    Error(ErrorScript),
    /// Any bytes.
    Body(Payload),
    /// The connection is closed without an answer.
    Cut,
}

/// A message of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageScript {
    /// Its id; none means `msg_<exchange>`.
    pub id: Option<String>,
    /// The model named in it; none means that of the script.
    pub model: Option<String>,
    /// Its content.
    pub content: Vec<BlockScript>,
    /// Why it ends; none means `tool_use` when there is a tool call, else `end_turn`.
    pub stop_reason: Option<String>,
    /// The stop sequence that ended it.
    pub stop_sequence: Option<String>,
    /// Token counts.
    pub usage: UsageScript,
    /// Whether it is sent as a stream.
    pub form: Form,
    /// How it is streamed.
    pub stream: StreamScript,
}

/// Whether a message is sent as a stream or in one piece of JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As the request asks.
    #[default]
    Asked,
    /// As server-sent events.
    Sse,
    /// As plain JSON.
    Json,
}

/// Token counts. What is not given is computed: the input as a quarter of the request's bytes, the
/// output as a quarter of the content's, the cache as 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UsageScript {
    /// Tokens in that were not cached.
    pub input_tokens: Option<u64>,
    /// Tokens out.
    pub output_tokens: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read_input_tokens: u64,
    /// Tokens written to the cache.
    pub cache_creation_input_tokens: u64,
}

/// How a message is streamed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StreamScript {
    /// How many characters a delta carries; 0 means all in one.
    pub delta_chars: usize,
    /// All blocks are opened at the start and filled in turns, as some servers do.
    pub interleave: bool,
    /// A `ping` after every so many events, the first one after the first `content_block_start`
    /// as the API does. 0 means none at all; without the field there is only that first one.
    pub ping_every: Option<usize>,
}

impl Default for StreamScript {
    fn default() -> Self {
        Self {
            delta_chars: 24,
            interleave: false,
            ping_every: None,
        }
    }
}

/// How a body is cut into the pieces that are sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Chunks {
    /// One piece an event; a plain body is one piece.
    #[default]
    Event,
    /// Everything in one piece.
    Whole,
    /// Pieces of so many bytes (at least 1).
    Bytes(usize),
    /// Pieces of 1 to `max` bytes, the same ones for the same seed.
    Random {
        /// The seed.
        seed: u64,
        /// The largest piece, in bytes (at least 1).
        max: usize,
    },
}

/// Waiting times in milliseconds. The model only reports them; whoever sends the answer waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Waits {
    /// Before the status line.
    pub head: u64,
    /// Before every piece of the body.
    pub chunk: u64,
}

/// An error of the API.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorScript {
    /// `overloaded_error`, `rate_limit_error`, `invalid_request_error` …
    #[serde(rename = "type")]
    pub kind: String,
    /// Its message.
    pub message: String,
}

impl ErrorScript {
    /// The status that the API sends with an error of this type; 500 for a type it does not know.
    #[must_use]
    pub fn status(&self) -> u16 {
        match self.kind.as_str() {
            "invalid_request_error" => 400,
            "authentication_error" => 401,
            "billing_error" => 402,
            "permission_error" => 403,
            "not_found_error" => 404,
            "request_too_large" => 413,
            "rate_limit_error" => 429,
            "timeout_error" => 504,
            "overloaded_error" => 529,
            _ => 500,
        }
    }
}

/// Something that goes wrong while the body is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// These bytes stand between the others.
    Insert(Place, Payload),
    /// An `error` event; nothing comes after it.
    Error(Place, ErrorScript),
    /// The connection breaks.
    Cut(Place),
    /// The body ends properly, but too early.
    End(Place),
    /// Nothing more comes, and the connection stays open.
    Hang(Place),
}

/// A place in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// After so many events. A body that is not a stream counts as one event.
    Events(usize),
    /// After so many bytes.
    Bytes(usize),
}

impl Response {
    /// A message of one text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self {
            status: None,
            headers: BTreeMap::new(),
            action: Action::Message(MessageScript {
                id: None,
                model: None,
                content: Vec::from([BlockScript::Text(owned(text))]),
                stop_reason: None,
                stop_sequence: None,
                usage: UsageScript::default(),
                form: Form::default(),
                stream: StreamScript::default(),
            }),
            chunks: Chunks::default(),
            waits: Waits::default(),
            faults: Vec::new(),
        }
    }
}

/// A response as it is written, all fields of all actions side by side.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RespondFields {
    status: Option<u16>,
    headers: BTreeMap<String, String>,
    // One of these says what is answered.
    text: Option<String>,
    content: Option<Vec<BlockForm>>,
    error: Option<ErrorScript>,
    body: Option<PayloadForm>,
    cut: Option<bool>,
    // These belong to a message.
    id: Option<String>,
    model: Option<String>,
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
    usage: Option<UsageScript>,
    form: Option<Form>,
    stream: Option<StreamScript>,
    // These go with anything that has a body.
    chunks: Chunks,
    delay_ms: Waits,
    faults: Vec<FaultForm>,
}

/// A response as it is written: an object, or a string for a message of one text.
#[derive(Debug)]
pub(super) struct RespondForm(RespondFields);

impl From<RespondFields> for RespondForm {
    fn from(fields: RespondFields) -> Self {
        Self(fields)
    }
}

impl TextForm for RespondForm {
    const EXPECTED: &'static str = "a string (a text) or a response";
    fn from_text(text: &str) -> Self {
        Self(RespondFields {
            text: Some(text.into()),
            ..RespondFields::default()
        })
    }
}

impl<'de> Deserialize<'de> for RespondForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text_or_object::<D, Self, RespondFields>(deserializer)
    }
}

impl RespondForm {
    pub(super) fn check(self) -> Result<Response, ScriptError> {
        let mut fields = self.0;
        fields.check_numbers()?;
        let mut faults = Vec::with_capacity(fields.faults.len());
        for (index, fault) in core::mem::take(&mut fields.faults).into_iter().enumerate() {
            let checked = fault.check();
            faults.push(checked.map_err(|e| e.below(&format!("faults[{index}]")))?);
        }
        let mut headers = BTreeMap::new();
        for (name, value) in core::mem::take(&mut fields.headers) {
            headers.insert(name.to_ascii_lowercase(), value);
        }
        Ok(Response {
            status: fields.status,
            headers,
            chunks: fields.chunks.clone(),
            waits: fields.delay_ms,
            faults,
            action: fields.action()?,
        })
    }
}

impl RespondFields {
    fn check_numbers(&self) -> Result<(), ScriptError> {
        if self.status.is_some_and(|s| !(200..=599).contains(&s)) {
            return Err(ScriptError::new(
                "status",
                "a status is a number from 200 to 599",
                "correct the number",
            ));
        }
        if matches!(
            self.chunks,
            Chunks::Bytes(0) | Chunks::Random { max: 0, .. }
        ) {
            return Err(ScriptError::new(
                "chunks",
                "pieces of 0 bytes never reach the end",
                "write 1 or more",
            ));
        }
        Ok(())
    }

    fn action(self) -> Result<Action, ScriptError> {
        let named = [
            self.text.is_some(),
            self.content.is_some(),
            self.error.is_some(),
            self.body.is_some(),
            self.cut.is_some(),
        ];
        if named.iter().filter(|present| **present).count() != 1 {
            return Err(ScriptError::new(
                "",
                "a response is exactly one of `text`, `content`, `error`, `body` and `cut`",
                "keep one of them",
            ));
        }
        if self.text.is_none() && self.content.is_none() {
            self.refuse_message_fields()?;
        }
        if let Some(error) = self.error {
            return Ok(Action::Error(error));
        }
        if let Some(body) = self.body {
            return Ok(Action::Body(body.check().map_err(|e| e.below("body"))?));
        }
        if let Some(cut) = self.cut {
            return only_true(cut, "cut").map(|()| Action::Cut);
        }
        let mut content = Vec::new();
        for (index, block) in self.content.unwrap_or_default().into_iter().enumerate() {
            let checked = block.check();
            content.push(checked.map_err(|e| e.below(&format!("content[{index}]")))?);
        }
        content.extend(self.text.map(BlockScript::Text));
        Ok(Action::Message(MessageScript {
            id: self.id,
            model: self.model,
            content,
            stop_reason: self.stop_reason,
            stop_sequence: self.stop_sequence,
            usage: self.usage.unwrap_or_default(),
            form: self.form.unwrap_or_default(),
            stream: self.stream.unwrap_or_default(),
        }))
    }

    fn refuse_message_fields(&self) -> Result<(), ScriptError> {
        let of_a_message = [
            ("id", self.id.is_some()),
            ("model", self.model.is_some()),
            ("stop_reason", self.stop_reason.is_some()),
            ("stop_sequence", self.stop_sequence.is_some()),
            ("usage", self.usage.is_some()),
            ("form", self.form.is_some()),
            ("stream", self.stream.is_some()),
        ];
        match of_a_message.into_iter().find(|(_, present)| *present) {
            Some((field, _)) => Err(stray(field, "a response that is no message")),
            None => Ok(()),
        }
    }
}

/// A fault as it is written: a place, and what happens there.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FaultForm {
    after_events: Option<usize>,
    after_bytes: Option<usize>,
    insert: Option<PayloadForm>,
    error: Option<ErrorScript>,
    cut: Option<bool>,
    end: Option<bool>,
    hang: Option<bool>,
}

impl FaultForm {
    fn check(self) -> Result<Fault, ScriptError> {
        let place = match (self.after_events, self.after_bytes) {
            (Some(events), None) => Place::Events(events),
            (None, Some(bytes)) => Place::Bytes(bytes),
            _ => {
                return Err(ScriptError::new(
                    "",
                    "a fault has exactly one place",
                    "write either `after_events` or `after_bytes`",
                ));
            }
        };
        let mut found = Vec::new();
        if let Some(payload) = self.insert {
            let payload = payload.check().map_err(|e| e.below("insert"))?;
            found.push(Fault::Insert(place, payload));
        }
        found.extend(self.error.map(|error| Fault::Error(place, error)));
        for (field, value, fault) in [
            ("cut", self.cut, Fault::Cut(place)),
            ("end", self.end, Fault::End(place)),
            ("hang", self.hang, Fault::Hang(place)),
        ] {
            if let Some(value) = value {
                only_true(value, field)?;
                found.push(fault);
            }
        }
        match (found.pop(), found.is_empty()) {
            (Some(fault), true) => Ok(fault),
            _ => Err(ScriptError::new(
                "",
                "a fault is exactly one of `insert`, `error`, `cut`, `end` and `hang`",
                "keep one of them; write a second fault for a second one",
            )),
        }
    }
}

/// `"cut": false` would read as if it meant something.
fn only_true(value: bool, field: &str) -> Result<(), ScriptError> {
    if value {
        return Ok(());
    }
    Err(ScriptError::new(
        field,
        &format!("`{field}` can only be true"),
        "remove the field",
    ))
}
