//! Finds keys, literally and in common encodings.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use secrecy::{ExposeSecret as _, SecretString};

/// The texts to search for, and the automaton that finds them.
pub(super) struct Search {
    /// Every form in which a key may occur.
    forms: Vec<Vec<u8>>,
    longest: usize,
    /// The possible first bytes of the forms.
    first_bytes: [bool; 256],
    any: AhoCorasick,
}

impl Search {
    /// The search for all forms of these keys; `None` without keys.
    pub(super) fn of(keys: &[SecretString]) -> Option<Self> {
        let keys = keys.iter().map(|key| key.expose_secret());
        let mut forms: Vec<Vec<u8>> = keys.flat_map(forms).collect();
        forms.sort();
        forms.dedup();
        if forms.is_empty() {
            return None;
        }
        // Fails only for more than two thousand million bytes of forms, which no environment holds.
        let any = AhoCorasick::builder()
            // Of two matches at one position, the longer.
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(&forms)
            .ok()?;
        let mut first_bytes = [false; 256];
        for form in &forms {
            first_bytes[usize::from(form[0])] = true;
        }
        let longest = forms.iter().map(Vec::len).max().unwrap_or_default();
        Some(Self {
            forms,
            longest,
            first_bytes,
            any,
        })
    }

    /// The position and length of the first key.
    pub(super) fn first(&self, bytes: &[u8]) -> Option<(usize, usize)> {
        let found = self.any.find(bytes)?;
        Some((found.start(), found.len()))
    }

    /// How many of the last bytes may be the beginning of a key.
    pub(super) fn begun(&self, bytes: &[u8]) -> usize {
        let tail = &bytes[bytes.len().saturating_sub(self.longest - 1)..];
        let is_begun = |at: &usize| {
            let end = &tail[*at..];
            let begins = |form: &Vec<u8>| form.len() > end.len() && form.starts_with(end);
            self.first_bytes[usize::from(end[0])] && self.forms.iter().any(begins)
        };
        (0..tail.len())
            .find(is_begun)
            .map_or(0, |at| tail.len() - at)
    }

    /// The number of texts.
    pub(super) fn forms(&self) -> usize {
        self.forms.len()
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
