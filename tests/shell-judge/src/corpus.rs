//! Every line that ever failed. They are tried first, always.

use std::{fs, io, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{lines::Line, permissions::Permissions};

#[derive(Serialize, Deserialize)]
struct Entry {
    permissions: String,
    line: String,
}

fn file() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "corpus", "failed.ndjson"]
        .iter()
        .collect()
}

/// The lines, in the order in which they were found.
///
/// # Errors
/// When the file cannot be read or holds something else.
pub fn failed() -> io::Result<Vec<Line>> {
    let text = fs::read_to_string(file())?;
    let rows = text.lines().filter(|row| !row.is_empty());
    rows.map(|row| {
        let entry: Entry = serde_json::from_str(row)?;
        let unknown =
            || io::Error::other(format!("no permissions are called {}", entry.permissions));
        Ok(Line {
            seed: 0,
            permissions: Permissions::named(&entry.permissions).ok_or_else(unknown)?,
            text: entry.line,
        })
    })
    .collect()
}

/// A line as the file has it.
///
/// # Errors
/// Never, for text.
pub fn row(line: &Line) -> io::Result<String> {
    Ok(serde_json::to_string(&Entry {
        permissions: line.permissions.name.to_owned(),
        line: line.text.clone(),
    })?)
}
