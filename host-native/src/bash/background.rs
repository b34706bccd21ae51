//! Background commands: their output is reported while they run.

use std::time::Duration;

use futures_util::{
    FutureExt,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use tokio::sync::mpsc;
use windlass_core::{
    effect::Answer,
    host::CancelSignal,
    tool::{ToolCall, ToolResult},
};

use super::{Bash, EDGE_MS, Input, process::Listeners};

/// Capacity of the output channel, in pieces. The command blocks while it is full.
const PIECES_AHEAD: usize = 16;

/// The time limit of a background command: none, unless the call has one.
pub(super) fn time_limit(call: Option<u32>) -> Option<Duration> {
    let limit = call.filter(|limit| *limit < EDGE_MS);
    limit.map(|ms| Duration::from_millis(ms.into()))
}

impl Bash {
    /// The answers to a call: for a background command its output while it runs, and then the result.
    pub(crate) fn answers(
        &self,
        call: ToolCall,
        cancel: CancelSignal,
    ) -> BoxStream<'static, Answer> {
        let bash = self.clone();
        let in_background = (call.input.decode()).is_ok_and(|input: Input| input.run_in_background);
        if !in_background {
            return stream::once(async move { Answer::Tool(bash.call(&call, cancel).await) })
                .boxed();
        }
        let (writes, written) = mpsc::channel(PIECES_AHEAD);
        let listeners = Listeners {
            stdout: Some(writes.clone()),
            stderr: Some(writes),
        };
        let running = async move { bash.run(&call, cancel, listeners).await }.boxed();
        let telling = Telling {
            running: Some(running),
            result: None,
            written,
            text: Text::default(),
        };
        stream::unfold(telling, Telling::next).boxed()
    }
}

/// A running command, and its output that was not reported yet.
struct Telling {
    /// `None` when the command has ended.
    running: Option<BoxFuture<'static, ToolResult>>,
    result: Option<ToolResult>,
    written: mpsc::Receiver<Vec<u8>>,
    text: Text,
}

impl Telling {
    /// The next answer. All output comes before the result.
    async fn next(mut self) -> Option<(Answer, Self)> {
        loop {
            let ended = async {
                match &mut self.running {
                    Some(running) => running.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                piece = self.written.recv() => match piece {
                    Some(bytes) => {
                        let text = self.text.take(&bytes);
                        if !text.is_empty() {
                            return Some((Answer::Output(text), self));
                        }
                    }
                    // The channel is closed, which happens only when the command has ended.
                    None => {
                        let result = match self.running.take() {
                            Some(running) => running.await,
                            None => self.result.take()?,
                        };
                        return Some((Answer::Tool(result), self));
                    }
                },
                result = ended => {
                    self.result = Some(result);
                    self.running = None;
                }
            }
        }
    }
}

/// Decodes text that comes in pieces, which may be split within a character.
#[derive(Default)]
pub(crate) struct Text {
    begun: Vec<u8>,
}

impl Text {
    /// The text that is complete so far. Invalid UTF-8 becomes `U+FFFD`.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            // Complete, or invalid in a way that no further byte can fix.
            _ => self.begun.len(),
        };
        let text = String::from_utf8_lossy(&self.begun[..whole]).into_owned();
        self.begun.drain(..whole);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_in_two_pieces_is_one() {
        let mut text = Text::default();
        let euro = "a€".as_bytes();
        assert_eq!(text.take(&euro[..2]), "a");
        assert_eq!(text.take(&euro[2..3]), "");
        assert_eq!(text.take(&euro[3..]), "€");
        assert_eq!(text.take(b"\xffb"), "\u{fffd}b");
    }

    #[test]
    fn only_what_is_shorter_than_the_edge_limits_a_command_in_the_background() {
        assert_eq!(time_limit(None), None);
        assert_eq!(time_limit(Some(EDGE_MS)), None);
        assert_eq!(time_limit(Some(5_000)), Some(Duration::from_secs(5)));
    }
}
