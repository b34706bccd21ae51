//! Checks the claims of the documents: each is in a table next to the tests that show it, and those tests must exist.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::sources::Sources;

/// The documents with claims.
const DOCUMENTS: [&str; 8] = [
    "SECURITY.md",
    "docs/permissions.md",
    "docs/sandbox.md",
    "docs/secrets.md",
    "docs/cli.md",
    "docs/threat-model.md",
    "docs/behaviour.md",
    "docs/editors.md",
];

/// The header of such a table.
const HEAD: &str = "| claim | test |";

/// Checks that every test named in the documents of a checkout exists.
pub(crate) fn check(root: &Path) -> Result<()> {
    let sources = Sources::read(root)?;
    let mut faults = Vec::new();
    for document in DOCUMENTS {
        let text = fs::read_to_string(root.join(document))
            .with_context(|| format!("cannot read {document}"))?;
        let found = faults_of(&text, &sources).into_iter();
        faults.extend(found.map(|fault| format!("{document}: {fault}")));
    }
    match faults.as_slice() {
        [] => Ok(()),
        some => bail!("claims that no test shows:\n{}", some.join("\n")),
    }
}

/// The errors in the tables of a document.
fn faults_of(text: &str, sources: &Sources) -> Vec<String> {
    let rows = rows(text);
    if rows.is_empty() {
        return vec![format!("no row below `{HEAD}`")];
    }
    let mut faults = Vec::new();
    for (claim, shown_by) in rows {
        // Every second piece is between backquotes.
        let tests: Vec<&str> = shown_by.split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            faults.push(format!("no test for \"{claim}\""));
        }
        let is_there = |name: &str| match name.contains('/') {
            true => sources.has_file(name),
            false => sources.has_test(name),
        };
        let missing = tests.into_iter().filter(|name| !is_there(name));
        faults.extend(missing.map(|name| format!("no test `{name}`, for \"{claim}\"")));
    }
    faults
}

/// The rows of all tables with this header: the claim, and the last cell.
fn rows(text: &str) -> Vec<(&str, &str)> {
    let mut rows = Vec::new();
    let mut lines = text.lines().map(str::trim);
    while lines.by_ref().any(|line| line == HEAD) {
        let of_table = lines.by_ref().take_while(|line| line.starts_with('|'));
        // The first one is the separator below the header.
        rows.extend(of_table.skip(1).filter_map(|row| {
            let row = row.strip_prefix('|')?.strip_suffix('|')?;
            let (claim, shown_by) = row.rsplit_once('|')?;
            Some((claim.trim(), shown_by.trim()))
        }));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    /// A checkout with one test.
    fn sources() -> Sources {
        let folder = tempfile::tempdir().expect("a folder");
        let text = "#[test]\nfn it_holds() {}\n";
        fs::write(folder.path().join("a.rs"), text).expect("a file");
        fs::create_dir(folder.path().join("tests")).expect("a folder");
        fs::write(folder.path().join("tests/b.rs"), "").expect("a file");
        Sources::read(folder.path()).expect("it can be read")
    }

    fn faults(table: &str) -> Vec<String> {
        faults_of(table, &sources())
    }

    #[test]
    fn a_claim_names_tests_or_files_that_are_there() {
        let table = "text\n\n| claim | test |\n|---|---|\n| a `b \\| c` holds | `it_holds`, `tests/b.rs` |\n\nmore | text";
        assert_eq!(faults(table), Vec::<String>::new());
        assert_eq!(rows(table).len(), 1);
    }

    #[test]
    fn a_claim_without_a_test_and_a_test_that_is_not_there_are_faults() {
        let table = "| claim | test |\n|---|---|\n| one | |\n| two | `it_holds`, `it_is` |\n\n\
                     | claim | test |\n|---|---|\n| three | `tests/c.rs` |";
        assert_eq!(
            faults(table),
            [
                "no test for \"one\"",
                "no test `it_is`, for \"two\"",
                "no test `tests/c.rs`, for \"three\"",
            ]
        );
    }

    #[test]
    fn a_document_without_a_table_is_a_fault() {
        assert_eq!(faults("| claim | tests |\n|---|---|\n| one | |").len(), 1);
        assert_eq!(faults("| claim | test |\n|---|---|\n").len(), 1);
    }

    #[test]
    fn the_documents_of_the_repository_name_tests_that_are_there() {
        let workspace = Workspace::locate().expect("this is one");
        if let Err(error) = check(&workspace.root) {
            panic!("{error:#}");
        }
    }
}
