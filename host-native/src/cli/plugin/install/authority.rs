//! What an installed plugin is granted: what it asks for, or what the version before it had.

use windlass::{
    core::tool::PluginGrant,
    plugins::{
        ComponentGrant, Declaration, DeclaredDirectory, GrantFile, KeptGrant, KeptGrants,
        LockedComponent, Lockfile,
    },
};

use super::{candidate::Candidate, error::InstallError};
use crate::cli::{
    plain::one_line,
    plugin::{directories, error::AuthorError},
};

/// What the components of a plugin ask for, by their digests. A secret comes from the variable of its name, unless that holds a key of
/// windlass itself, and the directory of a role from these texts; a role that none of them names gets none.
pub(super) struct Asked(Vec<(String, KeptGrant)>);

impl Asked {
    /// All that a plugin asks for.
    ///
    /// # Errors
    /// [`InstallError`]: a directory is not there, or no component asks for its role.
    pub(super) fn of(candidate: &Candidate, named: &[String]) -> Result<Self, InstallError> {
        let inspections = candidate.components.values();
        let asked = inspections.flat_map(|inspection| &inspection.declaration.grants.directories);
        let asked: Vec<DeclaredDirectory> = asked.cloned().collect();
        if let Some(text) = directories::without_role(named, &asked) {
            return Err(AuthorError::Grant(format!(
                "`--dir {text}` names no role that the plugin declares: write `--dir ROLE=PATH`. Nothing was installed"
            ))
            .into());
        }
        let mut grants = Vec::new();
        for (digest, inspection) in &candidate.components {
            let grant = all_of(&inspection.declaration, named)?;
            inspection.check_grant(&grant)?;
            grants.push((digest.clone(), KeptGrant::of(inspection, grant)));
        }
        Ok(Self(grants))
    }

    /// Whether there is anything to grant: tools and hooks that reach nothing need no grant.
    pub(super) fn is_something(&self) -> bool {
        let nothing = ComponentGrant::default();
        self.0.iter().any(|(_, kept)| kept.grant != nothing)
    }

    /// What a yes would grant, where the component leaves it open: the variables of secrets and the directories of roles, and those that
    /// would get none; a line each.
    pub(super) fn sources(&self, candidate: &Candidate) -> String {
        let mut text = String::new();
        for (digest, kept) in &self.0 {
            let roles = &kept.grant.roles;
            directories::as_lines(roles)
                .for_each(|line| text.push_str(&format!("  with {line}\n")));
            let inspection = candidate.components.get(digest);
            let asked = inspection
                .iter()
                .flat_map(|it| &it.declaration.grants.directories);
            let secrets = inspection
                .iter()
                .flat_map(|it| &it.declaration.grants.secrets);
            for secret in secrets {
                let name = one_line(&secret.name);
                text.push_str(&match kept.grant.secrets.get(&secret.name) {
                    Some(variable) => format!(
                        "  with the secret {name} from the variable {}\n",
                        one_line(variable)
                    ),
                    None => format!(
                        "  without the secret {name}, a key of windlass itself: `windlass plugin grant {} --secret {name}=VARIABLE` names a variable\n",
                        one_line(&kept.name)
                    ),
                });
            }
            for DeclaredDirectory { role, .. } in asked.filter(|it| !roles.contains_key(&it.role)) {
                text.push_str(&format!(
                    "  without a directory `{role}`: --dir {role}=PATH names one\n"
                ));
            }
        }
        text
    }

    /// Grants all of it.
    ///
    /// # Errors
    /// [`InstallError`]; the grants are as before then.
    pub(super) fn grant(self, file: &GrantFile) -> Result<(), InstallError> {
        // Whatever had its name before was another plugin.
        put(self.0, true, file)
    }
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
            Ok(()) => grants.push((digest.clone(), KeptGrant::of(inspection, grant))),
            Err(_) => without.push(name.clone()),
        }
    }
    put(grants, false, file)?;
    Ok(without)
}

/// Leaves the components of a plugin with nothing, whatever files with the same content were granted before.
///
/// # Errors
/// [`InstallError`].
pub(super) fn grant_nothing(candidate: &Candidate, file: &GrantFile) -> Result<(), InstallError> {
    let is_of_it = |digest: &String| candidate.components.contains_key(digest);
    if !file.read()?.components.keys().any(is_of_it) {
        return Ok(());
    }
    let take = |kept: &mut KeptGrants| kept.components.retain(|digest, _| !is_of_it(digest));
    Ok(file.change(take)?)
}

/// Takes back what these components had, but for those that are installed still.
///
/// # Errors
/// [`InstallError`].
pub(super) fn take_back(
    components: &[LockedComponent],
    installed: &Lockfile,
    file: &GrantFile,
) -> Result<(), InstallError> {
    let plugins = installed.plugins.values();
    let used: Vec<&LockedComponent> = plugins.flat_map(|plugin| &plugin.components).collect();
    let is_gone = |digest: &String| {
        let is_it = |component: &LockedComponent| component.digest == *digest;
        components.iter().any(is_it) && !used.iter().any(|component| is_it(component))
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

/// All that a declaration asks for, with the directories that these texts name for its roles.
fn all_of(declaration: &Declaration, named: &[String]) -> Result<ComponentGrant, AuthorError> {
    let asked = &declaration.grants;
    let files = asked.filesystem.access().map(PluginGrant::workspace);
    Ok(ComponentGrant {
        roles: directories::of_roles(named, &asked.directories)?,
        http: asked.http.clone(),
        secrets: asked
            .secrets
            .iter()
            .filter(|secret| !secret.is_own_key())
            .map(|secret| (secret.name.clone(), secret.name.clone()))
            .collect(),
        env: asked.env.iter().cloned().collect(),
        state: asked.state,
        ..ComponentGrant::from(files.unwrap_or_default())
    })
}
