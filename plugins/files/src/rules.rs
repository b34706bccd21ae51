//! Ignore rules: `.gitignore`, `.ignore` and `.git/info/exclude`, interpreted as by ripgrep.

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use windlass_plugin::{EntryKind, Tree, entries};

/// Directories of version control systems: never searched.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".jj", ".svn", ".bzr", ".sl"];

/// The largest file of rules that is read, in bytes.
const LARGEST: usize = 1 << 20;

/// The rules that apply at some place in a tree, outermost directory first.
///
/// Paths are given with a slash in front (`/src/main.rs`), relative to the tree.
#[derive(Default)]
pub(crate) struct Rules {
    layers: Vec<Layer>,
}

/// The rules that one directory adds.
struct Layer {
    /// From `.ignore`; takes precedence over all `.gitignore`s.
    ignore: Option<Gitignore>,
    /// From `.gitignore` and, for the top directory of a repository, from `.git/info/exclude`.
    gitignore: Option<Gitignore>,
    /// Whether this is the top of a repository: `.gitignore`s further out do not apply.
    repository: bool,
}

/// The rule files that a directory contains.
#[derive(Default)]
pub(crate) struct Sources {
    ignore: bool,
    gitignore: bool,
    repository: bool,
}

impl Sources {
    /// Records an entry.
    pub(crate) fn note(&mut self, name: &str, kind: EntryKind) {
        match name {
            ".ignore" => self.ignore |= kind == EntryKind::File,
            ".gitignore" => self.gitignore |= kind == EntryKind::File,
            // A directory, or in a worktree a file.
            ".git" => self.repository = true,
            _ => {}
        }
    }

    fn none(&self) -> bool {
        !(self.ignore || self.gitignore || self.repository)
    }
}

impl Rules {
    /// The rules that the directories above `base` define for it. Rules about `base` itself do not apply, because it was
    /// requested explicitly.
    pub(crate) fn above<T: Tree>(tree: &T, base: &str) -> Self {
        let mut rules = Self::default();
        let mut directory = "";
        for segment in base.split('/').filter(|segment| !segment.is_empty()) {
            let mut sources = Sources::default();
            for entry in entries(tree, directory, false).unwrap_or_default() {
                sources.note(&entry.name, entry.kind);
            }
            rules.enter(tree, directory, &sources);
            directory = match directory {
                "" => segment,
                // `base` starts with `directory`, a slash and this segment.
                outer => &base[..outer.len() + 1 + segment.len()],
            };
        }
        rules
    }

    /// Adds the rules of a directory; returns whether there are any. If so, [`Rules::leave`] removes them again.
    pub(crate) fn enter<T: Tree>(&mut self, tree: &T, directory: &str, sources: &Sources) -> bool {
        if sources.none() {
            return false;
        }
        let file = |name: &str| match directory {
            "" => name.to_owned(),
            directory => format!("{directory}/{name}"),
        };
        let ignore = sources.ignore.then(|| file(".ignore"));
        let exclude = sources.repository.then(|| file(".git/info/exclude"));
        let gitignore = sources.gitignore.then(|| file(".gitignore"));
        self.layers.push(Layer {
            ignore: compile(tree, directory, &[ignore]),
            // Later lines take precedence, so the repository's own excludes come first.
            gitignore: compile(tree, directory, &[exclude, gitignore]),
            repository: sources.repository,
        });
        true
    }

    /// Removes what the last [`Rules::enter`] added.
    pub(crate) fn leave(&mut self) {
        self.layers.pop();
    }

    /// Whether an entry is left out.
    pub(crate) fn exclude(&self, name: &str, path: &str, is_directory: bool) -> bool {
        if is_directory && VERSION_CONTROL.contains(&name) {
            return true;
        }
        let innermost = |rules: Option<&Gitignore>| match rules?.matched(path, is_directory) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        let from_ignore = self
            .layers
            .iter()
            .rev()
            .find_map(|layer| innermost(layer.ignore.as_ref()));
        if let Some(excluded) = from_ignore {
            return excluded;
        }
        for layer in self.layers.iter().rev() {
            if let Some(excluded) = innermost(layer.gitignore.as_ref()) {
                return excluded;
            }
            if layer.repository {
                break;
            }
        }
        false
    }
}

/// The rules in those files that exist and can be read; `None` if they contain no rules.
fn compile<T: Tree>(tree: &T, directory: &str, files: &[Option<String>]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(format!("/{directory}"));
    for file in files.iter().flatten() {
        let Ok(bytes) = tree.read_all(file, LARGEST) else {
            continue;
        };
        for line in String::from_utf8_lossy(&bytes).lines() {
            // Lines that are not valid patterns are ignored, as in git.
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
