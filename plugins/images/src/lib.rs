//! An example of tools that work on files of a person: images are described, and made smaller.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, ImageReader, Limits};
use windlass_plugin::{
    ReadPath, Structured, ToolError, Workspace, WritePath, input, plugin, serde, tool,
};

/// The largest file that is read, in bytes.
const LARGEST: usize = 32 << 20;

/// The longest side of an image that is read, in pixels: a small file can say that it is a very large image.
const LONGEST_SIDE: u32 = 8192;

/// The most memory that decoding takes, in bytes.
const MEMORY: u64 = 256 << 20;

#[input]
struct Describe {
    /// The image: PNG, JPEG, GIF or WebP.
    file_path: ReadPath,
}

/// What an image is.
#[derive(Debug, serde::Serialize)]
#[serde(crate = "windlass_plugin::serde")]
struct Description {
    format: &'static str,
    width: u32,
    height: u32,
    has_alpha: bool,
    bytes: usize,
}

/// Says format, size and colours of an image.
#[tool(read_only, idempotent, retry = "run_again")]
fn describe_image(
    input: Describe,
    workspace: &Workspace,
) -> Result<Structured<Description>, ToolError> {
    let bytes = workspace.read(&input.file_path, LARGEST)?;
    let (image, format) = decode(&bytes, &input.file_path)?;
    Ok(Structured(Description {
        format: format.to_mime_type(),
        width: image.width(),
        height: image.height(),
        has_alpha: image.color().has_alpha(),
        bytes: bytes.len(),
    }))
}

#[input]
struct Resize {
    /// The image: PNG, JPEG, GIF or WebP.
    file_path: ReadPath,
    /// Where the smaller image goes, as a PNG.
    output_path: WritePath,
    /// The longer side of the new image, in pixels. An image that is smaller stays as large as it is.
    #[schemars(range(min = 1, max = 8192))]
    longer_side: u32,
}

/// Makes an image smaller, and keeps its proportions.
#[tool(idempotent)]
fn resize_image(input: Resize, workspace: &Workspace) -> Result<String, ToolError> {
    let bytes = workspace.read(&input.file_path, LARGEST)?;
    let (image, _) = decode(&bytes, &input.file_path)?;
    let side = input.longer_side.clamp(1, LONGEST_SIDE);
    let small = match image.width().max(image.height()) > side {
        true => image.thumbnail(side, side),
        false => image,
    };
    let mut png = Cursor::new(Vec::new());
    small
        .write_to(&mut png, ImageFormat::Png)
        .map_err(|error| ToolError::new(format!("The image cannot be written as PNG: {error}.")))?;
    workspace.write(&input.output_path, png.get_ref())?;
    let (width, height) = (small.width(), small.height());
    Ok(format!(
        "{} has {width} x {height} pixels.",
        &*input.output_path
    ))
}

fn decode(bytes: &[u8], path: &str) -> Result<(DynamicImage, ImageFormat), ToolError> {
    let failed = |error: &dyn std::fmt::Display| {
        ToolError::new(format!("{path} is no image that can be read: {error}."))
    };
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let mut reader = reader.map_err(|error| failed(&error))?;
    let format = reader.format();
    let format = format.ok_or_else(|| failed(&"it is neither PNG nor JPEG, GIF or WebP"))?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    let image = reader.decode().map_err(|error| failed(&error))?;
    Ok((image, format))
}

plugin! {
    tools: [describe_image, resize_image],
    grants: { "filesystem": "write" },
    limits: { "memory_bytes": 536_870_912, "timeout_ms": 30_000 },
}
