//! The files that a command line names explicitly: redirections, `cd`, and the operands of the plain file commands. The host
//! resolves them like the paths of any other call.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use windlass_shell::{CommandWord as Word, Direction, Folder, SimpleCommand};

use crate::tool::Access;

/// A file that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileUse {
    /// Absolute, but not resolved. None if it is computed, or relative to an unknown directory.
    pub(super) path: Option<String>,
    pub(super) access: Access,
    /// Whether it is removed from its place (`rm`, the sources of `mv`).
    pub(super) removed: bool,
    /// Whether the path is the folder of the file, not the file itself.
    pub(super) is_folder_of_it: bool,
    /// Whether it is copied, moved or removed with everything below it.
    pub(super) carried: bool,
}

/// How a simple command uses the files it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileCommand {
    /// `mkdir`, `touch`, `rm`, `mv`, `cp`: with all their files; none if a word is not understood.
    Changes(Option<Vec<FileUse>>),
    /// `cd` to a folder.
    Enters(FileUse),
    /// A program that only reads files.
    Looks(Vec<FileUse>),
    /// Any other command.
    Other,
}

/// The files of one simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) command: FileCommand,
    /// The paths at which copied or moved files end up if the last operand is a folder.
    pub(super) landing: Vec<String>,
    pub(super) redirections: Vec<FileUse>,
}

impl Files {
    pub(super) fn all(&self) -> impl Iterator<Item = &FileUse> {
        let operands = match &self.command {
            FileCommand::Changes(uses) => uses.as_deref().unwrap_or_default(),
            FileCommand::Enters(folder) => core::slice::from_ref(folder),
            FileCommand::Looks(uses) => uses,
            FileCommand::Other => &[],
        };
        operands.iter().chain(&self.redirections)
    }
}

/// The files of a command; `base` is the directory for its relative paths.
pub(super) fn files_of(command: &SimpleCommand, base: Option<&str>) -> Files {
    let redirections = command.redirections.iter().map(|redirection| {
        let access = match redirection.direction {
            Direction::In => Access::Read,
            Direction::Out => Access::Write,
        };
        used(&redirection.target, access, base)
    });
    let changes = file_command(command, base);
    Files {
        landing: landing(command, &changes),
        command: changes,
        redirections: redirections.collect(),
    }
}

/// The directory from which relative paths of a command start; none if unknown. Not normalised lexically: the host has to resolve
/// `link/..`.
pub(super) fn base_of(folder: &Folder, cwd: &str) -> Option<String> {
    match folder {
        Folder::Start => Some(cwd.to_string()),
        Folder::Unknown => None,
        Folder::Entered(folders) => {
            let mut base = cwd.to_string();
            for folder in folders {
                base = joined(&base, folder);
            }
            Some(base)
        }
    }
}

fn joined(base: &str, path: &str) -> String {
    match path.starts_with('/') {
        true => path.to_string(),
        false => [base.trim_end_matches('/'), "/", path].concat(),
    }
}

fn used(word: &Word, access: Access, base: Option<&str>) -> FileUse {
    // For names produced by a pattern: the folder that contains them.
    let text = word.names_in().map_or(word.text(), |folder| match folder {
        "" => ".",
        folder => folder,
    });
    let absolute = text.starts_with('/');
    let known = (word.is_literal() || word.names_in().is_some()) && !text.is_empty();
    FileUse {
        path: match base {
            _ if known && absolute => Some(text.to_string()),
            Some(base) if known => Some(joined(base, text)),
            _ => None,
        },
        access,
        removed: false,
        is_folder_of_it: word.names_in().is_some(),
        carried: false,
    }
}

fn file_command(command: &SimpleCommand, base: Option<&str>) -> FileCommand {
    let Some(program) = command.words.first().filter(|word| word.is_literal()) else {
        return FileCommand::Other;
    };
    let arguments = &command.words[1..];
    match program.text() {
        "cd" => match arguments {
            // Computed targets are checked when the plan runs: a plan does not leave the workspace.
            [folder] if folder.text() == "-" => FileCommand::Enters(FileUse {
                path: None,
                ..used(folder, Access::Read, base)
            }),
            [folder] => FileCommand::Enters(used(folder, Access::Read, base)),
            _ => FileCommand::Other,
        },
        "mkdir" => FileCommand::Changes(changed(arguments, &OPTIONS[0], base)),
        "touch" => FileCommand::Changes(changed(arguments, &OPTIONS[1], base)),
        "rm" => FileCommand::Changes(changed(arguments, &OPTIONS[2], base).map(|mut uses| {
            let carried = arguments.iter().any(|word| takes_folders(word.text()));
            for used in &mut uses {
                (used.removed, used.carried) = (true, carried);
            }
            uses
        })),
        "mv" => FileCommand::Changes(moved(arguments, &OPTIONS[3], base, true)),
        "cp" => FileCommand::Changes(moved(arguments, &OPTIONS[4], base, false)),
        name if only_looks(name) => {
            let words = arguments
                .iter()
                .filter(|word| !word.text().starts_with('-'));
            FileCommand::Looks(words.map(|word| used(word, Access::Read, base)).collect())
        }
        _ => FileCommand::Other,
    }
}

/// Programs whose operands are files that they only read.
fn only_looks(program: &str) -> bool {
    matches!(
        program,
        "cat" | "head" | "tail" | "less" | "more" | "wc" | "nl" | "stat" | "file" | "ls"
    )
}

/// Programs that do not modify the files they name.
pub(super) fn leaves_files_alone(program: &str) -> bool {
    only_looks(program) || READING.contains(&program)
}

/// Programs that have no option or operand through which they write a file.
const READING: [&str; 39] = [
    "b2sum",
    "basename",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "fgrep",
    "fmt",
    "fold",
    "grep",
    "jq",
    "join",
    "md5sum",
    "nm",
    "od",
    "paste",
    "readelf",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "size",
    "strings",
    "tac",
    "tr",
    "unexpand",
];

/// The options of a file command that do not affect which files it uses.
struct Options {
    /// Single letters, which may be combined.
    letters: &'static str,
    /// Single letters that take a value.
    valued: &'static str,
    long: &'static [&'static str],
}

const OPTIONS: [Options; 5] = [
    Options {
        letters: "pv",
        valued: "m",
        long: &["--parents", "--verbose"],
    },
    Options {
        letters: "acmh",
        valued: "dt",
        long: &["--no-create", "--no-dereference"],
    },
    Options {
        letters: "rRfiIvd",
        valued: "",
        long: &["--recursive", "--force", "--verbose", "--dir"],
    },
    Options {
        letters: "fivnuT",
        valued: "",
        long: &[
            "--force",
            "--interactive",
            "--verbose",
            "--no-clobber",
            "--update",
        ],
    },
    Options {
        // Without `L` and `H`: the targets of links below a folder were not judged.
        letters: "rRafipnvuxPdT",
        valued: "",
        long: &[
            "--recursive",
            "--archive",
            "--force",
            "--interactive",
            "--verbose",
            "--no-clobber",
            "--update",
        ],
    },
];

/// The operands after the options; none if a word is computed or an option unknown.
fn operands<'a>(arguments: &'a [Word], options: &Options) -> Option<Vec<&'a Word>> {
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        if word.names_in().is_some() {
            operands.push(word);
            continue;
        }
        if !word.is_literal() {
            return None;
        }
        let text = word.text();
        if text == "--" {
            operands.extend(rest.by_ref());
        } else if text.starts_with("--") {
            if !options.long.contains(&text) {
                return None;
            }
        } else if text.len() > 1 && text.starts_with('-') {
            let mut letters = text[1..].chars();
            while let Some(letter) = letters.next() {
                if options.valued.contains(letter) {
                    // The value is the rest of the word, or the next word.
                    if letters.as_str().is_empty() {
                        rest.next().filter(|value| value.is_literal())?;
                    }
                    break;
                }
                if !options.letters.contains(letter) {
                    return None;
                }
            }
        } else {
            operands.push(word);
        }
    }
    let all_known = (operands.iter()).all(|word| word.is_literal() || word.names_in().is_some());
    (all_known && !operands.is_empty()).then_some(operands)
}

fn changed(arguments: &[Word], options: &Options, base: Option<&str>) -> Option<Vec<FileUse>> {
    let operands = operands(arguments, options)?;
    Some(
        operands
            .iter()
            .map(|word| used(word, Access::Write, base))
            .collect(),
    )
}

/// `mv` and `cp`: sources, then the target.
fn moved(
    arguments: &[Word],
    options: &Options,
    base: Option<&str>,
    removes: bool,
) -> Option<Vec<FileUse>> {
    let operands = operands(arguments, options)?;
    let (target, sources) = operands
        .split_last()
        .filter(|(_, sources)| !sources.is_empty())?;
    let from = if removes { Access::Write } else { Access::Read };
    let carried = removes || arguments.iter().any(|word| takes_folders(word.text()));
    let mut uses: Vec<FileUse> = sources
        .iter()
        .map(|word| FileUse {
            removed: removes,
            carried,
            ..used(word, from, base)
        })
        .collect();
    uses.push(used(target, Access::Write, base));
    Some(uses)
}

/// Whether a word is an option of `cp` or `rm` that applies to folders recursively.
fn takes_folders(word: &str) -> bool {
    let is_letters = word.starts_with('-') && !word.starts_with("--");
    is_letters && word.contains(['r', 'R', 'a']) || matches!(word, "--recursive" | "--archive")
}

/// The paths of the sources of `mv` and `cp` if the last operand is a folder.
fn landing(command: &SimpleCommand, changes: &FileCommand) -> Vec<String> {
    let (FileCommand::Changes(Some(uses)), Some("mv" | "cp")) = (changes, command.program()) else {
        return Vec::new();
    };
    let Some((target, sources)) = uses.split_last() else {
        return Vec::new();
    };
    let Some(folder) = &target.path else {
        return Vec::new();
    };
    let landed = |source: &FileUse| {
        let path = source.path.as_deref()?.trim_end_matches('/');
        // Names that are not known yet are assumed to be a protected one.
        let name = match source.is_folder_of_it {
            true => "hooks",
            false => path.rsplit('/').next()?,
        };
        Some([folder, "/", name].concat())
    };
    sources.iter().filter_map(landed).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::CommandLine, *};

    fn paths(line: &str) -> Vec<String> {
        let mark = |access| if access == Access::Write { "w" } else { "r" };
        CommandLine::read(line, "/w")
            .paths()
            .iter()
            .map(|asked| alloc::format!("{} {}", mark(asked.access), asked.path))
            .collect()
    }

    #[test]
    fn a_line_names_the_files_it_opens_and_those_that_plain_file_commands_touch() {
        for (line, expected) in [
            ("npm test", &[][..]),
            ("npm test > out 2>&1 < in", &["w /w/out", "r /w/in"]),
            ("rm -rf a '/b c'", &["w /w/a", "w /b c"]),
            ("rm -- -a", &["w /w/-a"]),
            ("rm --no-preserve-root /", &[]),
            ("rm a*", &["w /w/."]),
            ("cp src/*.rs d", &["r /w/src/", "w /w/d"]),
            ("rm *", &[]),
            ("rm .*x", &[]),
            ("mkdir -p -m 755 a/b", &["w /w/a/b"]),
            ("mkdir -m755 a", &["w /w/a"]),
            ("touch -r x a", &[]),
            ("cp -r a b c", &["r /w/a", "r /w/b", "w /w/c"]),
            ("cp -t d a", &[]),
            ("mv a b", &["w /w/a", "w /w/b"]),
            ("mv a", &[]),
            ("cat a | head -n 5 b", &["r /w/a", "r /w/5", "r /w/b"]),
            ("cd x && rm a", &["r /w/x", "w /w/x/a"]),
            ("cd x; rm a", &["r /w/x"]),
            ("cd x; rm /a", &["r /w/x", "w /a"]),
            ("(cd x && rm a) && rm b", &["r /w/x", "w /w/x/a", "w /w/b"]),
            (
                "cd x && cd y && rm a",
                &["r /w/x", "r /w/x/y", "w /w/x/y/a"],
            ),
            ("cd x && cd .. && rm a", &["r /w/x", "r /w/x/..", "w /w/a"]),
            ("for i in 1 2; do cd x; done", &[]),
            ("cd && rm a", &[]),
            ("env -C x rm a", &[]),
            ("sh -c 'rm a' && timeout 5 rm b", &["w /w/a", "w /w/b"]),
            ("./rm a", &[]),
            ("rm ~/a", &[]),
            ("echo 'unclosed > x", &[]),
        ] {
            assert_eq!(paths(line), expected, "{line}");
        }
    }
}
