//! Stand-in for components when the feature `plugins` is off.

use std::path::PathBuf;

use windlass_core::spec::Environment;

use super::{BuildError, of_files::OfFiles, offered_tool::OfferedTool};

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

    pub(super) fn of_files(
        &mut self,
        _: &[OfferedTool],
        _: &Environment,
    ) -> Result<OfFiles, BuildError> {
        Ok(OfFiles::default())
    }

    pub(super) fn places(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    pub(super) fn own_places_made(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}
