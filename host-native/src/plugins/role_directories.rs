//! The directories of roles that a plugin was granted, and what a run gets of them.

use std::{borrow::Cow, collections::BTreeMap, path::Path};

use windlass_core::{
    permission::literal_pattern,
    tool::{Access, DenyPattern, FsGrant, GrantRoot, PluginGrant},
};

use super::{
    declaration::DeclaredGrants,
    grant::{ComponentGrant, GrantError},
    role::RoleDirectory,
};

/// The directories of roles that are declared and granted. Made of both here and nowhere else.
#[derive(Debug, Default)]
pub(super) struct RoleDirectories(BTreeMap<String, RoleDirectory>);

/// What stays closed in the directories of roles, whoever granted them.
#[derive(Debug, Default)]
pub(crate) struct ClosedPlaces {
    /// Nothing reaches these.
    pub(crate) private: Vec<String>,
    /// What is started or believed lies here: nothing is written that a call was not let write.
    pub(crate) own: Vec<String>,
}

impl RoleDirectories {
    /// What is both declared and granted. `others` are the directories that are granted without a role.
    ///
    /// # Errors
    /// [`GrantError`]: a role for which the plugin does not ask, more access than it asks for, a path that is not absolute, or a
    /// directory to be written in one that shall only be read.
    pub(super) fn of(
        declared: &DeclaredGrants,
        grant: &ComponentGrant,
        others: &PluginGrant,
    ) -> Result<Self, GrantError> {
        for (role, granted) in &grant.roles {
            let asked = declared
                .directories
                .iter()
                .find(|asked| asked.role == *role);
            let asked = asked.ok_or_else(|| GrantError::Role(role.clone()))?;
            if granted.access > asked.access {
                return Err(GrantError::RoleAccess(role.clone()));
            }
            if !granted.has_full_path() {
                return Err(GrantError::RolePath {
                    role: role.clone(),
                    path: granted.path.clone(),
                });
            }
        }
        let roles = Self(grant.roles.clone());
        let others = others.roots().iter().map(|root| (&root.path, root.access));
        let of_roles = roles
            .0
            .values()
            .map(|granted| (&granted.path, granted.access));
        let mut written = others
            .chain(of_roles)
            .filter(|(_, access)| *access == Access::Write);
        let overlap = written.find_map(|(path, _)| {
            let mut read_only = roles.read_only();
            let (role, _) = read_only.find(|(_, granted)| granted.contains(path))?;
            Some(GrantError::RoleOverlap {
                role: role.to_owned(),
                written: path.clone(),
            })
        });
        match overlap {
            Some(fault) => Err(fault),
            None => Ok(roles),
        }
    }

    /// Where the directory of a role is, if it was granted.
    pub(super) fn path(&self, role: &str) -> Option<&str> {
        self.0.get(role).map(|granted| granted.path.as_str())
    }

    /// A grant of directories, and these as well: what paths that a call names may lie in.
    pub(super) fn beside(&self, directories: PluginGrant) -> PluginGrant {
        self.0.values().fold(directories, |all, granted| {
            all.directory(granted.path.as_str(), granted.access)
        })
    }

    /// What a run was granted, and these directories as well, for at most this access.
    ///
    /// Places from which windlass starts something or which it believes are not written as a part of a directory around them.
    /// What is granted to be read is not written, whatever else of the plugin's is around it, and rules go on closing what they
    /// close: patterns that deny are in the grant of every call.
    pub(super) fn added<'a>(
        &self,
        grant: &'a FsGrant,
        most: Access,
        closed: &ClosedPlaces,
    ) -> Cow<'a, FsGrant> {
        let is_frozen = |place: &&String| {
            let is_inside = self.0.values().any(|granted| granted.contains(place));
            (is_inside || is_written_around(grant, place)) && !is_let_write(grant, place)
        };
        let mut frozen = closed.own.iter().filter(is_frozen).peekable();
        if self.0.is_empty() && frozen.peek().is_none() {
            return Cow::Borrowed(grant);
        }
        let frozen = frozen.chain(self.read_only().map(|(_, granted)| &granted.path));
        let frozen = frozen.map(|path| (path, Access::Write));
        let private = closed.private.iter().map(|path| (path, Access::Read));
        let deny = frozen.chain(private).map(|(path, access)| DenyPattern {
            pattern: pattern_of(path),
            access,
        });
        let deny: Vec<DenyPattern> = deny.collect();
        let roots = self.0.values().map(|granted| GrantRoot {
            path: granted.path.clone(),
            access: granted.access.min(most),
        });
        let mut grant = grant.clone();
        grant.roots.extend(roots);
        grant.deny.extend(deny);
        Cow::Owned(grant)
    }

    fn read_only(&self) -> impl Iterator<Item = (&str, &RoleDirectory)> {
        let all = self
            .0
            .iter()
            .map(|(role, granted)| (role.as_str(), granted));
        all.filter(|(_, granted)| granted.access == Access::Read)
    }
}

/// The pattern of a directory and all that is in it. That of a root of the file system is its content: nothing is above it.
fn pattern_of(path: &str) -> String {
    let literal = literal_pattern(path);
    match path.ends_with(['/', '\\']) {
        true => format!("{literal}**"),
        false => literal,
    }
}

/// Whether a run was let write in a directory that this place lies in.
fn is_written_around(grant: &FsGrant, place: &str) -> bool {
    let mut written = grant
        .roots
        .iter()
        .filter(|root| root.access == Access::Write);
    written.any(|root| Path::new(place).starts_with(&root.path))
}

/// Whether a run was let write in a place, as the call names it.
fn is_let_write(grant: &FsGrant, place: &str) -> bool {
    let mut written = grant
        .roots
        .iter()
        .filter(|root| root.access == Access::Write);
    written.any(|root| Path::new(&root.path).starts_with(place))
}
