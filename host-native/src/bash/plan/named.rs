//! The files that a program is about to be given by name: what its words have become, and where that leads, is known only now.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use windlass_core::permission::{Argument, RefusedFile, refused_file};
use windlass_shell::{Runs, Word};

use super::{message::with_name, shell::Shell, simple::Call};
use crate::files::normalised;

/// An argument of a program that names a file which it may not name.
pub(super) struct RefusedArgument {
    text: OsString,
    why: RefusedFile,
}

impl RefusedArgument {
    /// Why the program is not started.
    pub(super) fn words(&self, program: &OsStr) -> Vec<u8> {
        let why = match self.why {
            RefusedFile::Authority => {
                "' is a place from which programs and later sessions take orders, so only a person can let it be changed; nothing \
                 was done"
            }
            _ => "' is closed by a rule; nothing was done",
        };
        let begin = format!("{}: `", program.to_string_lossy());
        with_name(&begin, &self.text, why)
    }
}

impl<'p> Shell<'p> {
    /// The argument, behind the program's name, for which a program is not started.
    pub(super) fn refused_argument(
        &self,
        call: &Call<'p>,
        name: &OsStr,
        arguments: &[OsString],
    ) -> Option<RefusedArgument> {
        let directory = self.directory.physical().ok()?;
        let program = innermost(call, name);
        let program = program.as_str();
        let mut before: Option<String> = None;
        for argument in arguments {
            let text = argument.to_string_lossy();
            let asked = Argument {
                text: &text,
                before: before.as_deref(),
            };
            let value = text.split_once('=').map(|(_, value)| value);
            let named = [Some(&*text), value].into_iter().flatten();
            let paths = named.filter(|named| !named.is_empty()).flat_map(|named| {
                let path = directory.join(named);
                [Some(normalised(&path)), real(&path)]
            });
            let refused = paths.flatten().find_map(|path| {
                refused_file(self.surroundings.plan, program, &asked, path.to_str()?)
            });
            if let Some(why) = refused {
                let text = argument.clone();
                return Some(RefusedArgument { text, why });
            }
            before = Some(text.into_owned());
        }
        None
    }
}

/// The name, without a folder, of the program that all wrappers of a command come to.
pub(super) fn innermost(call: &Call<'_>, name: &OsStr) -> String {
    let places = call.simple.runs.iter().filter_map(|run| match run {
        Runs::Program { at, .. } => usize::try_from(*at).ok(),
        Runs::Script { .. } => None,
    });
    let word = places.max().and_then(|at| call.simple.words.get(at));
    let program = match word.and_then(Word::as_literal) {
        Some(program) => program.to_owned(),
        None => name.to_string_lossy().into_owned(),
    };
    program.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Where a path leads, links followed; of one that is not there, where its folder leads.
fn real(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok().or_else(|| {
        Some(
            std::fs::canonicalize(path.parent()?)
                .ok()?
                .join(path.file_name()?),
        )
    })
}
