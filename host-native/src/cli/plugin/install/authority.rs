//! What an installed plugin is granted: what it asks for, or what the version before it had.

use windlass::{
    core::tool::PluginGrant,
    plugins::{
        ComponentGrant, Declaration, GrantFile, Inspection, KeptGrant, KeptGrants, LockedComponent,
    },
};

use super::{candidate::Candidate, error::InstallError};

/// Whether there is anything to grant: tools and hooks that reach nothing need no grant.
pub(super) fn is_asked(candidate: &Candidate) -> bool {
    let mut inspections = candidate.components.values();
    candidate.runs.is_some()
        || inspections
            .any(|inspection| all_of(&inspection.declaration) != ComponentGrant::default())
}

/// Grants all components of a plugin what they ask for. A secret comes from the variable of its name.
///
/// # Errors
/// [`InstallError`]; the grants are as before then.
pub(super) fn grant_all(candidate: &Candidate, file: &GrantFile) -> Result<(), InstallError> {
    let mut grants = Vec::new();
    for (digest, inspection) in &candidate.components {
        let grant = all_of(&inspection.declaration);
        inspection.check_grant(&grant)?;
        grants.push((digest.clone(), kept_grant(inspection, grant)));
    }
    // Whatever had its name before was another plugin.
    put(grants, true, file)
}

/// Grants the components of a plugin what those of the version before had, as far as they fit. Returns the names of those that
/// get nothing because they do not ask for all of it any more.
///
/// # Errors
/// [`InstallError`]; the grants are as before then.
pub(super) fn carry_over(
    candidate: &Candidate,
    before: &[LockedComponent],
    file: &GrantFile,
) -> Result<Vec<String>, InstallError> {
    let kept = file.read()?;
    let (mut grants, mut without) = (Vec::new(), Vec::new());
    for (digest, inspection) in &candidate.components {
        let name = &inspection.declaration.name;
        let had = before
            .iter()
            .filter_map(|component| kept.components.get(&component.digest))
            .find(|had| had.name == *name);
        let Some(grant) = had.map(|had| had.grant.clone()) else {
            continue;
        };
        match inspection.check_grant(&grant) {
            Ok(()) => grants.push((digest.clone(), kept_grant(inspection, grant))),
            Err(_) => without.push(name.clone()),
        }
    }
    put(grants, false, file)?;
    Ok(without)
}

/// Takes back what these components had, but for those that are installed still.
///
/// # Errors
/// [`InstallError`].
pub(super) fn take_back(
    components: &[LockedComponent],
    is_used: impl Fn(&str) -> bool,
    file: &GrantFile,
) -> Result<(), InstallError> {
    let is_gone = |digest: &String| {
        let mut components = components.iter();
        components.any(|component| component.digest == *digest) && !is_used(digest)
    };
    if !file.read()?.components.keys().any(is_gone) {
        return Ok(());
    }
    let take = |kept: &mut KeptGrants| kept.components.retain(|digest, _| !is_gone(digest));
    Ok(file.change(take)?)
}

/// Keeps grants, each in place of what a component of its name had; what that one remembers for good is theirs, unless they begin
/// anew.
fn put(
    grants: Vec<(String, KeptGrant)>,
    begins_anew: bool,
    file: &GrantFile,
) -> Result<(), InstallError> {
    let change = |kept: &mut KeptGrants| {
        let mut grants = grants.into_iter();
        grants.try_for_each(|(digest, granted)| kept.grant(digest, granted, begins_anew))
    };
    file.change(change)?.map_err(InstallError::at(file.path()))
}

fn kept_grant(inspection: &Inspection, grant: ComponentGrant) -> KeptGrant {
    let declaration = &inspection.declaration;
    KeptGrant {
        name: declaration.name.clone(),
        version: declaration.version.clone(),
        asks: inspection.asks(),
        grant,
    }
}

/// All that a declaration asks for.
fn all_of(declaration: &Declaration) -> ComponentGrant {
    let asked = &declaration.grants;
    let files = asked.filesystem.access().map(PluginGrant::workspace);
    ComponentGrant {
        http: asked.http.clone(),
        secrets: asked
            .secrets
            .iter()
            .map(|secret| (secret.name.clone(), secret.name.clone()))
            .collect(),
        env: asked.env.iter().cloned().collect(),
        state: asked.state,
        ..ComponentGrant::from(files.unwrap_or_default())
    }
}
