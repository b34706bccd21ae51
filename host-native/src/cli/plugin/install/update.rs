//! `windlass plugin update`.

use windlass::plugins::{
    GrantFile, InstalledPlugin, LockedComponent, PluginContent, PluginStore, StoreChange,
};

use super::{
    add::{check_tools, how, title_line},
    authority,
    candidate::Candidate,
    error::InstallError,
    fetch::{Expected, fetch},
    signature::PublicKey,
    source::{self, Source},
    store::of_user,
};
use crate::cli::{
    install_args::PluginUpdateArgs,
    plain::one_line,
    plugin::{
        grant::asked,
        person_needed::{self, Consent},
    },
};

/// Fetches plugins again, from where they came. One whose new version is not installed stays as it is.
///
/// # Errors
/// [`InstallError`]: of all that could not be updated.
pub(in crate::cli::plugin) async fn update(
    args: &PluginUpdateArgs,
) -> Result<String, InstallError> {
    person_needed::check()?;
    let (store, grants) = of_user()?;
    let mut change = store.change()?;
    let plugins = change.lockfile().plugins.clone();
    if let Some(name) = &args.name {
        let there = plugins.get(name);
        let there = there.ok_or_else(|| InstallError::NotInstalled(name.clone()))?;
        return update_one(args, name, there, (&store, &grants), &mut change).await;
    }
    if args.fetch.username.is_some() {
        return Err(InstallError::Source(
            "--username".to_owned(),
            "name the plugin that is to be updated: it is for one registry",
        ));
    }
    let mut text = String::new();
    let mut failed = Vec::new();
    for (name, there) in &plugins {
        match update_one(args, name, there, (&store, &grants), &mut change).await {
            Ok(said) => text.push_str(&said),
            Err(error) => failed.push(format!("{}: {error}", one_line(name))),
        }
    }
    match failed.is_empty() {
        true => Ok(text),
        false => Err(InstallError::Updates(format!(
            "{text}{}",
            failed.join("\n")
        ))),
    }
}

async fn update_one(
    args: &PluginUpdateArgs,
    name: &str,
    there: &InstalledPlugin,
    (store, grants): (&PluginStore, &GrantFile),
    change: &mut StoreChange<'_>,
) -> Result<String, InstallError> {
    let source = Source::parse(args.from.as_deref().unwrap_or(&there.source))?;
    // Whoever signed it once has to sign every version.
    let key = there.key.as_deref().map(PublicKey::read).transpose()?;
    let expected = Expected {
        digest: expected_digest(args, &source, there)?,
        key: key.as_ref(),
    };
    let content = fetch(&source, &args.fetch, &expected).await?;
    if content.digest() == there.digest {
        return same(name, there, &source, change, &content);
    }
    let mut candidate = Candidate::examine(&content, &source, key.as_ref())?;
    if candidate.name != name {
        return Err(InstallError::Renamed {
            name: name.to_owned(),
            found: candidate.name,
            from: source.text(),
        });
    }
    check_tools(&candidate, store, change.lockfile())?;
    let kept = grants.read()?;
    let has = |component: &LockedComponent| kept.components.contains_key(&component.digest);
    let had_something = there.runs_programs || there.components.iter().any(has);
    let about = format!(
        "{}{}  (+ and -: what is different from {}, which is installed)\n",
        title_line(&candidate),
        asked(&candidate.plugin.wishes(), Some(&there.wishes())),
        one_line(&there.version),
    );
    let question = "Give it what the version before had?";
    let consent = match had_something {
        true => person_needed::consent(&about, question, &args.answer),
        false => Consent::Refused,
    };
    let is_carried = consent == Consent::Given;
    candidate.plugin.runs_programs = is_carried && there.runs_programs && candidate.runs.is_some();
    change.install(name, candidate.plugin.clone(), &content)?;
    let mut said = format!("updated {}", one_line(name));
    if is_carried {
        let without = authority::carry_over(&candidate, &there.components, grants)?;
        said.push_str(match without.is_empty() {
            true => ", which has what it had",
            false => ", which asks for less than it had and has nothing now",
        });
    } else {
        authority::grant_nothing(&candidate, grants)?;
        said.push_str(&format!(", with nothing granted. {}", how(&candidate)));
    }
    authority::take_back(&there.components, change.lockfile(), grants)?;
    Ok(format!("{about}{said}\n"))
}

/// The plugin is what it was. Its files are written once more, if they were changed, and it may come from elsewhere now.
fn same(
    name: &str,
    there: &InstalledPlugin,
    source: &Source,
    change: &mut StoreChange<'_>,
    content: &PluginContent,
) -> Result<String, InstallError> {
    let plugin = InstalledPlugin {
        source: source.text(),
        ..there.clone()
    };
    change.install(name, plugin, content)?;
    let (name, digest) = (one_line(name), &there.digest);
    Ok(format!("{name} is up to date ({digest})\n"))
}

/// The digest that the new version must have. A file of the web that is not signed must be the one that is known, or the one that
/// the arguments name.
fn expected_digest(
    args: &PluginUpdateArgs,
    source: &Source,
    there: &InstalledPlugin,
) -> Result<Option<String>, InstallError> {
    if let Some(named) = &args.fetch.digest {
        return source::digest(named).map(Some);
    }
    Ok(match source {
        Source::Https {
            digest: Some(digest),
            ..
        } => Some(digest.clone()),
        Source::Https { .. } if there.key.is_none() => Some(there.digest.clone()),
        _ => None,
    })
}
