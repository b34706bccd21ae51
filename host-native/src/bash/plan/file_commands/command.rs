//! Parses the arguments of basic file commands.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// The kind of file command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Copy,
    Move,
    Remove,
    MakeFolder,
    Touch,
}

impl Kind {
    pub(super) fn named(name: &OsStr) -> Option<Self> {
        Some(match name.as_bytes() {
            b"cp" => Self::Copy,
            b"mv" => Self::Move,
            b"rm" => Self::Remove,
            b"mkdir" => Self::MakeFolder,
            b"touch" => Self::Touch,
            _ => return None,
        })
    }

    /// The kind of the program at a path.
    pub(super) fn at(program: &OsStr) -> Option<Self> {
        Path::new(program).file_name().and_then(Self::named)
    }

    /// The letters of options that take a value.
    fn valued(self) -> &'static [u8] {
        match self {
            Self::MakeFolder => b"m",
            Self::Touch => b"dt",
            Self::Copy | Self::Move => b"tS",
            Self::Remove => b"",
        }
    }
}

/// A file command with parsed arguments.
pub(super) struct FileCommand<'a> {
    pub(super) kind: Kind,
    pub(super) options: Vec<&'a OsStr>,
    pub(super) operands: Vec<&'a OsStr>,
    /// The target folders of `cp` and `mv` (`-t`).
    targets: Vec<&'a OsStr>,
    /// The suffix of backups (`-S`).
    suffix: Option<&'a OsStr>,
}

/// A source and its target.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Landing {
    /// The source file or folder.
    pub(super) source: PathBuf,
    /// The resulting path.
    pub(super) target: PathBuf,
}

impl<'a> FileCommand<'a> {
    pub(super) fn new(kind: Kind, arguments: &'a [OsString]) -> Self {
        let mut command = Self {
            kind,
            options: Vec::new(),
            operands: Vec::new(),
            targets: Vec::new(),
            suffix: None,
        };
        let goes = matches!(kind, Kind::Copy | Kind::Move);
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_bytes() {
                b"--" => {
                    command
                        .operands
                        .extend(rest.by_ref().map(OsString::as_os_str));
                }
                [b'-', b'-', ..] => {
                    command.options.push(argument);
                    let (name, value) = split_at_equals(argument);
                    let is = |option| goes && is_cut_short(name, option);
                    if is("--target-directory") {
                        let next = || rest.next().map(OsString::as_os_str);
                        command.targets.extend(value.or_else(next));
                    } else if is("--suffix") {
                        let next = || rest.next().map(OsString::as_os_str);
                        command.suffix = value.or_else(next);
                    }
                }
                [b'-', letters @ ..] if !letters.is_empty() => {
                    command.options.push(argument);
                    let valued = letters.iter().position(|l| kind.valued().contains(l));
                    // The value is the rest of the word, or the next word.
                    let value = valued.and_then(|at| match &letters[at + 1..] {
                        [] => rest.next().map(OsString::as_os_str),
                        attached => Some(OsStr::from_bytes(attached)),
                    });
                    match valued.map(|at| letters[at]) {
                        Some(b't') if goes => command.targets.extend(value),
                        Some(b'S') => command.suffix = value,
                        _ => {}
                    }
                }
                _ => command.operands.push(argument),
            }
        }
        command
    }

    pub(super) fn has_letter(&self, letter: u8) -> bool {
        let mut options = self.options.iter().map(|option| option.as_bytes());
        options.any(|option| !option.starts_with(b"--") && option.contains(&letter))
    }

    /// Folders that are moved, copied or removed with all their contents.
    pub(super) fn carried(&self) -> &[&'a OsStr] {
        match self.kind {
            Kind::Remove if self.takes_folders() => &self.operands,
            Kind::Move => self.sources(),
            Kind::Copy if self.takes_folders() => self.sources(),
            _ => &[],
        }
    }

    /// Whether the target of `cp` or `mv` is its last operand.
    pub(super) fn goes_into_its_last_operand(&self) -> bool {
        matches!(self.kind, Kind::Copy | Kind::Move) && self.targets.is_empty()
    }

    /// The sources of `cp` or `mv`.
    fn sources(&self) -> &[&'a OsStr] {
        match self.operands.split_last() {
            Some((_, sources)) if self.targets.is_empty() => sources,
            _ => &self.operands,
        }
    }

    /// The sources of `cp` or `mv` with their resulting paths, relative to this directory.
    pub(super) fn landings(&self, directory: &Path) -> Vec<Landing> {
        if !matches!(self.kind, Kind::Copy | Kind::Move) {
            return Vec::new();
        }
        let last = self.operands.last().filter(|_| self.targets.is_empty());
        let is_last = last.is_some();
        let mut landings = Vec::new();
        for target in self.targets.iter().chain(last) {
            let target = directory.join(target);
            let is_whole = self.has_letter(b'T') || self.has_long("--no-target-directory");
            let into = !is_last || target.is_dir() && !is_whole;
            let keeps_parents = self.kind == Kind::Copy && self.has_long("--parents");
            for source in self.sources() {
                let target = match name_of(source) {
                    _ if keeps_parents => target.join(without_root(source)),
                    Some(name) if into => target.join(name),
                    _ => target.clone(),
                };
                let source = directory.join(source);
                landings.push(Landing { source, target });
            }
        }
        landings
    }

    /// Whether `cp` copies the targets of links, even below a folder.
    pub(super) fn follows_links(&self) -> bool {
        let follows =
            self.has_letter(b'L') || self.has_letter(b'H') || self.has_long("--dereference");
        self.kind == Kind::Copy && self.takes_folders() && follows
    }

    /// Whether `cp` creates hard links, through which the originals can be changed.
    pub(super) fn makes_hard_links(&self) -> bool {
        self.kind == Kind::Copy && (self.has_letter(b'l') || self.has_long("--link"))
    }

    /// Whether an existing target is renamed first.
    pub(super) fn puts_away_what_is_there(&self) -> bool {
        let options = ["--backup", "--suffix", "--exchange"];
        self.kind == Kind::Move
            && (self.has_letter(b'b')
                || self.has_letter(b'S')
                || options.iter().any(|option| self.has_long(option)))
    }

    /// The suffix for the name of an existing target.
    pub(super) fn suffix(&self) -> Option<&'a OsStr> {
        self.suffix
    }

    pub(super) fn takes_folders(&self) -> bool {
        let has_letter = || {
            let mut letters = [b'r', b'R', b'a'].into_iter();
            letters.any(|letter| self.has_letter(letter))
        };
        has_letter() || self.has_long("--recursive") || self.has_long("--archive")
    }

    /// Whether a long option is present; it may be abbreviated and have a value.
    fn has_long(&self, option: &str) -> bool {
        let mut options = self.options.iter();
        options.any(|it| is_cut_short(split_at_equals(it).0, option))
    }
}

fn is_cut_short(name: &[u8], option: &str) -> bool {
    name.len() > 2 && name.starts_with(b"--") && option.as_bytes().starts_with(name)
}

/// A long option and its attached value.
fn split_at_equals(argument: &OsStr) -> (&[u8], Option<&OsStr>) {
    let bytes = argument.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => (&bytes[..at], Some(OsStr::from_bytes(&bytes[at + 1..]))),
        None => (bytes, None),
    }
}

/// The name that an operand gets in a target folder; `None` for `.` and `..`, whose entries are placed there.
fn name_of(operand: &OsStr) -> Option<&OsStr> {
    let bytes = operand.as_bytes();
    let end = bytes.iter().rposition(|byte| *byte != b'/')? + 1;
    let begin = bytes[..end].iter().rposition(|byte| *byte == b'/');
    let name = &bytes[begin.map_or(0, |at| at + 1)..end];
    (!matches!(name, b"." | b"..")).then(|| OsStr::from_bytes(name))
}

fn without_root(operand: &OsStr) -> &OsStr {
    let bytes = operand.as_bytes();
    let begin = bytes.iter().position(|byte| *byte != b'/');
    OsStr::from_bytes(begin.map_or(&[], |at| &bytes[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_where_is_told_by_the_operands_and_options() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("d/e")).unwrap();
        for (line, expected) in [
            ("cp a b", &[("a", "b")][..]),
            ("cp a d", &[("a", "d/a")]),
            ("cp -T a d", &[("a", "d")]),
            ("cp --no-target d/e d", &[("d/e", "d")]),
            ("cp a/b/ c d -f", &[("a/b/", "d/b"), ("c", "d/c")]),
            ("cp -r e/. d", &[("e/.", "d")]),
            ("cp -r .. d", &[("..", "d")]),
            ("cp -td a b", &[("a", "d/a"), ("b", "d/b")]),
            ("cp -rt d a", &[("a", "d/a")]),
            ("mv --target d a", &[("a", "d/a")]),
            ("mv --target-directory=d a/x", &[("a/x", "d/x")]),
            ("cp --parents a/b d", &[("a/b", "d/a/b")]),
            ("cp -S ~ a b", &[("a", "b")]),
            ("cp --suffix ~ a -- b", &[("a", "b")]),
            ("cp -- -t b", &[("-t", "b")]),
            ("rm -r a b", &[]),
        ] {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let kind = Kind::named(&words[0]).unwrap();
            let found = FileCommand::new(kind, &words[1..]).landings(folder.path());
            let at = |name: &str| folder.path().join(name);
            let expected = expected.iter().map(|(source, target)| Landing {
                source: at(source),
                target: at(target),
            });
            assert_eq!(found, expected.collect::<Vec<_>>(), "{line}");
        }
    }
}
