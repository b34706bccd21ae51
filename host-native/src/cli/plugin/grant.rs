//! `windlass plugin grant` and `list`: what a component has for good, by the digest of its file.

use std::collections::BTreeSet;

use windlass::plugins::{
    ComponentGrant, GrantFile, InspectedComponent, Inspection, KeptGrant, KeptGrants, Origin,
    StateScope,
};

use super::{
    consent::{self, Shown},
    directories,
    error::AuthorError,
    grant_change::{WORKSPACE, added, has_directory, is_anything_named},
};
use crate::cli::{
    plain::one_line,
    plugin_args::{PluginGrantArgs, PluginListArgs},
};

/// Grants what the arguments name beside what was granted before, or in its place, once a person agreed; with no arguments, says what
/// the component asks for and has. These digests are those of the components that are installed: such a component takes the place of
/// no other, and no other takes its place, whatever they call themselves.
///
/// # Errors
/// [`AuthorError`]. What was granted is as before then.
pub(super) fn grant(
    args: &PluginGrantArgs,
    installed: &BTreeSet<String>,
) -> Result<String, AuthorError> {
    let component = InspectedComponent::read(&args.file);
    let component = component.map_err(AuthorError::of_component(&args.file))?;
    let (inspection, digest) = (component.inspection(), component.digest());
    let file = file()?;
    let kept = file.read()?;
    let declaration = &inspection.declaration;
    let mut text = format!(
        "{} {} ({digest})\n",
        one_line(&declaration.name),
        one_line(&declaration.version)
    );
    let replaces =
        |known: &str| known != digest && !installed.contains(digest) && !installed.contains(known);
    let mut others = kept.of_name(&declaration.name);
    let other = others.find(|(known, _)| replaces(known));
    let other = other.map(|(_, other)| other);
    text.push_str(&compared(inspection, other));
    let before = kept.components.get(digest);
    if !is_anything_named(&args.named) && !args.replace {
        if args.yes {
            return Err(AuthorError::NothingNamed);
        }
        text.push_str(&had(before));
        return Ok(text);
    }
    let base = before.filter(|_| !args.replace);
    let base = base.map(|kept| kept.grant.clone()).unwrap_or_default();
    let grant = added(base, &args.named, &declaration.grants.directories)?;
    inspection
        .check_grant(&grant)
        .and_then(|()| inspection.check_files(&grant))
        .map_err(|fault| {
            let asks = inspection.asks();
            let asks: Vec<String> = asks.iter().map(|ask| one_line(ask)).collect();
            AuthorError::Grant(format!(
                "{fault}. Nothing was granted: it asks to {}",
                asks.join("; ")
            ))
        })?;
    let granted = KeptGrant::of(inspection, grant);
    text.push_str(&changed(before.map(|before| &before.grant), &granted.grant));
    let had_workspace = before.is_none()
        && !installed.contains(digest)
        && declaration.grants.filesystem.access().is_some();
    if had_workspace && !has_directory(&granted.grant, WORKSPACE) {
        text.push_str(
            "  - the workspace, which a component that is loaded by its path has until it is granted something (--workspace=read or --workspace=write keeps it)\n",
        );
    }
    if let Some(other) = other.filter(|_| granted.grant.state == StateScope::Durable)
        && kept.remembered_by(&other.name, replaces).is_some()
    {
        text.push_str(&taken_over(other, args.new_state));
    }
    let question = format!("{text}Grant this, and nothing else?");
    let is_shown = consent::given(&question, args.yes, &file)?;
    let change =
        |kept: &mut KeptGrants| kept.grant(digest.to_owned(), granted, replaces, args.new_state);
    file.change(change)?
        .map_err(|error| AuthorError::Grant(error.to_string()))?;
    Ok(match is_shown {
        Shown::Asked => "granted\n".to_owned(),
        Shown::Nothing => text,
    })
}

/// What becomes of what another version remembered for good.
fn taken_over(other: &KeptGrant, begins_anew: bool) -> String {
    let (name, version) = (one_line(&other.name), one_line(&other.version));
    match begins_anew {
        true => format!("  remembers nothing of {name} {version}\n"),
        false => format!("  remembers what {name} {version} did (--new-state: nothing of it)\n"),
    }
}

/// What all components have.
///
/// # Errors
/// [`AuthorError`]: the grants cannot be read.
pub(super) fn list(args: &PluginListArgs) -> Result<String, AuthorError> {
    let kept: KeptGrants = file()?.read()?;
    if args.json {
        let text = serde_json::to_string(&kept.components);
        return text
            .map(|text| format!("{text}\n"))
            .map_err(|error| AuthorError::Grant(error.to_string()));
    }
    let mut text = String::new();
    for (digest, granted) in &kept.components {
        text.push_str(&format!(
            "{} {} ({digest})\n",
            one_line(&granted.name),
            one_line(&granted.version)
        ));
        text.push_str(&had(Some(granted)));
    }
    if text.is_empty() {
        text.push_str("no component was granted anything\n");
    }
    Ok(text)
}

/// Where the user's grants are kept.
pub(super) fn file() -> Result<GrantFile, AuthorError> {
    GrantFile::of_user().ok_or(AuthorError::NoHome)
}

/// What the component asks for; where another one of its name was granted something, what is new and what is gone.
fn compared(inspection: &Inspection, other: Option<&KeptGrant>) -> String {
    let mut text = asked(&inspection.asks(), other.map(|other| other.asks.as_slice()));
    if let Some(other) = other {
        let details = inspection.declaration.details();
        text.push_str(&differing(&details, other.details.as_deref()));
        let version = one_line(&other.version);
        text.push_str(&format!(
            "  (+ and -: what is different from {version}, which was granted something)\n"
        ));
    }
    text
}

/// What is asked for, a line each; beside what was asked for before, with what is new (`+`) and what is gone (`-`).
pub(super) fn asked(asks: &[String], before: Option<&[String]>) -> String {
    if asks.is_empty() && before.is_none_or(<[String]>::is_empty) {
        return "  asks for nothing\n".to_owned();
    }
    let mut text = String::from("  asks to\n");
    for ask in asks {
        let is_new = before.is_some_and(|before| !before.contains(ask));
        let mark = if is_new { "+" } else { " " };
        text.push_str(&format!("  {mark} {}\n", one_line(ask)));
    }
    let gone = before.unwrap_or_default().iter();
    for ask in gone.filter(|ask| !asks.contains(ask)) {
        text.push_str(&format!("  - {}\n", one_line(ask)));
    }
    text
}

/// What is new (`+`) and what is gone (`-`) of what nobody has to read where it stays as it is; nothing if it is not known what there
/// was before.
pub(super) fn differing(details: &[String], before: Option<&[String]>) -> String {
    let Some(before) = before else {
        return String::new();
    };
    let without = |all: &[String], others: &[String], mark: &str| -> String {
        let lines = all.iter().filter(|line| !others.contains(line));
        lines
            .map(|line| format!("  {mark} {}\n", one_line(line)))
            .collect()
    };
    without(details, before, "+") + &without(before, details, "-")
}

/// What a component has.
pub(super) fn had(granted: Option<&KeptGrant>) -> String {
    match granted {
        None => {
            "  was granted nothing: installed, it has nothing; loaded by its path, the workspace\n"
                .to_owned()
        }
        Some(granted) => changed(None, &granted.grant),
    }
}

/// What a component has; beside what it had before, with what is new (`+`) and what is gone (`-`).
pub(super) fn changed(before: Option<&ComponentGrant>, grant: &ComponentGrant) -> String {
    let (has, had) = (lines(grant), before.map(lines));
    let mut text = String::from("  has\n");
    for line in &has {
        let is_new = had.as_ref().is_some_and(|had| !had.contains(line));
        let mark = if is_new { "+" } else { " " };
        text.push_str(&format!("  {mark} {line}\n"));
    }
    for line in had
        .unwrap_or_default()
        .iter()
        .filter(|line| !has.contains(line))
    {
        text.push_str(&format!("  - {line}\n"));
    }
    if has.is_empty() {
        text.push_str("    nothing\n");
    }
    text
}

/// Where a secret is sent: where it may be, as far as requests may go there.
fn audience(grant: &ComponentGrant, secret: &str) -> String {
    let Some(audience) = grant.audiences.get(secret) else {
        return ", for wherever the component asks".to_owned();
    };
    let is_reached = |origin: &&Origin| grant.http.iter().any(|http| http.origin == **origin);
    let origins = audience.iter().filter(is_reached).map(Origin::as_str);
    match origins.collect::<Vec<_>>().as_slice() {
        [] => ", for no origin that requests may go to".to_owned(),
        origins => format!(", for {}", origins.join(", ")),
    }
}

/// The parts of a grant, a line each.
fn lines(grant: &ComponentGrant) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = |what: String| lines.push(one_line(&what));
    for root in grant.directories.roots() {
        let access = directories::does(root.access);
        let place = match root.path.as_str() {
            "" => "the workspace",
            path => path,
        };
        line(format!("{place} {access}"));
    }
    directories::as_lines(&grant.roles).for_each(&mut line);
    grant
        .http
        .iter()
        .for_each(|origin| line(format!("requests to {origin}")));
    for (name, variable) in &grant.secrets {
        let audience = audience(grant, name);
        line(format!(
            "the secret {name}, from the variable {variable}{audience}"
        ));
    }
    grant
        .env
        .iter()
        .for_each(|name| line(format!("the variable {name}")));
    match grant.state {
        StateScope::None => {}
        StateScope::Session => line("memory while a session lasts".to_owned()),
        StateScope::Durable => line("memory for good".to_owned()),
    }
    lines
}
