//! `windlass plugin add`.

use super::{
    authority::{self, Asked},
    beside,
    candidate::Candidate,
    error::InstallError,
    fetch::{Expected, fetch},
    signature::PublicKey,
    source::{self, Source},
    store::of_user,
};
use crate::cli::{
    install_args::PluginAddArgs,
    plain::one_line,
    plugin::{
        error::AuthorError,
        grant::asked,
        person_needed::{self, Consent},
    },
};

/// What a person is asked.
const QUESTION: &str =
    "Install it, and grant all of this? (--grant-nothing installs it with nothing)";

/// Installs a plugin: fetched, checked and examined as a whole before anything is written.
///
/// # Errors
/// [`InstallError`]; nothing is installed then.
pub(in crate::cli::plugin) async fn add(args: &PluginAddArgs) -> Result<String, InstallError> {
    person_needed::check()?;
    let source = Source::parse(&args.source)?;
    let key = args.key.as_deref().map(PublicKey::read).transpose()?;
    let named = args
        .fetch
        .digest
        .as_deref()
        .map(source::digest)
        .transpose()?;
    let expected = Expected {
        digest: match &source {
            Source::Https { digest, .. } => named.or_else(|| digest.clone()),
            Source::Path(_) | Source::Oci(_) => named,
        },
        key: key.as_ref(),
    };
    let content = fetch(&source, &args.fetch, &expected).await?;
    let mut candidate = Candidate::examine(&content, &source, key.as_ref())?;
    let (store, grants) = of_user()?;
    // Grants that cannot be read are told before anything is installed.
    let kept = grants.read()?;
    let mut change = store.change()?;
    if let Some(there) = change.lockfile().plugins.get(&candidate.name) {
        if there.digest == candidate.plugin.digest && there.source == candidate.plugin.source {
            return Ok(format!("{} is installed already\n", title(&candidate)));
        }
        return Err(InstallError::Exists {
            name: candidate.name,
            from: there.source.clone(),
            new: candidate.plugin.source,
        });
    }
    beside::check(&candidate, &store, change.lockfile())?;
    change.check(&candidate.name, &candidate.plugin)?;
    let wanted = Asked::of(&candidate, &args.directories)?;
    let about = format!(
        "{}{}{}",
        title_line(&candidate),
        asked(&candidate.plugin.wishes(), None),
        wanted.sources(&candidate, &kept)
    );
    // A directory that is missing is asked about, too: the plugin is not one that asks for nothing.
    let asks = candidate.runs.is_some() || wanted.is_something() || candidate.asks_for_roles();
    let consent = match asks {
        false => Consent::Refused,
        true => person_needed::consent(&about, QUESTION, &args.answer),
    };
    // Whoever says no at a terminal does not want it. It is installed with nothing where that is what was asked for.
    if asks && consent == Consent::Refused && !args.answer.grant_nothing {
        return Err(AuthorError::Declined.into());
    }
    let is_granted = consent == Consent::Given;
    candidate.plugin.runs_programs = is_granted && candidate.runs.is_some();
    if is_granted {
        wanted.check(&grants)?;
    } else {
        authority::grant_nothing(&candidate, &grants)?;
    }
    change.install(&candidate.name, candidate.plugin.clone(), &content)?;
    if is_granted {
        wanted.grant(&grants)?;
    }
    Ok(format!("{about}{}", granted(&candidate, is_granted)))
}

fn title(candidate: &Candidate) -> String {
    let plugin = &candidate.plugin;
    format!(
        "{} {} ({})",
        one_line(&candidate.name),
        one_line(&plugin.version),
        plugin.digest
    )
}

/// Name, version, digest and where it is from.
pub(super) fn title_line(candidate: &Candidate) -> String {
    let plugin = &candidate.plugin;
    let mut text = format!(
        "{}\n  from {}\n",
        title(candidate),
        one_line(&plugin.source)
    );
    if let Some(key) = &plugin.key {
        text.push_str(&format!("  signed by {key}\n"));
    }
    text
}

/// What came of it, and how more is granted.
fn granted(candidate: &Candidate, is_granted: bool) -> String {
    let name = one_line(&candidate.name);
    match is_granted {
        true => format!("installed {name}, and granted what it asks for\n"),
        false => format!("installed {name}, with nothing granted{}\n", how(candidate)),
    }
}

/// How a plugin with nothing gets more, as the rest of a sentence.
pub(super) fn how(candidate: &Candidate) -> String {
    let mut ways: Vec<String> = candidate
        .components
        .values()
        .map(|inspection| {
            format!(
                "`windlass plugin grant {}`",
                one_line(&inspection.declaration.name)
            )
        })
        .collect();
    if candidate.runs.is_some() {
        ways.push(format!(
            "`windlass plugin grant {} --programs`",
            one_line(&candidate.name)
        ));
    }
    match ways.is_empty() {
        true => String::new(),
        false => format!(". {} grants it something", ways.join(" or ")),
    }
}
