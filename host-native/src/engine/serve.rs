//! An engine between two streams.

use std::{collections::VecDeque, future::Future, task::Poll, time::Duration};

use futures_util::{Stream, stream};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;
use windlass_core::Uuid;
use windlass_engine::machine::{Ending, Engine, Input, drive};

use super::{
    build::StartError,
    host::Host,
    launch::Launch,
    stream::{read, write},
};
use crate::random::random_seed;

/// Lines that may wait to be written before the engine waits too.
const LINES_AHEAD: usize = 256;

/// How long the last lines may take to be written once the engine was told to stop: less than whoever told it waits before
/// ending it by force.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Serves an SDK until its input has ended and nothing is owed to it any more, until nobody reads the output, or until
/// `stop` fires: then requests are closed and processes are killed, and what is written is whole.
///
/// Must be called inside a tokio runtime.
///
/// # Errors
/// [`StartError`] when what it was started with cannot be followed. Nothing has been written then.
pub async fn serve<R, W>(
    launch: Launch,
    input: R,
    output: W,
    stop: CancellationToken,
) -> Result<Ending, StartError>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let session_id = match launch.flags.session_id.as_deref() {
        None => None,
        Some(text) => Some(Uuid::try_parse(text).ok().ok_or_else(|| StartError::Flag {
            flag: "session-id",
            reason: format!("`{text}` is no UUID"),
        })?),
    };
    let (inputs, arriving) = mpsc::unbounded_channel();
    let (lines, waiting) = mpsc::channel(LINES_AHEAD);
    let mut machine = launch.machine();
    machine.session_id = session_id;
    // What can be known to be wrong is found before anything is written.
    let (host, base) = Host::new(launch, lines, inputs.clone())?;
    let mut engine = Engine::new(machine, base, random_seed());
    let gone = CancellationToken::new();
    let mut writer = tokio::spawn(write(waiting, output, gone.clone()));
    let reader = tokio::spawn(read(input, inputs));
    let inputs = inputs_of(&host, arriving, stop.clone(), gone);
    let (ending, rest) = drive(&mut engine, &host, inputs).await;
    reader.abort();
    let writing = async {
        host.last_lines(rest).await;
        // Nothing more comes: the writer ends when all is written. A panic ends it as well.
        drop(host);
        let _ = (&mut writer).await;
    };
    // What was said is written to its end: for as long as somebody reads it, however slowly, and for a moment after being
    // told to stop.
    let stopped = async {
        if ending != Ending::Stopped {
            stop.cancelled().await;
        }
        tokio::time::sleep(LAST_LINES).await;
    };
    tokio::select! {
        () = writing => Ok(ending),
        () = stopped => Ok(Ending::Stopped),
    }
}

/// Everything that an engine is told but for the outcomes of its effects.
fn inputs_of(
    host: &Host,
    mut arriving: mpsc::UnboundedReceiver<Input>,
    stop: CancellationToken,
    gone: CancellationToken,
) -> impl Stream<Item = Input> {
    let mut stopped = Box::pin(stop.cancelled_owned());
    let mut unread = Box::pin(gone.cancelled_owned());
    let (mut has_stopped, mut is_unread) = (false, false);
    stream::poll_fn(move |cx| {
        if !has_stopped && stopped.as_mut().poll(cx).is_ready() {
            has_stopped = true;
            return Poll::Ready(Some(Input::Stop));
        }
        if !is_unread && unread.as_mut().poll(cx).is_ready() {
            is_unread = true;
            return Poll::Ready(Some(Input::Unread));
        }
        // Whoever asks how a server is doing hears of its end.
        if let Some(closed) = host.common.servers.newly_closed() {
            return Poll::Ready(Some(closed));
        }
        match arriving.poll_recv(cx) {
            Poll::Ready(Some(input)) => Poll::Ready(Some(input)),
            // The host holds a sender as long as there is an engine.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    })
}

/// Lines that were not taken while the engine ran.
pub(super) type Rest = VecDeque<String>;
