//! Reads the project's files through the same resolver and rules as the reads of tools.

use std::path::Path;

use windlass_core::{
    Spec,
    permission::{PolicyContext, deny_patterns},
    tool::{Access, DenyPattern, FsGrant, GrantRoot},
};
use windlass_engine::{
    TextPath,
    project::{Entry, MAX_FILE_BYTES, ReadFile, ReadProject},
};

use crate::{
    files::{EntryKind, Files, FsError, Reach, Root, resolve},
    project,
};

/// Opens files within folders, except those denied by the rules of a session.
pub(super) struct ProjectFilesReader {
    files: Files,
    deny: Vec<DenyPattern>,
}

impl ProjectFilesReader {
    /// A reader that applies the deny rules of a spec, which must be complete.
    pub(super) fn new(spec: &Spec) -> Self {
        let policy = &spec.policy.permissions;
        let context = PolicyContext::new(&policy.rules, policy.mode, &spec.environment);
        Self {
            files: Files::default(),
            deny: deny_patterns(&context),
        }
    }

    /// The files that may be accessed: the folders, by their current real paths.
    fn reach(&self, folders: &[TextPath]) -> Result<Reach, String> {
        let real = |folder: &TextPath| resolve("/", folder.as_str()).ok();
        let paths: Vec<String> = match folders {
            [] => vec!["/".to_owned()],
            folders => folders.iter().filter_map(real).collect(),
        };
        let roots = paths.into_iter().map(|path| GrantRoot {
            path,
            access: Access::Read,
        });
        let grant = FsGrant {
            cwd: "/".to_owned(),
            roots: roots.collect(),
            deny: self.deny.clone(),
        };
        self.files.reach(&grant).map_err(|error| error.to_string())
    }
}

impl ReadProject for ProjectFilesReader {
    fn read(&self, path: &TextPath, folders: &[TextPath]) -> Result<Option<ReadFile>, String> {
        // A text that is not a path names no file.
        let Ok(real) = resolve("/", path.as_str()) else {
            return Ok(None);
        };
        let path = Path::new(path.as_str());
        let mut reach = self.reach(folders)?;
        let roots: Vec<Root> = reach.roots().collect();
        let Some((tree, below)) = (0..)
            .zip(&roots)
            .find_map(|(tree, root)| Some((tree, below(&root.path, &real)?)))
        else {
            // Only an existing file deserves a warning: a mention of a user looks like an import.
            return match path.is_file() {
                true => Err("it leads out of its folder, and a project or plugin brings along its own files only: put the file itself there, or import it in the user's own CLAUDE.md".to_owned()),
                false => Ok(None),
            };
        };
        match text(&mut reach, tree, below) {
            Ok(text) => Ok(text.map(|text| ReadFile {
                real: real.into(),
                text,
            })),
            Err(problem) => match reach.refusals().last() {
                Some(_) if !path.is_file() => Ok(None),
                Some(refusal) => Err(refusal.reason.to_owned()),
                None => Err(problem),
            },
        }
    }

    fn read_own(&self, path: &TextPath) -> Result<Option<ReadFile>, String> {
        project::read_own(path)
    }

    fn list(&self, folder: &TextPath, most: usize) -> Result<Vec<Entry>, String> {
        project::list(folder, most)
    }

    fn exists(&self, path: &TextPath) -> bool {
        Path::new(path.as_str()).exists()
    }
}

/// The text of a regular file; `None` if there is none.
fn text(reach: &mut Reach, tree: usize, below: &str) -> Result<Option<String>, String> {
    let read = reach.stat(tree, below).and_then(|stat| {
        if stat.kind != EntryKind::File {
            return Ok(None);
        }
        if stat.size > MAX_FILE_BYTES {
            return Err(FsError::TooLarge);
        }
        let max = u32::try_from(MAX_FILE_BYTES).unwrap_or(u32::MAX);
        reach.read(tree, below, 0, max).map(Some)
    });
    match read {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err("it is not UTF-8".to_owned()),
        },
        Err(FsError::TooLarge) => Err(format!("it is larger than {MAX_FILE_BYTES} bytes")),
        Err(FsError::NotFound | FsError::NotDirectory) if reach.refusals().is_empty() => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// The part of a real path below a root.
fn below<'a>(root: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(root.trim_end_matches('/'))?;
    match rest.strip_prefix('/') {
        Some(below) => Some(below),
        None => rest.is_empty().then_some(rest),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        fs,
        os::unix::fs::symlink,
        sync::atomic::{AtomicBool, Ordering},
    };

    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use windlass_core::permission::Rule;

    use super::*;
    use crate::text_path::lossy;

    /// The number of files read in the test command; otherwise `WINDLASS_ATTACK_ROUNDS` sets it.
    const ROUNDS: usize = 3_000;

    #[test]
    fn ctx_6_a_link_that_is_swapped_meanwhile_brings_nothing_in() {
        let rounds = std::env::var("WINDLASS_ATTACK_ROUNDS");
        let rounds = rounds.map_or(ROUNDS, |rounds| rounds.parse().expect("a number"));
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("its real path");
        let project = root.join("project");
        for (path, text) in [
            ("secret", "SECRET"),
            ("folder/CLAUDE.md", "SECRET"),
            ("project/closed/CLAUDE.md", "SECRET"),
            ("project/docs/CLAUDE.md", "fine"),
            ("project/CLAUDE.md", "fine"),
        ] {
            fs::create_dir_all(root.join(path).parent().expect("a parent")).expect("a folder");
            fs::write(root.join(path), text).expect("a file");
        }
        let pairs = [
            ("CLAUDE.md", "file", root.join("secret")),
            ("CLAUDE.md", "inner", project.join("closed/CLAUDE.md")),
            ("docs", "folder", root.join("folder")),
            ("docs", "inside", project.join("closed")),
        ];
        for (_, link, target) in &pairs {
            symlink(target, project.join(link)).expect("a link");
        }
        let mut spec = Spec::default();
        spec.environment.cwd = project.display().to_string();
        let closed = Rule::parse("Read(./closed/**)").expect("a rule");
        spec.policy.permissions.rules.deny.push(closed);
        let reader = ProjectFilesReader::new(&spec);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for (path, link, _) in &pairs {
                        let (path, link) = (project.join(path), project.join(link));
                        for _ in 0..2 {
                            // Nothing else moves these, so there is always something to exchange.
                            let _ = renameat_with(CWD, &path, CWD, &link, RenameFlags::EXCHANGE);
                            std::thread::yield_now();
                        }
                    }
                }
            });
            let folders = [lossy(&project)];
            let mut texts = (0..rounds / 2).flat_map(|_| {
                let read = |path: &str| reader.read(&lossy(&project.join(path)), &folders);
                [read("CLAUDE.md"), read("docs/CLAUDE.md")]
            });
            let leaked = texts.find(|read| matches!(read, Ok(Some(file)) if file.text != "fine"));
            stop.store(true, Ordering::Relaxed);
            assert_eq!(leaked, None);
        });
        eprintln!("tried: {} reads of instructions", rounds / 2 * 2);
    }
}
