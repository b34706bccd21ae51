//! What an installed plugin is granted: what it asks for, or what the version before it had.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use windlass::{
    core::tool::PluginGrant,
    plugins::{
        ComponentGrant, Declaration, DeclaredDirectory, DeclaredGrants, GrantFile, Inspection,
        KeptGrant, KeptGrants, LockedComponent, Lockfile, StateScope,
    },
};

use super::{candidate::Candidate, error::InstallError};
use crate::cli::{
    plain::one_line,
    plugin::{directories, error::AuthorError},
};

/// What the components of a plugin ask for, by their digests. A secret comes from the variable of its name, unless that holds a key of
/// windlass itself, and the directory of a role from these texts; a role that none of them names gets none.
pub(super) struct Asked(NewGrants);

/// Grants that are not kept yet.
#[derive(Default)]
struct NewGrants {
    /// By the digests of components.
    grants: BTreeMap<String, KeptGrant>,
    /// The digests of components that they take the place of, each of the one of its name.
    replaced: BTreeSet<String>,
    /// Whether these remember nothing of what was before them.
    begin_anew: bool,
}

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
                "`--dir {text}` names no role that the plugin declares: write `--dir ROLE=PATH`"
            ))
            .into());
        }
        // Whatever had a name of theirs before was another plugin.
        let mut new = NewGrants {
            begin_anew: true,
            ..NewGrants::default()
        };
        for (digest, inspection) in &candidate.components {
            let grant = all_of(&inspection.declaration, named)?;
            inspection.check_grant(&grant)?;
            let granted = KeptGrant::of(inspection, grant);
            new.grants.insert(digest.clone(), granted);
        }
        Ok(Self(new))
    }

    /// Whether there is anything to grant: tools and hooks that reach nothing need no grant.
    pub(super) fn is_something(&self) -> bool {
        let nothing = ComponentGrant::default();
        let mut grants = self.0.grants.values();
        grants.any(|kept| kept.grant != nothing)
    }

    /// What a yes would grant, where the component leaves it open: the variables of secrets and the directories of roles, and those that
    /// would get none; a line each.
    pub(super) fn sources(&self, candidate: &Candidate, file: &KeptGrants) -> String {
        let mut text = String::new();
        for (digest, kept) in &self.0.grants {
            let remembers = kept.grant.state == StateScope::Durable;
            if remembers && file.kept_for(&kept.name, digest).is_some() {
                text.push_str(&format!(
                    "  with what {} remembered when it was installed before\n",
                    one_line(&kept.name)
                ));
            }
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

    /// Checks that all of it can be granted, before anything is installed.
    ///
    /// # Errors
    /// [`InstallError`].
    pub(super) fn check(&self, file: &GrantFile) -> Result<(), InstallError> {
        self.0.check(file)
    }

    /// Grants all of it.
    ///
    /// # Errors
    /// [`InstallError`]; the grants are as before then.
    pub(super) fn grant(&self, file: &GrantFile) -> Result<(), InstallError> {
        self.0.keep(file)
    }
}

impl NewGrants {
    fn note(&self, kept: &mut KeptGrants) -> io::Result<()> {
        let mut grants = self.grants.iter();
        grants.try_for_each(|(digest, granted)| {
            let replaces = |known: &str| self.replaced.contains(known);
            // What was kept for this very component is its own.
            let is_kept = kept.kept_for(&granted.name, digest).is_some();
            let begins_anew = self.begin_anew && !is_kept;
            kept.grant(digest.clone(), granted.clone(), replaces, begins_anew)
        })
    }

    fn check(&self, file: &GrantFile) -> Result<(), InstallError> {
        let noted = file.check(|kept: &mut KeptGrants| self.note(kept))?;
        noted.map_err(InstallError::at(file.path()))
    }

    fn keep(&self, file: &GrantFile) -> Result<(), InstallError> {
        let noted = file.change(|kept: &mut KeptGrants| self.note(kept))?;
        noted.map_err(InstallError::at(file.path()))
    }
}

/// What the components of a plugin get of what those of the version before had: as much of it as fits.
#[derive(Default)]
pub(super) struct CarriedOver {
    new: NewGrants,
    /// Whether one of them gets nothing, because it does not ask for all of it any more.
    is_incomplete: bool,
    /// The secrets that are meant for more origins than they may be sent to, a line each.
    narrow: String,
}

impl CarriedOver {
    /// # Errors
    /// [`InstallError`]: it cannot be read, or could not be kept.
    pub(super) fn of(
        candidate: &Candidate,
        before: &[LockedComponent],
        file: &GrantFile,
    ) -> Result<Self, InstallError> {
        let kept = file.read()?;
        let mut carried = Self::default();
        carried.new.replaced = before.iter().map(|it| it.digest.clone()).collect();
        for (digest, inspection) in &candidate.components {
            let name = &inspection.declaration.name;
            let had = before
                .iter()
                .find_map(|component| had_by(component, name, &kept));
            if let Some(grant) = had {
                carried.add(digest, inspection, grant);
            }
        }
        carried.new.check(file)?;
        Ok(carried)
    }

    fn add(&mut self, digest: &str, inspection: &Inspection, grant: ComponentGrant) {
        if inspection.check_grant(&grant).is_err() {
            self.is_incomplete = true;
            return;
        }
        let granted = KeptGrant::of(inspection, grant);
        for asked in &inspection.declaration.grants.secrets {
            let audience = granted.grant.audiences.get(&asked.name);
            if audience.is_some_and(|audience| *audience != asked.audience) {
                let (component, secret) = (one_line(&granted.name), one_line(&asked.name));
                self.narrow.push_str(&format!(
                    "  the secret {secret} is sent nowhere that is new: `windlass plugin grant {component} --secret {secret}=VARIABLE` lets it go wherever {component} asks for\n"
                ));
            }
        }
        self.new.grants.insert(digest.to_owned(), granted);
    }

    /// Grants it.
    ///
    /// # Errors
    /// [`InstallError`]; the grants are as before then.
    pub(super) fn grant(&self, file: &GrantFile) -> Result<(), InstallError> {
        self.new.keep(file)
    }

    /// What came of it, to be said of the plugin, with a line end.
    pub(super) fn said(&self) -> String {
        let has = match self.is_incomplete {
            false => "which has what it had",
            true => "which asks for less than it had and has nothing now",
        };
        format!(", {has}\n{}", self.narrow)
    }
}

/// What a component of this name had, as its own declaration limits it: what another version declares is no part of that.
fn had_by(component: &LockedComponent, name: &str, kept: &KeptGrants) -> Option<ComponentGrant> {
    let had = kept.components.get(&component.digest)?;
    let declared: Result<Declaration, _> = component.declaration.decode();
    let grants = declared.map_or_else(|_| DeclaredGrants::default(), |declared| declared.grants);
    (had.name == name).then(|| had.grant.clone().with_audiences_of(&grants))
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

/// Takes back what these components of a plugin had, but for those that are installed still. What they remembered is noted as left by
/// the plugin.
///
/// # Errors
/// [`InstallError`].
pub(super) fn take_back(
    plugin: &str,
    components: &[LockedComponent],
    installed: &Lockfile,
    file: &GrantFile,
) -> Result<(), InstallError> {
    let plugins = installed.plugins.values();
    let used: Vec<&LockedComponent> = plugins.flat_map(|plugin| &plugin.components).collect();
    let is_gone = |digest: &str| {
        let is_it = |component: &LockedComponent| component.digest == digest;
        components.iter().any(is_it) && !used.iter().any(|component| is_it(component))
    };
    let kept = file.read()?;
    let has_any = kept.components.keys().any(|digest| is_gone(digest)) || kept.is_left_of(is_gone);
    if has_any {
        file.change(|kept: &mut KeptGrants| kept.take_back(plugin, is_gone))?;
    }
    Ok(())
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
