//! What a list of sessions shows of one.

use serde::Serialize;
use wasm_bindgen::prelude::*;
use windlass_engine::transcript::Summary;

use crate::answers::to_json;

/// As the TypeScript Agent SDK names it (`SDKSessionInfo`).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionInfo<'a> {
    summary: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_prompt: Option<&'a str>,
}

/// Reads the text of a transcript; gives its summary, title and first prompt as JSON.
#[wasm_bindgen]
#[must_use]
pub fn summary(transcript: &str) -> String {
    let read = Summary::read(transcript);
    to_json(&SessionInfo {
        summary: read.name().unwrap_or_default(),
        custom_title: read.title.as_deref(),
        first_prompt: read.first_prompt.as_deref(),
    })
}
