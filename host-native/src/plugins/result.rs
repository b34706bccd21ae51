//! What a component answers a call with, checked and in the core's types.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use windlass_core::{
    json::RawJson,
    sorted::SortedMap,
    tool::{Observation, ResultBlock, ToolResult},
};

use super::{
    CallLimits, bindings::windlass::plugin::types as wit, call_state::CallState, outcome::CallError,
};

/// Image formats supported by the Messages API, and what their files begin with.
const IMAGES: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

/// The largest image in bytes: the Messages API takes 5 MB of base64. A larger one would be refused with each further request.
const LARGEST_IMAGE: usize = 3_750_000;

/// The most blocks of a result: an empty one takes memory, too.
const MAX_BLOCKS: usize = 10_000;

/// The deepest structured output. Readers take 127 levels, and the message around it has some.
const MAX_DEPTH: usize = 100;

/// What a digest begins with; 64 hexadecimal digits follow.
const DIGEST: &str = "sha256:";

/// How much of a wrong word of a component is shown.
const SHOWN: usize = 100;

/// The bytes of a result, its structured output included.
pub(super) fn output_size(result: &wit::ToolResult) -> usize {
    content_size(result) + structured_size(result)
}

/// The bytes of text and images in a result, and of what it says of files.
fn content_size(result: &wit::ToolResult) -> usize {
    let blocks = result.content.iter().map(|block| match block {
        wit::Content::Text(text) => text.len(),
        wit::Content::Image(image) => image.data.len(),
    });
    let observed = result.observed.iter();
    let observed = observed.map(|seen| seen.path.len() + seen.digest.len());
    blocks.chain(observed).sum()
}

/// The bytes of its structured output.
fn structured_size(result: &wit::ToolResult) -> usize {
    result.structured.as_ref().map_or(0, String::len)
}

impl CallState {
    /// Leaves of what a component says that it has seen what the host has handed to it or written for it, in this very call: the
    /// session lets a file be changed because of it. More than is allowed are left to be refused.
    pub(super) fn keep_own_observations(&mut self, seen: &mut Vec<wit::Observation>, most: usize) {
        if seen.len() > most {
            return;
        }
        seen.retain(|seen| {
            let is_own = self.call.reach.has_handled(&seen.path);
            if !is_own {
                let path: String = seen.path.chars().take(SHOWN).collect();
                self.note(&format!(
                    "it says that it has seen {path}, which it has neither read nor written"
                ));
            }
            is_own
        });
    }
}

/// Converts the result to the core's type, within its limits.
pub(super) fn output(
    result: wit::ToolResult,
    limits: &CallLimits,
) -> Result<ToolResult, CallError> {
    within("result", content_size(&result), "bytes", limits.content)?;
    within("result", result.content.len(), "blocks", MAX_BLOCKS)?;
    within(
        "structured output",
        structured_size(&result),
        "bytes",
        limits.structured,
    )?;
    let observations = result.observed.len();
    within("result", observations, "observations", limits.observations)?;

    let structured = result.structured.map(RawJson::parse).transpose();
    let structured = structured.map_err(|error| CallError::Malformed {
        what: "structured output",
        fault: format!("no JSON: {}", error.reason),
    })?;
    if let Some(fault) = structured.as_ref().and_then(unreadable) {
        return Err(CallError::Malformed {
            what: "structured output",
            fault,
        });
    }
    let content: Result<Vec<_>, _> = result.content.into_iter().map(block).collect();
    let observed: Result<Vec<_>, _> = result.observed.into_iter().map(observation).collect();
    Ok(ToolResult {
        content: content?,
        is_error: result.is_error,
        structured,
        observed: observed?,
        // No component runs commands or asks models.
        shell: None,
        model_usage: SortedMap::new(),
    })
}

/// Why a reader of the messages that carry a value might not take it.
fn unreadable(value: &RawJson) -> Option<String> {
    if value.depth() > MAX_DEPTH {
        return Some(format!("nested in more than {MAX_DEPTH} levels"));
    }
    (!value.is_readable()).then(|| {
        "JSON that not every reader takes: it has a part of a character, or a number that is too large".to_owned()
    })
}

pub(super) fn within(
    what: &'static str,
    size: usize,
    unit: &'static str,
    limit: usize,
) -> Result<(), CallError> {
    if size <= limit {
        return Ok(());
    }
    Err(CallError::TooLarge {
        what,
        size,
        unit,
        limit,
    })
}

fn block(content: wit::Content) -> Result<ResultBlock, CallError> {
    match content {
        wit::Content::Text(text) => Ok(ResultBlock::Text { text }),
        wit::Content::Image(image) => {
            check_image(&image.media_type, &image.data)?;
            let data = BASE64_STANDARD.encode(image.data);
            Ok(ResultBlock::image(&image.media_type, data))
        }
    }
}

/// Checks that an image is one that a model takes.
fn check_image(media_type: &str, data: &[u8]) -> Result<(), CallError> {
    let malformed = |fault: String| {
        let what = "image";
        Err(CallError::Malformed { what, fault })
    };
    let known = IMAGES.iter().find(|(known, _)| *known == media_type);
    match known {
        None => malformed(format!("of the unknown type {:?}", shown(media_type))),
        Some((_, beginning)) if !data.starts_with(beginning) => {
            malformed(format!("not of the type {media_type}, as it says"))
        }
        Some(_) => within("image", data.len(), "bytes", LARGEST_IMAGE),
    }
}

fn observation(seen: wit::Observation) -> Result<Observation, CallError> {
    let digits = seen.digest.strip_prefix(DIGEST).unwrap_or_default();
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if digits.len() != 64 || !digits.bytes().all(is_digit) {
        return Err(CallError::Malformed {
            what: "observation",
            fault: format!(
                "with a digest {:?}, which is not `{DIGEST}` and 64 hexadecimal digits in small letters",
                shown(&seen.digest)
            ),
        });
    }
    Ok(Observation {
        path: seen.path,
        digest: seen.digest,
        whole: seen.whole,
    })
}

/// The beginning of a text of a component.
fn shown(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHOWN)]
}
