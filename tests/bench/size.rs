//! What a browser has to fetch, and which crate it comes from.

use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
};

use wasmparser::{KnownCustom, Name, Parser, Payload};
use windlass_tests::compressed::brotli_len;

use crate::table::{Goal, Table};

/// The core by itself, whose size has a budget.
const CORE: &str = "core/windlass_core.wasm";
const BROWSER: &str = "browser/windlass_browser_bg.wasm";
/// Smaller contributions are shown together.
const LEAST_KIB: f64 = 1.0;

/// A row for each module, and below the core what of it comes from which crate.
pub(crate) fn measure(table: &mut Table) {
    match read(BROWSER) {
        Some(bytes) => table.value(
            "core and engine for browsers, brotli",
            "KiB",
            brotli_kib(&bytes),
            Goal::AtMost(650.0),
        ),
        None => table.skipped("core and engine for browsers, brotli", NOT_BUILT),
    }
    let figure = "core alone (wasm32), brotli";
    let Some(bytes) = read(CORE) else {
        return table.skipped(figure, NOT_BUILT);
    };
    let shipped = without_names(&bytes);
    table.value(figure, "KiB", brotli_kib(&shipped), Goal::AtMost(420.0));
    for (name, added) in additions(&bytes) {
        table.value(&format!("… of which {name}"), "KiB", added, Goal::None);
    }
}

const NOT_BUILT: &str = "not built: run `cargo xtask bench`";

fn read(path: &str) -> Option<Vec<u8>> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"),
        PathBuf::from,
    );
    std::fs::read(target.join(path)).ok()
}

/// How much smaller the module would be, compressed, without the functions of each crate, the largest first. What was
/// inlined counts for the crate it was inlined into; tables and texts count for none.
fn additions(module: &[u8]) -> Vec<(String, f64)> {
    let bodies = bodies_by_crate(module);
    let shipped = without_names(module);
    let whole = brotli_kib(&shipped);
    // Sections behind the code do not move it: names come last.
    let mut added: Vec<(String, f64)> = bodies
        .into_iter()
        .map(|(name, ranges)| (name, whole - brotli_kib(&without(&shipped, &ranges))))
        .collect();
    added.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shown = added.partition_point(|(_, kib)| *kib >= LEAST_KIB);
    let rest = added.split_off(shown);
    let small = rest.iter().map(|(_, kib)| kib).sum();
    added.push((format!("{} smaller crates together", rest.len()), small));
    added
}

/// The bytes of function bodies, by the crate that each function belongs to.
fn bodies_by_crate(module: &[u8]) -> BTreeMap<String, Vec<Range<usize>>> {
    let mut bodies = Vec::new();
    let mut imported = 0;
    let mut names = BTreeMap::new();
    for payload in Parser::new(0).parse_all(module) {
        match payload.expect("the module was built by the compiler") {
            Payload::ImportSection(imports) => imported = imports.count(),
            Payload::CodeSectionEntry(body) => bodies.push(body.range()),
            Payload::CustomSection(section) => {
                let KnownCustom::Name(sections) = section.as_known() else {
                    continue;
                };
                for section in sections {
                    let Ok(Name::Function(functions)) = section else {
                        continue;
                    };
                    names.extend(
                        functions
                            .into_iter()
                            .flatten()
                            .map(|named| (named.index, crate_of(named.name))),
                    );
                }
            }
            _ => {}
        }
    }
    let mut by_crate: BTreeMap<String, Vec<Range<usize>>> = BTreeMap::new();
    for (at, body) in (imported..).zip(bodies) {
        let name = names.get(&at).cloned().unwrap_or_else(|| "unnamed".into());
        by_crate.entry(name).or_default().push(body);
    }
    by_crate
}

/// The crate of a function: the first path in its name, `<core::…` and `<&T as …` included.
fn crate_of(symbol: &str) -> String {
    let path = format!("{:#}", rustc_demangle::demangle(symbol));
    let mut words = path.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let first = words.find(|word| word.contains("::") && !word.starts_with("::"));
    let name = first.and_then(|word| word.split("::").next());
    name.unwrap_or("compiler built-ins").to_owned()
}

/// A module without the names of its functions, as it is shipped.
fn without_names(module: &[u8]) -> Vec<u8> {
    let mut out = module.to_vec();
    for payload in Parser::new(0).parse_all(module) {
        if let Ok(Payload::CustomSection(section)) = payload
            && section.name() == "name"
        {
            // Behind it is nothing that the budget is about.
            out.truncate(section.range().start);
        }
    }
    out
}

fn without(bytes: &[u8], ranges: &[Range<usize>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for range in ranges {
        out.extend_from_slice(&bytes[at..range.start]);
        at = range.end;
    }
    out.extend_from_slice(&bytes[at..]);
    out
}

fn brotli_kib(bytes: &[u8]) -> f64 {
    brotli_len(bytes) as f64 / 1024.0
}
