//! Runs an engine between two streams.

use std::{future::Future, task::Poll, time::Duration};

use futures_util::{Stream, stream};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;
use windlass_core::Uuid;
use windlass_engine::machine::{Ending, Engine, Input, drive};

use super::{
    host::Host,
    launch::Launch,
    start_error::StartError,
    stream::{read, write},
};
use crate::random::random_seed;

/// Capacity of the output channel, in lines. The engine waits while it is full.
const LINES_AHEAD: usize = 256;

/// How long writing the last lines may take after the engine was told to stop: less than the time before it is killed.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Serves an SDK until its input has ended and all answers are written, until the output is closed, or until `stop`
/// fires: then requests are closed and processes are killed, and no line is left incomplete.
///
/// Must be called inside a tokio runtime. Settings, project files and plugins are read by the call itself, on the thread of the
/// caller: memory that is taken in small pieces is dearer on the others, whose part of the heap grows by a page at a time.
///
/// # Errors
/// [`StartError`] if the launch options are invalid. Nothing was written then.
pub fn serve<R, W>(
    launch: Launch,
    input: R,
    output: W,
    stop: CancellationToken,
) -> impl Future<Output = Result<Ending, StartError>> + Send
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let started = Started::new(launch);
    async move { Ok(started?.run(input, output, stop).await) }
}

/// An engine that has read its configuration.
struct Started {
    engine: Engine,
    host: Host,
    inputs: mpsc::UnboundedSender<Input>,
    arriving: mpsc::UnboundedReceiver<Input>,
    waiting: mpsc::Receiver<String>,
}

impl Started {
    fn new(launch: Launch) -> Result<Self, StartError> {
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
        // Errors that can be known in advance are found before anything is written.
        let (host, base) = Host::new(launch, lines, inputs.clone())?;
        Ok(Self {
            engine: Engine::new(machine, base, random_seed()),
            host,
            inputs,
            arriving,
            waiting,
        })
    }

    async fn run<R, W>(self, input: R, output: W, stop: CancellationToken) -> Ending
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let Self {
            mut engine,
            host,
            inputs,
            arriving,
            waiting,
        } = self;
        let gone = CancellationToken::new();
        let mut writer = tokio::spawn(write(waiting, output, gone.clone()));
        let reader = tokio::spawn(read(input, inputs));
        let inputs = inputs_of(&host, arriving, stop.clone(), gone);
        let (ending, rest) = drive(&mut engine, &host, inputs).await;
        reader.abort();
        let writing = async {
            host.last_lines(rest).await;
            // Closes the channel: the writer ends when everything is written. A panic ends it as well.
            drop(host);
            let _ = (&mut writer).await;
        };
        // The remaining lines are written as long as there is a reader, however slow, and for a moment after a stop request.
        let stopped = async {
            if ending != Ending::Stopped {
                stop.cancelled().await;
            }
            tokio::time::sleep(LAST_LINES).await;
        };
        tokio::select! {
            () = writing => ending,
            () = stopped => Ending::Stopped,
        }
    }
}

/// All inputs of the engine except the outcomes of its effects.
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
        // Checked first, so that a question about a server's status sees that it has ended.
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
