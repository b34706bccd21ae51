//! The files named by the words of a command: as far as they are known before it runs, and after expansion when it runs.

use alloc::vec::Vec;
use core::ops::ControlFlow;

use super::{files::leaves_files_alone, invocation::Invocation};
use crate::{
    permission::{glob, protected_place},
    tool::{Access, CommandPlan, DenyPattern},
};

/// The base cost limit for the names in one command or line; the length of the text adds to it. Each name costs its bytes and
/// [`COST`].
const MOST_NAMES: usize = 256 << 10;

/// The cost that each byte of a text adds to the limit.
const COST_OF_BYTE: usize = 64;

/// The cost of a name in addition to its bytes.
const COST: usize = 32;

/// The longest path in bytes that a system can open.
const LONGEST_NAME: usize = 4096;

/// The longest name of a file or folder in bytes on any system: 255 characters of three bytes, or FUSE's limit.
const LONGEST_COMPONENT: usize = 1024;

/// Why a program of a plan must not name a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusedFile {
    /// A deny rule or the host excludes it.
    Closed,
    /// It is a protected place, and nobody has allowed changing it.
    Authority,
}

/// Whether a program of a plan may name this file (absolute, normalised) in its arguments. Hosts must check this before they
/// start the program. Files that were judged by name are in [`CommandPlan::files`] and are not refused here.
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
    let is_own = protected_place::lies_in(path, &plan.private_paths);
    if is_own || plan.deny.iter().any(is_closed) {
        return Some(RefusedFile::Closed);
    }
    let is_protected = protected_place::is_place_beside(path, &plan.own_directories);
    let is_changed = may_change(program, argument);
    let was_judged = plan
        .files
        .iter()
        .any(|file| file.access == Access::Write && file.real == path);
    (is_protected && is_changed && !was_judged).then_some(RefusedFile::Authority)
}

/// An argument in its context.
#[derive(Debug, Clone, Copy, Default)]
pub struct Argument<'a> {
    /// The argument.
    pub text: &'a str,
    /// The preceding argument.
    pub before: Option<&'a str>,
    /// Its index among the arguments.
    pub at: usize,
    /// The combined meaning of all arguments.
    pub invocation: Invocation<'a>,
}

/// Characters after which many programs expect a file name.
const MARKS: [char; 4] = ['=', ':', ',', '@'];

/// Characters that may delimit a name in patterns, addresses and code; they include [`MARKS`].
const FENCES: [char; 15] = [
    '=', ':', ',', '@', '<', '>', ';', '|', '?', '#', '{', '}', '[', ']', '`',
];

/// What is done with each candidate for a name.
type Visit<'v, 'a> = &'v mut dyn FnMut(&'a str) -> ControlFlow<()>;

impl<'a> Argument<'a> {
    /// All parts that may be the name of a file: the whole text, the parts between and after `=`, `:`, `,` and `@`, the parts
    /// between these and `<>;|?#{}[]`, the parts between `..`, values attached to one-character options (`-ofile`, `-#ofile`),
    /// and the paths that git reads from `:/name` and `:(top)name`.
    pub fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let mut names = Vec::new();
        if is_one_name(self.text) {
            names.push(self.text);
            return names.into_iter();
        }
        let is_odd = has_odd_parts(self.text);
        let _ = self.candidates(&mut |name| {
            if may_be_opened(name, is_odd) {
                names.push(name);
            }
            ControlFlow::Continue(())
        });
        names.into_iter()
    }

    /// Visits what may be the name of a file, until a visit breaks off.
    fn candidates(&self, visit: Visit<'_, 'a>) -> ControlFlow<()> {
        let text = self.text;
        let is_mark = |c: char| MARKS.contains(&c);
        pieces(text, is_mark, visit)?;
        for (at, _) in text.match_indices(is_mark) {
            pieces(&text[at + 1..], is_mark, visit)?;
        }
        if text.contains(FENCES) {
            for between in text.split(FENCES) {
                candidate(between, visit)?;
            }
        }
        if text.starts_with('-') && !text.starts_with("--") {
            // Any of these begins a name.
            let is_option = |c: &u8| c.is_ascii_graphic() && !matches!(c, b'/' | b'.' | b'~');
            let letters = text.bytes().skip(1).take_while(is_option).count();
            // After each option letter, as long as only letters precede it.
            for at in 2..letters + 2 {
                candidate(text.get(at..).unwrap_or_default(), visit)?;
            }
        }
        for (at, _) in text.match_indices(":/") {
            candidate(&text[at + 2..], visit)?;
        }
        if text.starts_with(':') {
            for (at, _) in text.match_indices(')') {
                candidate(&text[at + 1..], visit)?;
            }
        }
        // Two revisions (`HEAD:a..HEAD:b`); parent folders are not names.
        if text.contains("..") {
            for end in text.split("..") {
                candidate(end, visit)?;
                let name = end.rsplit_once(':').map(|(_, name)| name);
                candidate(name.unwrap_or_default(), visit)?;
            }
        }
        let trimmed = text.trim();
        match trimmed.len() < text.len() {
            true => candidate(trimmed, visit),
            false => ControlFlow::Continue(()),
        }
    }

    /// Whether it contains more names than can be checked against the rules, or a name in encoded characters.
    #[must_use]
    pub fn has_too_many_names(&self) -> bool {
        have_too_many_names(core::iter::once((self.text, 1)))
    }
}

/// Whether these texts, each with its number of directories, contain more names than can be checked against the rules. The check
/// takes time proportional to their size.
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
    // Lines that people write need no exact count.
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
        let are_too_many = argument.candidates(&mut |name| {
            // Candidates that turn out not to be names cost as well.
            let cost = match may_be_opened(name, is_odd) {
                true => (name.len() + COST) * directories,
                false if is_odd => name.len(),
                false => 0,
            };
            match left.checked_sub(cost) {
                Some(rest) => left = rest,
                None => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        });
        if are_too_many.is_break() {
            return true;
        }
    }
    false
}

/// Whether a text can only be one name: true for most words, which then need no further search.
fn is_one_name(text: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'/');
    (1..=LONGEST_COMPONENT).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(is_plain)
}

/// The most candidates in a text of this length: itself, and fewer than nine per byte.
fn most_candidates(text: &str) -> usize {
    match is_one_name(text) {
        true => 1,
        false => 9 * (text.len() + 1),
    }
}

/// Whether a text hides a name: a file URL with encoded characters (`file:///a%2Eb`) or alternatives, or a pathspec of git that
/// ignores case (`:(icase)A.TXT`).
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

/// Whether names in a text may be shorter than they look: git removes `.`, `..` and empty components.
fn has_odd_parts(text: &str) -> bool {
    text.contains("./") || text.contains("/.") || text.contains("//")
}

/// Whether a system, or git, could open a file with this name.
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

/// Whether this argument may name anything that a program of a plan must not name. Hosts do not start the program with a name
/// that they cannot check against the rules.
#[must_use]
pub fn may_be_refused(plan: &CommandPlan, program: &str, argument: &Argument<'_>) -> bool {
    !plan.deny.is_empty() || !plan.private_paths.is_empty() || may_change(program, argument)
}

/// Whether a program may change the file that this argument names.
pub(super) fn may_change(program: &str, argument: &Argument<'_>) -> bool {
    let Argument {
        text, before, at, ..
    } = *argument;
    if argument.invocation.only_reads(at, text) {
        return false;
    }
    match program {
        "test" | "[" | "printf" | "true" | "false" | ":" => false,
        "tar" | "rsync" if text.starts_with("--exclude=") => false,
        "tar" | "rsync" if before == Some("--exclude") => false,
        "git" => argument.invocation.git().may_change(at, text, before),
        program => !leaves_files_alone(program),
    }
}

/// Visits a text, and its part before the first mark.
fn pieces<'a>(text: &'a str, is_mark: fn(char) -> bool, visit: Visit<'_, 'a>) -> ControlFlow<()> {
    candidate(text, visit)?;
    let first = text.find(is_mark).map(|at| &text[..at]);
    candidate(first.unwrap_or_default(), visit)
}

/// Visits a text that is not empty.
fn candidate<'a>(text: &'a str, visit: Visit<'_, 'a>) -> ControlFlow<()> {
    match text.is_empty() {
        true => ControlFlow::Continue(()),
        false => visit(text),
    }
}
