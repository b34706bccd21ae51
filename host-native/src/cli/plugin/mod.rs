//! `windlass plugin`: making plugins, and what a component is before anybody trusts it.

mod build;
mod check;
mod consent;
mod declared_grants;
mod directories;
mod error;
mod grant;
mod grant_change;
mod install;
mod language;
mod new;
mod person_needed;
mod report;
mod revoke;
mod templates;
mod test;
mod toolchain;

use std::path::Path;

use windlass::plugins::Inspection;

pub(crate) use self::language::Language;
use self::{error::AuthorError, report::Report};
use super::{
    Exit,
    plain::{grouped, one_line},
    plugin_args::{
        PluginBuildArgs, PluginCommand, PluginGrantArgs, PluginListArgs, PluginRevokeArgs,
    },
    start_error::StartError,
    terminal::Stage,
};

/// Runs the command.
///
/// # Errors
/// [`StartError`]: what was asked for could not be begun, or not be finished.
pub(crate) async fn plugin(command: PluginCommand) -> Result<Exit, StartError> {
    let (report, exit) = match command {
        PluginCommand::New(args) => (new::new(&args)?.into(), Exit::Done),
        PluginCommand::Build(args) => (build(&args)?.into(), Exit::Done),
        PluginCommand::Test(args) => {
            let (text, exit) = test::test(&args).await?;
            (text.into(), exit)
        }
        PluginCommand::Add(args) => {
            let added = install::add(&args).await;
            (added.map_err(nothing_was("installed"))?.into(), Exit::Done)
        }
        PluginCommand::Inspect(args) => {
            let text = install::inspect(&args)?;
            (said(text, args.json), Exit::Done)
        }
        PluginCommand::Update(args) => {
            let updated = install::update(&args).await;
            let (text, exit) = updated.map_err(nothing_was("changed"))?;
            (text.into(), exit)
        }
        PluginCommand::Remove(args) => (install::remove(&args)?.into(), Exit::Done),
        PluginCommand::Grant(args) => (grant(args)?.into(), Exit::Done),
        PluginCommand::Revoke(args) => (revoke(&args)?.into(), Exit::Done),
        PluginCommand::List(args) => {
            let text = list(&args)?;
            (said(text, args.json), Exit::Done)
        }
        PluginCommand::Check(args) => check::check(&args)?,
    };
    Ok(match Stage::stdout().write(report.as_str()) {
        Ok(()) => exit,
        Err(_) => Exit::PipeClosed,
    })
}

/// The error, and what it means for what is installed.
fn nothing_was(changed: &'static str) -> impl FnOnce(install::InstallError) -> StartError {
    move |error| StartError::Unable(format!("{error}. Nothing was {changed}"))
}

fn said(text: String, is_json: bool) -> Report {
    match is_json {
        true => Report::of_json_text(&text),
        false => text.into(),
    }
}

fn grant(mut args: PluginGrantArgs) -> Result<String, StartError> {
    if args.programs {
        let name = args.file.to_string_lossy();
        return Ok(install::let_programs_run(&name, true, args.yes)?);
    }
    args.file = install::component_named(args.file)?;
    let installed = install::installed_digests()?;
    Ok(grant::grant(&args, &installed)?)
}

fn revoke(args: &PluginRevokeArgs) -> Result<String, StartError> {
    Ok(match args.programs {
        true => install::let_programs_run(&args.component, false, args.yes)?,
        false => revoke::revoke(args)?,
    })
}

fn list(args: &PluginListArgs) -> Result<String, StartError> {
    Ok(match (args.installed, args.json) {
        (true, is_json) => install::list(is_json)?,
        (false, true) => grant::list(args)?,
        (false, false) => format!("{}{}", install::list(false)?, grant::list(args)?),
    })
}

fn build(args: &PluginBuildArgs) -> Result<String, AuthorError> {
    let (path, inspection) = build::build(&args.folder, args.output.as_deref())?;
    let bytes = std::fs::metadata(&path)
        .map_err(AuthorError::at(&path))?
        .len();
    Ok(built(&path, bytes, &inspection))
}

/// One line about a component that was built.
fn built(path: &Path, bytes: u64, inspection: &Inspection) -> String {
    let declaration = &inspection.declaration;
    let tools: Vec<String> = declaration
        .tools
        .iter()
        .map(|tool| one_line(&tool.name))
        .collect();
    format!(
        "{} {}: {} bytes in {}, with {}\n",
        one_line(&declaration.name),
        one_line(&declaration.version),
        grouped(bytes),
        path.display(),
        tools.join(", "),
    )
}

impl From<install::InstallError> for StartError {
    fn from(error: install::InstallError) -> Self {
        Self::Unable(error.to_string())
    }
}

impl From<AuthorError> for StartError {
    fn from(error: AuthorError) -> Self {
        Self::Unable(error.to_string())
    }
}
