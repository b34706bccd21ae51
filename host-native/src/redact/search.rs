//! Finds keys, literally and in common encodings. The time is proportional to the text, whatever is in it: every way to read it
//! is one pass over it.

use std::{collections::HashMap, ops::Range};

use aho_corasick::{Anchored, MatchKind, automaton::Automaton as _, nfa::contiguous::NFA};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::notation::{Notation, Token};

/// Bytes of the shortest form that a key has by its own percent codes: a shorter one may be a word.
const SHORTEST_DECODED: usize = 8;

/// What is searched for in a text, once for each way to read it.
pub(super) struct Search(Vec<(Forms, &'static [Notation])>);

/// What was found in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Where keys are that begin in what is known, in order and apart.
    pub(super) keys: Vec<Range<usize>>,
    /// How far the text is known: from here on may be the beginning of a key.
    pub(super) known: usize,
}

impl Search {
    /// The search for all forms of these keys; `None` without keys.
    pub(super) fn of(keys: &[SecretString]) -> Option<Self> {
        if keys.is_empty() {
            return None;
        }
        let all = |forms: fn(&str) -> Vec<Vec<u8>>| {
            Forms::of(keys.iter().flat_map(|key| forms(key.expose_secret())))
        };
        Some(Self(vec![
            (all(plain)?, &[Notation::PLAIN]),
            (
                all(words)?,
                &[Notation::JSON, Notation::PERCENT, Notation::PERCENT_IN_JSON],
            ),
            (all(|key| base64(key, false))?, &[Notation::BASE64]),
            (all(|key| vec![hex(key).into_bytes()])?, &[Notation::HEX]),
        ]))
    }

    /// Searches a text that is complete.
    pub(super) fn whole(&self, text: &[u8]) -> Found {
        self.search(text, true)
    }

    /// Searches a text that goes on.
    pub(super) fn beginning(&self, text: &[u8]) -> Found {
        self.search(text, false)
    }

    fn search(&self, text: &[u8], is_whole: bool) -> Found {
        let mut keys = Vec::new();
        let mut known = text.len();
        for (forms, notations) in &self.0 {
            for notation in notations.iter().filter(|way| way.applies_to(text)) {
                let own = forms.search(text, *notation, is_whole, &mut keys);
                known = known.min(if is_whole { text.len() } else { own });
            }
        }
        keys.sort_unstable_by_key(|key| key.start);
        let mut apart = Vec::new();
        for key in keys {
            add(&mut apart, key);
        }
        let escapes = text[..known].iter().rev();
        // An escape is not cut in the middle, so that what comes next is read as it would be in one piece.
        if known < text.len() && escapes.take_while(|byte| **byte == b'\\').count() % 2 == 1 {
            known -= 1;
        }
        // What may become a longer key waits.
        apart.retain(|key| key.start < known);
        Found { keys: apart, known }
    }

    /// The number of texts that are looked for.
    pub(super) fn forms(&self) -> usize {
        let forms = self.0.iter().map(|(forms, _)| forms.any.patterns_len());
        forms.sum()
    }
}

/// Texts to search for, and the automaton that finds them.
struct Forms {
    any: NFA,
    /// How many of the last bytes may be the beginning of a form, by the state of the automaton.
    begun: HashMap<usize, usize>,
}

impl Forms {
    fn of(forms: impl Iterator<Item = Vec<u8>>) -> Option<Self> {
        let mut forms: Vec<Vec<u8>> = forms.collect();
        forms.sort();
        forms.dedup();
        // Fails only for more than two thousand million bytes of forms, which no environment holds.
        let any = NFA::builder()
            .match_kind(MatchKind::Standard)
            .prefilter(false)
            .build(&forms)
            .ok()?;
        let start = any.start_state(Anchored::No).ok()?;
        let step = |state, byte: &u8| any.next_state(Anchored::No, state, *byte);
        let mut begun = HashMap::new();
        for form in &forms {
            let mut state = start;
            for (before, byte) in form.iter().enumerate() {
                if before > 0 {
                    begun.insert(state.as_usize(), before);
                }
                state = step(state, byte);
            }
        }
        // At the end of a form begins what its own end begins: of shorter ones first, since longer ones may end with them.
        forms.sort_by_key(Vec::len);
        for form in &forms {
            let end = form.iter().fold(start, step).as_usize();
            let within = form[1..].iter().fold(start, step).as_usize();
            let length = begun.get(&within).copied().unwrap_or_default();
            begun.entry(end).or_insert(length);
        }
        Some(Self { any, begun })
    }

    /// Adds the keys in a text. Returns how far it is known: from there on may be the beginning of a key.
    fn search(
        &self,
        text: &[u8],
        notation: Notation,
        is_whole: bool,
        keys: &mut Vec<Range<usize>>,
    ) -> usize {
        let Ok(start) = self.any.start_state(Anchored::No) else {
            return text.len();
        };
        let mut own: Vec<Range<usize>> = Vec::new();
        // Where the last decoded bytes begin in the text.
        let mut starts = vec![0; self.any.max_pattern_len()];
        let (mut state, mut count, mut skipped, mut at) = (start, 0, 0, 0);
        let mut cut = text.len();
        while at < text.len() {
            let token = match notation.token(&text[at..]) {
                Some(token) => token,
                None if is_whole => Token::literal(text[at]),
                None => {
                    cut = at;
                    break;
                }
            };
            for decoded in token.bytes() {
                let Some(byte) = notation.byte(*decoded, skipped) else {
                    skipped += 1;
                    continue;
                };
                skipped = 0;
                let place = count % starts.len();
                starts[place] = at;
                count += 1;
                state = self.any.next_state(Anchored::No, state, byte);
                if self.any.is_match(state) {
                    let longest = self.any.match_pattern(state, 0);
                    let first = count - self.any.pattern_len(longest);
                    add(&mut own, starts[first % starts.len()]..at + token.length);
                }
            }
            at += token.length;
        }
        keys.append(&mut own);
        match self.begun.get(&state.as_usize()) {
            Some(begun) if *begun > 0 => starts[(count - begun) % starts.len()],
            _ => cut,
        }
    }
}

/// Adds a place to those before it: two that overlap are one.
fn add(places: &mut Vec<Range<usize>>, mut place: Range<usize>) {
    while let Some(before) = places.pop_if(|before| before.end > place.start) {
        place = before.start.min(place.start)..before.end.max(place.end);
    }
    places.push(place);
}

/// A key in texts that are not decoded.
fn plain(key: &str) -> Vec<Vec<u8>> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let percent = |upper: bool| -> String {
        let bytes = key.bytes().map(|byte| match (is_plain(byte), upper) {
            (true, _) => char::from(byte).to_string(),
            (false, true) => format!("%{byte:02X}"),
            (false, false) => format!("%{byte:02x}"),
        });
        bytes.collect()
    };
    let mut forms = words(key);
    forms.push(key.as_bytes().to_vec());
    // Here the percent sign before a code may belong to something else.
    forms.extend([true, false].map(|upper| percent(upper).into_bytes()));
    forms.extend(base64(key, false));
    forms.extend(base64(key, true));
    forms
}

/// A key in decoded texts.
fn words(key: &str) -> Vec<Vec<u8>> {
    let spaced = |bytes: &[u8]| -> Vec<u8> {
        let bytes = bytes.iter().copied();
        bytes
            .map(|byte| if byte == b' ' { b'+' } else { byte })
            .collect()
    };
    // A key with percent signs may stand undecoded in a text that is decoded.
    let mut decoded = Vec::new();
    let mut rest = key.as_bytes();
    while let Some(first) = rest.first() {
        let token = Notation::PERCENT.token(rest);
        let token = token.unwrap_or_else(|| Token::literal(*first));
        decoded.extend_from_slice(token.bytes());
        rest = &rest[token.length..];
    }
    let mut forms = vec![spaced(key.as_bytes())];
    if decoded.len() >= SHORTEST_DECODED {
        forms.push(spaced(&decoded));
    }
    forms
}

fn hex(key: &str) -> String {
    key.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// A key in base64: three bytes become four characters, so the offset of the key in the data determines its encoding.
fn base64(key: &str, for_urls: bool) -> Vec<Vec<u8>> {
    let engine = match for_urls {
        true => &URL_SAFE_NO_PAD,
        false => &STANDARD_NO_PAD,
    };
    let forms = (0..3).map(|before| {
        let padded = [&b"\0\0"[..before], key.as_bytes()].concat();
        let text = engine.encode(&padded);
        let whole = padded.len() * 8 / 6;
        let own = [0, 2, 3][before];
        text.as_bytes()[own..whole].to_vec()
    });
    forms.collect()
}

#[cfg(test)]
mod tests;
