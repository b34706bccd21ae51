//! The question whether to trust a folder: what its files declare, as the person reads it.

use std::collections::BTreeMap;

use windlass::engine::{Brought, BroughtKind};
use windlass_core::permission::visible_line;

use super::{plain::grouped, styles::ASKING};

/// The maximum number of items shown per kind, so that the list does not scroll the rest off the screen.
const MOST_OF_A_KIND: usize = 8;

/// The maximum length of a text that is shown completely, in characters.
const LONGEST: usize = 240;

/// The question, as it is put.
pub(super) struct TrustQuestion<'a> {
    folder: &'a str,
    files: &'a [Brought],
    lines: Vec<String>,
    /// How many texts are shortened, and how many items are not shown.
    shortened: usize,
    left_out: usize,
}

impl<'a> TrustQuestion<'a> {
    pub(super) fn about(folder: &'a str, files: &'a [Brought]) -> Self {
        let mut question = Self {
            folder,
            files,
            lines: Vec::new(),
            shortened: 0,
            left_out: 0,
        };
        for (kind, things) in question.kinds() {
            for thing in things.iter().take(MOST_OF_A_KIND) {
                let phrase = thing.phrase(|text| shown(text, LONGEST));
                let is_whole = phrase == thing.phrase(visible_line);
                question.shortened += usize::from(!is_whole);
                question.lines.push(phrase);
            }
            let more = things.len().saturating_sub(MOST_OF_A_KIND);
            if more > 0 {
                question.left_out += more;
                let noun = kind.noun(more);
                let line = format!("… and {} more {noun}", number(more));
                question.lines.push(line);
            }
        }
        question
    }

    /// The text before the answer; its last line counts everything.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "\n  {ASKING}?{ASKING:#} Do you trust the files of {}? They\n",
            visible_line(self.folder)
        );
        for line in &self.lines {
            text.push_str(&format!("    │ {line}\n"));
        }
        text.push_str(&self.summary());
        text
    }

    /// The same without shortening.
    pub(super) fn whole(&self) -> String {
        let phrases = self.files.iter().map(|thing| thing.phrase(visible_line));
        let mut text: String = phrases.map(|phrase| format!("    │ {phrase}\n")).collect();
        text.push_str(&format!("{}\n", self.counts()));
        text
    }

    /// The possible answers.
    pub(super) fn ways(&self) -> &'static str {
        match self.is_whole() {
            true => "  y yes, n no > ",
            false => "  y yes, n no, a show all of it > ",
        }
    }

    fn is_whole(&self) -> bool {
        self.shortened == 0 && self.left_out == 0
    }

    /// The number of items of each kind.
    fn counts(&self) -> String {
        let kinds = self.kinds();
        let counts = kinds.iter().map(|(kind, things)| {
            let count = things.len();
            format!("{} {}", number(count), kind.noun(count))
        });
        format!("  In all: {}.", counts.collect::<Vec<_>>().join(", "))
    }

    /// The same, with what cannot be seen above.
    fn summary(&self) -> String {
        let mut summary = self.counts();
        if !self.is_whole() {
            summary.push_str(&format!(
                " Not all is shown above: lines that are shortened: {}, things that are only counted: {}.",
                number(self.shortened),
                number(self.left_out)
            ));
        }
        summary.push('\n');
        summary
    }

    /// The items, by kind.
    fn kinds(&self) -> BTreeMap<BroughtKind, Vec<&'a Brought>> {
        let mut kinds: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for thing in self.files {
            kinds.entry(thing.kind).or_default().push(thing);
        }
        kinds
    }
}

fn number(count: usize) -> String {
    grouped(u64::try_from(count).unwrap_or(u64::MAX))
}

/// A text on one line in which nothing is hidden. If it is longer than `longest` characters, its middle is omitted
/// and the omitted characters are counted.
fn shown(text: &str, longest: usize) -> String {
    let length = text.chars().count();
    if length <= longest {
        return visible_line(text);
    }
    let half = longest / 2;
    let at = |characters: usize| {
        let place = text.char_indices().nth(characters);
        place.map_or(text.len(), |(place, _)| place)
    };
    let (head, tail) = (&text[..at(half)], &text[at(length - half)..]);
    let left_out = number(length - 2 * half);
    format!(
        "{} […{} characters left out…] {}",
        visible_line(head),
        left_out,
        visible_line(tail)
    )
}
