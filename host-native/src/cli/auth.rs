//! `windlass auth`: where the key for the model server comes from, by environment and settings. There is no sign-in.

use std::env;

use clap::Parser as _;
use serde_json::json;
use windlass::engine::{KeySources, Launch, key_sources};
use windlass_engine::protocol::flags::Flags;

use super::{
    Exit, args::CommandLine, auth_args::AuthCommand, keys::variable, start_error::StartError,
    terminal::Stage,
};

/// The command line, without a `--settings VALUE` before `auth`: tools of Claude Code put options of a run there, which do not
/// change where the key comes from.
pub(super) fn command_line() -> Result<CommandLine, clap::Error> {
    let mut words: Vec<_> = env::args_os().collect();
    if words.get(1).is_some_and(|word| word == "--settings")
        && words.get(3).is_some_and(|word| word == "auth")
    {
        words.drain(1..3);
    }
    CommandLine::try_parse_from(words)
}

/// Runs the command. `status` fails where there is no key.
///
/// # Errors
/// [`StartError`]: there is no configuration directory.
pub(super) fn auth(command: AuthCommand) -> Result<Exit, StartError> {
    match command {
        AuthCommand::Status { json } => status(json),
        AuthCommand::Login | AuthCommand::Logout => {
            let problem = "there is no sign-in here: set ANTHROPIC_API_KEY, or remove it from the environment";
            Err(StartError::Usage(problem.to_owned()))
        }
    }
}

fn status(as_json: bool) -> Result<Exit, StartError> {
    let launch = Launch::with_flags(Flags::default(), variable)?;
    let sources = key_sources(&launch)?;
    let text = match (as_json, sources.is_none()) {
        (true, is_none) => {
            let (method, source) = method(sources);
            let mut status = json!({
                "loggedIn": !is_none, "authMethod": method, "apiProvider": "firstParty",
            });
            if !is_none {
                status["apiKeySource"] = source.into();
            }
            format!("{status:#}\n")
        }
        (false, false) => format!("The key comes from {sources}.\n"),
        (false, true) => {
            "There is no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or `apiKeyHelper` in the settings.\n".to_owned()
        }
    };
    Ok(match (Stage::stdout().write(&text), sources.is_none()) {
        (Err(_), _) => Exit::PipeClosed,
        (Ok(()), false) => Exit::Done,
        (Ok(()), true) => Exit::Failed,
    })
}

/// How requests authenticate, and by what.
fn method(sources: KeySources) -> (&'static str, &'static str) {
    match (sources.api_key, sources.token) {
        ("none" | "oauth", "none") => ("none", "none"),
        ("none" | "oauth", token) => ("oauth_token", token),
        ("ANTHROPIC_API_KEY", _) => ("api_key", sources.api_key),
        (source, "apiKeyHelper") => ("api_key_helper", source),
        (source, _) => ("api_key", source),
    }
}
