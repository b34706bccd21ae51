//! Standing instructions: `CLAUDE.md` and what it imports.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use windlass_core::context::{MemoryFile, MemoryScope};

use super::{FileProblem, ProjectPlaces, find};
use crate::settings::SettingSources;

/// Imports within imports that are followed.
pub const MAX_IMPORT_DEPTH: usize = 5;

/// Files of instructions that are read at all, and their bytes together: all of it goes into every request.
const MOST_FILES: usize = 200;
const MOST_BYTES: usize = 4 << 20;

/// The files of the selected sources, the user's first. Those of a project are read in its working directory, and, within a
/// git repository, in the folders above it up to the repository's own, the outermost first.
pub(super) fn load(
    places: &ProjectPlaces,
    sources: SettingSources,
    problems: &mut Vec<FileProblem>,
) -> Vec<MemoryFile> {
    let mut reading = Reading {
        places,
        problems,
        seen: HashSet::new(),
        root: repository(&places.cwd),
        files: Vec::new(),
        bytes: 0,
    };
    if sources.user {
        reading.read(&places.config.root().join("CLAUDE.md"), MemoryScope::User);
    }
    let folders: Vec<PathBuf> = places
        .cwd
        .ancestors()
        .take_while(|folder| folder.starts_with(&reading.root))
        .map(Path::to_path_buf)
        .collect();
    for folder in folders.iter().rev() {
        if sources.project {
            reading.read(&folder.join("CLAUDE.md"), MemoryScope::Project);
            reading.read(&folder.join(".claude/CLAUDE.md"), MemoryScope::Project);
        }
        if sources.local {
            reading.read(&folder.join("CLAUDE.local.md"), MemoryScope::Local);
        }
    }
    reading.files
}

/// The folder of the repository around a folder; the folder itself outside of one.
fn repository(cwd: &Path) -> PathBuf {
    let mut above = cwd.ancestors();
    let found = above.find(|folder| folder.join(".git").exists());
    found.unwrap_or(cwd).to_path_buf()
}

struct Reading<'a> {
    places: &'a ProjectPlaces,
    problems: &'a mut Vec<FileProblem>,
    /// Real paths: what was read once is not read again, whatever leads to it.
    seen: HashSet<PathBuf>,
    root: PathBuf,
    files: Vec<MemoryFile>,
    bytes: usize,
}

impl Reading<'_> {
    /// A file that need not be there, and what it imports.
    fn read(&mut self, path: &Path, scope: MemoryScope) {
        if path.is_file() {
            self.follow(path, scope, 0);
        }
    }

    fn follow(&mut self, path: &Path, scope: MemoryScope, depth: usize) {
        let Ok(real) = fs::canonicalize(path) else {
            return;
        };
        if !self.seen.insert(real) {
            return;
        }
        if self.files.len() == MOST_FILES {
            return self.leave_out(
                path.to_path_buf(),
                "there are 200 files of instructions already",
            );
        }
        let Some(text) = find::read(path, self.problems) else {
            return;
        };
        self.bytes += text.len();
        if self.bytes > MOST_BYTES {
            return self.leave_out(path.to_path_buf(), "the instructions are longer than 4 MiB");
        }
        let imports = imports(&text);
        self.files.push(MemoryFile {
            path: path.to_string_lossy().into_owned(),
            scope,
            text,
        });
        for import in imports {
            let target = self.target(path, &import);
            // What looks like an import often is none: a name, an address.
            let Some(target) = target.filter(|target| target.is_file()) else {
                continue;
            };
            if depth == MAX_IMPORT_DEPTH {
                self.leave_out(target, "imports go no deeper than five files");
            } else if scope != MemoryScope::User && !self.is_inside(&target) {
                let problem = "instructions of a project import files of the project only; the user's own CLAUDE.md may import this one";
                self.leave_out(target, problem);
            } else {
                self.follow(&target, scope, depth + 1);
            }
        }
    }

    fn leave_out(&mut self, path: PathBuf, problem: &str) {
        let problem = problem.to_owned();
        self.problems.push(FileProblem { path, problem });
    }

    fn target(&self, from: &Path, import: &str) -> Option<PathBuf> {
        match import.strip_prefix("~/") {
            Some(below) => Some(self.places.home.as_ref()?.join(below)),
            None => Some(from.parent()?.join(import)),
        }
    }

    fn is_inside(&self, path: &Path) -> bool {
        let real = |path: &Path| fs::canonicalize(path).ok();
        matches!((real(path), real(&self.root)), (Some(path), Some(root)) if path.starts_with(&root))
    }
}

/// Paths behind an `@` at the beginning of a word, outside of code.
fn imports(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let start = line.trim_start();
        let opens = ["```", "~~~"].into_iter().find(|f| start.starts_with(f));
        match (fence, opens) {
            (Some(open), Some(close)) if open == close => fence = None,
            (None, Some(open)) => fence = Some(open),
            (Some(_), _) => {}
            (None, None) => {
                // Every second piece between backticks is code.
                for piece in line.split('`').step_by(2) {
                    let words = piece.split_whitespace();
                    let paths = words.filter_map(|word| word.strip_prefix('@'));
                    let paths = paths.map(|path| path.trim_end_matches([',', ';', ':', ')', '.']));
                    found.extend(paths.filter(|path| !path.is_empty()).map(ToOwned::to_owned));
                }
            }
        }
    }
    found
}
