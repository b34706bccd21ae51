//! One client, over two streams.

use std::sync::Arc;

use rmcp::{serve_server, transport::async_rw::AsyncRwTransport};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use crate::engine::ComponentTools;

/// Why a client could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// What it sent is not the protocol.
    #[error("the client does not speak the Model Context Protocol as it should: {0}")]
    Protocol(String),
    /// Serving it broke off.
    #[error("serving the client broke off: {0}")]
    BrokeOff(String),
}

/// Serves the client that writes to `input` and reads from `output`, a message a line, until the input ends or `stop` fires. Calls
/// that still run are stopped then.
///
/// Must be called inside a tokio runtime.
///
/// # Errors
/// [`ServeError`]
pub async fn serve_stdio<R, W>(
    tools: &Arc<ComponentTools>,
    input: R,
    output: W,
    stop: CancellationToken,
) -> Result<(), ServeError>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let transport = AsyncRwTransport::new_server(input, output);
    let starting = serve_server(Handler::new(tools), transport);
    let service = tokio::select! {
        started = starting => match started {
            Ok(service) => service,
            // It left without a word.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Protocol(error.to_string())),
        },
        () = stop.cancelled() => return Ok(()),
    };
    let token = service.cancellation_token();
    let mut waiting = std::pin::pin!(service.waiting());
    tokio::select! {
        ended = &mut waiting => ended,
        () = stop.cancelled() => {
            token.cancel();
            waiting.await
        }
    }
    .map(|_| ())
    .map_err(|error| ServeError::BrokeOff(error.to_string()))
}
