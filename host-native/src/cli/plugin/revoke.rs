//! `windlass plugin revoke`: takes back what a component has, or a part of it.

use std::path::Path;

use windlass::plugins::{InspectedComponent, KeptGrant, KeptGrants, PluginStore};

use super::{
    consent::{self, Shown},
    error::AuthorError,
    grant::{changed, file, had},
    grant_change::{is_part_named, without},
};
use crate::cli::{plain::one_line, plugin_args::PluginRevokeArgs};

/// What is said of sessions that began before something was taken back.
pub(super) const SESSIONS: &str = "sessions that run keep what they have until they end";

/// Takes back what a component has, or the parts that the arguments name, once a person agreed. What it remembered for good goes with
/// all that it has, and stays where a part is taken back.
///
/// # Errors
/// [`AuthorError`]: there is none of that name, digest or file, or it has no such part.
pub(super) fn revoke(args: &PluginRevokeArgs) -> Result<String, AuthorError> {
    let named = &args.component;
    let file = file()?;
    let read = InspectedComponent::read(Path::new(named)).ok();
    let digest = read.as_ref().map(InspectedComponent::digest);
    let is_it = |known: &str, grant: &KeptGrant| {
        known == named || grant.name == *named || Some(known) == digest
    };
    let before = file.read()?;
    let found = before.components.iter();
    let found: Vec<_> = found.filter(|(known, grant)| is_it(known, grant)).collect();
    let (known, granted) = match found.as_slice() {
        [] => return Err(AuthorError::NotGranted(named.clone())),
        [only] => *only,
        several => {
            let digests: Vec<&str> = several.iter().map(|(known, _)| known.as_str()).collect();
            return Err(AuthorError::Grant(format!(
                "several components called {named} were granted something: name one by its digest, {}",
                digests.join(" or ")
            )));
        }
    };
    let (name, version) = (one_line(&granted.name), one_line(&granted.version));
    if is_part_named(args) {
        let left = without(granted.grant.clone(), args)?;
        let question = format!(
            "{name} {version} ({known})\n{}Take this back?",
            changed(Some(&granted.grant), &left)
        );
        let is_shown = consent::given(&question, args.yes, &file)?;
        let known = known.clone();
        file.change(|kept: &mut KeptGrants| {
            if let Some(kept) = kept.components.get_mut(&known) {
                kept.grant = left.clone();
            }
        })?;
        return Ok(match is_shown {
            Shown::Asked => format!("taken back; {SESSIONS}\n"),
            Shown::Nothing => format!("{name} {version}; {SESSIONS}\n{}", changed(None, &left)),
        });
    }
    let remembers = match granted.grant.state_id {
        None => "",
        Some(_) => {
            "  what it remembers for good is deleted (--state alone takes back that it may remember, and deletes nothing)\n"
        }
    };
    let question = format!(
        "{name} {version} ({known})\n{}{remembers}Take this back?",
        had(Some(granted))
    );
    consent::given(&question, args.yes, &file)?;
    file.change(|kept: &mut KeptGrants| {
        kept.components.retain(|known, grant| !is_it(known, grant));
    })?;
    let store = PluginStore::of_user().ok_or(AuthorError::NoHome)?;
    let deleted = match store.remove_left_state(&file, None, |digest| digest == known)? {
        true => "What it remembered for good is deleted. ",
        false => "",
    };
    let name = one_line(named);
    Ok(format!(
        "{name} has nothing any more where it is installed, and the workspace where it is loaded by its path. {deleted}But {SESSIONS}\n"
    ))
}
