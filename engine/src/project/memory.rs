//! Standing instructions: `CLAUDE.md` files, rules, and what they import.

use std::collections::HashSet;

use windlass_core::context::{MemoryFile, MemoryScope};

use super::{
    FileProblem, ProjectPlaces,
    find::markdown,
    read::{ReadFile, ReadProject},
};
use crate::{
    frontmatter::{Document, FrontmatterError},
    path::TextPath,
    settings::SettingSources,
};

/// The maximum depth of nested imports.
pub const MAX_IMPORT_DEPTH: usize = 5;

/// The maximum size of all instructions together, in bytes. Files that exceed it are left out.
pub const MAX_INSTRUCTION_BYTES: usize = 4 * 1024 * 1024;

/// The maximum number of imports that are followed, in all files together.
const MAX_IMPORTS: usize = 2000;

/// The instructions of a folder.
const OWN_FILES: [&str; 2] = ["CLAUDE.md", ".claude/CLAUDE.md"];

/// Loads the instruction files of the selected sources, the user's first. Project files are read from the working directory
/// and, in a git repository, from the folders above it up to the repository root, the outermost first.
///
/// A project file and its imports must lie, after following links, in the project or in the folder of the file itself. The
/// user's own file may import any file that no deny rule excludes.
pub(super) fn load(
    places: &ProjectPlaces,
    sources: SettingSources,
    reader: &dyn ReadProject,
    problems: &mut Vec<FileProblem>,
) -> Vec<MemoryFile> {
    let mut reading = Reading {
        places,
        reader,
        problems,
        seen: HashSet::new(),
        imports_left: MAX_IMPORTS,
        bytes_left: MAX_INSTRUCTION_BYTES,
        files: Vec::new(),
    };
    if let Some(config) = places.config.as_ref().filter(|_| sources.user) {
        reading.read(&config.join("CLAUDE.md"), MemoryScope::User);
        reading.read_rules(&config.join("rules"), MemoryScope::User);
    }
    let root = repository(&places.cwd, reader);
    let folders: Vec<TextPath> = places
        .cwd
        .ancestors()
        .take_while(|folder| folder.starts_with(&root))
        .collect();
    // Those of other agents count where nobody has written any for this one.
    let has_own = |folder: &TextPath| {
        OWN_FILES
            .iter()
            .any(|name| reader.exists(&folder.join(name)))
    };
    let takes_others = sources.project && !folders.iter().any(has_own);
    for folder in folders.iter().rev() {
        if takes_others {
            reading.read(&folder.join("AGENTS.md"), MemoryScope::Project);
        }
        if sources.project {
            reading.read(&folder.join("CLAUDE.md"), MemoryScope::Project);
            reading.read(&folder.join(".claude/CLAUDE.md"), MemoryScope::Project);
            reading.read_rules(&folder.join(".claude/rules"), MemoryScope::Project);
        }
        if sources.local {
            reading.read(&folder.join("CLAUDE.local.md"), MemoryScope::Local);
        }
    }
    reading.files
}

/// The root of the repository that contains a folder, or the folder itself if there is none.
fn repository(cwd: &TextPath, reader: &dyn ReadProject) -> TextPath {
    let mut above = cwd.ancestors();
    let found = above.find(|folder| reader.exists(&folder.join(".git")));
    found.unwrap_or_else(|| cwd.clone())
}

struct Reading<'a> {
    places: &'a ProjectPlaces,
    reader: &'a dyn ReadProject,
    problems: &'a mut Vec<FileProblem>,
    /// Real paths of the files that have been read; each is read only once.
    seen: HashSet<TextPath>,
    imports_left: usize,
    bytes_left: usize,
    files: Vec<MemoryFile>,
}

/// A candidate instruction file, and the folders in which it and its imports must lie.
struct Named<'a> {
    path: &'a TextPath,
    scope: MemoryScope,
    folders: &'a [TextPath],
    depth: usize,
    /// Whether fields may stand at its head, which say what files it is about.
    is_rule: bool,
}

impl Reading<'_> {
    /// Reads a file, if it exists, and its imports.
    fn read(&mut self, path: &TextPath, scope: MemoryScope) {
        self.read_file(path, scope, false);
    }

    /// Reads the rules in a folder and the folders below it.
    fn read_rules(&mut self, folder: &TextPath, scope: MemoryScope) {
        for path in markdown(self.reader, folder, self.problems) {
            self.read_file(&path, scope, true);
        }
    }

    fn read_file(&mut self, path: &TextPath, scope: MemoryScope, is_rule: bool) {
        let folders: Vec<TextPath> = match (scope, path.parent()) {
            (MemoryScope::Project | MemoryScope::Local, Some(own)) => {
                vec![self.places.cwd.clone(), own]
            }
            _ => Vec::new(),
        };
        self.follow(&Named {
            path,
            scope,
            folders: &folders,
            depth: 0,
            is_rule,
        });
    }

    fn follow(&mut self, named: &Named<'_>) {
        let file = match self.open(named) {
            Ok(Some(file)) => file,
            // Text that looks like an import is often something else, such as a name or an address.
            Ok(None) => return,
            Err(problem) => return self.leave_out(named.path, problem),
        };
        if self.seen.contains(&file.real) {
            return;
        }
        if named.depth > MAX_IMPORT_DEPTH {
            return self.leave_out(named.path, "imports go no deeper than five files".into());
        }
        let Some(left) = self.bytes_left.checked_sub(file.text.len()) else {
            let problem =
                format!("all instructions together are larger than {MAX_INSTRUCTION_BYTES} bytes");
            return self.leave_out(named.path, problem);
        };
        self.bytes_left = left;
        self.seen.insert(file.real);
        let text = match named.is_rule {
            true => match rule(&file.text) {
                Ok(text) => text,
                Err(error) => return self.leave_out(named.path, error.to_string()),
            },
            false => file.text,
        };
        let imports = imports(&text);
        self.files.push(MemoryFile {
            path: named.path.to_string(),
            scope: named.scope,
            text,
        });
        for import in imports {
            let Some(left) = self.imports_left.checked_sub(1) else {
                let problem = format!("no more than {MAX_IMPORTS} imports are followed");
                return self.leave_out(named.path, problem);
            };
            self.imports_left = left;
            if let Some(target) = self.target(named.path, &import) {
                self.follow(&Named {
                    path: &target,
                    depth: named.depth + 1,
                    is_rule: false,
                    ..*named
                });
            }
        }
    }

    fn open(&self, named: &Named<'_>) -> Result<Option<ReadFile>, String> {
        match named.scope == MemoryScope::User && named.depth == 0 {
            true => self.reader.read_own(named.path),
            false => self.reader.read(named.path, named.folders),
        }
    }

    fn leave_out(&mut self, path: &TextPath, problem: String) {
        let path = path.clone();
        self.problems.push(FileProblem { path, problem });
    }

    fn target(&self, from: &TextPath, import: &str) -> Option<TextPath> {
        match import.strip_prefix("~/") {
            Some(below) => Some(self.places.home.as_ref()?.join(below)),
            None => Some(from.parent()?.join(import)),
        }
    }
}

/// The text of a rule. If it is about certain files (`paths`), the text says so: the model is told from the start, not only
/// once it reads such a file.
fn rule(text: &str) -> Result<String, FrontmatterError> {
    let file = Document::parse(text)?;
    let paths = match &file.front {
        Some(fields) => fields.list("paths")?.unwrap_or_default(),
        None => Vec::new(),
    };
    let body = file.body.trim();
    Ok(match paths.is_empty() {
        true => body.to_owned(),
        false => format!(
            "(Only about files that match {}.)\n\n{body}",
            paths.join(", ")
        ),
    })
}

/// The paths after an `@` at the beginning of a word, outside of code.
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
