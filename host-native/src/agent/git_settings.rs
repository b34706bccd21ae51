//! Asks git which files it reads its settings from, and which paths these settings refer to. Git itself is asked
//! because a second parser of the format could disagree with it.

use std::{
    collections::{BTreeSet, VecDeque},
    ffi::OsStr,
    fs,
    io::Read as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use crate::child;

/// The maximum number of files of conditional includes that are read although their condition does not hold now.
const MOST_FILES: usize = 16;

/// The git program, and the folder whose settings it reads.
pub(super) struct Git<'a> {
    program: PathBuf,
    root: &'a Path,
    home: Option<&'a Path>,
}

/// A setting, with the file that contains it.
struct Setting {
    file: PathBuf,
    key: String,
    value: PathBuf,
}

impl<'a> Git<'a> {
    /// The first git in the search path that is outside of the session's workspace.
    pub(super) fn find(
        search: &OsStr,
        roots: &[&Path],
        root: &'a Path,
        home: Option<&'a Path>,
    ) -> Option<Self> {
        let is_outside = |folder: &PathBuf| {
            let is_within = |root: &&Path| folder.starts_with(root);
            folder.is_absolute() && !roots.iter().any(is_within)
        };
        let program = std::env::split_paths(search)
            .filter(is_outside)
            .map(|folder| folder.join("git"))
            .find(|program| program.is_file())?;
        Some(Self {
            program,
            root,
            home,
        })
    }

    /// Files and folders from which git takes settings or runs hooks in this folder, as its settings name them.
    pub(super) fn places(&self) -> Vec<PathBuf> {
        let mut places = Vec::new();
        let mut seen = BTreeSet::new();
        let mut unread = VecDeque::new();
        let mut settings = self.read(None);
        for _ in 0..=MOST_FILES {
            seen.extend(settings.iter().map(|setting| setting.file.clone()));
            for setting in &settings {
                let is_include = setting.key == "include.path"
                    || setting.key.starts_with("includeif.") && setting.key.ends_with(".path");
                if setting.key == "core.hookspath" {
                    // Hooks run at the top of the work tree.
                    let tops = self.root.ancestors().filter(|it| it.join(".git").exists());
                    let from = tops.chain([self.root]);
                    places.extend(from.map(|top| self.meant(top, &setting.value)));
                } else if is_include {
                    let folder = setting.file.parent().unwrap_or(self.root);
                    let named = self.meant(folder, &setting.value);
                    unread.push_back(named.clone());
                    places.push(named);
                }
            }
            unread.retain(|file: &PathBuf| !seen.contains(file) && file.is_file());
            let Some(file) = unread.pop_front() else {
                break;
            };
            settings = self.read(Some(&file));
            seen.insert(file);
        }
        places.extend(seen);
        places
    }

    /// All settings that apply in the folder, or those of one file. Empty if git fails.
    fn read(&self, file: Option<&Path>) -> Vec<Setting> {
        let mut command = child::command(&self.program);
        command.arg("-C").arg(self.root).arg("config");
        if let Some(file) = file {
            command.arg("--file").arg(file);
        }
        command
            .args(["--includes", "--list", "--show-origin", "-z"])
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        let said = said(command).unwrap_or_default();
        settings_of(&said, self.root)
    }

    /// The path that a setting's value refers to.
    fn meant(&self, folder: &Path, value: &Path) -> PathBuf {
        let named = match (value.strip_prefix("~"), self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => folder.join(value),
        };
        fs::canonicalize(&named).unwrap_or(named)
    }
}

/// How long git may take to list its settings.
const PATIENCE: Duration = Duration::from_secs(2);

/// How many bytes git may write.
const MOST_SAID: u64 = 1 << 20;

/// The standard output of a program; `None` if it is too large or takes too long. Settings files may be pipes, on
/// which git blocks, or devices that never end.
fn said(mut command: Command) -> Option<Vec<u8>> {
    let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut said = Vec::new();
        let read = stdout.take(MOST_SAID + 1).read_to_end(&mut said);
        // The receiver may have stopped waiting.
        let _ = tell.send(read.map(|_| said));
    });
    let said = told.recv_timeout(PATIENCE).ok().and_then(Result::ok);
    let said = said.filter(|said| said.len() as u64 <= MOST_SAID);
    if said.is_none() {
        let _ = child.kill();
    }
    let _ = child.wait();
    said
}

/// Parses git's list of settings, each with the file that contains it.
fn settings_of(said: &[u8], root: &Path) -> Vec<Setting> {
    let mut fields = said.split(|byte| *byte == 0);
    let mut settings = Vec::new();
    while let (Some(origin), Some(setting)) = (fields.next(), fields.next()) {
        let Some(file) = origin.strip_prefix(b"file:") else {
            continue; // of the environment, or of git itself
        };
        let at = setting.iter().position(|byte| *byte == b'\n');
        let (key, value) = setting.split_at(at.unwrap_or(setting.len()));
        settings.push(Setting {
            file: root.join(OsStr::from_bytes(file)),
            key: String::from_utf8_lossy(key).to_ascii_lowercase(),
            value: OsStr::from_bytes(value.get(1..).unwrap_or_default()).into(),
        });
    }
    settings
}

#[cfg(test)]
mod tests {
    use windlass_fuzz::Mutator;

    use super::*;

    #[test]
    fn whatever_git_says_is_read_without_harm() {
        let said = b"file:.git/config\0core.hooksPath\n../hooks\0file:/etc/gitconfig\0include.path\n~/x\0command line:\0a.b\nc\0file:c\0d\0";
        let settings = settings_of(said, Path::new("/w"));
        let read: Vec<_> = (settings.iter())
            .map(|it| {
                (
                    it.file.to_str().unwrap(),
                    it.key.as_str(),
                    it.value.to_str().unwrap(),
                )
            })
            .collect();
        let expected = [
            ("/w/.git/config", "core.hookspath", "../hooks"),
            ("/etc/gitconfig", "include.path", "~/x"),
            ("/w/c", "d", ""),
        ];
        assert_eq!(read, expected);
        for number in 0..2_000 {
            let variant = Mutator::new(number).variant(&[said.to_vec()]);
            let fields = variant.split(|byte| *byte == 0).count();
            assert!(settings_of(&variant, Path::new("/w")).len() <= fields / 2);
        }
    }
}
