//! Reads and writes lines with limits. An unreadable response fails its call at once with a reason, and memory use is
//! bounded whatever a server sends.

use std::{
    borrow::Cow,
    io,
    sync::{Arc, OnceLock},
};

use rmcp::{
    RoleClient,
    model::{ErrorData, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::Mutex,
};

use super::id_scanner::IdScanner;

/// The maximum size of a message, in bytes.
pub(super) const MAX_MESSAGE: usize = 16 << 20;

/// The length in bytes after which the server is given up, for a line without an end that cannot be attributed to a request.
const MAX_LINE: usize = 16 * MAX_MESSAGE;

/// The maximum nesting depth of a message, as in serde_json.
const MAX_DEPTH: usize = 127;

/// Why this side ended the connection.
pub(super) type Fault = Arc<OnceLock<String>>;

type Incoming = RxJsonRpcMessage<RoleClient>;

/// This end of the pipes to a server.
pub(super) struct Wire<R, W> {
    from: BufReader<R>,
    /// The current line, up to the maximum size.
    line: Vec<u8>,
    /// The state of a line that is too long.
    overlong: Option<OverlongLine>,
    to: Arc<Mutex<Option<W>>>,
    fault: Fault,
}

/// A line whose contents are discarded.
#[derive(Default)]
struct OverlongLine {
    scanner: IdScanner,
    length: usize,
    /// Whether the waiting call was told.
    told: bool,
}

/// The result of reading a piece of input.
enum Received {
    More,
    Message(Box<Incoming>),
    End,
}

impl<R: AsyncRead + Unpin, W> Wire<R, W> {
    pub(super) fn new(from: R, to: W) -> Self {
        Self {
            from: BufReader::with_capacity(64 << 10, from),
            line: Vec::new(),
            overlong: None,
            to: Arc::new(Mutex::new(Some(to))),
            fault: Fault::default(),
        }
    }

    /// Why the connection was given up, if it was.
    pub(super) fn fault(&self) -> Fault {
        Arc::clone(&self.fault)
    }

    /// Reads the next piece of input. Cancel-safe: there is no await between taking bytes from the reader and storing them.
    async fn read_piece(&mut self) -> Received {
        let (used, ends) = match self.from.fill_buf().await {
            // A part after the last line end is not a message.
            Ok([]) | Err(_) => return Received::End,
            Ok(bytes) => {
                let end = bytes.iter().position(|byte| *byte == b'\n');
                let piece = &bytes[..end.unwrap_or(bytes.len())];
                if let Some(overlong) = &mut self.overlong {
                    overlong.take(piece);
                } else if self.line.len() + piece.len() > MAX_MESSAGE {
                    let mut overlong = OverlongLine::default();
                    overlong.take(&std::mem::take(&mut self.line));
                    overlong.take(piece);
                    self.overlong = Some(overlong);
                } else {
                    self.line.extend_from_slice(piece);
                }
                (piece.len() + usize::from(end.is_some()), end.is_some())
            }
        };
        self.from.consume(used);
        let Some(overlong) = &mut self.overlong else {
            return match ends {
                true => self.read_line(),
                false => Received::More,
            };
        };
        let refusal = overlong.refusal();
        let is_endless = overlong.length > MAX_LINE;
        if ends {
            self.overlong = None;
        } else if is_endless {
            // It cannot be set already, since reading ends here.
            let _ = self.fault.set(format!(
                "it wrote a line of more than {} MiB, which did not end",
                MAX_LINE >> 20
            ));
            return Received::End;
        }
        refusal.map_or(Received::More, |message| {
            Received::Message(Box::new(message))
        })
    }

    /// Parses a complete line.
    fn read_line(&mut self) -> Received {
        let line = self.line.trim_ascii();
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        let message = match serde_json::from_slice::<Incoming>(line) {
            Ok(message) => Some(message),
            Err(error) => unreadable(line, &error),
        };
        self.line.clear();
        // Releases the memory of a long message.
        self.line.shrink_to(64 << 10);
        message.map_or(Received::More, |message| {
            Received::Message(Box::new(message))
        })
    }
}

impl OverlongLine {
    fn take(&mut self, piece: &[u8]) {
        self.length += piece.len();
        if !self.told {
            self.scanner.take(piece);
        }
    }

    /// The error for the waiting call, once it is known which one it is.
    fn refusal(&mut self) -> Option<Incoming> {
        if self.told {
            return None;
        }
        let reason = format!(
            "the answer is longer than {} MiB and was not read",
            MAX_MESSAGE >> 20
        );
        let refusal = refusal(self.scanner.answers()?, reason.into());
        self.told = refusal.is_some();
        refusal
    }
}

/// The replacement for a line that is not a known message; `None` if it answers no request.
pub(super) fn unreadable(line: &[u8], error: &serde_json::Error) -> Option<Incoming> {
    let mut scanner = IdScanner::default();
    scanner.take(line);
    let reason = match scanner.deepest() {
        MAX_DEPTH.. => {
            format!("the answer is nested deeper than {MAX_DEPTH} levels and was not read")
        }
        _ => format!("the answer cannot be read: {error}"),
    };
    refusal(scanner.answers()?, reason.into())
}

fn refusal(id: &[u8], reason: Cow<'static, str>) -> Option<Incoming> {
    let id: RequestId = serde_json::from_slice(id).ok()?;
    Some(JsonRpcMessage::error(
        ErrorData::internal_error(reason, None),
        Some(id),
    ))
}

impl<R, W> Transport<RoleClient> for Wire<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let to = Arc::clone(&self.to);
        async move { write(&to, &message).await }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            match self.read_piece().await {
                Received::More => {}
                Received::End => return None,
                Received::Message(message) => return Some(*message),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.to.lock().await.take());
        Ok(())
    }
}

async fn write<W: AsyncWrite + Unpin>(
    to: &Mutex<Option<W>>,
    message: &TxJsonRpcMessage<RoleClient>,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut to = to.lock().await;
    let to = to.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    to.write_all(&line).await?;
    to.flush().await
}
