//! The order in which the modules of a crate stand, and how long files are: what `docs/architecture.md` says of both is true.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

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
        let there: BTreeSet<&str> = krate.modules.iter().map(String::as_str).collect();
        for module in there.symmetric_difference(&known) {
            faults.push(format!("{name}: {module} is there or listed, but not both"));
        }
        for (from, to, place) in &krate.imports {
            if let (Some(mine), Some(its)) = (level.get(from.as_str()), level.get(to.as_str()))
                && its >= mine
            {
                faults.push(format!("{name}: {from} imports {to}, in {place}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
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
    let found: BTreeSet<(&str, &str)> = krate
        .imports
        .iter()
        .map(|(from, to, _)| (from.as_str(), to.as_str()))
        .collect();
    let expected = [("a", "b"), ("a", "c"), ("b", "a"), ("b", "c")];
    assert_eq!(found, BTreeSet::from(expected));
}

/// The modules of a crate, and which imports which.
#[derive(Default)]
struct Crate {
    modules: BTreeSet<String>,
    /// From, to, and the file.
    imports: BTreeSet<(String, String, String)>,
}

impl Crate {
    fn read(source: &Path) -> Self {
        let mut krate = Self::default();
        let files: Vec<(Vec<String>, PathBuf)> = sources(source)
            .into_iter()
            .map(|path| (module_of(path.strip_prefix(source).unwrap()), path))
            .filter(|(module, _)| module.last().is_none_or(|last| last != "tests"))
            .collect();
        let modules = files.iter().filter_map(|(module, _)| module.first());
        krate.modules = modules.cloned().collect();
        let roots = krate.names_at_the_root(source);
        for (module, path) in files.iter().filter(|(module, _)| !module.is_empty()) {
            let mut found = Imports::of(module, path);
            found.paths.retain(|path| !path.is_empty());
            for to in found.paths {
                let to = match roots.get(&to[0]) {
                    Some(module) if !krate.modules.contains(&to[0]) => module.clone(),
                    _ => to[0].clone(),
                };
                if to != module[0] && krate.modules.contains(&to) {
                    let place = path.strip_prefix(source).unwrap().display().to_string();
                    krate.imports.insert((module[0].clone(), to, place));
                }
            }
        }
        krate
    }

    /// What the crate shows at its root, and the module that it comes from.
    fn names_at_the_root(&self, source: &Path) -> BTreeMap<String, String> {
        let file = parse(&source.join("lib.rs"));
        let mut names = BTreeMap::new();
        for item in &file.items {
            let syn::Item::Use(item) = item else { continue };
            for (path, shown_as) in flattened(&item.tree) {
                let first = path.iter().find(|part| *part != "crate" && *part != "self");
                if let Some(module) = first.filter(|first| self.modules.contains(*first)) {
                    names.insert(shown_as, module.clone());
                }
            }
        }
        names
    }
}

/// The paths below the root of the crate that a file names.
struct Imports<'m> {
    module: &'m [String],
    paths: BTreeSet<Vec<String>>,
}

impl<'m> Imports<'m> {
    fn of(module: &'m [String], path: &Path) -> Self {
        let mut imports = Self {
            module,
            paths: BTreeSet::new(),
        };
        imports.visit_file(&parse(path));
        imports
    }

    fn add(&mut self, parts: &[String]) {
        let above = parts.iter().take_while(|part| *part == "super").count();
        let path = match parts.first().map(String::as_str) {
            Some("crate") => parts[1..].to_vec(),
            Some("super") if above <= self.module.len() => {
                let base = &self.module[..self.module.len() - above];
                [base, &parts[above..]].concat()
            }
            _ => return,
        };
        self.paths.insert(path);
    }
}

impl<'ast> Visit<'ast> for Imports<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let is_test = match item {
            syn::Item::Mod(item) => is_for_tests(&item.attrs),
            syn::Item::Use(item) => is_for_tests(&item.attrs),
            syn::Item::Fn(item) => is_for_tests(&item.attrs),
            syn::Item::Impl(item) => is_for_tests(&item.attrs),
            _ => false,
        };
        if !is_test {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for (path, _) in flattened(&item.tree) {
            self.add(&path);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts = path.segments.iter().map(|part| part.ident.to_string());
        self.add(&parts.collect::<Vec<_>>());
        visit::visit_path(self, path);
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_test = |path: syn::Path| path.is_ident("test");
        attribute.path().is_ident("cfg") && attribute.parse_args().is_ok_and(is_test)
    })
}

/// Each path of an import, and the name under which it is known then.
fn flattened(tree: &syn::UseTree) -> Vec<(Vec<String>, String)> {
    let leaf = |name: String, shown_as: String| vec![(vec![name], shown_as)];
    match tree {
        syn::UseTree::Path(path) => {
            let first = path.ident.to_string();
            let inner = flattened(&path.tree).into_iter();
            let joined = inner.map(|(mut parts, shown_as)| {
                parts.insert(0, first.clone());
                let shown_as = if shown_as == "self" {
                    first.clone()
                } else {
                    shown_as
                };
                (parts, shown_as)
            });
            joined.collect()
        }
        syn::UseTree::Name(name) => leaf(name.ident.to_string(), name.ident.to_string()),
        syn::UseTree::Rename(name) => leaf(name.ident.to_string(), name.rename.to_string()),
        syn::UseTree::Group(group) => group.items.iter().flat_map(flattened).collect(),
        _ => Vec::new(),
    }
}

/// The module of a file below `src`; nothing for the root of the crate.
fn module_of(below: &Path) -> Vec<String> {
    let mut parts: Vec<String> = below
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if matches!(
        parts.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        parts.pop();
    }
    parts
}

fn parse(path: &Path) -> syn::File {
    let text = fs::read_to_string(path).unwrap();
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Lines without the tests at the end.
fn product_lines(text: &str) -> usize {
    let product = text.split("\n#[cfg(test)]\nmod tests {").next();
    product.unwrap_or(text).trim_end().lines().count()
}

/// The Rust files of a folder that are no tests or examples.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_left = name == "tests" || name == "examples" || name == "target";
        if path.is_dir() && !is_left {
            found.extend(sources(&path));
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path.clone());
        }
    }
    found.sort();
    found
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
