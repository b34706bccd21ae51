//! Redacts keys in servers' output: a server that echoes the key it was sent would put it into messages, transcripts
//! and errors. So output is searched on arrival, and each key is replaced by [`REPLACEMENT`].
//!
//! A key is found literally and in common encodings: percent-encoding and JSON, whichever of its bytes are escaped, base64
//! (at any offset in the encoded data) and hexadecimal, also in lines. This protects against servers, proxies and programs
//! that echo what they were sent, not against deliberate obfuscation.

mod events;
mod notation;
mod search;
mod texts;

use std::{
    borrow::Cow,
    io,
    ops::Range,
    pin::Pin,
    sync::{Arc, PoisonError, RwLock},
    task::{Context, Poll, ready},
};

use bytes::{Buf as _, Bytes, BytesMut};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncRead, ReadBuf};

use self::{events::RedactedEvents, search::Search};

/// The replacement for a key.
pub(crate) const REPLACEMENT: &str = "[key]";

/// The minimum length of a key. A shorter one needs no protection, and may be a word (`dummy`, `not-needed`).
const SHORTEST: usize = 16;

/// The size of one read of a searched stream.
const PIECE: usize = 8 * 1024;

/// The keys to search for. Cloning is cheap; clones search for the same keys, also for those that one of them learns later.
#[derive(Clone, Default)]
pub(crate) struct Redactor(Arc<RwLock<Known>>);

#[derive(Default)]
struct Known {
    keys: Vec<SecretString>,
    /// `None` if there is nothing to search for.
    search: Option<Arc<Search>>,
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
        let redactor = Self::default();
        redactor.add(keys, shortest);
        redactor
    }

    /// Searches for these keys as well from now on.
    #[cfg(feature = "engine")]
    pub(crate) fn learn<'a>(&self, keys: impl IntoIterator<Item = &'a SecretString>) {
        self.add(keys, SHORTEST);
    }

    fn add<'a>(&self, keys: impl IntoIterator<Item = &'a SecretString>, shortest: usize) {
        // A panic while the lock is held leaves valid keys.
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.keys.len();
        for key in keys {
            let text = key.expose_secret().trim();
            let is_it = |other: &SecretString| other.expose_secret() == text;
            if text.len() >= shortest && !known.keys.iter().any(is_it) {
                known.keys.push(SecretString::from(text));
            }
        }
        if known.keys.len() > before {
            known.search = Search::of(&known.keys).map(Arc::new);
        }
    }

    fn search(&self) -> Option<Arc<Search>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.search.clone()
    }

    /// The text without keys.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.without_keys(text.as_bytes()) {
            None => Cow::Borrowed(text),
            // Keys are whole characters, so the result is valid UTF-8.
            Some(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
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
            Some(clean) => clean.into(),
        }
    }

    /// For bytes that arrive in pieces.
    pub(crate) fn stream(&self) -> RedactedStream {
        RedactedStream {
            redactor: self.clone(),
            held: BytesMut::new(),
            covered: 0,
            events: None,
        }
    }

    /// For server-sent events that arrive in pieces: also finds a key that is split between events.
    pub(crate) fn events(&self) -> RedactedStream {
        RedactedStream {
            events: self
                .search()
                .is_some()
                .then(|| RedactedEvents::new(self.clone())),
            ..self.stream()
        }
    }

    /// The bytes with every key replaced; `None` if there is no key.
    fn without_keys(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let keys = self.search()?.whole(bytes).keys;
        (!keys.is_empty()).then(|| replaced(bytes, 0, &keys).0)
    }

    /// The position and length of the first key.
    fn first(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let keys = self.search()?.whole(bytes).keys;
        keys.first().map(|key| (key.start, key.len()))
    }

    /// How many of the last bytes may be the beginning of a key.
    fn begun(&self, bytes: &[u8]) -> usize {
        let begun = |search: Arc<Search>| bytes.len() - search.beginning(bytes).known;
        self.search().map_or(0, begun)
    }
}

/// The bytes with these keys replaced, after so many that belong to a key that was replaced before. Also where they end.
fn replaced(bytes: &[u8], covered: usize, keys: &[Range<usize>]) -> (Vec<u8>, usize) {
    let mut clean = Vec::with_capacity(bytes.len());
    let mut kept = covered;
    for key in keys {
        // What overlaps a key is one with it.
        if key.start >= covered {
            clean.extend_from_slice(&bytes[kept..key.start]);
            clean.extend_from_slice(REPLACEMENT.as_bytes());
        }
        kept = kept.max(key.end);
    }
    clean.extend_from_slice(bytes.get(kept..).unwrap_or_default());
    (clean, kept)
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let forms = self.search().map_or(0, |search| search.forms());
        write!(f, "Redactor({forms} forms)")
    }
}

/// Removes keys from bytes that arrive in pieces. Bytes that may be the beginning of a key are held back until the rest is known.
#[derive(Debug)]
pub(crate) struct RedactedStream {
    redactor: Redactor,
    held: BytesMut,
    /// How many bytes of these belong to a key that was replaced already: another one may begin in it.
    covered: usize,
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
        let bytes = match self.redactor.search() {
            None => bytes,
            Some(search) => {
                let found = search.beginning(&bytes);
                self.held.extend_from_slice(&bytes[found.known..]);
                let known = bytes.slice(..found.known);
                self.clean(known, &found.keys)
            }
        };
        match &mut self.events {
            Some(events) => events.take(&bytes),
            None => bytes,
        }
    }

    /// Flushes at the end: what was held back is not the beginning of a key, but may be one that could have been longer.
    pub(crate) fn finish(&mut self) -> Bytes {
        let held = self.held.split().freeze();
        let keys = self.redactor.search();
        let keys = keys.map_or_else(Vec::new, |search| search.whole(&held).keys);
        let held = self.clean(held, &keys);
        match &mut self.events {
            Some(events) => {
                let complete = events.take(&held);
                [complete, events.finish()].concat().into()
            }
            None => held,
        }
    }

    /// The bytes that go on without these keys, the last of which may end in what is held back.
    fn clean(&mut self, bytes: Bytes, keys: &[Range<usize>]) -> Bytes {
        if keys.is_empty() && self.covered == 0 {
            return bytes;
        }
        let (clean, end) = replaced(&bytes, self.covered, keys);
        self.covered = end.saturating_sub(bytes.len());
        clean.into()
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
    use base64::{
        Engine as _,
        engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
    };
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
