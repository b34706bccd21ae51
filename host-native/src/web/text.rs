//! Which answers are text, and in which encoding.

use encoding_rs::{Encoding, UTF_8};

/// Bytes of a page in which its encoding is looked for.
const SNIFFED: usize = 1024;

/// What an answer is, by its `content-type`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// HTML, with the encoding that was named.
    Html(Option<&'static Encoding>),
    /// Other text.
    Text(Option<&'static Encoding>),
    /// It does not say: it may be either, or neither.
    Unknown,
    /// No text.
    Other(String),
}

impl Kind {
    /// Reads the header, in lower case.
    pub(super) fn of(content_type: &str) -> Self {
        let mut parts = content_type.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let charset = parts.find_map(|part| part.strip_prefix("charset="));
        let encoding =
            charset.and_then(|charset| Encoding::for_label(charset.trim_matches('"').as_bytes()));
        match name {
            "" | "application/octet-stream" => Self::Unknown,
            "text/html" | "application/xhtml+xml" => Self::Html(encoding),
            "application/json"
            | "application/xml"
            | "application/javascript"
            | "application/ecmascript"
            | "application/yaml"
            | "application/x-yaml"
            | "application/toml"
            | "application/x-ndjson"
            | "application/x-sh"
            | "application/sql"
            | "application/graphql"
            | "image/svg+xml" => Self::Text(encoding),
            name if name.starts_with("text/")
                || name.ends_with("+json")
                || name.ends_with("+xml") =>
            {
                Self::Text(encoding)
            }
            name => Self::Other(name.chars().take(100).collect()),
        }
    }
}

/// The text of an answer, and whether it is HTML. None if it is not text after all.
pub(super) fn decode(bytes: &[u8], kind: &Kind) -> Option<(String, bool)> {
    let head = &bytes[..bytes.len().min(SNIFFED)];
    let (named, is_html) = match kind {
        Kind::Html(encoding) => (*encoding, true),
        Kind::Text(encoding) => (*encoding, false),
        Kind::Unknown => {
            if memchr::memchr(0, head).is_some() {
                return None;
            }
            let start = head.trim_ascii_start().to_ascii_lowercase();
            (
                None,
                start.starts_with(b"<!doctype html") || start.starts_with(b"<html"),
            )
        }
        Kind::Other(_) => return None,
    };
    let in_page = || is_html.then(|| encoding_in(head)).flatten();
    // A byte order mark goes before either.
    let (text, ..) = named.or_else(in_page).unwrap_or(UTF_8).decode(bytes);
    Some((text.into_owned(), is_html))
}

/// The encoding that a page names itself (`<meta charset=…>`).
fn encoding_in(head: &[u8]) -> Option<&'static Encoding> {
    let head = head.to_ascii_lowercase();
    let at = memchr::memmem::find(&head, b"charset=")?;
    let name = head[at + b"charset=".len()..].trim_ascii_start();
    let name = name
        .strip_prefix(b"\"")
        .or_else(|| name.strip_prefix(b"'"))
        .unwrap_or(name);
    let end = name
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && !b"-_:".contains(byte));
    Encoding::for_label(&name[..end.unwrap_or(name.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_8_text_is_read_in_its_encoding_and_nothing_else_is_text() {
        let page = b"<html><meta charset='iso-8859-1'><p>caf\xe9";
        for (kind, bytes, expected) in [
            (
                "text/html; charset=utf-8",
                "<p>é".as_bytes(),
                Some(("<p>é", true)),
            ),
            (
                "text/html",
                page,
                Some(("<html><meta charset='iso-8859-1'><p>café", true)),
            ),
            (
                "text/plain; charset=\"shift_jis\"",
                b"\x93\xfa\x96{",
                Some(("日本", false)),
            ),
            ("text/plain", b"\xef\xbb\xbfx", Some(("x", false))),
            ("application/vnd.api+json", b"{}", Some(("{}", false))),
            (
                "",
                b" <!DOCTYPE html><p>",
                Some((" <!DOCTYPE html><p>", true)),
            ),
            ("", b"plain", Some(("plain", false))),
            ("application/octet-stream", b"a\0b", None),
            ("image/png", b"\x89PNG", None),
            ("application/pdf", b"%PDF-", None),
        ] {
            let read = decode(bytes, &Kind::of(kind));
            let read = read
                .as_ref()
                .map(|(text, is_html)| (text.as_str(), *is_html));
            assert_eq!(read, expected, "{kind}");
        }
    }
}
