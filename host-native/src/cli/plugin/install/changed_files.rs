//! Which files of a folder another version has changed: what runs with the rights of the user is in them.

use std::path::Path;

use windlass::plugins::PluginTree;

use crate::cli::plain::one_line;

/// The files that are named; the others are counted.
const MOST_NAMED: usize = 20;

/// The files that are new (`+`), gone (`-`) or others (`~`) beside those of the folder that is installed, a line for each.
pub(super) fn changed_files(installed: &Path, new: &PluginTree) -> String {
    let old = PluginTree::read(installed).unwrap_or_default();
    let (old, new) = (old.files(), new.files());
    let mut changes = Vec::new();
    for (path, file) in new {
        match old.get(path) {
            None => changes.push(('+', path)),
            Some(before) if before != file => changes.push(('~', path)),
            Some(_) => {}
        }
    }
    let gone = old.keys().filter(|path| !new.contains_key(*path));
    changes.extend(gone.map(|path| ('-', path)));
    if changes.is_empty() {
        return String::new();
    }
    let mut text = String::from("  files\n");
    for (mark, path) in changes.iter().take(MOST_NAMED) {
        text.push_str(&format!("  {mark} {}\n", one_line(path)));
    }
    if let Some(more) = changes
        .len()
        .checked_sub(MOST_NAMED)
        .filter(|more| *more > 0)
    {
        text.push_str(&format!("    and {more} more\n"));
    }
    text
}
