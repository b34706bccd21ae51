//! `windlass plugin update`.

use semver::Version;
use windlass::{
    plugins::{
        GrantFile, InstalledPlugin, LockedComponent, PluginContent, PluginStore, StoreChange,
    },
    warning::warn,
};

use super::{
    add::{how, title_line},
    authority::{self, CarriedOver},
    beside,
    candidate::Candidate,
    changed_files::changed_files,
    error::InstallError,
    fetch::{Expected, fetch},
    signature::PublicKey,
    source::{self, Source},
    store::{details, of_user, wishes},
};
use crate::cli::{
    Exit,
    install_args::PluginUpdateArgs,
    plain::one_line,
    plugin::{
        grant::{asked, differing},
        person_needed::{self, Consent},
    },
};

/// Fetches plugins again, from where they came. One whose new version is not installed stays as it is; where all are updated, it is
/// said of each on standard error, and the others are.
///
/// # Errors
/// [`InstallError`]: the one that was named could not be updated, or none can.
pub(in crate::cli::plugin) async fn update(
    args: &PluginUpdateArgs,
) -> Result<(String, Exit), InstallError> {
    person_needed::check()?;
    let (store, grants) = of_user()?;
    let mut change = store.change()?;
    let plugins = change.lockfile().plugins.clone();
    if let Some(name) = &args.name {
        let there = plugins.get(name);
        let there = there.ok_or_else(|| InstallError::NotInstalled(name.clone()))?;
        let said = update_one(args, name, there, (&store, &grants), &mut change).await?;
        return Ok((said, Exit::Done));
    }
    if args.fetch.username.is_some() {
        return Err(InstallError::Source(
            "--username".to_owned(),
            "name the plugin that is to be updated: it is for one registry",
        ));
    }
    let mut text = String::new();
    let mut exit = Exit::Done;
    for (name, there) in &plugins {
        match update_one(args, name, there, (&store, &grants), &mut change).await {
            Ok(said) => text.push_str(&said),
            Err(error) => {
                warn(&format!("{}: {error}", one_line(name)));
                exit = Exit::NotStarted;
            }
        }
    }
    Ok((text, exit))
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
    if !matches!(source, Source::Path(_)) && args.fetch.digest.is_none() {
        check_not_older(&candidate, there)?;
    }
    beside::check(&candidate, store, change.lockfile())?;
    let kept = grants.read()?;
    let has = |component: &LockedComponent| kept.components.contains_key(&component.digest);
    let had_something = there.runs_programs || there.components.iter().any(has);
    let files = match &content {
        PluginContent::Folder(tree) => changed_files(&store.path(name, there), tree),
        PluginContent::Component(_) => String::new(),
    };
    let about = format!(
        "{}{}{}{files}  (+ and -: what is different from {}, which is installed)\n",
        title_line(&candidate),
        asked(
            &candidate.plugin.wishes(),
            Some(&wishes(store, name, there))
        ),
        differing(&candidate.details(), details(store, name, there).as_deref()),
        one_line(&there.version),
    );
    let question = "Give it what the version before had?";
    let consent = match had_something {
        true => person_needed::consent(&about, question, &args.answer),
        false => Consent::Refused,
    };
    let is_carried = consent == Consent::Given;
    candidate.plugin.runs_programs = is_carried && there.runs_programs && candidate.runs.is_some();
    let carried = match is_carried {
        true => CarriedOver::of(&candidate, &there.components, grants)?,
        false => CarriedOver::default(),
    };
    change.install(name, candidate.plugin.clone(), &content)?;
    let mut said = format!("updated {}", one_line(name));
    if is_carried {
        carried.grant(grants)?;
        said.push_str(&carried.said());
    } else {
        authority::grant_nothing(&candidate, grants)?;
        said.push_str(&format!(", with nothing granted{}\n", how(&candidate)));
    }
    authority::take_back(name, &there.components, change.lockfile(), grants)?;
    Ok(format!("{about}{said}"))
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
    let store = change.store();
    let was_intact = store.is_intact(name, there);
    change.install(name, plugin, content)?;
    let (name, digest) = (one_line(name), &there.digest);
    Ok(match was_intact {
        true => format!("{name} is up to date ({digest})\n"),
        false => format!(
            "{name}: its files were changed here, and are as they were installed again ({digest})\n"
        ),
    })
}

/// Whoever sends an old version that was signed, too, may want what was mended since to be open again.
///
/// # Errors
/// [`InstallError::Older`]: both versions are such as can be compared, and the one that is there now is lower.
fn check_not_older(candidate: &Candidate, there: &InstalledPlugin) -> Result<(), InstallError> {
    let versions = [&candidate.plugin.version, &there.version].map(|it| Version::parse(it).ok());
    match versions {
        [Some(new), Some(old)] if new.cmp_precedence(&old).is_lt() => Err(InstallError::Older {
            name: candidate.name.clone(),
            found: candidate.plugin.version.clone(),
            installed: there.version.clone(),
            digest: candidate.plugin.digest.clone(),
        }),
        _ => Ok(()),
    }
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
