//! Restores shell state in a new shell, and receives the state that it leaves.
//!
//! Bash reads a startup file before the command (`BASH_ENV`): an anonymous file that restores the state and sets an
//! EXIT trap. The trap writes to another anonymous file. The command itself is passed to bash unchanged.

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

/// The lowest file descriptor number used, since commands may use lower ones.
const FIRST: RawFd = 198;

/// The maximum size of a report, in bytes.
const MOST: u64 = 1024 * 1024;

/// Bash runs this at the start and at the end. It writes fields terminated by a zero byte. Only builtins that list
/// everything at once, because every command pays for this.
const REPORT: &str = r#"{
builtin printf '%s\0' "$SHELLOPTS" "$BASHOPTS"
builtin set +eux
builtin pwd -P; builtin printf '\0'
builtin declare -p; builtin printf '\0'
builtin declare -f; builtin printf '\0'; builtin declare -F; builtin printf '\0'
builtin alias -p; builtin printf '\0'
} 2>/dev/null >&"#;

/// The files by which a shell restores and reports its state.
#[derive(Debug)]
pub(crate) struct Handles {
    /// The startup file and the report file, with the numbers that they have in this process.
    startup: File,
    report: File,
    /// A second handle of the report file, for this process.
    reported: File,
}

impl Handles {
    /// Creates the files. The startup text is told the descriptor number of the report file.
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

    /// The variable that makes bash read the startup file.
    pub(crate) fn variable(&self) -> (OsString, OsString) {
        let path = format!("/dev/fd/{}", self.startup.as_raw_fd());
        ("BASH_ENV".into(), path.into())
    }

    /// The descriptors for the shell, and the report file.
    pub(crate) fn split(self) -> (Vec<OwnedFd>, Reported) {
        let given = vec![self.startup.into(), self.report.into()];
        (given, Reported(self.reported))
    }
}

/// The report file, to be read when the shell has ended.
#[derive(Debug)]
pub(crate) struct Reported(File);

impl Reported {
    /// The report that the shell wrote at its end, if it did.
    pub(crate) fn read(mut self) -> Option<Report> {
        let mut bytes = Vec::new();
        self.0.rewind().ok()?;
        self.0.take(MOST).read_to_end(&mut bytes).ok()?;
        Report::parse(&bytes)
    }
}

/// An anonymous file, which is deleted with its last handle.
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

/// The startup file for bash.
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

/// A shell's state at its start and at its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// The final directory, without symbolic links.
    pub(super) directory: String,
    pub(super) before: Shell,
    pub(super) after: Shell,
}

/// The state of a shell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Shell {
    /// The names of the enabled options.
    options: Options,
    pub(super) variables: BTreeMap<String, Value>,
    /// The commands that declare each array and each name reference.
    arrays: BTreeMap<String, String>,
    functions: String,
    /// The declarations of functions, which say whether they are exported.
    declarations: String,
    aliases: String,
}

/// The names of the enabled options, separated by colons.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    set: String,
    shopt: String,
}

/// The value of a variable that is not an array.
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
    /// Commands that add to another shell what this one has beyond its initial state.
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
            // A read-only variable could not be set again.
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
    /// Commands that change the former options to these.
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
            // With `noexec`, the shell would execute nothing and could not be left.
            let names = names.filter(|name| !name.is_empty() && *name != "noexec");
            commands.extend(names.map(|name| format!("{command} {name}")));
        }
        commands
    }
}

/// Fields terminated by a zero byte.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let (field, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        Some(field)
    }

    fn next(&mut self) -> Option<String> {
        // A value that is not UTF-8 is dropped, together with its field.
        Some(String::from_utf8(self.bytes()?.to_vec()).unwrap_or_default())
    }

    /// The directory and the rest of the state.
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
