//! `windlass plugin`: making plugins, and what a component is before anybody trusts it.

mod build;
mod check;
mod consent;
mod declared_grants;
mod directories;
mod error;
mod grant;
mod install;
mod language;
mod new;
mod person_needed;
mod revoke;
mod templates;
mod test;
mod toolchain;

use std::path::Path;

use windlass::plugins::Inspection;

use self::error::AuthorError;
pub(crate) use self::language::Language;
use super::{
    Exit,
    plain::{grouped, one_line},
    plugin_args::{PluginBuildArgs, PluginCommand, PluginListArgs},
    start_error::StartError,
    terminal::Stage,
};

/// Runs the command.
///
/// # Errors
/// [`StartError`]: what was asked for could not be begun, or not be finished.
pub(crate) async fn plugin(command: PluginCommand) -> Result<Exit, StartError> {
    let (text, exit) = match command {
        PluginCommand::New(args) => (new::new(&args)?, Exit::Done),
        PluginCommand::Build(args) => (build(&args)?, Exit::Done),
        PluginCommand::Test(args) => test::test(&args).await?,
        PluginCommand::Add(args) => (install::add(&args).await?, Exit::Done),
        PluginCommand::Inspect(args) => (install::inspect(&args)?, Exit::Done),
        PluginCommand::Update(args) => (install::update(&args).await?, Exit::Done),
        PluginCommand::Remove(args) => (install::remove(&args)?, Exit::Done),
        PluginCommand::Grant(mut args) => {
            args.file = install::component_named(args.file);
            (grant::grant(&args)?, Exit::Done)
        }
        PluginCommand::Revoke(args) => (revoke::revoke(&args)?, Exit::Done),
        PluginCommand::List(args) => (list(&args)?, Exit::Done),
        PluginCommand::Check(args) => check::check(&args)?,
    };
    Ok(match Stage::stdout().write(&text) {
        Ok(()) => exit,
        Err(_) => Exit::PipeClosed,
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
