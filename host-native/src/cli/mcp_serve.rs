//! `windlass mcp serve`: the tools of plugins, for clients of the Model Context Protocol.

use std::{net::SocketAddr, sync::Arc};

use tokio::io::{stdin, stdout};
use tokio_util::sync::CancellationToken;
use windlass::{
    engine::ComponentTools,
    mcp_server::{AccessToken, HttpListener, serve_stdio},
    warning::warn,
};

use super::{
    Exit,
    keys::variable,
    launch::permissions_only,
    mcp_args::McpServeArgs,
    signals::{Stop, watch},
    start_error::StartError,
};

/// Names the token that clients over HTTP have to send.
const TOKEN_VARIABLE: &str = "WINDLASS_MCP_TOKEN";

/// Serves clients until the input ends or a signal arrives.
///
/// # Errors
/// [`StartError`]: a flag, a setting or a plugin cannot be used, or the address is not free.
pub(super) async fn serve(args: &McpServeArgs) -> Result<Exit, StartError> {
    let mut launch = permissions_only(&args.permissions)?;
    launch.needs_plugins = true;
    let tools = Arc::new(ComponentTools::read(&launch)?);
    tools.warnings().iter().for_each(|warning| warn(warning));
    if tools.tools().is_empty() {
        warn(
            "no plugin has a tool that may be called: `windlass plugin add` installs one, --plugin-dir loads one",
        );
    }
    let mut stops = watch().map_err(StartError::Runtime)?;
    let stop = CancellationToken::new();
    let serving = async {
        match args.http {
            Some(address) => serve_http(&tools, address, stop.clone()).await,
            None => (serve_stdio(&tools, stdin(), stdout(), stop.clone()).await)
                .map_err(|error| StartError::Unable(error.to_string())),
        }
    };
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        ended = &mut serving => ended.map(|()| Exit::Done),
        Ok(()) = stops.changed() => {
            stop.cancel();
            let _ = serving.await; // it was told to end
            Ok(match *stops.borrow() {
                Stop::No => Exit::Failed, // it has changed
                Stop::Orderly(signal) | Stop::Now(signal) => Exit::Signal(signal),
            })
        }
    }
}

async fn serve_http(
    tools: &Arc<ComponentTools>,
    address: SocketAddr,
    stop: CancellationToken,
) -> Result<(), StartError> {
    let token = variable(TOKEN_VARIABLE).filter(|token| !token.is_empty());
    let token = token.as_deref().map(AccessToken::new).transpose();
    let token = token.map_err(|why| StartError::Usage(format!("{TOKEN_VARIABLE}: {why}")))?;
    let is_open = token.is_none();
    let listener = HttpListener::bind(address, token).await;
    let listener = listener.map_err(|error| StartError::Usage(format!("--http: {error}")))?;
    anstream::eprintln!(
        "windlass: serving {} tools at {}",
        tools.tools().len(),
        listener.url()
    );
    if is_open {
        warn(&format!(
            "every program of this machine may call them: {TOKEN_VARIABLE} sets a token that clients have to send"
        ));
    }
    listener.serve(tools, stop).await;
    Ok(())
}
