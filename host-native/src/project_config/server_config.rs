//! Reads the servers of a configuration.

use std::{collections::BTreeMap, path::Path};

use windlass_core::RawJson;

use crate::{
    settings::{MAX_SERVERS_FILE, servers_of_text},
    store::read_text,
};

/// The servers of a configuration (`--mcp-config`): JSON, or a file that contains it.
///
/// # Errors
/// A message about why it is invalid.
pub fn read_config(text: &str) -> Result<BTreeMap<String, RawJson>, String> {
    let (json, named) = match text.trim_start().starts_with('{') {
        true => (text.to_owned(), String::new()),
        false => {
            let named = format!(" `{text}`");
            let read = read_text(Path::new(text), MAX_SERVERS_FILE);
            let json = read.map_err(|error| format!("--mcp-config{named}: {error}"))?;
            (json, named)
        }
    };
    servers_of_text(&json).map_err(|error| format!("--mcp-config{named}: {error}"))
}
