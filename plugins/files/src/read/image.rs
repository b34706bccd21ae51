//! Images, as images.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use windlass_plugin::{Place, ToolError, ToolResult, Tree};

use super::Output;
use crate::observation::{digest, observation};

/// The largest image that is shown, in bytes. The Messages API takes 5 MB of base64, which is three quarters of that in
/// bytes.
const LARGEST: usize = 3_750_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    base64: String,
    #[serde(rename = "type")]
    media_type: &'a str,
    original_size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<Dimensions>,
}

/// In pixels. Images are passed on unchanged, so the displayed size is the original one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Dimensions {
    original_width: usize,
    original_height: usize,
    display_width: usize,
    display_height: usize,
}

/// The media type of an image that models can see, by the first bytes of the file.
pub(super) fn media_type(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if head.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

pub(super) fn show<T: Tree>(
    place: &Place<'_, T>,
    media_type: &'static str,
) -> Result<ToolResult, ToolError> {
    let data = place
        .tree
        .read_all(&place.relative, LARGEST)
        .map_err(|code| match code {
            windlass_plugin::ErrorCode::TooLarge => ToolError::new(format!(
                "{} is an image of more than {LARGEST} bytes, which is more than a model takes. Make a smaller copy and read that.",
                place.absolute
            )),
            other => place.explain(other),
        })?;
    let output = Output {
        kind: "image",
        file: File {
            base64: STANDARD.encode(&data),
            media_type,
            original_size: data.len(),
            dimensions: imagesize::blob_size(&data).ok().map(|size| Dimensions {
                original_width: size.width,
                original_height: size.height,
                display_width: size.width,
                display_height: size.height,
            }),
        },
    };
    let seen = observation(&place.absolute, digest(&data), true);
    Ok(ToolResult::image(media_type, data)
        .with_structured(&output)?
        .with_observation(seen))
}
