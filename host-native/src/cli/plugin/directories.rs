//! `--dir`: the directories that a person names, with or without a role.

use std::{collections::BTreeMap, fs, path::Path};

use windlass::{
    core::tool::Access,
    plugins::{ComponentGrant, DeclaredDirectory, GrantFile, RoleDirectory},
};

use super::error::AuthorError;
use crate::cli::plain::one_line;

/// Adds the directories of these texts to a grant: `ROLE=PATH[=ACCESS]` where the component declares the role, and
/// `PATH[=ACCESS]` otherwise. A path that begins like a role is written with `./`.
///
/// # Errors
/// [`AuthorError`]: a directory is not there, or a role is named twice.
pub(super) fn added(
    grant: ComponentGrant,
    texts: &[String],
    asked: &[DeclaredDirectory],
) -> Result<ComponentGrant, AuthorError> {
    let mut grant = grant;
    for text in texts {
        if let Some((asked, place)) = with_role(text, asked) {
            let directory = of_role(place, asked)?;
            let known = grant.roles.insert(asked.role.clone(), directory);
            if known.is_some() {
                return Err(AuthorError::Grant(format!(
                    "`--dir {}=…` is there twice: a role has one directory",
                    asked.role
                )));
            }
            continue;
        }
        let (path, access) = with_access(text);
        let real = fs::canonicalize(path).map_err(|error| match text.split_once('=') {
            Some((role, _)) => AuthorError::Grant(format!(
                "`--dir {text}`: the component asks for no directory `{role}`, and `{path}` is none ({error})"
            )),
            None => AuthorError::at(Path::new(path))(error),
        })?;
        let directories = grant.directories;
        // No rule and no grant opens it, and what is listed as granted shall be so.
        let own = GrantFile::of_user();
        let own = own.as_ref().and_then(|file| file.path().parent());
        if own.is_some_and(|own| real.starts_with(own)) {
            return Err(AuthorError::Grant(format!(
                "`--dir {text}`: what is there belongs to windlass itself, and no plugin reaches it"
            )));
        }
        let access = access.unwrap_or(Access::Read);
        grant.directories = directories.directory(real.to_string_lossy(), access);
    }
    Ok(grant)
}

/// The directories that these texts, all of them `ROLE=PATH[=ACCESS]`, name for the roles of one component of several.
///
/// # Errors
/// As [`added`].
pub(super) fn of_roles(
    texts: &[String],
    asked: &[DeclaredDirectory],
) -> Result<BTreeMap<String, RoleDirectory>, AuthorError> {
    let own = texts.iter().filter(|text| with_role(text, asked).is_some());
    let own: Vec<String> = own.cloned().collect();
    Ok(added(ComponentGrant::default(), &own, asked)?.roles)
}

/// The first of these texts that names no role of these.
pub(super) fn without_role<'a>(
    texts: &'a [String],
    asked: &[DeclaredDirectory],
) -> Option<&'a String> {
    texts.iter().find(|text| with_role(text, asked).is_none())
}

/// Roles and their directories as lines, for people.
pub(super) fn as_lines(roles: &BTreeMap<String, RoleDirectory>) -> impl Iterator<Item = String> {
    roles.iter().map(|(role, granted)| {
        let does = does(granted.access);
        format!(
            "the directory `{}`: {} {does}",
            one_line(role),
            one_line(&granted.path)
        )
    })
}

/// What may be done in a directory.
pub(super) fn does(access: Access) -> &'static str {
    match access {
        Access::Read => "to read",
        Access::Write => "to read and write",
    }
}

fn with_role<'t, 'a>(
    text: &'t str,
    asked: &'a [DeclaredDirectory],
) -> Option<(&'a DeclaredDirectory, &'t str)> {
    let (role, place) = text.split_once('=')?;
    let asked = asked.iter().find(|asked| asked.role == role)?;
    Some((asked, place))
}

/// A path, and the access behind it if there is one.
fn with_access(text: &str) -> (&str, Option<Access>) {
    match text.rsplit_once('=') {
        Some((path, "write")) => (path, Some(Access::Write)),
        Some((path, "read")) => (path, Some(Access::Read)),
        _ => (text, None),
    }
}

/// The directory of a role, with the access that is asked for unless another one is named.
fn of_role(place: &str, asked: &DeclaredDirectory) -> Result<RoleDirectory, AuthorError> {
    let (path, access) = with_access(place);
    let at = AuthorError::at(Path::new(path));
    let absolute = match std::path::absolute(path) {
        Ok(absolute) => absolute,
        Err(error) => return Err(at(error)),
    };
    let named = fs::canonicalize(absolute).and_then(|real| {
        RoleDirectory {
            path: real.to_string_lossy().into_owned(),
            access: access.unwrap_or(asked.access),
        }
        .real()
    });
    named.map_err(at)
}
