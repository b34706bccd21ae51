//! Stand-in for components when the feature `plugins` is off.

use std::path::PathBuf;

use windlass_core::message::PluginInfo;

use super::{BuildError, offered_hook::OfferedHook, offered_tool::OfferedTool};

/// What they bring: nothing.
#[derive(Default)]
pub(super) struct OfFiles {
    pub(super) tools: Vec<OfferedTool>,
    pub(super) hooks: Vec<OfferedHook>,
    pub(super) infos: Vec<PluginInfo>,
}

/// No components.
#[derive(Default)]
pub(super) struct Components {}

#[allow(
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "as with the feature"
)]
impl Components {
    pub(super) fn built_in(&mut self) -> Result<Vec<OfferedTool>, BuildError> {
        Ok(Vec::new())
    }

    pub(super) fn of_files(&mut self, _: &[OfferedTool]) -> Result<OfFiles, BuildError> {
        Ok(OfFiles::default())
    }

    pub(super) fn places(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    pub(super) fn own_places_made(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}
