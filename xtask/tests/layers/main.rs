//! The order in which the modules of a crate stand, and how long files are: what `docs/architecture.md` says of both is true.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

mod source;

use source::{Crate, sources};

/// The crates that are part of the product and have modules.
const CRATES: [&str; 9] = [
    "core",
    "core/schema",
    "core/scripted-model",
    "core/shell",
    "engine",
    "host-browser",
    "host-native",
    "plugins/files",
    "plugins/sdk",
];

/// Further crates whose files must not import each other.
const SMALL_CRATES: [&str; 4] = ["core/callback", "plugins/agent", "plugins/builtin", "xtask"];

/// Folders whose files are held to the lengths.
const PRODUCT: [&str; 5] = ["core", "engine", "host-browser", "host-native", "plugins"];

/// Lines of a file that need no reason.
const LONG: usize = 400;

/// Lines that no reason is good enough for.
const TOO_LONG: usize = 600;

#[test]
fn no_module_imports_what_stands_above_it() {
    let printed = printed_layers();
    let listed: Vec<&str> = printed.keys().map(String::as_str).collect();
    assert_eq!(listed, CRATES, "the crates of docs/architecture.md, Layers");
    let mut faults = Vec::new();
    for (name, layers) in &printed {
        let krate = Crate::read(&root().join(name).join("src"));
        let level: BTreeMap<&str, usize> = layers
            .iter()
            .enumerate()
            .flat_map(|(level, modules)| modules.iter().map(move |module| (module.as_str(), level)))
            .collect();
        let known: BTreeSet<&str> = level.keys().copied().collect();
        let modules = krate.modules();
        let there: BTreeSet<&str> = modules.iter().map(String::as_str).collect();
        for module in there.symmetric_difference(&known) {
            faults.push(format!("{name}: {module} is there or listed, but not both"));
        }
        for (from, to, place) in &krate.module_imports() {
            if let (Some(mine), Some(its)) = (level.get(from.as_str()), level.get(to.as_str()))
                && its >= mine
            {
                faults.push(format!("{name}: {from} imports {to}, in {place}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Within a module too: of two files, at most one depends on the other.
#[test]
fn no_file_imports_what_imports_it() {
    let mut circles = Vec::new();
    for name in CRATES.into_iter().chain(SMALL_CRATES) {
        let krate = Crate::read(&root().join(name).join("src"));
        let imports = krate.file_imports();
        for circle in circles_of(&imports) {
            circles.push(format!("{name}: {}", circle.join(", ")));
            for file in &circle {
                let others = imports[file].iter().filter(|other| circle.contains(other));
                circles.push(format!(
                    "  {file} imports {}",
                    others.copied().collect::<Vec<_>>().join(", ")
                ));
            }
        }
    }
    assert!(
        circles.is_empty(),
        "files that import each other:\n{}",
        circles.join("\n")
    );
}

/// The groups of files of which each depends on every other one.
fn circles_of<'a>(imports: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = imports
        .keys()
        .map(|from| {
            let (mut reached, mut next) = (BTreeSet::new(), vec![*from]);
            while let Some(file) = next.pop() {
                let further = imports.get(file).into_iter().flatten();
                next.extend(further.filter(|to| reached.insert(**to)));
            }
            (*from, reached)
        })
        .collect();
    let in_a_circle = imports
        .keys()
        .filter(|file| reached[**file].contains(**file));
    in_a_circle
        .map(|file| {
            let others = reached[*file].iter().copied();
            others
                .filter(|other| reached[*other].contains(*file))
                .collect()
        })
        .collect()
}

#[test]
fn long_files_have_a_reason_and_none_is_longer_than_that() {
    let mut long = BTreeSet::new();
    let mut too_long = Vec::new();
    for folder in PRODUCT {
        for path in sources(&root().join(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            let lines = product_lines(&text);
            let below = path.strip_prefix(root()).unwrap();
            let name = below.to_string_lossy().replace('\\', "/");
            if lines > TOO_LONG {
                too_long.push(format!("{name}: {lines} lines"));
            }
            if lines > LONG {
                long.insert(name);
            }
        }
    }
    assert!(too_long.is_empty(), "{}", too_long.join("\n"));
    let listed: BTreeSet<String> = section("long-files")
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, reason)| {
            assert!(reason.len() > 20, "{name} has no reason");
            name.to_owned()
        })
        .collect();
    let differ: Vec<&String> = long.symmetric_difference(&listed).collect();
    assert!(
        differ.is_empty(),
        "these have more than {LONG} lines or are listed in docs/architecture.md, but not both: {differ:?}"
    );
}

/// What a test is worth that finds nothing: it finds what is put there.
#[test]
fn imports_are_found_wherever_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "lib.rs",
        "mod a; mod b; mod c; pub use c::{Thing as Named};",
    );
    write(
        "a.rs",
        "use crate::{b::{self, inner::X}, Named}; #[cfg(test)] mod tests { use crate::d::Y; }",
    );
    write("b/mod.rs", "mod inner;");
    write(
        "b/inner.rs",
        "use super::other; fn f() -> super::super::c::Thing { crate::a::g() }",
    );
    write(
        "c.rs",
        "use std::fmt; use self::x::Z; mod x { pub struct Z; }",
    );
    let krate = Crate::read(folder.path());
    let imports = krate.module_imports();
    let found: BTreeSet<(&str, &str)> = imports
        .iter()
        .map(|(from, to, _)| (from.as_str(), to.as_str()))
        .collect();
    let expected = [("a", "b"), ("a", "c"), ("b", "a"), ("b", "c")];
    assert_eq!(found, BTreeSet::from(expected));
    let files = krate.file_imports();
    assert_eq!(files["a.rs"], BTreeSet::from(["b/inner.rs", "c.rs"]));
    assert_eq!(
        circles_of(&files),
        BTreeSet::from([vec!["a.rs", "b/inner.rs"]])
    );
}

/// Lines without the tests at the end.
fn product_lines(text: &str) -> usize {
    let product = text.split("\n#[cfg(test)]\nmod tests {").next();
    product.unwrap_or(text).trim_end().lines().count()
}

/// The modules of each crate, from the lowest to the highest.
fn printed_layers() -> BTreeMap<String, Vec<Vec<String>>> {
    let mut layers: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    let mut current = String::new();
    for line in section("layers")
        .lines()
        .filter(|line| !line.starts_with("```"))
    {
        match line.strip_prefix("  ") {
            Some(modules) => {
                let modules = modules.split_whitespace().map(str::to_owned).collect();
                layers.entry(current.clone()).or_default().push(modules);
            }
            None => line.trim().clone_into(&mut current),
        }
    }
    layers
}

/// What stands between the marks of this name in `docs/architecture.md`.
fn section(name: &str) -> String {
    let text = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let (begin, end) = (
        format!("<!-- {name}:begin -->\n"),
        format!("<!-- {name}:end -->"),
    );
    let behind = text.split_once(&begin).map(|(_, behind)| behind.to_owned());
    let between = behind.and_then(|it| Some(it.split_once(&end)?.0.to_owned()));
    between.unwrap_or_else(|| panic!("docs/architecture.md has no section {name}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}
