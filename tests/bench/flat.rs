//! The floor: flat, typed serde structs over split lines. What a careful hand-written loop does.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct FlatEvent<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(default)]
    pub(crate) index: u32,
    #[serde(borrow, default)]
    pub(crate) delta: Option<FlatDelta<'a>>,
    #[serde(borrow, default)]
    pub(crate) content_block: Option<FlatBlock<'a>>,
}

#[derive(Deserialize)]
pub(crate) struct FlatDelta<'a> {
    #[serde(borrow, default)]
    pub(crate) text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) partial_json: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(crate) struct FlatBlock<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) name: Option<Cow<'a, str>>,
}

/// What a response comes to.
#[derive(Default)]
pub(crate) struct FlatResponse {
    pub(crate) text: String,
    /// Id, name and input of each call.
    pub(crate) calls: Vec<(String, String, String)>,
    pub(crate) done: bool,
}

impl FlatResponse {
    /// Takes one line of the stream.
    pub(crate) fn line(&mut self, line: &[u8]) {
        let Some(data) = line.strip_prefix(b"data: ") else {
            return;
        };
        let Ok(event) = serde_json::from_slice::<FlatEvent<'_>>(data) else {
            return;
        };
        match event.kind.as_ref() {
            "content_block_delta" => {
                let Some(delta) = event.delta else { return };
                if let Some(text) = delta.text {
                    self.text.push_str(&text);
                }
                if let (Some(json), Some(call)) = (delta.partial_json, self.calls.last_mut()) {
                    call.2.push_str(&json);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block.filter(|b| b.kind == "tool_use") {
                    let own = |v: Option<Cow<'_, str>>| v.unwrap_or_default().into_owned();
                    self.calls
                        .push((own(block.id), own(block.name), String::new()));
                }
            }
            "message_stop" => self.done = event.index == 0,
            _ => {}
        }
    }
}
