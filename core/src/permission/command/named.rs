//! The files that the words of a command name: as far as they are written out before it runs, and whatever they have become when it
//! does.

use alloc::vec::Vec;

use super::{
    files::leaves_files_alone,
    invocation::{Invocation, may_change},
};
use crate::{
    permission::{authority, glob},
    tool::{Access, CommandPlan, DenyPattern},
};

/// What the names in one command or line may cost, beside what its length gives: each costs its bytes and [`COST`].
const MOST_NAMES: usize = 256 << 10;

/// What each byte of a text may cost in names.
const COST_OF_BYTE: usize = 64;

/// What a name costs beside its bytes.
const COST: usize = 32;

/// Bytes of the longest name that a system opens.
const LONGEST_NAME: usize = 4096;

/// Bytes of the longest name of one file or folder on any system: 255 characters in three bytes each, or what FUSE allows.
const LONGEST_COMPONENT: usize = 1024;

/// Why a program of a plan may not name a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusedFile {
    /// A deny rule closes it, or the host itself.
    Closed,
    /// It becomes authority, and nobody has said that it may be changed.
    Authority,
}

/// Whether a program of a plan may name this file, absolute and normal, among its arguments: hosts ask before they start it. What was
/// judged by its name is in [`CommandPlan::files`], and is not refused here.
#[must_use]
pub fn refused_file(
    plan: &CommandPlan,
    program: &str,
    argument: &Argument<'_>,
    path: &str,
) -> Option<RefusedFile> {
    let is_closed = |deny: &DenyPattern| {
        !(deny.access == Access::Write && leaves_files_alone(program))
            && glob::covers(&deny.pattern, path)
    };
    let is_own = authority::lies_in(path, &plan.closed_places);
    if is_own || plan.deny.iter().any(is_closed) {
        return Some(RefusedFile::Closed);
    }
    let becomes_authority = authority::is_place_beside(path, &plan.own_directories);
    let is_changed = may_change(program, argument);
    let was_judged = plan
        .files
        .iter()
        .any(|file| file.access == Access::Write && file.real == path);
    (becomes_authority && is_changed && !was_judged).then_some(RefusedFile::Authority)
}

/// An argument, with what tells what it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Argument<'a> {
    /// The argument.
    pub text: &'a str,
    /// The one before it.
    pub before: Option<&'a str>,
    /// Its number among the arguments.
    pub at: usize,
    /// What all of them say together.
    pub invocation: Invocation<'a>,
}

/// Characters behind which a name begins in the ways that many programs write values.
const MARKS: [char; 4] = ['=', ':', ',', '@'];

/// Characters that stand around a name in patterns, addresses and programs in other languages, beside these.
const FENCES: [char; 15] = [
    '=', ':', ',', '@', '<', '>', ';', '|', '?', '#', '{', '}', '[', ']', '`',
];

impl<'a> Argument<'a> {
    /// Everything in it that may be the name of a file: the whole, what stands between and behind `=`, `:`, `,` and `@`, what stands
    /// between these and `<>;|?#{}[]`, between `..`, what may be attached to an option of one character (`-ofile`, `-#ofile`), and what git means
    /// by `:/name` and `:(top)name`.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let only = is_one_name(self.text).then_some(self.text);
        let several = only.is_none().then(|| {
            let is_odd = has_odd_parts(self.text);
            (self.candidates()).filter(move |name| may_be_opened(name, is_odd))
        });
        only.into_iter().chain(several.into_iter().flatten())
    }

    fn candidates(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let text = self.text;
        let is_mark = |c: char| MARKS.contains(&c);
        let marks = text.match_indices(is_mark);
        let behind = marks.flat_map(move |(at, _)| pieces(&text[at + 1..], is_mark));
        let is_fenced = text.contains(FENCES);
        let between = text.split(FENCES).filter(move |_| is_fenced);
        let has_letters = text.starts_with('-') && !text.starts_with("--");
        // With these a name has begun.
        let is_option = |c: &u8| c.is_ascii_graphic() && !matches!(c, b'/' | b'.' | b'~');
        let letters = text.bytes().skip(1).take_while(is_option);
        let letters = if has_letters { letters.count() } else { 0 };
        let from_top = text.match_indices(":/").map(move |(at, _)| &text[at + 2..]);
        let behind_magic = text.match_indices(')').map(move |(at, _)| &text[at + 1..]);
        let magic = text.starts_with(':');
        // Two revisions (`HEAD:a..HEAD:b`); folders above are no names.
        let ranges = text.split("..").filter(move |_| text.contains(".."));
        let ranges = ranges.flat_map(|end| [Some(end), end.rsplit_once(':').map(|(_, name)| name)]);
        // Behind each of them, as long as there are only letters before.
        let attached = (2..letters + 2).filter_map(move |at| text.get(at..));
        pieces(text, is_mark)
            .chain(behind)
            .chain(between)
            .chain(attached)
            .chain(from_top)
            .chain(behind_magic.filter(move |_| magic))
            .chain(ranges.flatten())
            .chain((text.trim().len() < text.len()).then(|| text.trim()))
            .filter(|name| !name.is_empty())
    }

    /// Whether there are more names in it than can be held against the rules, or one that is written in signs for other characters.
    #[must_use]
    pub fn has_too_many_names(&self) -> bool {
        have_too_many_names(core::iter::once((self.text, 1)))
    }
}

/// Whether there are more names in these texts, each in so many directories, than can be held against the rules. What looking at
/// them takes grows as they do, and no faster.
pub(super) fn have_too_many_names<'a>(
    texts: impl Iterator<Item = (&'a str, usize)> + Clone,
) -> bool {
    if texts.clone().any(|(text, _)| hides_a_name(text)) {
        return true;
    }
    let at_most = texts.clone().map(|(text, directories)| {
        let of_each = (text.len() + COST).saturating_mul(directories);
        most_candidates(text).saturating_mul(of_each)
    });
    // What it takes to count them is saved for the lines that people write.
    if at_most.fold(0, usize::saturating_add) <= MOST_NAMES {
        return false;
    }
    let bytes: usize = texts.clone().map(|(text, _)| text.len()).sum();
    let mut left = MOST_NAMES + COST_OF_BYTE * bytes;
    for (text, directories) in texts {
        if is_one_name(text) {
            let Some(rest) = left.checked_sub((text.len() + COST) * directories) else {
                return true;
            };
            left = rest;
            continue;
        }
        let argument = Argument {
            text,
            ..Argument::default()
        };
        let is_odd = has_odd_parts(text);
        for name in argument.candidates() {
            // What is looked at to find out that it is none costs, too.
            let cost = match may_be_opened(name, is_odd) {
                true => (name.len() + COST) * directories,
                false if is_odd => name.len(),
                false => 0,
            };
            let Some(rest) = left.checked_sub(cost) else {
                return true;
            };
            left = rest;
        }
    }
    false
}

/// Whether a text can be the name of nothing but itself: most words of most lines are, and nothing has to be looked for in them.
fn is_one_name(text: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'/');
    (1..=LONGEST_COMPONENT).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(is_plain)
}

/// As many candidates as a text of this length has at most: itself, and fewer than nine for each byte.
fn most_candidates(text: &str) -> usize {
    match is_one_name(text) {
        true => 1,
        false => 9 * (text.len() + 1),
    }
}

/// Whether a text is the address of a file in which characters are written as numbers (`file:///a%2Eb`), or that stands for several,
/// or names files in letters that count for others (`:(icase)A.TXT` of git).
fn hides_a_name(text: &str) -> bool {
    if text.starts_with(":(") && text.contains("icase") {
        return true;
    }
    text.contains(['%', '{', '[']) && is_address_of_a_file(text)
}

fn is_address_of_a_file(text: &str) -> bool {
    text.match_indices(":/").any(|(at, _)| {
        let begin = at.checked_sub(4).and_then(|begin| text.get(begin..at));
        begin.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file"))
    })
}

/// Whether names in a text may be shorter than they look: git takes `.`, `..` and empty names out before it looks.
fn has_odd_parts(text: &str) -> bool {
    text.contains("./") || text.contains("/.") || text.contains("//")
}

/// Whether a system, or git, could open a file of this name.
fn may_be_opened(name: &str, is_odd: bool) -> bool {
    if name.len() <= LONGEST_COMPONENT {
        return true;
    }
    if !is_odd {
        let fits = |component: &str| component.len() <= LONGEST_COMPONENT;
        return name.len() <= LONGEST_NAME && name.split('/').all(fits);
    }
    let mut kept: Vec<usize> = Vec::new();
    for component in name.split('/') {
        match component {
            "" | "." => {}
            ".." => drop(kept.pop()),
            component => kept.push(component.len() + 1),
        }
    }
    kept.iter().sum::<usize>() <= LONGEST_NAME
        && kept.iter().all(|length| *length <= LONGEST_COMPONENT + 1)
}

/// Whether there is anything that a program of a plan may not name by this argument: hosts do not start it with a name that they
/// cannot hold against the rules.
#[must_use]
pub fn may_be_refused(plan: &CommandPlan, program: &str, argument: &Argument<'_>) -> bool {
    !plan.deny.is_empty() || !plan.closed_places.is_empty() || may_change(program, argument)
}

/// A text, and what of it stands before the first mark.
fn pieces(text: &str, is_mark: fn(char) -> bool) -> impl Iterator<Item = &str> {
    let first = text.find(is_mark).map(|at| &text[..at]);
    core::iter::once(text).chain(first)
}
