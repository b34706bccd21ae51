//! Files that calls name through a link, and the observations of such files.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::Shared;
use crate::tool::Observation;

/// A file that a call names through a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Link {
    /// The absolute path that the call writes, without resolving links.
    pub(super) written: String,
    /// The real path.
    pub(super) real: String,
}

impl Shared {
    /// Stores observations under the real paths of the files. Tools report a file by the path that their call writes.
    pub(super) fn keep_observed(&mut self, links: &[Link], seen: Vec<Observation>) {
        for mut seen in seen {
            if let Some(link) = links.iter().find(|link| link.written == seen.path) {
                seen.path.clone_from(&link.real);
            }
            self.observed.insert(seen.path.clone(), seen);
        }
    }
}
