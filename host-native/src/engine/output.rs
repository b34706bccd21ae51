//! What is written: one line after another, in the order in which things happen.

use std::sync::{Mutex as StdMutex, PoisonError};

use serde::Serialize;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::{Mutex, MutexGuard, mpsc},
};
use tokio_util::sync::CancellationToken;
use windlass_engine::protocol::{fit::fitted, frames::Frames, line::to_line};

/// Lines that may wait to be written before whoever says something waits too.
const LINES_AHEAD: usize = 256;

/// Where everything that is said comes together. Whoever holds the frames is the one who speaks: a message and what
/// follows from it are never torn apart.
pub(super) struct Output {
    frames: Mutex<Frames>,
    lines: mpsc::Sender<String>,
    /// Bytes that a line may have, where whoever reads takes no longer ones.
    longest: Option<usize>,
    /// What is to be said before anything else is: by those who cannot wait until they may speak.
    first: StdMutex<Vec<First>>,
    /// Nothing more is said.
    closed: CancellationToken,
    /// Nobody reads any more.
    gone: CancellationToken,
}

/// A line that stands before all that is said from now on.
pub(super) struct First {
    pub(super) line: String,
    /// With it nothing is left that a person has to decide.
    pub(super) decided: bool,
}

impl Output {
    /// An output to a stream, and the task's future that writes; it ends when all is written after the output was closed
    /// or dropped, and when the stream is closed.
    pub(super) fn new<W>(
        frames: Frames,
        stream: W,
        longest: Option<usize>,
    ) -> (Self, impl Future<Output = ()> + Send)
    where
        W: AsyncWrite + Unpin + Send,
    {
        let (lines, waiting) = mpsc::channel(LINES_AHEAD);
        let (closed, gone) = (CancellationToken::new(), CancellationToken::new());
        let writing = write(waiting, stream, closed.clone(), gone.clone());
        let output = Self {
            frames: Mutex::new(frames),
            lines,
            longest,
            first: StdMutex::default(),
            closed,
            gone,
        };
        (output, writing)
    }

    /// The frames, for whoever wants to know something of them.
    pub(super) async fn frames(&self) -> MutexGuard<'_, Frames> {
        self.frames.lock().await
    }

    /// Bytes that a line may have; none for as many as it has.
    pub(super) fn longest(&self) -> Option<usize> {
        self.longest
    }

    /// Says what comes of something that has happened.
    pub(super) async fn say(&self, happened: impl FnOnce(&mut Frames) -> Vec<String>) {
        let mut frames = self.speaking().await;
        for line in happened(&mut frames) {
            self.line(line).await;
        }
    }

    /// Writes a frame of the control protocol behind what comes of its being sent.
    pub(super) async fn say_then(
        &self,
        happened: impl FnOnce(&mut Frames) -> Vec<String>,
        line: String,
    ) {
        let mut frames = self.speaking().await;
        for before in happened(&mut frames) {
            self.line(before).await;
        }
        self.line(line).await;
    }

    /// Writes a frame that changes nothing.
    pub(super) async fn frame(&self, frame: &(impl Serialize + Sync + ?Sized)) {
        let line = to_line(frame);
        let _speaking = self.speaking().await;
        self.line(line).await;
    }

    /// Has something said before whatever is said next; [`say_first`](Self::say_first) says it if nobody else does.
    pub(super) fn first(&self, first: First) {
        // Nothing panics while it is held; if it did, the list would be whole.
        let mut waiting = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(first);
    }

    /// Says what was to be said first.
    pub(super) async fn say_first(&self) {
        drop(self.speaking().await);
    }

    /// The right to speak, once what was to be said first is said.
    async fn speaking(&self) -> MutexGuard<'_, Frames> {
        let mut frames = self.frames.lock().await;
        let waiting = {
            let mut waiting = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *waiting)
        };
        for First { line, decided } in waiting {
            self.line(line).await;
            if decided {
                for line in frames.requires_action(false) {
                    self.line(line).await;
                }
            }
        }
        frames
    }

    async fn line(&self, line: String) {
        let line = match self.longest {
            Some(longest) => fitted(line, longest),
            None => line,
        };
        // The writer has ended: nobody reads, and the engine learns of it through `gone`.
        let _ = self.lines.send(line).await;
    }

    /// What is said from now on is not written: what was said before is.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    /// Ends when nobody reads any more.
    pub(super) fn gone(&self) -> CancellationToken {
        self.gone.clone()
    }
}

async fn write<W: AsyncWrite + Unpin>(
    mut waiting: mpsc::Receiver<String>,
    mut stream: W,
    closed: CancellationToken,
    gone: CancellationToken,
) {
    loop {
        let line = tokio::select! {
            line = waiting.recv() => line,
            () = closed.cancelled(), if !waiting.is_closed() => {
                waiting.close();
                continue;
            }
        };
        let Some(line) = line else { break };
        let mut text = line.into_bytes();
        // What has piled up goes out at once; nothing that is ready waits for more.
        while text.len() < 64 * 1024 {
            match waiting.try_recv() {
                Ok(more) => text.extend_from_slice(more.as_bytes()),
                Err(_) => break,
            }
        }
        let written = async {
            stream.write_all(&text).await?;
            stream.flush().await
        };
        if written.await.is_err() {
            break;
        }
    }
    gone.cancel();
}
