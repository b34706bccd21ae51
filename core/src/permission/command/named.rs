//! The files that the words of a command name: as far as they are written out before it runs, and whatever they have become when it
//! does.

use super::files::leaves_files_alone;
use crate::{
    permission::{authority, glob},
    tool::{Access, CommandPlan, DenyPattern},
};

/// Options of programs that keep their own files which name another file to be written.
const WRITTEN: [&str; 3] = ["--output", "--output-directory", "-o"];

/// Why a program of a plan may not name a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusedFile {
    /// A deny rule closes it.
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
    if plan.deny.iter().any(is_closed) {
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

/// An argument with the one before it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Argument<'a> {
    /// The argument.
    pub text: &'a str,
    /// The one before it.
    pub before: Option<&'a str>,
}

/// Whether a program may change what this argument names. What one does to its own files is its own business, but not what an option
/// names to be written.
pub(super) fn may_change(program: &str, argument: &Argument<'_>) -> bool {
    if leaves_files_alone(program) {
        return false;
    }
    let is_written = || {
        let named = |option: &&str| {
            argument.before == Some(option)
                || (argument.text.strip_prefix(*option)).is_some_and(|rest| rest.starts_with('='))
        };
        WRITTEN.iter().any(named)
    };
    !authority::keeps_its_own(program) || is_written()
}
