//! The plain file commands with their arguments taken apart.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
};

/// Which of them a program is.
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

    /// The letters of options that have a value.
    fn valued(self) -> &'static [u8] {
        match self {
            Self::MakeFolder => b"m",
            Self::Touch => b"dt",
            _ => b"",
        }
    }
}

/// A command with its arguments taken apart.
pub(super) struct FileCommand<'a> {
    pub(super) kind: Kind,
    pub(super) options: Vec<&'a OsStr>,
    pub(super) operands: Vec<&'a OsStr>,
}

impl<'a> FileCommand<'a> {
    pub(super) fn new(kind: Kind, arguments: &'a [OsString]) -> Self {
        let mut command = Self {
            kind,
            options: Vec::new(),
            operands: Vec::new(),
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_bytes() {
                b"--" => {
                    command
                        .operands
                        .extend(rest.by_ref().map(OsString::as_os_str));
                }
                [b'-', letters @ ..] if !letters.is_empty() => {
                    command.options.push(argument);
                    let valued = letters.iter().position(|l| kind.valued().contains(l));
                    // The value is the rest of the word, or the next one.
                    if letters[0] != b'-' && valued == Some(letters.len() - 1) {
                        rest.next();
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

    /// Folders that go elsewhere, or away, with all that is in them.
    pub(super) fn carried(&self) -> &[&'a OsStr] {
        let carries = match self.kind {
            Kind::Move => true,
            Kind::Copy => self.takes_folders(),
            Kind::Remove if self.takes_folders() => return &self.operands,
            _ => false,
        };
        match self.operands.split_last() {
            // The target stands among the options: all others are sources.
            Some(_) if carries && self.names_target_before() => self.operands.as_slice(),
            Some((_, sources)) if carries => sources,
            _ => &[],
        }
    }

    fn takes_folders(&self) -> bool {
        let has_letter = || {
            let mut letters = [b'r', b'R', b'a'].into_iter();
            letters.any(|letter| self.has_letter(letter))
        };
        has_letter() || self.has_long("--recursive") || self.has_long("--archive")
    }

    /// `-t FOLDER`, in any of its forms.
    fn names_target_before(&self) -> bool {
        self.has_letter(b't') || self.has_long("--target-directory")
    }

    /// Whether it has a long option, which may be cut short and have a value.
    fn has_long(&self, option: &str) -> bool {
        let mut options = self.options.iter().filter_map(|it| it.to_str());
        options.any(|it| {
            let name = it.split('=').next().unwrap_or_default();
            name.len() > 2 && name.starts_with("--") && option.starts_with(name)
        })
    }
}
