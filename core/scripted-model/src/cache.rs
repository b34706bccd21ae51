//! Computes what a sequence of requests would read from the provider's prompt cache.
//!
//! The Messages API caches prefixes: tools, then system prompt, then messages, up to a block with `cache_control`. A later
//! request reads the longest prefix that an earlier one wrote; from each of its marks the API looks back over at most 20 blocks
//! for one. Model, `tool_choice` and thinking must be equal, too. This computes the same without the network.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use serde_json::Value;
use windlass_core::json::JsonError;

use super::request::{blocks, list};

/// From a mark the API looks back over this many blocks.
const LOOKBACK: usize = 20;
/// Bytes that count as one token.
const BYTES_A_TOKEN: u64 = 4;

/// A prompt cache, empty at first. Entries do not expire.
///
/// ```
/// use windlass_scripted_model::PromptCache;
///
/// let mut cache = PromptCache::new(0);
/// let body = br#"{"model":"m","messages":[{"role":"user","content":[
///     {"type":"text","text":"a question","cache_control":{"type":"ephemeral"}}]}]}"#;
/// assert_eq!(cache.request(body).unwrap().read, 0);
/// let again = cache.request(body).unwrap();
/// assert_eq!(again.read, again.tokens);
/// ```
#[derive(Debug, Clone, Default)]
pub struct PromptCache {
    min_tokens: u64,
    /// Hashes of the prefixes written.
    written: BTreeSet<u64>,
    total: CacheUse,
}

/// The use of the cache by one or more requests, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUse {
    /// The whole input.
    pub tokens: u64,
    /// Read from the cache.
    pub read: u64,
    /// Written to the cache.
    pub written: u64,
}

impl CacheUse {
    /// The percentage of input tokens that were read from the cache; 0 if there was no input.
    #[must_use]
    pub fn hit_percent(self) -> u64 {
        (self.read * 100).checked_div(self.tokens).unwrap_or(0)
    }
}

impl PromptCache {
    /// A cache that does not store prefixes shorter than this many tokens (1,024 for most models).
    #[must_use]
    pub fn new(min_tokens: u64) -> Self {
        Self {
            min_tokens,
            ..Self::default()
        }
    }

    /// Counts a request, given its body.
    ///
    /// # Errors
    /// The error of the JSON parser if the body is not JSON.
    pub fn request(&mut self, body: &[u8]) -> Result<CacheUse, JsonError> {
        let body: Value = serde_json::from_slice(body)?;
        let prefixes = prefixes(&body);
        let tokens = prefixes.last().map_or(0, |p| p.bytes) / BYTES_A_TOKEN;
        let marks: Vec<usize> = (0..prefixes.len())
            .filter(|i| prefixes[*i].marked)
            .collect();
        let found = |mark: &usize| {
            let from = mark.saturating_sub(LOOKBACK);
            let known = |i: &usize| self.written.contains(&prefixes[*i].hash);
            (from..=*mark).rev().find(known)
        };
        let tokens_to = |i: usize| prefixes[i].bytes / BYTES_A_TOKEN;
        let read = marks
            .iter()
            .filter_map(found)
            .map(tokens_to)
            .max()
            .unwrap_or(0);
        let longest = marks.last().map_or(0, |i| tokens_to(*i));
        for mark in marks {
            if tokens_to(mark) >= self.min_tokens {
                self.written.insert(prefixes[mark].hash);
            }
        }
        let written = if longest >= self.min_tokens {
            longest - read
        } else {
            0
        };
        let used = CacheUse {
            tokens,
            read,
            written,
        };
        self.total.tokens += tokens;
        self.total.read += read;
        self.total.written += written;
        Ok(used)
    }

    /// The sum of all requests so far.
    #[must_use]
    pub fn total(&self) -> CacheUse {
        self.total
    }
}

/// The input up to and including a block.
struct Prefix {
    hash: u64,
    bytes: u64,
    marked: bool,
}

/// Every prefix of a request that ends with a block, in order.
fn prefixes(body: &Value) -> Vec<Prefix> {
    let mut out = Prefixes::default();
    out.mix(&[string(body, "model")]);
    for tool in list(body, "tools") {
        out.block(tool);
    }
    for block in list(body, "system") {
        out.block(block);
    }
    // These are not part of the text, but affect the cache.
    out.mix(&[text(body.get("tool_choice")), text(body.get("thinking"))]);
    for message in list(body, "messages") {
        out.mix(&[string(message, "role")]);
        for block in blocks(message) {
            out.block(block);
        }
    }
    out.found
}

#[derive(Default)]
struct Prefixes {
    hash: u64,
    bytes: u64,
    found: Vec<Prefix>,
}

impl Prefixes {
    fn mix(&mut self, parts: &[String]) {
        for part in parts {
            // FNV-1a: the same on every platform; collision attacks do not matter in tests.
            for byte in part.bytes().chain([0xff]) {
                self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }

    fn block(&mut self, block: &Value) {
        let mut bare = block.clone();
        let marked = bare
            .as_object_mut()
            .is_some_and(|fields| fields.remove("cache_control").is_some());
        let text = text(Some(&bare));
        self.bytes += text.len() as u64;
        self.mix(&[text]);
        self.found.push(Prefix {
            hash: self.hash,
            bytes: self.bytes,
            marked,
        });
    }
}

fn text(value: Option<&Value>) -> String {
    value.map_or_else(String::new, |value| alloc::format!("{value}"))
}

fn string(value: &Value, field: &str) -> String {
    value
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or("")
        .into()
}
