//! A file of settings, read.

use windlass_core::{RawJson, permission::Source};

use super::{Settings, SourcedSettings, misspelt::misspelt_key};
use crate::path::TextPath;

/// How deep settings may nest.
pub(super) const MAX_DEPTH: usize = 100;

impl SourcedSettings {
    /// Reads settings. An empty text says nothing; a byte order mark is none of it.
    ///
    /// # Errors
    /// What is wrong, with line and column. Nothing of them is to be used then.
    pub fn parse(source: Source, path: Option<TextPath>, text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}');
        let text = if text.trim().is_empty() { "{}" } else { text };
        let settings: Settings = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let raw = RawJson::parse(text).map_err(|error| error.reason)?;
        if raw.depth() > MAX_DEPTH {
            return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
        }
        if !raw.is_object() {
            return Err("settings are a JSON object".into());
        }
        if let Some(problem) = misspelt_key(&raw) {
            return Err(problem);
        }
        Ok(Self {
            source,
            path,
            settings,
            raw,
        })
    }
}
