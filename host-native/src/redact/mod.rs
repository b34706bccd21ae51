//! Redacts keys in servers' output: a server that echoes the key it was sent would put it into messages, transcripts
//! and errors. So output is searched on arrival, and each key is replaced by [`REPLACEMENT`].
//!
//! A key is found literally and in common encodings: percent-encoding, JSON, base64 (at any offset in the encoded
//! data) and hexadecimal. This protects against servers, proxies and programs that echo what they were sent, not
//! against deliberate obfuscation.

mod events;
mod texts;

use std::{
    borrow::Cow,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use bytes::{Buf as _, Bytes, BytesMut};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncRead, ReadBuf};

use self::events::RedactedEvents;

/// The replacement for a key.
pub(crate) const REPLACEMENT: &str = "[key]";

/// The minimum length of a key. A shorter one needs no protection, and may be a word (`dummy`, `not-needed`).
const SHORTEST: usize = 16;

/// The size of one read of a searched stream.
const PIECE: usize = 8 * 1024;

/// The keys to search for. Cloning is cheap.
#[derive(Clone, Default)]
pub(crate) struct Redactor(Option<Arc<Search>>);

/// The texts to search for, and the automaton that finds them.
struct Search {
    /// Every form in which a key may occur.
    forms: Vec<Vec<u8>>,
    longest: usize,
    /// The possible first bytes of the forms.
    first_bytes: [bool; 256],
    any: AhoCorasick,
}

impl Redactor {
    /// Searches for these keys.
    pub(crate) fn new<'a>(keys: impl IntoIterator<Item = &'a SecretString>) -> Self {
        Self::of_secrets(keys, SHORTEST)
    }

    /// Searches for these secrets, of at least so many bytes.
    pub(crate) fn of_secrets<'a>(
        keys: impl IntoIterator<Item = &'a SecretString>,
        shortest: usize,
    ) -> Self {
        let mut forms: Vec<Vec<u8>> = keys
            .into_iter()
            .map(|key| key.expose_secret().trim())
            .filter(|key| key.len() >= shortest)
            .flat_map(forms)
            .collect();
        forms.sort();
        forms.dedup();
        if forms.is_empty() {
            return Self(None);
        }
        let any = AhoCorasick::builder()
            // Of two matches at one position, the longer.
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&forms);
        let mut first_bytes = [false; 256];
        for form in &forms {
            first_bytes[usize::from(form[0])] = true;
        }
        let longest = forms.iter().map(Vec::len).max().unwrap_or_default();
        let search = |any| Search {
            forms,
            longest,
            first_bytes,
            any,
        };
        // Fails only for more than two thousand million bytes of forms, which no environment holds.
        Self(any.ok().map(search).map(Arc::new))
    }

    /// The text without keys.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.without_keys(text.as_bytes()) {
            None => Cow::Borrowed(text),
            // Keys begin and end with ASCII characters, so the result is valid UTF-8.
            Some((clean, _)) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        }
    }

    /// The same, for an owned text.
    pub(crate) fn owned(&self, text: String) -> String {
        match self.text(&text) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => text,
        }
    }

    /// The bytes without keys.
    pub(crate) fn bytes(&self, bytes: Bytes) -> Bytes {
        match self.without_keys(&bytes) {
            None => bytes,
            Some((clean, _)) => clean.into(),
        }
    }

    /// For bytes that arrive in pieces.
    pub(crate) fn stream(&self) -> RedactedStream {
        RedactedStream {
            redactor: self.clone(),
            held: BytesMut::new(),
            events: None,
        }
    }

    /// For server-sent events that arrive in pieces: also finds a key that is split between events.
    pub(crate) fn events(&self) -> RedactedStream {
        RedactedStream {
            events: self.0.is_some().then(|| RedactedEvents::new(self.clone())),
            ..self.stream()
        }
    }

    /// The bytes with every key replaced, and the end of the last replacement; `None` if there is no key.
    fn without_keys(&self, bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
        let mut clean: Option<Vec<u8>> = None;
        let mut rest = bytes;
        while let Some((at, length)) = self.first(rest) {
            let clean = clean.get_or_insert_default();
            clean.extend_from_slice(&rest[..at]);
            clean.extend_from_slice(REPLACEMENT.as_bytes());
            rest = &rest[at + length..];
        }
        clean.map(|mut clean| {
            let replaced = clean.len();
            clean.extend_from_slice(rest);
            (clean, replaced)
        })
    }

    /// The position and length of the first key.
    fn first(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let found = self.0.as_ref()?.any.find(bytes)?;
        Some((found.start(), found.len()))
    }

    /// How many of the last bytes may be the beginning of a key.
    fn begun(&self, bytes: &[u8]) -> usize {
        let Some(search) = &self.0 else {
            return 0;
        };
        let tail = &bytes[bytes.len().saturating_sub(search.longest - 1)..];
        let is_begun = |at: &usize| {
            let end = &tail[*at..];
            let begins = |form: &Vec<u8>| form.len() > end.len() && form.starts_with(end);
            search.first_bytes[usize::from(end[0])] && search.forms.iter().any(begins)
        };
        (0..tail.len())
            .find(is_begun)
            .map_or(0, |at| tail.len() - at)
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let forms = self.0.as_ref().map_or(0, |search| search.forms.len());
        write!(f, "Redactor({forms} forms)")
    }
}

/// A key literally and in other encodings.
fn forms(key: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![key.as_bytes().to_vec()];
    let quoted = serde_json::Value::from(key).to_string();
    forms.push(quoted.as_bytes()[1..quoted.len() - 1].to_vec());
    forms.extend([
        json_for_pages(key, b"/", b""),
        json_for_pages(key, b"", b"<>&'=+"),
    ]);
    forms.push(json_for_pages(key, b"/", b"<>&'=+"));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let percent = |upper: bool| -> String {
        let bytes = key.bytes().map(|byte| match (is_plain(byte), upper) {
            (true, _) => char::from(byte).to_string(),
            (false, true) => format!("%{byte:02X}"),
            (false, false) => format!("%{byte:02x}"),
        });
        bytes.collect()
    };
    forms.extend([true, false].map(|upper| percent(upper).into_bytes()));
    let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
    forms.push(hex.to_ascii_uppercase().into_bytes());
    forms.push(hex.into_bytes());
    for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
        // Three bytes become four characters, so the offset of the key in the data determines its encoding.
        for before in 0..3 {
            let padded = [&b"\0\0"[..before], key.as_bytes()].concat();
            let text = engine.encode(&padded);
            let whole = padded.len() * 8 / 6;
            let own = [0, 2, 3][before];
            forms.push(text.as_bytes()[own..whole].to_vec());
        }
    }
    forms
}

/// A key as written by JSON encoders that escape for HTML: some characters with a backslash, others as numeric escapes.
fn json_for_pages(key: &str, escaped: &[u8], numbered: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for byte in key.bytes() {
        if numbered.contains(&byte) {
            text.extend(format!("\\u{byte:04x}").bytes());
            continue;
        }
        if escaped.contains(&byte) || matches!(byte, b'"' | b'\\') {
            text.push(b'\\');
        }
        text.push(byte);
    }
    text
}

/// Removes keys from bytes that arrive in pieces. Bytes that may be the beginning of a key are held back until the rest is known.
#[derive(Debug)]
pub(crate) struct RedactedStream {
    redactor: Redactor,
    held: BytesMut,
    /// Set if the bytes are server-sent events.
    events: Option<RedactedEvents>,
}

impl RedactedStream {
    /// Takes a piece; returns the bytes known to contain no key, possibly none.
    pub(crate) fn take(&mut self, piece: Bytes) -> Bytes {
        let bytes = match self.held.is_empty() {
            true => piece,
            false => {
                self.held.extend_from_slice(&piece);
                self.held.split().freeze()
            }
        };
        let (mut bytes, searched) = match self.redactor.without_keys(&bytes) {
            None => (bytes, 0),
            Some((clean, replaced)) => (clean.into(), replaced),
        };
        let begun = self.redactor.begun(&bytes[searched..]);
        self.held
            .extend_from_slice(&bytes.split_off(bytes.len() - begun));
        match &mut self.events {
            Some(events) => events.take(&bytes),
            None => bytes,
        }
    }

    /// Flushes at the end: what was held back is not a key.
    pub(crate) fn finish(&mut self) -> Bytes {
        let held = self.held.split().freeze();
        match &mut self.events {
            Some(events) => {
                let complete = events.take(&held);
                [complete, events.finish()].concat().into()
            }
            None => held,
        }
    }
}

/// A reader that removes keys, for the output of server processes.
#[cfg_attr(not(unix), allow(dead_code))]
#[derive(Debug)]
pub(crate) struct RedactedReader<R> {
    inner: R,
    stream: RedactedStream,
    /// Searched bytes that were not returned yet.
    ready: Bytes,
    buffer: Vec<u8>,
}

#[cfg_attr(not(unix), allow(dead_code))]
impl<R> RedactedReader<R> {
    pub(crate) fn new(inner: R, redactor: &Redactor) -> Self {
        Self {
            inner,
            stream: redactor.stream(),
            ready: Bytes::new(),
            buffer: vec![0; PIECE],
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for RedactedReader<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.ready.is_empty() {
            let mut read = ReadBuf::new(&mut this.buffer);
            ready!(Pin::new(&mut this.inner).poll_read(cx, &mut read))?;
            let read = Bytes::copy_from_slice(read.filled());
            if read.is_empty() {
                this.ready = this.stream.finish();
                break;
            }
            this.ready = this.stream.take(read);
        }
        let length = buf.remaining().min(this.ready.len());
        buf.put_slice(&this.ready[..length]);
        this.ready.advance(length);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    const KEY: &str = "sk-ant-api03-a/b+c\"d-sk-ant-0123456789";

    fn redactor() -> Redactor {
        Redactor::new([&SecretString::from(KEY)])
    }

    #[test]
    fn a_key_is_found_in_every_notation() {
        let redactor = redactor();
        let json = serde_json::json!(KEY).to_string();
        let mut notations = vec![
            KEY.to_owned(),
            json,
            "sk-ant-api03-a%2Fb%2Bc%22d-sk-ant-0123456789".to_owned(),
            "sk-ant-api03-a%2fb%2bc%22d-sk-ant-0123456789".to_owned(),
            r#"sk-ant-api03-a\/b+c\"d-sk-ant-0123456789"#.to_owned(),
            r#"sk-ant-api03-a/b\u002bc\"d-sk-ant-0123456789"#.to_owned(),
            r#"sk-ant-api03-a\/b\u002bc\"d-sk-ant-0123456789"#.to_owned(),
            KEY.bytes().map(|byte| format!("{byte:02x}")).collect(),
        ];
        for before in ["", "x", "xy", "user:"] {
            for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                notations.push(engine.encode(format!("{before}{KEY}")));
                notations.push(engine.encode(format!("{before}{KEY} and more")));
            }
        }
        for notation in notations {
            let text = format!("the key {notation} is wrong");
            let clean = redactor.text(&text);
            assert!(clean.contains(REPLACEMENT), "{notation}: {clean}");
            // At most the characters that the key shares with its neighbours are left.
            assert!(clean.len() < "the key  is wrong".len() + 30, "{clean}");
        }
        let twice = format!("{KEY}{KEY}, {KEY}");
        assert_eq!(redactor.text(&twice), "[key][key], [key]");
        assert_eq!(redactor.text("sk-ant-api03-"), "sk-ant-api03-");
    }

    #[test]
    fn what_is_too_short_to_be_a_key_is_a_word() {
        let redactor = Redactor::new([&SecretString::from("not-needed")]);
        assert_eq!(redactor.text("a key is not-needed"), "a key is not-needed");
    }

    #[test]
    fn it_is_found_however_it_is_cut() {
        let whole = format!("sk-ant-{KEY}s{KEY}sk-ant-api03-a/b+, sk");
        for size in 1..whole.len() {
            let mut stream = redactor().stream();
            let mut clean = Vec::new();
            for piece in whole.as_bytes().chunks(size) {
                clean.extend_from_slice(&stream.take(Bytes::copy_from_slice(piece)));
            }
            clean.extend_from_slice(&stream.finish());
            let clean = String::from_utf8(clean).unwrap();
            assert_eq!(clean, "sk-ant-[key]s[key]sk-ant-api03-a/b+, sk", "{size}");
        }
    }

    #[test]
    fn what_is_no_beginning_of_a_key_is_not_held_back() {
        let mut stream = redactor().stream();
        let line = Bytes::from_static(b"data: {\"text\": \"ask\"}\n");
        assert_eq!(stream.take(line.clone()), line);
        assert_eq!(stream.take(Bytes::from_static(b"s")), "");
        assert_eq!(stream.take(Bytes::from_static(b"u")), "su");
    }

    #[tokio::test]
    async fn a_reader_gives_all_but_keys() {
        for size in [1, 7, PIECE] {
            let (mut write, read) = tokio::io::duplex(size);
            let text = format!("{}{KEY}{}sk-", "a".repeat(PIECE - 3), "b".repeat(PIECE));
            let writing = tokio::spawn(async move {
                tokio::io::AsyncWriteExt::write_all(&mut write, text.as_bytes()).await
            });
            let mut clean = String::new();
            let mut reader = RedactedReader::new(read, &redactor());
            reader.read_to_string(&mut clean).await.unwrap();
            writing.await.unwrap().unwrap();
            let wanted = format!("{}[key]{}sk-", "a".repeat(PIECE - 3), "b".repeat(PIECE));
            assert_eq!(clean, wanted);
        }
    }
}
