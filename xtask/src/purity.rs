//! Checks that the engine does no I/O: which parts of the standard library its sources use, and its dependencies. The
//! core needs no such check, since it does not use the standard library.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The crate.
const ENGINE: &str = "engine";

/// Parts of the standard library that neither call the system nor differ between systems.
const PURE: &[&str] = &[
    "any",
    "array",
    "borrow",
    "boxed",
    "cell",
    "char",
    "cmp",
    "collections",
    "convert",
    "error",
    "fmt",
    "future",
    "hash",
    "iter",
    "marker",
    "mem",
    "num",
    "ops",
    "option",
    // Used so that a panic ends the session and not the engine.
    "panic",
    "pin",
    "rc",
    "result",
    "slice",
    "str",
    "string",
    "sync",
    "task",
    "vec",
];

/// Macros that write to the process's output.
const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];

/// Crates that do no I/O with the features that are enabled.
const STANDS_ON: &[&str] = &[
    "windlass-core",
    "futures-core",
    "futures-util",
    "serde",
    "serde_json",
    "sha2",
    "similar",
    "thiserror",
    "trait-variant",
];

/// Checks the engine of a checkout.
pub(crate) fn check(root: &Path) -> Result<()> {
    let folder = root.join(ENGINE);
    let mut faults = Vec::new();
    let read = |path: &Path| {
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
    };
    for path in sources(&folder.join("src"))? {
        let named = path.strip_prefix(root).unwrap_or(&path).display();
        let found = faults_of(&read(&path)?).into_iter();
        faults.extend(found.map(|(line, fault)| format!("{named}:{line}: {fault}")));
    }
    if !read(&folder.join("src/lib.rs"))?.contains("#![forbid(unsafe_code)]") {
        faults.push(format!(
            "{ENGINE}/src/lib.rs: `#![forbid(unsafe_code)]` is missing"
        ));
    }
    let manifest: toml::Table = read(&folder.join("Cargo.toml"))?.parse()?;
    for name in unknown_dependencies(&manifest) {
        faults.push(format!(
            "{ENGINE}/Cargo.toml: it depends on `{name}`, which nobody has looked at: one that does no IO is named in xtask/src/purity.rs"
        ));
    }
    match faults.as_slice() {
        [] => Ok(()),
        some => bail!(
            "the engine does no IO: files, programs, clocks and the network are the hosts' (host-native/src), and paths are `TextPath`\n{}",
            some.join("\n")
        ),
    }
}

/// The Rust sources of a folder, sorted.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read {}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn unknown_dependencies(manifest: &toml::Table) -> Vec<&str> {
    let known = |name: &&str| !STANDS_ON.contains(name);
    let tables = ["dependencies", "target"].into_iter();
    let tables = tables.filter_map(|name| manifest.get(name)?.as_table());
    tables
        .flat_map(|table| table.keys().map(String::as_str))
        .filter(known)
        .collect()
}

/// The uses of other parts in a source, each with its line.
fn faults_of(text: &str) -> Vec<(usize, String)> {
    let words = words(text);
    let word = |at: usize| words.get(at).map_or("", |(_, word)| *word);
    let mut faults = Vec::new();
    for (at, &(line, this)) in words.iter().enumerate() {
        if this == "std" {
            let named = match (word(at + 1), word(at + 2)) {
                ("::", "{") => group(&words[at + 3..]),
                ("::", module) => vec![module],
                (_, _) => vec![""],
            };
            for module in named.into_iter().filter(|module| !PURE.contains(module)) {
                faults.push((line, format!("std::{module}")));
            }
        } else if PRINTING.contains(&this) && word(at + 1) == "!" {
            faults.push((line, format!("{this}!")));
        }
    }
    faults
}

/// The first words of the items of a group that was just opened.
fn group<'a>(words: &[(usize, &'a str)]) -> Vec<&'a str> {
    let (mut depth, mut begins, mut found) = (1, true, Vec::new());
    for (_, word) in words {
        match *word {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 1 => begins = true,
            word if begins => {
                found.push(word);
                begins = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}

/// The identifiers and symbols of a source, each with its line, without comments and quoted texts.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = quoted(rest) {
            length
        } else if is_name(first) {
            let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            found.push((line, &rest[..length]));
            length
        } else {
            let length = if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            if !first.is_whitespace() {
                found.push((line, &rest[..length]));
            }
            length
        };
        let (passed, behind) = rest.split_at(length);
        line += passed.matches('\n').count();
        rest = behind;
    }
    found
}

/// The length of a quoted text or character that starts here.
fn quoted(text: &str) -> Option<usize> {
    let raw = text.strip_prefix("br").or(text.strip_prefix('r'));
    if let Some(behind) = raw {
        let signs = behind.len() - behind.trim_start_matches('#').len();
        if behind[signs..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(signs));
            let begin = text.len() - behind.len() + signs + 1;
            let end = text[begin..].find(&close);
            return Some(end.map_or(text.len(), |end| begin + end + close.len()));
        }
    }
    let mark = text.strip_prefix('b').unwrap_or(text);
    let begin = text.len() - mark.len() + 1;
    let quote = mark.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    // A quote that is not closed after one character starts a lifetime.
    let mut inside = mark[1..].chars();
    if quote == '\'' && inside.next() != Some('\\') && inside.next() != Some('\'') {
        return None;
    }
    let mut is_escaped = false;
    for (at, c) in text[begin..].char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return Some(begin + at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        let found = faults_of(text).into_iter();
        found
            .map(|(line, fault)| format!("{line} {fault}"))
            .collect()
    }

    #[test]
    fn what_asks_a_system_is_found_however_it_is_named() {
        let text = "\
            use std::{\n\
                collections::{BTreeMap, btree_map::Entry},\n\
                fs, io::{self, Read as _},\n\
                time::Duration,\n\
            };\n\
            fn a() { let b = ::std::env::var(\"A\"); }\n\
            use std as other;\n\
            use std::{self, fmt};\n\
            fn b() { println!(\"\"); std::thread::yield_now() }\n";
        let found = faults(text);
        let wanted = [
            "1 std::fs",
            "1 std::io",
            "1 std::time",
            "6 std::env",
            "7 std::",
            "8 std::self",
            "9 println!",
            "9 std::thread",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn what_is_pure_or_only_said_is_none() {
        let text = "\
            //! `std::fs` is not here.\n\
            use std::{cmp::Ordering, fmt, sync::{Arc, Mutex}};\n\
            /* std::net */\n\
            fn a<'a>(c: char) -> &'a str { let _ = ['\"', '\\'', 'b', b'\"' as char]; \"std::fs \\\" std::io\" }\n\
            const B: &str = r#\"std::env \"quoted\" std::process\"#;\n\
            fn std_of(r: u8, b: u8) -> u8 { std::mem::take(&mut (r + b)) }\n";
        assert_eq!(faults(text), [""; 0]);
    }

    #[test]
    fn a_dependency_is_known_or_named() {
        let manifest = "\
            [dependencies]\n\
            serde = { workspace = true }\n\
            tokio = \"1\"\n\
            [target.'cfg(unix)'.dependencies]\n\
            rustix = \"1\"\n\
            [dev-dependencies]\n\
            proptest = \"1\"\n";
        let manifest: toml::Table = manifest.parse().expect("a manifest");
        assert_eq!(unknown_dependencies(&manifest), ["tokio", "cfg(unix)"]);
    }

    #[test]
    fn the_engine_is_pure() {
        let workspace = crate::workspace::Workspace::locate().expect("a checkout");
        check(&workspace.root).expect("it does no IO");
    }
}
