//! Files that calls name through a link.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// A file that a call names through a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Link {
    /// The absolute path that the call writes, without resolving links.
    pub(super) written: String,
    /// The real path.
    pub(super) real: String,
}
