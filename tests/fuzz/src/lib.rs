//! What windlass reads, fed with anything.
//!
//! Each function of [`TARGETS`] takes bytes and must come back: with a value or with a typed error, never with a panic,
//! and with what holds for every input still holding. The test command runs them over the files in `seeds/` and
//! over seeded mutations of these; `cargo-fuzz/` wraps the same functions for `cargo fuzz`, where a nightly compiler is.

mod bodies;
mod growth;
mod mutate;

use std::{fs, io, path::Path};

pub use self::{
    growth::{GROWTHS, Growth},
    mutate::Mutator,
};

/// Takes bytes, and panics when something that must hold does not.
pub type Body = fn(&[u8]);

/// Every target: its name, which is that of its folder in `seeds/`, and its function.
pub const TARGETS: [(&str, Body); 17] = [
    ("sse", bodies::sse),
    ("json", bodies::json),
    ("json_blocks", bodies::json_blocks),
    ("rules", bodies::rules),
    ("shell", bodies::shell),
    ("hook_outputs", bodies::hook_outputs),
    ("snapshots", bodies::snapshots),
    ("journals", bodies::journals),
    ("agents", bodies::agents),
    ("patterns", bodies::patterns),
    ("schemas", bodies::schemas),
    ("frontmatter", bodies::frontmatter),
    ("settings", bodies::settings),
    ("protocol", bodies::protocol),
    ("transcripts", bodies::transcripts),
    ("memory", bodies::memory),
    ("mcp_results", bodies::mcp_results),
];

/// Runs a target by its name.
///
/// # Panics
/// When there is none, or when it finds something.
pub fn run(target: &str, bytes: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    let (_, body) = found.unwrap_or_else(|| panic!("no fuzz target is called {target}"));
    body(bytes);
}

/// The committed seeds of a target, in the order of their names.
///
/// # Errors
/// When they cannot be read.
pub fn seeds(target: &str) -> io::Result<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("seeds")
        .join(target);
    let mut files: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    files.sort();
    files.into_iter().map(fs::read).collect()
}
