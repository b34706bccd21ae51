//! What a plugin consists of.

use bytes::Bytes;

use super::tree::PluginTree;
use crate::plugins::inspect::Inspection;

/// The files of a plugin, before they are installed.
#[derive(Debug, Clone)]
pub enum PluginContent {
    /// One component.
    Component(Bytes),
    /// A folder.
    Folder(PluginTree),
}

impl PluginContent {
    /// The digest of all of it: `sha256:` and hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        match self {
            Self::Component(bytes) => Inspection::digest(bytes),
            Self::Folder(tree) => tree.digest(),
        }
    }
}
