//! The modules and files of a crate, and which imports which: read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// The sources of a crate, without tests.
pub(crate) struct Crate {
    files: BTreeMap<Vec<String>, File>,
}

/// One file of a crate.
#[derive(Default)]
struct File {
    /// Below `src`.
    place: String,
    /// The paths in its code, as they are written.
    paths: BTreeSet<Vec<String>>,
    /// The names that it imports, and their paths.
    imported: BTreeMap<String, Vec<String>>,
    /// Those of them that it exports, which its own code need not use.
    exported: BTreeSet<String>,
}

impl Crate {
    /// Reads the sources in the folder `src` of a crate.
    pub(crate) fn read(source: &Path) -> Self {
        let mut files = BTreeMap::new();
        for path in sources(source) {
            let below = path.strip_prefix(source).unwrap();
            let module = module_of(below);
            if module.last().is_some_and(|last| last == "tests") {
                continue;
            }
            let mut file = File {
                place: below.display().to_string(),
                ..File::default()
            };
            file.visit_file(&parse(&path));
            files.insert(module, file);
        }
        Self { files }
    }

    /// The modules at the root of the crate.
    pub(crate) fn modules(&self) -> BTreeSet<String> {
        let first = self.files.keys().filter_map(|module| module.first());
        first.cloned().collect()
    }

    /// Which module at the root imports which other one, and in which file.
    pub(crate) fn module_imports(&self) -> BTreeSet<(String, String, String)> {
        let mut imports = BTreeSet::new();
        for (module, file) in &self.files {
            for definer in self.imports_of(module, file) {
                if let (Some(from), Some(to)) = (module.first(), definer.first())
                    && from != to
                {
                    imports.insert((from.clone(), to.clone(), file.place.clone()));
                }
            }
        }
        imports
    }

    /// Which file imports a name that another one defines. What the files of a folder take from its `mod.rs` is left out: a
    /// module and the files in which its methods stand are one thing.
    pub(crate) fn file_imports(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let files = self.files.iter().map(|(module, file)| {
            let definers = self.imports_of(module, file).into_iter();
            let others = definers.filter(|definer| !module.starts_with(definer));
            let places = others.map(|definer| self.files[definer].place.as_str());
            (file.place.as_str(), places.collect())
        });
        files.collect()
    }

    /// The modules whose files define what a file names.
    fn imports_of(&self, module: &[String], file: &File) -> BTreeSet<&[String]> {
        let imported = file.imported.iter();
        let private = imported.filter(|(name, _)| !file.exported.contains(*name));
        let paths = file.paths.iter().chain(private.map(|(_, path)| path));
        let definers = paths.filter_map(|path| self.definer(module, path));
        definers.collect()
    }

    /// The module whose file defines what a path names: exports are followed to it.
    fn definer(&self, module: &[String], path: &[String]) -> Option<&[String]> {
        let mut path = self.absolute(module, path)?;
        // Longer chains of exports do not occur.
        for _ in 0..16 {
            let length = (0..=path.len())
                .rev()
                .find(|length| self.files.contains_key(&path[..*length]))?;
            let (module, file) = self.files.get_key_value(&path[..length])?;
            // What is behind a module alone are the paths that begin with its name.
            let name = path.get(length)?;
            let Some(target) = file.imported.get(name) else {
                return Some(module);
            };
            path = [&self.absolute(module, target)?, &path[length + 1..]].concat();
        }
        None
    }

    /// The path from the root of the crate, if it leads to something of this crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let above = path.iter().take_while(|part| *part == "super").count();
        let first = path.first()?;
        match first.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module, &path[1..]].concat()),
            "super" if above <= module.len() => {
                let base = &module[..module.len() - above];
                Some([base, &path[above..]].concat())
            }
            _ if self.files[module].imported.contains_key(first)
                || self
                    .files
                    .contains_key(&[module, std::slice::from_ref(first)].concat()) =>
            {
                Some([module, path].concat())
            }
            _ => None,
        }
    }
}

impl<'ast> Visit<'ast> for File {
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
        let is_exported = !matches!(item.vis, syn::Visibility::Inherited);
        for (path, name) in flattened(&item.tree) {
            if path[0] == name {
                // The name of a crate.
                continue;
            }
            if is_exported {
                self.exported.insert(name.clone());
            }
            self.imported.insert(name, path);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts = path.segments.iter().map(|part| part.ident.to_string());
        self.paths.insert(parts.collect());
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
                if parts.last().is_some_and(|last| last == "self") {
                    parts.pop();
                }
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

/// The Rust files of a folder that are no tests or examples.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
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
