//! `cd` and `pwd`.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
};

use crate::bash::plan::{
    directory::Directory,
    locale::Locale,
    message::{reason, with_name},
    quote::shown,
    shell::{Outcome, Shell},
};

impl Shell<'_> {
    pub(super) fn cd(&mut self, line: u32, operands: &[Vec<u8>]) -> Outcome {
        let operands = match operands.first().map(Vec::as_slice) {
            Some(b"-L" | b"--") => &operands[1..],
            _ => operands,
        };
        if operands.len() > 1 && !self.voice.is_dash() {
            return self.fail(line, 1, "cd: too many arguments");
        }
        let variable = match operands.first().map(Vec::as_slice) {
            None => Some("HOME"),
            Some(b"-") => Some("OLDPWD"),
            Some(_) => None,
        };
        let path = match variable {
            Some(name) => match self.variables.get(name) {
                Some(value) => value.to_owned(),
                None if self.voice.is_dash() => OsString::new(),
                None => return self.fail(line, 1, format!("cd: {name} not set")),
            },
            None => OsStr::from_bytes(&operands[0]).to_owned(),
        };
        let status = if self.voice.is_dash() { 2 } else { 1 };
        if !path.is_empty() {
            match self.directory.enter(&path) {
                Ok(directory) if self.is_elsewhere(&path, &directory) => {
                    let after =
                        ": it leads out of the workspace, or elsewhere than when it was judged";
                    return self.fail(line, status, with_name("cd: ", path, after));
                }
                Ok(directory) => {
                    let before = std::mem::replace(&mut self.directory, directory);
                    self.variables.export("OLDPWD", before.logical().to_owned());
                }
                Err(_) if self.voice.is_dash() => {
                    return self.fail(line, status, with_name("cd: can't cd to ", path, ""));
                }
                Err(error) => {
                    let name = shown(path.as_bytes(), Locale::of(&self.variables));
                    let name = OsStr::from_bytes(&name);
                    let text = with_name("cd: ", name, &format!(": {}", reason(&error)));
                    return self.fail(line, status, text);
                }
            }
        } else {
            let here = self.directory.logical().to_owned();
            self.variables.export("OLDPWD", here);
        }
        let here = self.directory.logical().to_owned();
        self.variables.export("PWD", here.clone());
        self.status = 0;
        if variable == Some("OLDPWD") {
            let mut output = here.into_vec();
            output.push(b'\n');
            return self.print(line, "cd", &output);
        }
        Ok(())
    }

    /// Whether an approved directory was replaced since, or an unapproved one is outside of the workspace.
    fn is_elsewhere(&self, path: &OsStr, entered: &Directory) -> bool {
        let written = self.directory.join(path);
        let mut planned = self.context.files.iter();
        let planned = planned.find(|file| written == *file.written);
        let Ok(real) = entered.physical() else {
            return true;
        };
        let workspace = self.context.workspace;
        match planned {
            Some(file) => real != std::path::Path::new(&file.real),
            None => !workspace.is_empty() && !workspace.iter().any(|root| real.starts_with(root)),
        }
    }

    pub(super) fn pwd(&mut self, line: u32, operands: &[Vec<u8>]) -> Outcome {
        let is_physical = operands.first().is_some_and(|operand| operand == b"-P");
        let here = self.directory.logical().to_owned();
        let here = match is_physical {
            true => self.directory.physical().map_or(here, Into::into),
            false => here,
        };
        let mut output = here.into_vec();
        output.push(b'\n');
        self.status = 0;
        self.print(line, "pwd", &output)
    }
}
