//! `windlass model serve`: the scripted model behind a loopback address.

use std::fs;

use windlass::model_server::{ModelServer, Script, ServeOptions};

use super::{
    Exit,
    args::ServeArgs,
    signals::{self, Stop},
    start_error::StartError,
    terminal::Stage,
};

/// Serves until a signal arrives; then reports whether the script was followed to its end.
pub(crate) async fn serve(args: ServeArgs) -> Result<Exit, StartError> {
    let unusable = |reason: String| StartError::File {
        what: "the script",
        path: args.script.clone(),
        reason,
    };
    let text = fs::read_to_string(&args.script).map_err(|error| unusable(error.to_string()))?;
    let variables: Vec<(&str, &str)> = args
        .variables
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let script =
        Script::parse_with(&text, &variables).map_err(|error| unusable(error.to_string()))?;
    let options = ServeOptions::default().port(args.port).record(false);
    let server = ModelServer::start_with(script, options)
        .map_err(|error| StartError::Unable(error.to_string()))?;
    let mut stops = signals::watch().map_err(StartError::Runtime)?;
    // Tells whoever started it the address, and that it is listening.
    if Stage::stdout()
        .plain(&format!("{}\n", server.url()))
        .is_err()
    {
        return Ok(Exit::PipeClosed);
    }
    anstream::eprintln!(
        "windlass: set ANTHROPIC_BASE_URL={url}, or OPENAI_BASE_URL={url}/v1; Ctrl-C ends it",
        url = server.url()
    );
    // The sender lives as long as the runtime.
    let _ = stops.wait_for(|stop| *stop != Stop::No).await;
    match server.verify() {
        Ok(()) => Ok(Exit::Done),
        Err(unmet) => {
            anstream::eprintln!("{unmet}");
            Ok(Exit::Failed)
        }
    }
}
