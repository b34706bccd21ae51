//! What component files bring to an agent; nothing where components cannot run.

use windlass_core::message::PluginInfo;

use super::{offered_hook::OfferedHook, offered_tool::OfferedTool};

/// Tools and hooks of component files.
#[derive(Default)]
pub(super) struct OfFiles {
    pub(super) tools: Vec<OfferedTool>,
    pub(super) hooks: Vec<OfferedHook>,
    /// Their entries in `system/init`.
    pub(super) infos: Vec<PluginInfo>,
}
