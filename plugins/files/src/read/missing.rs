//! Error messages for paths that do not exist, with suggestions.

use windlass_plugin::{Place, ToolError, Tree, entries};

/// How many names are suggested.
const SUGGESTIONS: usize = 3;

/// Reports that there is no such file, with similar names in its directory.
pub(super) fn explain<T: Tree>(place: &Place<'_, T>) -> ToolError {
    let (parent, name) = place
        .relative
        .rsplit_once('/')
        .unwrap_or(("", &place.relative));
    let directory = place
        .absolute
        .rsplit_once('/')
        .map_or("", |(directory, _)| directory);
    let Ok(entries) = entries(place.tree, parent, false) else {
        return ToolError::new(format!(
            "{} does not exist, nor does the directory {directory}.",
            place.absolute
        ));
    };
    // It is listed but cannot be opened: a rule excludes it under another of its names.
    if entries.iter().any(|entry| entry.name == name) {
        return ToolError::new(format!(
            "{} may not be read: a rule closes this file, here or under another name.",
            place.absolute
        ));
    }
    let mut near: Vec<(usize, &str)> = entries
        .iter()
        .filter_map(|entry| Some((distance(name, &entry.name)?, entry.name.as_str())))
        .collect();
    near.sort_unstable();
    let names: Vec<String> = near
        .iter()
        .take(SUGGESTIONS)
        .map(|(_, name)| format!("{directory}/{name}"))
        .collect();
    ToolError::new(if names.is_empty() {
        format!("{} does not exist.", place.absolute)
    } else {
        format!(
            "{} does not exist. Did you mean {}?",
            place.absolute,
            names.join(" or ")
        )
    })
}

/// The distance of a name from the wanted one; `None` if they are too different.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    let stem = |name: &str| {
        name.rsplit_once('.')
            .map_or(name, |(stem, _)| stem)
            .to_lowercase()
    };
    let (wanted, name) = (wanted.to_lowercase(), name.to_lowercase());
    if wanted == name {
        return Some(0);
    }
    if stem(&wanted) == stem(&name) {
        return Some(1);
    }
    let edits = strsim::damerau_levenshtein(&wanted, &name);
    let allowed = wanted.chars().count() / 3;
    (edits <= allowed).then_some(1 + edits)
}
