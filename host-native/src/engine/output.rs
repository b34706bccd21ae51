//! What is written: one line after another, in the order in which things happen.

use serde::Serialize;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::{Mutex, MutexGuard, mpsc},
};
use tokio_util::sync::CancellationToken;
use windlass_engine::protocol::{frames::Frames, line::to_line};

/// Lines that may wait to be written before whoever says something waits too.
const LINES_AHEAD: usize = 256;

/// Where everything that is said comes together. Whoever holds the frames is the one who speaks: a message and what
/// follows from it are never torn apart.
pub(super) struct Output {
    frames: Mutex<Frames>,
    lines: mpsc::Sender<String>,
    /// Nobody reads any more.
    gone: CancellationToken,
}

impl Output {
    /// An output to a stream, and the task's future that writes; it ends when the output is dropped or the stream closed.
    pub(super) fn new<W>(frames: Frames, stream: W) -> (Self, impl Future<Output = ()> + Send)
    where
        W: AsyncWrite + Unpin + Send,
    {
        let (lines, waiting) = mpsc::channel(LINES_AHEAD);
        let gone = CancellationToken::new();
        let writing = write(waiting, stream, gone.clone());
        let output = Self {
            frames: Mutex::new(frames),
            lines,
            gone,
        };
        (output, writing)
    }

    /// The frames, for whoever wants to know something of them.
    pub(super) async fn frames(&self) -> MutexGuard<'_, Frames> {
        self.frames.lock().await
    }

    /// Says what comes of something that has happened.
    pub(super) async fn say(&self, happened: impl FnOnce(&mut Frames) -> Vec<String>) {
        let mut frames = self.frames.lock().await;
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
        let mut frames = self.frames.lock().await;
        for before in happened(&mut frames) {
            self.line(before).await;
        }
        self.line(line).await;
    }

    /// Writes a frame that changes nothing.
    pub(super) async fn frame(&self, frame: &(impl Serialize + Sync + ?Sized)) {
        self.whole_line(to_line(frame)).await;
    }

    /// Writes a line that changes nothing.
    pub(super) async fn whole_line(&self, line: String) {
        let _speaking = self.frames.lock().await;
        self.line(line).await;
    }

    async fn line(&self, line: String) {
        // The writer has ended: nobody reads, and the engine learns of it through `gone`.
        let _ = self.lines.send(line).await;
    }

    /// Ends when nobody reads any more.
    pub(super) fn gone(&self) -> CancellationToken {
        self.gone.clone()
    }
}

async fn write<W: AsyncWrite + Unpin>(
    mut waiting: mpsc::Receiver<String>,
    mut stream: W,
    gone: CancellationToken,
) {
    while let Some(line) = waiting.recv().await {
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
