//! `windlass auth`: where the key for the model server comes from. There is no sign-in.

use std::env;

use clap::Parser as _;
use serde_json::json;
use windlass::{engine::Launch, http::Auth};
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
    let source = source(&launch);
    let text = match (as_json, source) {
        (true, source) => {
            let method = match launch.auth {
                Auth::None => "none",
                Auth::ApiKey(_) => "api_key",
                Auth::Bearer(_) => "oauth_token",
            };
            let mut status = json!({
                "loggedIn": source.is_some(), "authMethod": method, "apiProvider": "firstParty",
            });
            if let Some(source) = source {
                status["apiKeySource"] = source.into();
            }
            format!("{status:#}\n")
        }
        (false, Some(source)) => format!("The key comes from {source}.\n"),
        (false, None) => {
            "There is no key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.\n".to_owned()
        }
    };
    Ok(match (Stage::stdout().write(&text), source) {
        (Err(_), _) => Exit::PipeClosed,
        (Ok(()), Some(_)) => Exit::Done,
        (Ok(()), None) => Exit::Failed,
    })
}

/// The variable that holds the key.
fn source(launch: &Launch) -> Option<&'static str> {
    let names: &[&'static str] = match launch.auth {
        Auth::None => return None,
        Auth::ApiKey(_) => &["ANTHROPIC_API_KEY"],
        Auth::Bearer(_) => &["ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    };
    names
        .iter()
        .copied()
        .find(|name| launch.keys.get(name).is_some())
}
