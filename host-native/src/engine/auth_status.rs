//! Where the key for the model server comes from, for people.

use windlass_engine::machine::ConfigureRequest;

use super::{
    build::whereabouts,
    launch::Launch,
    model_key::{KeySources, ModelKey},
    start_error::StartError,
};
use crate::project_config::ProjectConfig;

/// Where the key for the model server comes from, by environment and settings. Runs nothing.
///
/// # Errors
/// [`StartError`]: settings cannot be read.
pub fn key_sources(launch: &Launch) -> Result<KeySources, StartError> {
    let request = ConfigureRequest::default();
    let read = ProjectConfig::read(whereabouts(launch, &request)?)?;
    Ok(ModelKey::read(launch, &read.found).sources)
}
