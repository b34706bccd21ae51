//! Reads the servers of a configuration.

use std::{collections::BTreeMap, path::Path};

use serde::Deserialize;
use windlass_core::RawJson;

use crate::store::read_text;

/// The maximum size of a file of servers, in bytes.
const MAX_BYTES: u64 = 4 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigFile {
    #[serde(default)]
    mcp_servers: BTreeMap<String, RawJson>,
}

/// The servers of the project's own file; empty if there is no such file.
pub(super) fn read_project_config(path: &Path) -> Result<BTreeMap<String, RawJson>, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let json = match read_text(path, MAX_BYTES) {
        Ok(json) => json,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(wrong(&error)),
    };
    let file: ConfigFile = serde_json::from_str(&json).map_err(|error| wrong(&error))?;
    Ok(file.mcp_servers)
}

/// The servers of a configuration (`--mcp-config`): JSON, or a file that contains it.
///
/// # Errors
/// A message about why it is invalid.
pub fn read_config(text: &str) -> Result<BTreeMap<String, RawJson>, String> {
    let (json, named) = match text.trim_start().starts_with('{') {
        true => (text.to_owned(), String::new()),
        false => {
            let named = format!(" `{text}`");
            let read = read_text(Path::new(text), MAX_BYTES);
            let json = read.map_err(|error| format!("--mcp-config{named}: {error}"))?;
            (json, named)
        }
    };
    let file: ConfigFile =
        serde_json::from_str(&json).map_err(|error| format!("--mcp-config{named}: {error}"))?;
    Ok(file.mcp_servers)
}
