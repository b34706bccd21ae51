//! What a grant is after a person added something to it, or took something back.

use std::collections::BTreeSet;

use windlass::{
    core::tool::{Access, PluginGrant},
    plugins::{ComponentGrant, DeclaredDirectory, Method, Origin, StateScope},
};

use super::{directories, error::AuthorError};
use crate::cli::plugin_args::{NamedGrantArgs, PluginRevokeArgs, RememberedScope, WorkspaceAccess};

/// The path of the workspace in a grant.
pub(super) const WORKSPACE: &str = "";

/// Whether the arguments name anything.
pub(super) fn is_anything_named(args: &NamedGrantArgs) -> bool {
    let lists = [
        &args.directories,
        &args.origins,
        &args.secrets,
        &args.variables,
    ];
    lists.iter().any(|list| !list.is_empty()) || args.state.is_some() || args.workspace.is_some()
}

/// A grant with what the arguments name: what is not named stays as it is; what is named again is as it is named now.
///
/// # Errors
/// [`AuthorError`]: something that is named is not there, or cannot be read.
pub(super) fn added(
    grant: ComponentGrant,
    args: &NamedGrantArgs,
    asked: &[DeclaredDirectory],
) -> Result<ComponentGrant, AuthorError> {
    // The directories of the arguments, apart from those that there are.
    let named = directories::added(ComponentGrant::default(), &args.directories, asked)?;
    let mut grant = grant;
    grant.roles.extend(named.roles);
    for root in named.directories.roots() {
        grant.directories = with_directory(&grant.directories, &root.path, Some(root.access));
    }
    if let Some(access) = args.workspace {
        let access = match access {
            WorkspaceAccess::None => None,
            WorkspaceAccess::Read => Some(Access::Read),
            WorkspaceAccess::Write => Some(Access::Write),
        };
        grant.directories = with_directory(&grant.directories, WORKSPACE, access);
    }
    for text in &args.origins {
        let (origin, methods) = origin(text)?;
        let known = grant.http.iter().position(|known| known.origin == origin);
        let before = known.map(|index| grant.http.remove(index));
        let before = before
            .iter()
            .flat_map(|known| known.methods.iter().copied());
        let methods: BTreeSet<Method> = before.chain(methods).collect();
        grant = grant.origin(origin, methods);
    }
    for secret in &args.secrets {
        let Some((name, variable)) = secret.split_once('=') else {
            return Err(AuthorError::Grant(format!(
                "`--secret {secret}` names no variable: write `--secret NAME=VARIABLE`"
            )));
        };
        grant = grant.secret(name, variable);
    }
    for variable in &args.variables {
        grant = grant.env(variable);
    }
    Ok(match args.state {
        None => grant,
        Some(RememberedScope::None) => grant.state(StateScope::None),
        Some(RememberedScope::Session) => grant.state(StateScope::Session),
        Some(RememberedScope::Durable) => grant.state(StateScope::Durable),
    })
}

/// Whether a directory without a role is granted.
pub(super) fn has_directory(grant: &ComponentGrant, path: &str) -> bool {
    let mut roots = grant.directories.roots().iter();
    roots.any(|root| root.path == path)
}

/// Whether the arguments name a part of a grant.
pub(super) fn is_part_named(args: &PluginRevokeArgs) -> bool {
    let lists = [
        &args.directories,
        &args.origins,
        &args.secrets,
        &args.variables,
    ];
    args.workspace || args.state || lists.iter().any(|list| !list.is_empty())
}

/// A grant without the parts that the arguments name.
///
/// # Errors
/// [`AuthorError`]: a part is not granted, so that a slip of the pen does not look like something taken back.
pub(super) fn without(
    grant: ComponentGrant,
    args: &PluginRevokeArgs,
) -> Result<ComponentGrant, AuthorError> {
    let mut grant = grant;
    let not_granted =
        |flag: &str| AuthorError::Grant(format!("`{flag}` is not granted: nothing was changed"));
    if args.workspace {
        if !has_directory(&grant, WORKSPACE) {
            return Err(not_granted("--workspace"));
        }
        grant.directories = with_directory(&grant.directories, WORKSPACE, None);
    }
    for named in &args.directories {
        if grant.roles.remove(named).is_some() {
            continue;
        }
        // One that is gone, or became a link since, is named as it was granted.
        let written = std::path::absolute(named);
        let real = std::fs::canonicalize(named);
        let paths = [written, real].into_iter().flatten();
        let mut paths = paths.map(|path| path.to_string_lossy().into_owned());
        let Some(path) = paths.find(|path| has_directory(&grant, path)) else {
            return Err(not_granted(&format!("--dir {named}")));
        };
        grant.directories = with_directory(&grant.directories, &path, None);
    }
    for text in &args.origins {
        let has_methods = text.contains('=');
        let (origin, methods) = origin(text)?;
        let known = grant.http.iter().position(|known| known.origin == origin);
        let Some(known) = known.map(|index| grant.http.remove(index)) else {
            return Err(not_granted(&format!("--http {text}")));
        };
        let left: BTreeSet<Method> = (known.methods.iter().copied())
            .filter(|method| has_methods && !methods.contains(method))
            .collect();
        if !left.is_empty() {
            grant = grant.origin(origin, left);
        }
    }
    for name in &args.secrets {
        if grant.secrets.remove(name).is_none() {
            return Err(not_granted(&format!("--secret {name}")));
        }
        grant.audiences.remove(name);
    }
    for name in &args.variables {
        if !grant.env.remove(name) {
            return Err(not_granted(&format!("--env {name}")));
        }
    }
    if args.state {
        if grant.state == StateScope::None {
            return Err(not_granted("--state"));
        }
        grant.state = StateScope::None;
    }
    Ok(grant)
}

/// The directories with this access to one of them, or without it.
fn with_directory(directories: &PluginGrant, path: &str, access: Option<Access>) -> PluginGrant {
    let others = directories.roots().iter().filter(|root| root.path != path);
    let others = others.fold(PluginGrant::default(), |grant, root| {
        grant.directory(root.path.clone(), root.access)
    });
    match access {
        None => others,
        Some(access) => others.directory(path, access),
    }
}

/// An origin with the methods behind it; GET alone if none are named.
fn origin(text: &str) -> Result<(Origin, Vec<Method>), AuthorError> {
    let (origin, methods) = text.split_once('=').unwrap_or((text, "GET"));
    let origin: Origin = origin
        .parse()
        .map_err(|error| AuthorError::Grant(format!("{error}")))?;
    let methods: Result<Vec<Method>, _> = methods.split(',').map(method).collect();
    Ok((origin, methods?))
}

fn method(name: &str) -> Result<Method, AuthorError> {
    let quoted = serde_json::Value::String(name.to_owned());
    serde_json::from_value(quoted)
        .map_err(|_| AuthorError::Grant(format!("`{name}` is no method, such as GET or POST")))
}
