//! PDF: the text of its pages.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use lopdf::Document;
use serde::Serialize;
use windlass_plugin::{ErrorCode, Place, ToolError, ToolResult, Tree};

use super::{Output, text};
use crate::observation::{digest, observation};

/// The largest file that is read, in bytes. It is held in memory a few times over.
const LARGEST: usize = 20 << 20;
/// Pages that are shown without being asked for by number.
const UNASKED: usize = 10;
/// Pages that are shown at once.
const MOST: usize = 20;
/// Bytes that a page may decompress to.
const LARGEST_PAGE: usize = 16 << 20;
/// Bytes of text that are shown.
const LONGEST_TEXT: usize = 100_000;

/// The structured output for the whole file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    file_path: &'a str,
    base64: String,
    original_size: usize,
}

pub(super) fn show<T: Tree>(
    place: &Place<'_, T>,
    pages: Option<&str>,
) -> Result<ToolResult, ToolError> {
    let path = &place.absolute;
    let data = place.tree.read_all(&place.relative, LARGEST).map_err(|code| match code {
        ErrorCode::TooLarge => ToolError::new(format!(
            "{path} is a PDF of more than {} MiB, which is more than Read takes. Make a smaller one of the pages in question.",
            LARGEST >> 20
        )),
        other => place.explain(other),
    })?;
    let document = Document::load_mem(&data).map_err(|error| {
        ToolError::new(format!(
            "{path} begins like a PDF, but is none that can be read: {error}."
        ))
    })?;
    if document.is_encrypted() {
        return Err(ToolError::new(format!(
            "{path} is a PDF that needs a password, so it cannot be read."
        )));
    }
    let count = document.get_pages().len();
    let asked = match pages {
        Some(pages) => Pages::parse(pages, count)?,
        None if count > UNASKED => {
            return Err(ToolError::new(format!(
                "{path} has {count} pages. Say which ones to show, {MOST} at most: pages \"1-{UNASKED}\"."
            )));
        }
        None => Pages {
            first: 1,
            last: count,
        },
    };
    let text = asked.text(&document, count);
    let seen = observation(path, digest(&data), pages.is_none());
    let result = ToolResult::text(&text).with_observation(seen);
    // The whole is the file itself, a part of it is what was read there.
    match pages {
        None => result.with_structured(&Output {
            kind: "pdf",
            file: File {
                file_path: path,
                base64: STANDARD.encode(&data),
                original_size: data.len(),
            },
        }),
        Some(_) => result.with_structured(&Output {
            kind: "text",
            file: text::File::whole(path, &text),
        }),
    }
}

/// A range of pages, counted from 1.
struct Pages {
    first: usize,
    last: usize,
}

impl Pages {
    /// `3`, `1-5`, or `7-` for all from there on, in a file of so many pages.
    fn parse(text: &str, count: usize) -> Result<Self, ToolError> {
        let none = || ToolError::new(format!("`{text}` names no pages: write \"3\" or \"1-5\"."));
        let number = |text: &str| {
            text.trim()
                .parse::<usize>()
                .ok()
                .filter(|page| *page > 0)
                .ok_or_else(none)
        };
        let (first, last) = match text.split_once('-') {
            None => (number(text)?, number(text)?),
            Some((first, last)) if last.trim().is_empty() => (number(first)?, count),
            Some((first, last)) => (number(first)?, number(last)?),
        };
        if first > count {
            return Err(ToolError::new(format!(
                "There is no page {first}: the file has {count}."
            )));
        }
        let last = last.min(count);
        if last < first {
            return Err(none());
        }
        if last - first >= MOST {
            return Err(ToolError::new(format!(
                "These are {} pages, and {MOST} are shown at once: begin with \"{first}-{}\".",
                last - first + 1,
                first + MOST - 1
            )));
        }
        Ok(Self { first, last })
    }

    fn text(&self, document: &Document, count: usize) -> String {
        let mut out = String::new();
        for page in self.first..=self.last {
            let number = u32::try_from(page).unwrap_or(u32::MAX);
            let text = document.extract_text_with_limit(&[number], LARGEST_PAGE);
            // Writing to a String cannot fail, here and below.
            let _ = match text {
                Ok(text) if text.trim().is_empty() => write!(
                    out,
                    "<page number=\"{page}\" of=\"{count}\">\n[no text: it may be a picture]\n</page>\n"
                ),
                Ok(text) => write!(
                    out,
                    "<page number=\"{page}\" of=\"{count}\">\n{}\n</page>\n",
                    text.trim()
                ),
                Err(error) => write!(
                    out,
                    "<page number=\"{page}\" of=\"{count}\">\n[its text cannot be read: {error}]\n</page>\n"
                ),
            };
            if out.len() > LONGEST_TEXT {
                let end = out.floor_char_boundary(LONGEST_TEXT);
                out.truncate(end);
                let _ = write!(
                    out,
                    "\n[cut here, on page {page}: read fewer pages at once]"
                );
                break;
            }
        }
        out
    }
}
