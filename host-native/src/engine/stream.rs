//! Line-based input and output.

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;
use windlass_engine::{machine::Input, protocol::line::LineReader};

/// The size of one read, in bytes.
const PIECE: usize = 64 * 1024;

/// Reads until the input ends.
pub(super) async fn read<R: AsyncRead + Unpin>(mut input: R, inputs: mpsc::UnboundedSender<Input>) {
    let mut lines = LineReader::new();
    let mut piece = vec![0; PIECE];
    // The engine has ended, so nobody receives it.
    let tell = |input| drop(inputs.send(input));
    loop {
        // A read error counts as the end of the input.
        let length = input.read(&mut piece).await.unwrap_or(0);
        if length == 0 {
            break;
        }
        let whole = lines.push(&piece[..length]).into_iter();
        whole.map(Input::Line).for_each(tell);
    }
    lines.finish().into_iter().map(Input::Line).for_each(tell);
    tell(Input::InputEnded);
}

/// Writes lines until the channel is closed, or until writing fails, which cancels `gone`.
pub(super) async fn write<W: AsyncWrite + Unpin>(
    mut lines: mpsc::Receiver<String>,
    mut output: W,
    gone: CancellationToken,
) {
    while let Some(line) = lines.recv().await {
        let mut text = line.into_bytes();
        // Waiting lines are written together; a ready line never waits for others.
        while text.len() < 64 * 1024 {
            match lines.try_recv() {
                Ok(more) => text.extend_from_slice(more.as_bytes()),
                Err(_) => break,
            }
        }
        let written = async {
            output.write_all(&text).await?;
            output.flush().await
        };
        if written.await.is_err() {
            break;
        }
    }
    gone.cancel();
}
