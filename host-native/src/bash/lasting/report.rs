//! How a shell is told what lasts, and how it reports what it leaves.
//!
//! Bash reads a file before the command (`BASH_ENV`): a handle without a name, which says what lasts and sets a trap on the
//! end of the shell. The trap writes to another such handle. The command itself is given to bash unchanged.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt::Write as _,
    fs::File,
    io::{self, Read, Seek, Write as _},
    os::fd::{AsRawFd as _, OwnedFd, RawFd},
};

use rustix::io::fcntl_dupfd_cloexec;
use windlass_shell::{is_name, quote};

use super::declared::{Declared, declared};

/// Handles have numbers from here on: those below are used by commands.
const FIRST: RawFd = 198;

/// Bytes of a report that are read.
const MOST: u64 = 1024 * 1024;

/// What bash runs at the beginning and at the end: it writes fields that end with a zero byte. Builtins only, each of which says all
/// at once: this is paid for with every command.
const REPORT: &str = r#"{
builtin printf '%s\0' "$SHELLOPTS" "$BASHOPTS"
builtin set +eux
builtin pwd -P; builtin printf '\0'
builtin declare -p; builtin printf '\0'
builtin declare -f; builtin printf '\0'; builtin declare -F; builtin printf '\0'
builtin alias -p; builtin printf '\0'
} 2>/dev/null >&"#;

/// What a shell is given so that it begins with what lasts, and reports what it leaves.
#[derive(Debug)]
pub(crate) struct Handles {
    /// What it reads before the command, and where it reports: with the numbers that they have here.
    startup: File,
    report: File,
    /// The second, for this process.
    reported: File,
}

impl Handles {
    /// With what bash is to read first; it is told the number of the handle to which it reports.
    pub(super) fn new(startup: impl FnOnce(RawFd) -> String) -> io::Result<Self> {
        let report = unnamed()?;
        let mut file = unnamed()?;
        file.write_all(startup(report.as_raw_fd()).as_bytes())?;
        file.rewind()?;
        Ok(Self {
            startup: file,
            reported: report.try_clone()?,
            report,
        })
    }

    /// What makes bash read the first of them.
    pub(crate) fn variable(&self) -> (OsString, OsString) {
        let path = format!("/dev/fd/{}", self.startup.as_raw_fd());
        ("BASH_ENV".into(), path.into())
    }

    /// The handles for the shell, and the one in which its report will be.
    pub(crate) fn split(self) -> (Vec<OwnedFd>, Reported) {
        let given = vec![self.startup.into(), self.report.into()];
        (given, Reported(self.reported))
    }
}

/// Where a shell has reported, once it has ended.
#[derive(Debug)]
pub(crate) struct Reported(File);

impl Reported {
    /// What the shell reported at its end, if it did.
    pub(crate) fn read(mut self) -> Option<Report> {
        let mut bytes = Vec::new();
        self.0.rewind().ok()?;
        self.0.take(MOST).read_to_end(&mut bytes).ok()?;
        Report::parse(&bytes)
    }
}

/// A file without a name, which ends with its last handle.
fn unnamed() -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{MemfdFlags, memfd_create};
        let file = memfd_create("windlass", MemfdFlags::CLOEXEC)?;
        Ok(fcntl_dupfd_cloexec(file, FIRST)?.into())
    }
    #[cfg(not(target_os = "linux"))]
    Ok(fcntl_dupfd_cloexec(tempfile::tempfile()?, FIRST)?.into())
}

/// What bash reads before the command.
pub(super) fn startup(
    variables: impl Iterator<Item = (OsString, OsString)>,
    definitions: &str,
    startup_file: Option<&str>,
    to: RawFd,
) -> String {
    let report = format!("{REPORT}{to}");
    let mut text = "unset BASH_ENV\n".to_owned();
    if let Some(file) = startup_file {
        let file = quote(file);
        let _ = writeln!(text, "export BASH_ENV={file}\n[ -r {file} ] && . {file}");
    }
    let _ = writeln!(text, "{report}");
    let _ = writeln!(text, "trap -- {} EXIT", quote(&report));
    for (name, value) in variables {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str())
            && is_name(name)
        {
            let _ = writeln!(text, "{name}={}", quote(value));
        }
    }
    text.push_str(definitions);
    text
}

/// What a shell had at its beginning and at its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// Where it ended, without links.
    pub(super) directory: String,
    pub(super) before: Shell,
    pub(super) after: Shell,
}

/// What a shell knows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shell {
    /// The names of the options that are on.
    options: Options,
    pub(super) variables: BTreeMap<String, Value>,
    /// Commands that make each array, and each name for another variable.
    arrays: BTreeMap<String, String>,
    functions: String,
    /// Commands that say of each function whether it is exported.
    declarations: String,
    aliases: String,
}

/// The names of the options that are on, with colons between them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    set: String,
    shopt: String,
}

/// The value of a variable that is no array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) value: String,
    pub(super) exported: bool,
}

impl Report {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        let (_, before) = fields.shell()?;
        let (directory, after) = fields.shell()?;
        Some(Self {
            directory,
            before,
            after,
        })
    }
}

impl Shell {
    /// What must be said to another shell for it to have what this one has beyond what it had.
    pub(super) fn definitions(&self, before: &Self) -> String {
        let mut text = String::new();
        let options = self.options.since(&before.options);
        if !options.is_empty() {
            let _ = writeln!(text, "{{\n{}\n}} 2>/dev/null", options.join("\n"));
        }
        let is_new = |(name, made): &(&String, &String)| before.arrays.get(*name) != Some(*made);
        let arrays: Vec<&str> = self
            .arrays
            .iter()
            .filter(is_new)
            .map(|(_, made)| made.as_str())
            .collect();
        if !arrays.is_empty() {
            let _ = writeln!(text, "{}", arrays.join("\n"));
        }
        if self.functions != before.functions {
            text.push_str(&self.functions);
            let exported = self.declarations.lines();
            for line in exported.filter(|line| line.starts_with("declare -fx ")) {
                let _ = writeln!(text, "{line}");
            }
        }
        if self.aliases != before.aliases {
            text.push_str(&self.aliases);
        }
        text
    }

    fn take(&mut self, variable: Declared<'_>) {
        let name = variable.name;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        if ['a', 'A', 'n'].iter().any(|kind| variable.is(*kind)) {
            if !windlass_shell::is_made_by_the_shell(name)
                && let Some(command) = text(variable.command)
            {
                self.arrays.insert(name.to_owned(), command);
            }
        } else if let Some(value) = &variable.value
            // What is read-only could not be set again.
            && !variable.is('r')
        {
            let value = Value {
                value: text(value).unwrap_or_default(),
                exported: variable.is('x'),
            };
            self.variables.insert(name.to_owned(), value);
        }
    }
}

impl Options {
    /// Commands that make of a shell with the former options one with these.
    fn since(&self, before: &Self) -> Vec<String> {
        let mut commands = Vec::new();
        for (command, all, others) in [
            ("set -o", &self.set, &before.set),
            ("set +o", &before.set, &self.set),
            ("shopt -s", &self.shopt, &before.shopt),
            ("shopt -u", &before.shopt, &self.shopt),
        ] {
            let is_other = |name: &&str| others.split(':').all(|other| other != *name);
            let names = all.split(':').filter(is_other);
            // A shell that executes nothing would never be left again.
            let names = names.filter(|name| !name.is_empty() && *name != "noexec");
            commands.extend(names.map(|name| format!("{command} {name}")));
        }
        commands
    }
}

/// Fields that end with a zero byte.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let (field, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        Some(field)
    }

    fn next(&mut self) -> Option<String> {
        // A value that is no text is not kept, and neither is what comes with it.
        Some(String::from_utf8(self.bytes()?.to_vec()).unwrap_or_default())
    }

    /// The directory and all else.
    fn shell(&mut self) -> Option<(String, Shell)> {
        let mut shell = Shell {
            options: Options {
                set: self.next()?,
                shopt: self.next()?,
            },
            ..Shell::default()
        };
        let directory = self.next()?;
        let directory = directory.strip_suffix('\n')?.to_owned();
        for variable in declared(self.bytes()?)? {
            shell.take(variable);
        }
        shell.functions = self.next()?;
        shell.declarations = self.next()?;
        shell.aliases = self.next()?;
        (directory.starts_with('/')).then_some((directory, shell))
    }
}
