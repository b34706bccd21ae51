//! `windlass plugin revoke`: takes back what a component has.

use std::path::Path;

use windlass::plugins::{InspectedComponent, KeptGrant, KeptGrants};

use super::{
    consent,
    error::AuthorError,
    grant::{file, had},
};
use crate::cli::{plain::one_line, plugin_args::PluginRevokeArgs};

/// Takes back what a component has, once a person agreed. What it remembered stays in its folder; nothing else gets it.
///
/// # Errors
/// [`AuthorError`]: there is none of that name, digest or file.
pub(super) fn revoke(args: &PluginRevokeArgs) -> Result<String, AuthorError> {
    let named = &args.component;
    let file = file()?;
    let read = InspectedComponent::read(Path::new(named)).ok();
    let digest = read.as_ref().map(InspectedComponent::digest);
    let is_it = |known: &str, grant: &KeptGrant| {
        known == named || grant.name == *named || Some(known) == digest
    };
    let before = file.read()?;
    let mut found = before.components.iter();
    let found = found.find(|(known, grant)| is_it(known, grant));
    let Some((known, granted)) = found else {
        return Err(AuthorError::NotGranted(named.clone()));
    };
    let (name, version) = (one_line(&granted.name), one_line(&granted.version));
    let question = format!(
        "{name} {version} ({known})\n{}Take this back?",
        had(Some(granted))
    );
    consent::given(&question, args.yes, &file)?;
    file.change(|kept: &mut KeptGrants| {
        kept.components.retain(|known, grant| !is_it(known, grant));
    })?;
    let name = one_line(named);
    Ok(format!(
        "{name} has nothing any more where it is installed, and the workspace where it is loaded by its path\n"
    ))
}
