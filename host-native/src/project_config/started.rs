//! Finds files of a workspace from which programs take instructions that start outside of the session's tools: files
//! named by the commands of hooks and MCP servers, and by environment variables.
//!
//! This is no shell parser. Every word of a command counts that could name a file in a workspace, relative to each
//! folder in which the command may work. What a program reads beyond its words (modules, its own settings, other
//! scripts) is not detected.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use windlass_core::permission::CONFIGURATION_FOLDERS;
use windlass_engine::settings::changes_programs;

use crate::{
    files::{followed, normalised},
    sandbox::PROTECTED_IN_GIT,
};

/// Programs that run a given file or folder.
const INTERPRETERS: [&str; 18] = [
    ".", "ash", "bash", "bun", "dash", "deno", "ksh", "node", "nodejs", "perl", "php", "pypy",
    "python", "ruby", "sh", "source", "tsx", "zsh",
];

/// The files that an interpreter runs in a given folder.
const ENTRIES: [&str; 7] = [
    "__init__.py",
    "__main__.py",
    "index.cjs",
    "index.js",
    "index.mjs",
    "index.ts",
    "package.json",
];

/// Extensions that an interpreter appends to a name.
const EXTENSIONS: [&str; 6] = ["cjs", "js", "mjs", "py", "rb", "ts"];

/// Placeholder for the value of an unknown variable.
const UNKNOWN: char = '\u{1}';

/// The maximum number of words examined per command.
const MOST_WORDS: usize = 2_000;

/// Resolves words to the files that they may name.
pub(crate) struct Words<'a> {
    /// The folders of a session; commands start in the first.
    roots: &'a [&'a Path],
    home: Option<&'a Path>,
}

/// The files found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Files, by their names and by their real paths.
    pub(crate) places: Vec<PathBuf>,
    /// Words that may be files of a workspace, but are known only when the command runs.
    pub(crate) unread: Vec<String>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(roots: &'a [&'a Path], home: Option<&'a Path>) -> Self {
        Self { roots, home }
    }

    /// The files named by these commands.
    pub(crate) fn of_commands<'c>(&self, commands: impl Iterator<Item = &'c str>) -> Named {
        let mut named = Named::default();
        for command in commands {
            let words = words(&self.with_known_variables(command));
            let bases = self.bases(&words);
            let mut before = "";
            for word in words.iter().take(MOST_WORDS) {
                let role = match (is_interpreter(before), before) {
                    (true, _) => Role::Run,
                    (false, "-m") => Role::Module,
                    _ => Role::Word,
                };
                let found = self.of_word(word, role, &bases);
                let is_known = found.iter().any(|place| place.exists());
                if !is_known && word.contains([UNKNOWN, '`']) && word.contains('/') {
                    named.unread.push(word.replace(UNKNOWN, "$…"));
                }
                named.places.extend(found);
                // Options of an interpreter precede what it runs.
                let is_option = word.starts_with('-') && !matches!(word.as_str(), "-m" | "-c");
                if !(is_interpreter(before) && is_option) {
                    before = word;
                }
            }
        }
        named
    }

    /// The paths of an explicitly named file, which is read when a session starts.
    pub(crate) fn of_file(&self, path: &Path) -> Vec<PathBuf> {
        let base = self.roots.first().copied().unwrap_or(Path::new("/"));
        self.inside(&base.join(path))
    }

    /// The files and settings folders named by variables that change which programs run, or how.
    pub(crate) fn of_variables(
        &self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Vec<PathBuf> {
        let mut places = Vec::new();
        // Many variables name one file, such as that of the authorities to trust: it is looked up once.
        let mut named: BTreeSet<(String, bool)> = BTreeSet::new();
        for (name, value) in variables {
            if name.starts_with("XDG_CONFIG_") {
                for folder in std::env::split_paths(&value) {
                    let folders = CONFIGURATION_FOLDERS.map(|name| folder.join(name));
                    places.extend(folders.iter().flat_map(|folder| self.inside(folder)));
                }
            } else if matches!(name.as_str(), "GIT_DIR" | "GIT_COMMON_DIR") {
                let protected = PROTECTED_IN_GIT.map(|name| self.first().join(&value).join(name));
                places.extend(protected.iter().flat_map(|place| self.inside(place)));
            } else if changes_programs(&name) && !is_search_path(&name) && !is_only_written(&name) {
                let is_folder = HOLDS_SETTINGS.contains(&name.as_str());
                let words = words(&value);
                let pieces = words.iter().chain([&value]).flat_map(|it| pieces(it));
                named.extend(pieces.map(|piece| (piece.to_owned(), is_folder)));
            }
        }
        for (piece, is_folder) in named {
            let path = self.first().join(&piece);
            // A text with `:` or `=` is rarely a path: `http://proxy:3128`, `unix:path=/run/bus`.
            let may_be_one = || !piece.contains([':', '=']) || path.exists();
            if is_folder || looks_like_a_file(&piece) && !path.is_dir() && may_be_one() {
                places.extend(self.inside(&path));
            }
        }
        places
    }

    fn first(&self) -> &Path {
        self.roots.first().copied().unwrap_or(Path::new("/"))
    }

    /// Replaces the variables whose values hooks get.
    fn with_known_variables(&self, command: &str) -> String {
        let root = self.first().display().to_string();
        let home = self.home.map(|home| home.display().to_string());
        let value = |name: &str| match name {
            "CLAUDE_PROJECT_DIR" | "PWD" => Some(root.clone()),
            "HOME" if home.is_some() => home.clone(),
            name => std::env::var(name).ok(),
        };
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut parts = command.split('$');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let braced = part.strip_prefix('{');
            let named = braced.unwrap_or(part);
            let (name, rest) = named.split_at(named.find(|c| !is_part(c)).unwrap_or(named.len()));
            if name.is_empty() {
                text.push('$');
                text.push_str(part);
                continue;
            }
            match value(name) {
                Some(value) => text.push_str(&value),
                None => text.push(UNKNOWN),
            }
            // The default of a missing value (`${A:-b}`) is examined too.
            text.push_str(match braced {
                Some(_) => rest.strip_prefix('}').unwrap_or(rest),
                None => rest,
            });
        }
        text
    }

    /// The folders to which the words of a command may be relative: the workspaces, and folders that it names.
    fn bases(&self, words: &[String]) -> Vec<PathBuf> {
        let mut bases: Vec<PathBuf> = self.roots.iter().map(|root| root.to_path_buf()).collect();
        let first = self.first();
        let folders = words.iter().flat_map(|word| pieces(word));
        let folders = folders.map(|piece| normalised(first.join(piece)));
        let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
        folders.truncate(16);
        bases.extend(folders);
        bases.sort();
        bases.dedup();
        bases
    }

    fn of_word(&self, word: &str, role: Role, bases: &[PathBuf]) -> Vec<PathBuf> {
        let mut places = Vec::new();
        for piece in pieces(word) {
            for path in self.meant(piece, bases) {
                places.extend(self.run_by(&path, role, looks_like_a_file(piece)));
            }
        }
        places
    }

    /// The files that a part of a word may name. After an unknown prefix (`$(git rev-parse --show-toplevel)/x`), the
    /// path may start in a workspace.
    fn meant(&self, piece: &str, bases: &[PathBuf]) -> Vec<PathBuf> {
        if let (Some(rest), Some(home)) = (piece.strip_prefix("~/"), self.home) {
            return vec![home.join(rest)];
        }
        let mut all: Vec<PathBuf> = bases.iter().map(|base| base.join(piece)).collect();
        if piece.starts_with('/') && !self.is_inside(Path::new(piece)) && !Path::new(piece).exists()
        {
            let tail = piece.trim_start_matches('/');
            all.extend(bases.iter().map(|base| base.join(tail)));
        }
        all
    }

    /// The files that are run or read for a file that a word names.
    fn run_by(&self, path: &Path, role: Role, looks_like_a_file: bool) -> Vec<PathBuf> {
        let mut places = Vec::new();
        if role == Role::Module {
            // A file at this path takes the place of an installed module.
            let dotted = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .replace('.', "/");
            let module = path.with_file_name(dotted);
            let files = ENTRIES.map(|name| module.join(name));
            places.extend(self.inside(&module.with_extension("py")));
            places.extend(
                files
                    .iter()
                    .filter(|it| it.exists())
                    .flat_map(|it| self.inside(it)),
            );
        } else if path.is_dir() {
            let files = ENTRIES.map(|name| path.join(name));
            let files = files.iter().filter(|it| role == Role::Run && it.exists());
            places.extend(files.flat_map(|it| self.inside(it)));
        } else if path.exists() || looks_like_a_file || role == Role::Run {
            places.extend(self.inside(path));
            if role == Role::Run && !path.exists() {
                let named = EXTENSIONS.map(|extension| path.with_extension(extension));
                places.extend(
                    named
                        .iter()
                        .filter(|it| it.exists())
                        .flat_map(|it| self.inside(it)),
                );
            }
        }
        places
    }

    /// The file by its name and by its real path, if these are in a workspace.
    fn inside(&self, path: &Path) -> Vec<PathBuf> {
        let named = normalised(path);
        let real = followed(&named).ok();
        let mut both: Vec<PathBuf> = [Some(named), real].into_iter().flatten().collect();
        both.dedup();
        both.retain(|path| self.is_inside(path));
        both
    }

    fn is_inside(&self, path: &Path) -> bool {
        self.roots
            .iter()
            .any(|root| path != *root && path.starts_with(root))
    }
}

/// Variables that name a folder of settings, not of programs or modules.
const HOLDS_SETTINGS: [&str; 3] = ["GIT_TEMPLATE_DIR", "GIT_EXEC_PATH", "ZDOTDIR"];

/// Variables for files that git and less only write, and take no instructions from.
fn is_only_written(name: &str) -> bool {
    matches!(name, "GIT_INDEX_FILE" | "LESSHISTFILE") || name.starts_with("GIT_TRACE")
}

/// Search paths for programs and modules: `PATH` is handled elsewhere, and a folder of modules is meant to be worked in.
fn is_search_path(name: &str) -> bool {
    name.ends_with("PATH") && name != "GIT_EXEC_PATH" || name == "PWD" || name == "OLDPWD"
}

/// The relation of a word to the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Word,
    /// It is run by an interpreter.
    Run,
    /// It is a Python module.
    Module,
}

/// Whether a word is an interpreter, with any folder and version (`/usr/bin/python3.12`).
fn is_interpreter(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    let version = |c: char| c.is_ascii_digit() || c == '.';
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&name.trim_end_matches(version))
}

/// Whether a word that names no existing file has the form of a file name.
fn looks_like_a_file(word: &str) -> bool {
    // `3.11.7` is a version number.
    let is_number = word
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    word.contains('/') || Path::new(word).extension().is_some() && !is_number
}

/// The words of a command as in a shell, without quotes; the words inside of a quoted text follow the whole text.
fn words(command: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut inner = String::new();
    let mut characters = command.chars();
    let mut has_word = false;
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => {
                quote = None;
                if inner.contains(char::is_whitespace) && all.len() < MOST_WORDS {
                    let line = std::mem::take(&mut inner);
                    // An inner command line (`sh -c '…'`), or a name with a space.
                    if line.len() < command.len() {
                        all.extend(words(&line));
                    }
                }
                inner.clear();
            }
            (None, '\'' | '"') => (quote, has_word) = (Some(c), true),
            (None | Some('"'), '\\') => {
                if let Some(next) = characters.next() {
                    word.push(next);
                    inner.push(next);
                }
            }
            (None, c)
                if c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')' | '<' | '>') =>
            {
                if has_word || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                has_word = false;
            }
            (quote, c) => {
                word.push(c);
                if quote.is_some() {
                    inner.push(c);
                }
            }
        }
    }
    if has_word || !word.is_empty() {
        all.push(word);
    }
    all
}

/// A word, and the parts of it that may be file names.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let marks = |c: char| {
        matches!(
            c,
            '=' | ':' | ',' | '@' | '$' | '`' | '{' | '}' | '"' | '\'' | UNKNOWN
        ) || c.is_whitespace()
    };
    let parts = word.split(marks);
    std::iter::once(word)
        .chain(parts)
        .filter(|piece| {
            !piece.is_empty()
                && !piece.starts_with('-')
                && !piece.contains(['*', '?', '$', '`', UNKNOWN, '\n', '\0'])
        })
        .filter(|piece| piece.len() < 4096)
}

#[cfg(all(test, unix))]
mod tests;
