//! Responses as written in a script, and their validation.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use serde::{Deserialize, Deserializer};

use super::{
    Action, BlockScript, Chunks, ErrorScript, Fault, Form, MessageScript, Place, Response,
    ScriptError, StreamScript, UsageScript, Waits,
    block::BlockForm,
    stray,
    value::{PayloadForm, TextForm, text_or_object},
};

/// A response as written, with the fields of all kinds of responses.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RespondFields {
    status: Option<u16>,
    headers: BTreeMap<String, String>,
    // One of these determines the kind of response.
    text: Option<String>,
    content: Option<Vec<BlockForm>>,
    error: Option<ErrorScript>,
    body: Option<PayloadForm>,
    cut: Option<bool>,
    // These are only for model responses.
    id: Option<String>,
    model: Option<String>,
    stop_reason: Option<String>,
    stop_sequence: Option<String>,
    usage: Option<UsageScript>,
    form: Option<Form>,
    stream: Option<StreamScript>,
    // These apply to every response with a body.
    chunks: Chunks,
    delay_ms: Waits,
    faults: Vec<FaultForm>,
}

/// A response as written: an object, or a string for a model response with a single text.
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

/// A fault as written: a position, and what happens there.
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

/// `"cut": false` would look meaningful, but is not.
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
