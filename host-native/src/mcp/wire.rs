//! The lines between us and a server, with limits: what cannot be read fails the call that it answers, at once and with a
//! reason, and nothing that a server sends is held without bound.

use std::{
    borrow::Cow,
    io,
    sync::{Arc, OnceLock},
};

use rmcp::{
    RoleClient,
    model::{ErrorData, JsonRpcMessage, RequestId, ServerNotification},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::{Mutex, Semaphore},
};

use super::whose::Whose;

/// The longest message, in bytes.
const MAX_MESSAGE: usize = 16 << 20;

/// Bytes after which a line that does not end, and says nothing of whose it is, is given up, and the server with it.
const MAX_LINE: usize = 16 * MAX_MESSAGE;

/// How deep a message may nest: as deep as serde_json reads.
const MAX_DEPTH: usize = 127;

/// Requests of the server that may wait for our answers; it is not listened to before it has taken some of them.
const MAX_REQUESTS: usize = 64;

/// What a server said that ended the connection.
pub(super) type Fault = Arc<OnceLock<String>>;

type Incoming = RxJsonRpcMessage<RoleClient>;

/// One end of the pipes to a server.
pub(super) struct Wire<R, W> {
    from: BufReader<R>,
    /// The line that is being read, up to the longest that is.
    line: Vec<u8>,
    /// Of a line that is too long.
    overlong: Option<Overlong>,
    /// A request that waits until others are answered.
    held: Option<Incoming>,
    answering: Arc<Semaphore>,
    to: Arc<Mutex<Option<W>>>,
    fault: Fault,
}

/// A line of which no more is kept.
#[derive(Default)]
struct Overlong {
    whose: Whose,
    length: usize,
    /// Whoever waits for it has been told.
    told: bool,
}

/// What came of a piece of input.
enum Heard {
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
            held: None,
            answering: Arc::new(Semaphore::new(MAX_REQUESTS)),
            to: Arc::new(Mutex::new(Some(to))),
            fault: Fault::default(),
        }
    }

    /// Why the connection was given up, once it was.
    pub(super) fn fault(&self) -> Fault {
        Arc::clone(&self.fault)
    }

    /// The next piece of input. Whoever stops waiting loses nothing of it: between what is taken from the reader and what is
    /// kept of it nothing is waited for.
    async fn hear(&mut self) -> Heard {
        let (used, ends) = match self.from.fill_buf().await {
            // What stands behind the last line end is no message.
            Ok([]) | Err(_) => return Heard::End,
            Ok(bytes) => {
                let end = bytes.iter().position(|byte| *byte == b'\n');
                let piece = &bytes[..end.unwrap_or(bytes.len())];
                if let Some(overlong) = &mut self.overlong {
                    overlong.take(piece);
                } else if self.line.len() + piece.len() > MAX_MESSAGE {
                    let mut overlong = Overlong::default();
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
                false => Heard::More,
            };
        };
        let refusal = overlong.refusal();
        let is_endless = overlong.length > MAX_LINE;
        if ends {
            self.overlong = None;
        } else if is_endless {
            // Nobody reads it any more, so nobody can find it full.
            let _ = self.fault.set(format!(
                "it wrote a line of more than {} MiB, which did not end",
                MAX_LINE >> 20
            ));
            return Heard::End;
        }
        refusal.map_or(Heard::More, |message| Heard::Message(Box::new(message)))
    }

    /// The message of a line that is whole.
    fn read_line(&mut self) -> Heard {
        let line = self.line.trim_ascii();
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        let message = match serde_json::from_slice::<Incoming>(line) {
            Ok(message) if is_heard(&message) => Some(message),
            Ok(_) => None,
            Err(error) => unreadable(line, &error),
        };
        self.line.clear();
        // The memory of a long message is not kept for the short ones behind it.
        self.line.shrink_to(64 << 10);
        message.map_or(Heard::More, |message| Heard::Message(Box::new(message)))
    }
}

impl Overlong {
    fn take(&mut self, piece: &[u8]) {
        self.length += piece.len();
        if !self.told {
            self.whose.take(piece);
        }
    }

    /// What whoever waits for it is told, once it is known who that is.
    fn refusal(&mut self) -> Option<Incoming> {
        if self.told {
            return None;
        }
        let reason = format!(
            "the answer is longer than {} MiB and was not read",
            MAX_MESSAGE >> 20
        );
        let refusal = refusal(self.whose.answers()?, reason.into());
        self.told = refusal.is_some();
        refusal
    }
}

/// What comes in the place of a line that is no message we know; nothing where it answers nobody.
fn unreadable(line: &[u8], error: &serde_json::Error) -> Option<Incoming> {
    let mut whose = Whose::default();
    whose.take(line);
    let reason = match whose.deepest() {
        MAX_DEPTH.. => {
            format!("the answer is nested deeper than {MAX_DEPTH} levels and was not read")
        }
        _ => format!("the answer cannot be read: {error}"),
    };
    refusal(whose.answers()?, reason.into())
}

fn refusal(id: &[u8], reason: Cow<'static, str>) -> Option<Incoming> {
    let id: RequestId = serde_json::from_slice(id).ok()?;
    Some(JsonRpcMessage::error(
        ErrorData::internal_error(reason, None),
        Some(id),
    ))
}

/// Whether anybody here listens to it. Of what servers say of their own accord that is one thing: for everything else a task
/// would be started that does nothing.
fn is_heard(message: &Incoming) -> bool {
    match message {
        JsonRpcMessage::Notification(said) => matches!(
            said.notification,
            ServerNotification::ToolListChangedNotification(_)
        ),
        _ => true,
    }
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
        let is_answer = matches!(
            message,
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)
        );
        let answered = is_answer.then(|| Arc::clone(&self.answering));
        async move {
            let sent = write(&to, &message).await;
            if let Some(answering) = answered {
                answering.add_permits(1);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            if self.held.is_some() {
                // It is never closed.
                self.answering.acquire().await.ok()?.forget();
                return self.held.take();
            }
            match self.hear().await {
                Heard::More => {}
                Heard::End => return None,
                Heard::Message(message) => match *message {
                    JsonRpcMessage::Request(_) => self.held = Some(*message),
                    message => return Some(message),
                },
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
