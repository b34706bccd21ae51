//! Which files a call has read or written: what it may say that it has seen.

use std::collections::BTreeSet;

/// The most files that are remembered of one call.
const MOST: usize = 10_000;

/// The files of which the host has handed out content in a call, or into which it has written, by the absolute paths that they were
/// named by.
#[derive(Debug, Default)]
pub(super) struct Handled(BTreeSet<String>);

impl Handled {
    /// Remembers a file, if there are not too many.
    pub(super) fn add(&mut self, path: String) {
        if self.0.len() < MOST {
            self.0.insert(path);
        }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.0.contains(path)
    }
}
