//! Output that is an image: a data URL and nothing else.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use windlass_core::tool::ResultBlock;

use super::capture::Capture;

/// The most bytes of a data URL: the Messages API takes 5 MB of base64.
const LARGEST: u64 = 5_000_000;

/// The beginnings of the images that models see.
const FORMATS: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

/// The image in an output.
pub(super) fn of(output: &Capture) -> Option<ResultBlock> {
    if !output.starts_with(b"data:image/") {
        return None;
    }
    let text = String::from_utf8(output.whole(LARGEST)?).ok()?;
    let (media_type, data) = text.trim().strip_prefix("data:")?.split_once(";base64,")?;
    let (_, beginning) = FORMATS.iter().find(|(format, _)| *format == media_type)?;
    let data: String = data.split_ascii_whitespace().collect();
    let image = BASE64_STANDARD.decode(&data).ok()?;
    image
        .starts_with(beginning)
        .then(|| ResultBlock::image(media_type, data))
}
