//! Finds the tests in the sources of the repository, without building or running any.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The Rust sources of a checkout.
pub(crate) struct Sources {
    root: PathBuf,
    /// Paths below the root, separated by `/`.
    files: BTreeSet<String>,
    /// Names of test functions.
    tests: BTreeSet<String>,
}

impl Sources {
    /// Reads the sources below `root`, except build outputs and hidden files.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut sources = Self {
            root: root.to_owned(),
            files: BTreeSet::new(),
            tests: BTreeSet::new(),
        };
        sources.look_through(root)?;
        Ok(sources)
    }

    fn look_through(&mut self, folder: &Path) -> Result<()> {
        let cannot = || format!("cannot read {}", folder.display());
        for entry in fs::read_dir(folder).with_context(cannot)? {
            let entry = entry.with_context(cannot)?;
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            let is_made = name.starts_with('.') || name == "target" || name == "node_modules";
            if entry.file_type().with_context(cannot)?.is_dir() {
                if !is_made {
                    self.look_through(&path)?;
                }
            } else if name.ends_with(".rs") {
                let text = fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                self.tests.extend(tests_of(&text).map(str::to_owned));
                let below = path.strip_prefix(&self.root)?.to_string_lossy();
                self.files.insert(below.replace('\\', "/"));
            }
        }
        Ok(())
    }

    /// Whether a test function has exactly this name.
    pub(crate) fn has_test(&self, name: &str) -> bool {
        self.tests.contains(name)
    }

    /// Whether this is the path of a source file.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// Whether the name of any test function contains this.
    #[cfg(test)]
    pub(crate) fn has_test_with(&self, part: &str) -> bool {
        self.tests.iter().any(|name| name.contains(part))
    }

    /// Whether any module with its own file has this name.
    #[cfg(test)]
    pub(crate) fn has_module(&self, name: &str) -> bool {
        let (file, folder) = (format!("/{name}.rs"), format!("/{name}/mod.rs"));
        let is_it = |path: &String| path.ends_with(&file) || path.ends_with(&folder);
        self.files.iter().any(is_it)
    }

    /// Whether a package has a test target of this name.
    #[cfg(test)]
    pub(crate) fn has_test_target(&self, name: &str) -> bool {
        let (file, folder) = (
            format!("/tests/{name}.rs"),
            format!("/tests/{name}/main.rs"),
        );
        let is_it = |path: &String| path.ends_with(&file) || path.ends_with(&folder);
        self.files.iter().any(is_it)
    }
}

/// The functions of a source file that have the attribute `#[test]` or a similar one.
fn tests_of(text: &str) -> impl Iterator<Item = &str> {
    let mut is_test = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let (_, function) = line.split_once("fn ").filter(|_| is_test)?;
        is_test = false;
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = function.find(|c| !is_part(c)).unwrap_or(function.len());
        Some(&function[..end]).filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_functions_below_the_attribute_are_tests() {
        let text = "\
            fn helper() {}\n\
            #[test]\n\
            #[cfg(unix)]\n\
            fn one() { fn inner() {} }\n\
            fn another_helper() {}\n\
            \x20   #[tokio::test(flavor = \"multi_thread\")]\n\
            \x20   async fn two() {}\n\
            #[test]\n\
            fn $name() {}\n";
        assert_eq!(tests_of(text).collect::<Vec<_>>(), ["one", "two"]);
    }

    #[test]
    fn what_is_built_or_hidden_is_not_looked_at() {
        let folder = tempfile::tempdir().expect("a folder");
        for path in ["a/tests/x/main.rs", "target/b.rs", "a/.hidden/c.rs"] {
            let path = folder.path().join(path);
            let above = path.parent().expect("it has one");
            fs::create_dir_all(above).expect("a folder");
            let name = path.file_stem().expect("a name").to_string_lossy();
            fs::write(&path, format!("#[test]\nfn of_{name}() {{}}")).expect("a file");
        }
        let sources = Sources::read(folder.path()).expect("it can be read");
        assert!(sources.has_test("of_main") && sources.has_test_with("of_"));
        assert!(!sources.has_test("of_b") && !sources.has_test("of_c") && !sources.has_test("of"));
        assert!(sources.has_file("a/tests/x/main.rs") && sources.has_test_target("x"));
        assert!(sources.has_module("main") && !sources.has_module("b"));
    }
}
