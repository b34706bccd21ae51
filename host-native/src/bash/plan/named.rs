//! Checks the files that a program is about to be given by name: expansions, and the real paths behind the names, are
//! known only now.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use windlass_core::permission::{
    Argument, Invocation, RefusedFile, made_names, may_be_refused, refused_file,
};
use windlass_shell::{Runs, Simple, SimpleCommand, Word, commands_of};

use super::{
    call::Call,
    folders::{bases, is_repository_of_elsewhere},
    message::with_name,
    shell::Shell,
};
use crate::files::{Lost, followed, normalised};

/// An argument that names a file which the program may not use.
pub(super) struct RefusedArgument {
    text: OsString,
    why: Why,
}

enum Why {
    Rule(RefusedFile),
    Lost(Lost),
    TooMuch,
    /// There are too many folders to which its arguments may be relative.
    TooManyFolders,
    /// It works in a repository whose work tree is unknown.
    OtherRepository,
    NotText,
    /// The working directory no longer exists, so names cannot be resolved.
    NoDirectory,
    /// Programs would parse this input differently.
    Unread(&'static str),
    /// The text would become an option, or sets the program's directory.
    Option,
}

impl RefusedArgument {
    /// There is too much input to check.
    pub(super) fn too_much() -> Self {
        Self {
            text: "standard input".into(),
            why: Why::TooMuch,
        }
    }

    /// The input is ambiguous, for this reason.
    pub(super) fn unread(what: &'static str) -> Self {
        Self {
            text: "standard input".into(),
            why: Why::Unread(what),
        }
    }

    /// Text from the input would become an option.
    pub(super) fn option(text: OsString) -> Self {
        Self {
            text,
            why: Why::Option,
        }
    }

    /// The error message.
    pub(super) fn words(&self, program: &OsStr) -> Vec<u8> {
        let why = match &self.why {
            Why::Rule(RefusedFile::Authority) => {
                "' is a place from which programs and later sessions take orders, so only a person can let it be changed; nothing \
                 was done"
                    .to_owned()
            }
            Why::Rule(_) => "' is closed by a rule; nothing was done".to_owned(),
            Why::NotText => "' cannot be held against the rules, because it is no text in UTF-8, or the working directory is none; \
                 nothing was done"
                .to_owned(),
            Why::NoDirectory => "' cannot be held against the rules, because the working directory is not there any more; nothing was \
                 done"
                .to_owned(),
            Why::TooMuch => "' is more than can be held against the rules; nothing was done".to_owned(),
            Why::TooManyFolders => "' may work in more folders than can be held against the rules; nothing was done".to_owned(),
            Why::OtherRepository => "' is a repository without a folder of its files around it, so its names cannot be held against the \
                 rules; nothing was done"
                .to_owned(),
            Why::Unread(what) => format!("' holds {what}; nothing was done"),
            Why::Option => "' would be an option among what is read, or makes one of it; nothing was done (`--` before it says that there \
                 are none)"
                .to_owned(),
            Why::Lost(lost) => format!("' cannot be held against the rules: {lost}; nothing was done"),
        };
        let begin = format!("{}: `", program.to_string_lossy());
        with_name(&begin, &self.text, &why)
    }
}

/// A program that a command starts, with its own arguments.
pub(super) struct Started<'a> {
    pub(super) program: &'a str,
    pub(super) arguments: Vec<&'a OsString>,
    /// The number of arguments that are in every call; those after them come from the input of `xargs`, and each call
    /// gets a part of them.
    own: usize,
}

impl<'p> Shell<'p> {
    /// The first argument that a program may not be given; the program is not started then.
    pub(super) fn refused_argument(
        &self,
        call: &Call<'p>,
        name: &OsStr,
        arguments: &[OsString],
    ) -> Option<RefusedArgument> {
        let directory = self.directory.physical().ok();
        let effort = Effort::default();
        let name = name.to_string_lossy();
        let written_out: Vec<Vec<OsString>> = in_scripts(call.simple)
            .map(|command| {
                command
                    .words
                    .iter()
                    .map(|word| word.text().into())
                    .collect()
            })
            .collect();
        let inner = written_out.iter().filter_map(|words| {
            let (program, arguments) = words.split_first()?;
            Some(Started {
                program: program.to_str()?,
                arguments: arguments.iter().collect(),
                own: arguments.len(),
            })
        });
        started(call, &name, arguments)
            .into_iter()
            .chain(inner)
            .find_map(|started| self.refused_of(&started, directory.as_deref(), &effort))
    }

    /// The same for the program that `xargs` starts, which gets more arguments than the command line contains.
    pub(super) fn refused_input(
        &self,
        call: &Call<'p>,
        name: &OsStr,
        arguments: &[OsString],
        with_input: impl FnOnce(&str, &[OsString]) -> Vec<OsString>,
    ) -> Option<RefusedArgument> {
        let directory = self.directory.physical().ok();
        let name = name.to_string_lossy();
        // `xargs` starts one program, which starts no other.
        let innermost = started(call, &name, arguments).pop()?;
        let own: Vec<OsString> = innermost.arguments.into_iter().cloned().collect();
        let all = with_input(innermost.program, &own);
        let started = Started {
            program: innermost.program,
            arguments: all.iter().collect(),
            own: own.len(),
        };
        self.refused_of(&started, directory.as_deref(), &Effort::default())
    }

    /// `directory` is `None` if it no longer exists: then everything that could be refused is refused.
    fn refused_of(
        &self,
        started: &Started<'_>,
        directory: Option<&Path>,
        effort: &Effort,
    ) -> Option<RefusedArgument> {
        let plan = self.context.plan;
        let program = base_name(started.program);
        let texts: Vec<_> = started
            .arguments
            .iter()
            .map(|argument| argument.to_string_lossy())
            .collect();
        let here = directory.unwrap_or(Path::new("/"));
        let words: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let Some(bases) = bases(program, &words, here) else {
            return Some(RefusedArgument {
                text: started.program.into(),
                why: Why::TooManyFolders,
            });
        };
        let elsewhere = bases.iter().find(|base| is_repository_of_elsewhere(base));
        if let Some(base) = elsewhere.filter(|_| program == "git" && !plan.deny.is_empty()) {
            return Some(RefusedArgument {
                text: base.into(),
                why: Why::OtherRepository,
            });
        }
        // The subcommand of git must be in the command line.
        let invocation = Invocation::of(program, words.get(..started.own).unwrap_or(&words));
        let invocation = match started.own == words.len() {
            true => invocation,
            false => invocation.of_each_part(),
        };
        let Some(made) = made_names(program, &words) else {
            return Some(RefusedArgument {
                text: started.program.into(),
                why: Why::TooMuch,
            });
        };
        let refuses_made = |made: &String| {
            let asked = Argument {
                text: made,
                ..Argument::default()
            };
            let why = bases.iter().find_map(|base| {
                // A plan that is being stopped runs nothing more.
                if !effort.goes_on() || self.context.control.is_stopping() {
                    return Some(Why::TooMuch);
                }
                let real = effort.followed(&base.join(made)).ok()?;
                refused_file(plan, program, &asked, real.to_str()?).map(Why::Rule)
            })?;
            let text = made.into();
            Some(RefusedArgument { text, why })
        };
        if let Some(refused) = made.iter().find_map(refuses_made) {
            return Some(refused);
        }
        texts.iter().enumerate().find_map(|(at, text)| {
            let asked = Argument {
                text,
                before: at.checked_sub(1).map(|before| texts[before].as_ref()),
                at,
                invocation,
            };
            let text = started.arguments[at];
            let refused = |why| {
                let text = text.clone();
                Some(RefusedArgument { text, why })
            };
            let may_be_refused = may_be_refused(plan, program, &asked);
            if may_be_refused && asked.has_too_many_names() {
                return refused(Why::TooMuch);
            }
            if may_be_refused && directory.is_none() {
                return refused(Why::NoDirectory);
            }
            if may_be_refused && (text.to_str().is_none() || here.to_str().is_none()) {
                return refused(Why::NotText);
            }
            let refuses = |path: &Path| match path.to_str() {
                Some(path) => refused_file(plan, program, &asked, path).map(Why::Rule),
                None => may_be_refused.then_some(Why::NotText),
            };
            // Relative to another directory, an option is not a name.
            let in_bases = |named: &str| {
                let count = if named.starts_with('-') {
                    1
                } else {
                    bases.len()
                };
                let named = named.to_owned();
                bases.iter().take(count).map(move |base| base.join(&named))
            };
            let why = asked.names().flat_map(in_bases).find_map(|path| {
                // A plan that is being stopped runs nothing more.
                if !effort.goes_on() || self.context.control.is_stopping() {
                    return Some(Why::TooMuch);
                }
                match effort.followed(&path) {
                    Ok(real) => refuses(&normalised(&path)).or_else(|| refuses(&real)),
                    Err(lost) => Some(Why::Lost(lost)),
                }
            })?;
            refused(why)
        })
    }
}

/// The work done to check one command.
#[derive(Default)]
struct Effort {
    names: Cell<usize>,
    /// The real paths of the names' folders.
    folders: RefCell<HashMap<PathBuf, Result<PathBuf, Lost>>>,
}

impl Effort {
    /// Whether one more name may be checked.
    fn goes_on(&self) -> bool {
        self.names.set(self.names.get() + 1);
        self.names.get() <= MOST_NAMES
    }

    /// The real path of a path. Many names share few folders, so each folder is resolved once.
    fn followed(&self, path: &Path) -> Result<PathBuf, Lost> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return followed(path);
        };
        let mut folders = self.folders.borrow_mut();
        let known = folders.entry(folder.to_path_buf());
        let whole = (known.or_insert_with(|| followed(folder)).clone()?).join(name);
        match std::fs::read_link(&whole) {
            Ok(_) => followed(path),
            Err(_) => Ok(whole),
        }
    }
}

/// The maximum number of names, counted once per folder, that are checked for one command.
const MOST_NAMES: usize = 200_000;

/// The programs that a command starts, each with the arguments that belong to none of the programs inside of it.
pub(super) fn started<'a>(
    call: &'a Call<'_>,
    name: &'a str,
    arguments: &'a [OsString],
) -> Vec<Started<'a>> {
    let place = |word: u32| {
        let start = usize::try_from(word)
            .ok()
            .and_then(|word| call.starts.get(word));
        // There are no arguments after the last word.
        start.map_or(arguments.len(), |start| {
            start.saturating_sub(call.program + 1)
        })
    };
    let mut all = vec![(name, 0, arguments.len())];
    for run in &call.simple.runs {
        if let Runs::Program { at, end } = run
            && let Some(program) = literal(call.simple, *at)
        {
            all.push((program, place(*at) + 1, place(*end)));
        }
    }
    let owner = |argument: usize| {
        let owners = all.iter().enumerate();
        let holding = owners.filter(|(_, (_, start, end))| (*start..*end).contains(&argument));
        holding
            .max_by_key(|(_, (_, start, _))| *start)
            .map(|(number, _)| number)
    };
    let owners: Vec<Option<usize>> = (0..arguments.len()).map(owner).collect();
    let own = |number: usize| {
        let mine = owners
            .iter()
            .zip(arguments)
            .filter(move |(owner, _)| **owner == Some(number));
        mine.map(|(_, argument)| argument).collect()
    };
    all.iter()
        .enumerate()
        .map(|(number, (program, ..))| {
            let arguments: Vec<&OsString> = own(number);
            Started {
                program,
                own: arguments.len(),
                arguments,
            }
        })
        .collect()
}

/// Whether a command starts a program of this name, directly or through others.
pub(super) fn starts(call: &Call<'_>, name: &OsStr, program: &str) -> bool {
    let is_it = |name: &str| base_name(name) == program;
    let runs = call.simple.runs.iter();
    is_it(&name.to_string_lossy())
        || runs
            .filter_map(|run| match run {
                Runs::Program { at, .. } => literal(call.simple, *at),
                Runs::Script { .. } => None,
            })
            .any(is_it)
        || in_scripts(call.simple).any(|command| command.program().is_some_and(is_it))
}

/// The commands in command lines that are passed to shells. Their words are literal, or they start no other program.
pub(super) fn in_scripts(simple: &Simple) -> impl Iterator<Item = SimpleCommand> {
    let scripts = simple.runs.iter().filter_map(|run| match run {
        Runs::Script { script, .. } => Some(script),
        Runs::Program { .. } => None,
    });
    scripts.flat_map(commands_of)
}

fn literal(simple: &Simple, at: u32) -> Option<&str> {
    let word = simple.words.get(usize::try_from(at).ok()?);
    word.and_then(Word::as_literal)
}

pub(super) fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}
