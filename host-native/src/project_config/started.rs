//! Files of a workspace from which programs take orders that start beside the session's tools: what the commands of hooks and MCP
//! servers name, and what variables of the environment lead to.
//!
//! No shell is rebuilt here. Every word of a command counts that leads into a workspace, in each folder that the command may work in.
//! What a program reads beyond its words (modules, its own settings, other scripts) is not seen.

use std::path::{Path, PathBuf};

use windlass_core::permission::CONFIGURATION_FOLDERS;
use windlass_engine::settings::changes_programs;

use crate::{
    files::{followed, normalised},
    sandbox::TELLING_IN_GIT,
};

/// Programs that run a file or folder which they are given.
const INTERPRETERS: [&str; 18] = [
    ".", "ash", "bash", "bun", "dash", "deno", "ksh", "node", "nodejs", "perl", "php", "pypy",
    "python", "ruby", "sh", "source", "tsx", "zsh",
];

/// What an interpreter runs of a folder that it is given.
const ENTRIES: [&str; 7] = [
    "__init__.py",
    "__main__.py",
    "index.cjs",
    "index.js",
    "index.mjs",
    "index.ts",
    "package.json",
];

/// Extensions that an interpreter adds to a name.
const EXTENSIONS: [&str; 6] = ["cjs", "js", "mjs", "py", "rb", "ts"];

/// Stands for what a variable becomes that is not known.
const UNKNOWN: char = '\u{1}';

/// Words of all commands that are looked at.
const MOST_WORDS: usize = 2_000;

/// Where words may lead.
pub(crate) struct Words<'a> {
    /// The folders that a session works in; commands begin in the first.
    roots: &'a [&'a Path],
    home: Option<&'a Path>,
}

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// Files, as they are named and as they really are.
    pub(crate) places: Vec<PathBuf>,
    /// Words whose meaning is known only when the command runs, and that may be files of a workspace.
    pub(crate) unread: Vec<String>,
}

impl<'a> Words<'a> {
    pub(crate) fn new(roots: &'a [&'a Path], home: Option<&'a Path>) -> Self {
        Self { roots, home }
    }

    /// What these commands name.
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
                // Options of an interpreter stand before what it runs.
                let is_option = word.starts_with('-') && !matches!(word.as_str(), "-m" | "-c");
                if !(is_interpreter(before) && is_option) {
                    before = word;
                }
            }
        }
        named
    }

    /// What a file that somebody named leads to: it is read as it is when a session begins.
    pub(crate) fn of_file(&self, path: &Path) -> Vec<PathBuf> {
        let base = self.roots.first().copied().unwrap_or(Path::new("/"));
        self.inside(&base.join(path))
    }

    /// What variables lead to that change which programs run, or how: files, and folders of settings.
    pub(crate) fn of_variables(
        &self,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Vec<PathBuf> {
        let mut places = Vec::new();
        for (name, value) in variables {
            if name.starts_with("XDG_CONFIG_") {
                for folder in std::env::split_paths(&value) {
                    let folders = CONFIGURATION_FOLDERS.map(|name| folder.join(name));
                    places.extend(folders.iter().flat_map(|folder| self.inside(folder)));
                }
            } else if matches!(name.as_str(), "GIT_DIR" | "GIT_COMMON_DIR") {
                let telling = TELLING_IN_GIT.map(|name| self.first().join(&value).join(name));
                places.extend(telling.iter().flat_map(|place| self.inside(place)));
            } else if changes_programs(&name) && !is_search_path(&name) && !is_only_written(&name) {
                let is_folder = HOLDS_SETTINGS.contains(&name.as_str());
                for piece in words(&value)
                    .iter()
                    .chain([&value])
                    .flat_map(|it| pieces(it))
                {
                    let path = self.first().join(piece);
                    // A name with `:` or `=` in it is seldom one: `http://proxy:3128`, `unix:path=/run/bus`.
                    let may_be_one = !piece.contains([':', '=']) || path.exists();
                    if is_folder || !path.is_dir() && looks_like_a_file(piece) && may_be_one {
                        places.extend(self.inside(&path));
                    }
                }
            }
        }
        places
    }

    fn first(&self) -> &Path {
        self.roots.first().copied().unwrap_or(Path::new("/"))
    }

    /// With what hooks know of the folder in the place of its variables.
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
            // What stands instead of a missing value (`${A:-b}`) is looked at too.
            text.push_str(match braced {
                Some(_) => rest.strip_prefix('}').unwrap_or(rest),
                None => rest,
            });
        }
        text
    }

    /// Folders from which the words of a command may be meant: the workspaces, and folders that it names.
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

    /// The files that a piece of a word may mean. Behind what is not known (`$(git rev-parse --show-toplevel)/x`) it may begin in a
    /// workspace.
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

    /// What is run, or read, of a file that a word means.
    fn run_by(&self, path: &Path, role: Role, looks_like_a_file: bool) -> Vec<PathBuf> {
        let mut places = Vec::new();
        if role == Role::Module {
            // Whatever lies there takes the place of a module that is installed.
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

    /// A file as it is named and as it really is, as far as these lie in a workspace.
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

/// Variables that name what git and less write whenever they work, and read no orders from.
fn is_only_written(name: &str) -> bool {
    matches!(name, "GIT_INDEX_FILE" | "LESSHISTFILE") || name.starts_with("GIT_TRACE")
}

/// Folders in which programs and modules are looked for: `PATH` is looked at elsewhere, and who names folders of modules works there.
fn is_search_path(name: &str) -> bool {
    name.ends_with("PATH") && name != "GIT_EXEC_PATH" || name == "PWD" || name == "OLDPWD"
}

/// What a word is to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Word,
    /// An interpreter runs it.
    Run,
    /// A module of Python.
    Module,
}

/// Whether a word is one of them, whatever its folder and version (`/usr/bin/python3.12`).
fn is_interpreter(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    let version = |c: char| c.is_ascii_digit() || c == '.';
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&name.trim_end_matches(version))
}

/// Whether a word that leads to nothing is written as the name of a file.
fn looks_like_a_file(word: &str) -> bool {
    // `3.11.7` is the number of a version.
    let is_number = word
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    word.contains('/') || Path::new(word).extension().is_some() && !is_number
}

/// The words of a command as a shell would see them, quotes taken away; those inside quotes come behind the whole.
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
                    // A line of its own (`sh -c '…'`), or a name with a blank.
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

/// A word, and what in it may be a name by itself.
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
