//! `command -v`: reports what a name refers to.

use std::{
    ffi::OsStr,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
};

use windlass_shell::is_shell_only;

use super::Builtin;
use crate::bash::plan::{
    session::is_executable,
    shell::{Outcome, Shell},
};

/// Reserved words, which take precedence in a shell.
const RESERVED: [&str; 22] = [
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
];

impl Shell<'_> {
    /// Runs `command`, alone or with `-v` and names.
    pub(super) fn which(&mut self, line: u32, operands: &[Vec<u8>]) -> Outcome {
        let Some((_, names)) = operands.split_first() else {
            return self.done(0);
        };
        let mut output = Vec::new();
        for name in names {
            if let Some(meaning) = self.meaning(name) {
                output.extend(meaning);
                output.push(b'\n');
            }
        }
        let found = names.is_empty() || !output.is_empty();
        self.status = if found { 0 } else { 1 };
        self.print(line, "command", &output)
    }

    fn meaning(&self, name: &[u8]) -> Option<Vec<u8>> {
        // Only dash has `chdir`.
        let is_of_shell = |name: &str| is_shell_only(name) && name != "chdir";
        if let Ok(text) = std::str::from_utf8(name)
            && (RESERVED.contains(&text) || Builtin::named(text).is_some() || is_of_shell(text))
        {
            return Some(name.to_vec());
        }
        let name = OsStr::from_bytes(name);
        if name.as_bytes().contains(&b'/') {
            let path = self.directory.join(name);
            let is_file = std::fs::metadata(&path).is_ok_and(|found| !found.is_dir());
            let executable = is_file && is_executable(path.as_ref());
            return executable.then(|| name.as_bytes().to_vec());
        }
        let found = self.context.session.find(name)?;
        is_executable(&found).then(|| found.into_os_string().into_vec())
    }
}
