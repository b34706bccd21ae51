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

/// Handles have numbers from here on: those below are used by commands.
const FIRST: RawFd = 198;

/// Bytes of a report that are read.
const MOST: u64 = 1024 * 1024;

/// What bash runs at the beginning and at the end: it writes fields that end with a zero byte. The names of variables are asked for
/// by their first character, which needs no process.
const REPORT: &str = r#"{
builtin printf '%s\0' "$SHELLOPTS" "$BASHOPTS"
builtin shopt -p; builtin set +o; builtin printf '\0'
builtin set +euxf
IFS=$' \t\n'
builtin pwd -P; builtin printf '\0'
for __windlass in NAMES; do
case ${!__windlass@a} in
*[aA]*) __windlass_all="$__windlass[*]"; builtin printf 'array\0%s\0%s\0' "$__windlass" "${!__windlass_all@A}";;
*) builtin printf 'value\0%s\0%s\0%s\0' "$__windlass" "${!__windlass@a}" "${!__windlass}";;
esac
done
builtin printf 'end\0'; builtin declare -f; builtin printf '\0'; builtin declare -F; builtin printf '\0'
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
    let letters = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let names: Vec<String> = letters.chars().map(|c| format!("\"${{!{c}@}}\"")).collect();
    let report = REPORT.replace("NAMES", &names.join(" ")) + &to.to_string();
    let mut text = "unset BASH_ENV\n".to_owned();
    if let Some(file) = startup_file {
        let file = quote(file);
        let _ = writeln!(text, "export BASH_ENV={file}\n[ -r {file} ] && . {file}");
    }
    let _ = writeln!(text, "{report}\nunset -v __windlass __windlass_all");
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
    options: [String; 2],
    /// Commands that set all options as they are.
    set_options: String,
    pub(super) variables: BTreeMap<String, Value>,
    /// Commands that make each array.
    arrays: BTreeMap<String, String>,
    functions: String,
    /// Commands that say of each function whether it is exported.
    declarations: String,
    aliases: String,
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
        if self.options != before.options {
            // A shell that executes nothing would never be left again.
            let lines = self.set_options.lines();
            let lines: Vec<&str> = lines.filter(|line| *line != "set -o noexec").collect();
            let _ = writeln!(text, "{{\n{}\n}} 2>/dev/null", lines.join("\n"));
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
}

/// Fields that end with a zero byte.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn next(&mut self) -> Option<String> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let (field, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        // A value that is no text is not kept, and neither is what comes with it.
        Some(String::from_utf8(field.to_vec()).unwrap_or_default())
    }

    /// The directory and all else.
    fn shell(&mut self) -> Option<(String, Shell)> {
        let mut shell = Shell {
            options: [self.next()?, self.next()?],
            set_options: self.next()?,
            ..Shell::default()
        };
        let directory = self.next()?;
        let directory = directory.strip_suffix('\n')?.to_owned();
        loop {
            match self.next()?.as_str() {
                "value" => {
                    let (name, attributes, value) = (self.next()?, self.next()?, self.next()?);
                    // What is read-only could not be set again.
                    if !attributes.contains('r') {
                        let exported = attributes.contains('x');
                        shell.variables.insert(name, Value { value, exported });
                    }
                }
                "array" => {
                    let (name, made) = (self.next()?, self.next()?);
                    if !windlass_shell::is_made_by_the_shell(&name) {
                        shell.arrays.insert(name, made);
                    }
                }
                "end" => break,
                _ => return None,
            }
        }
        shell.functions = self.next()?;
        shell.declarations = self.next()?;
        shell.aliases = self.next()?;
        (directory.starts_with('/')).then_some((directory, shell))
    }
}
