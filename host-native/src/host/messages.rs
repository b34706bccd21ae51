//! Where a host delivers the messages of a session.

use std::{fmt, future::Future, sync::Arc};

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use windlass_core::Message;

type Take = dyn Fn(Message) -> BoxFuture<'static, ()> + Send + Sync;

/// Receives the messages of a session in order. The session waits until each message is accepted.
#[derive(Clone)]
pub struct MessageSink(Arc<Take>);

impl MessageSink {
    /// A sink that calls a function.
    pub fn new<F, Fut>(take: F) -> Self
    where
        F: Fn(Message) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        Self(Arc::new(move |message| Box::pin(take(message))))
    }

    pub(super) fn take(&self, message: Message) -> BoxFuture<'static, ()> {
        (self.0)(message)
    }
}

/// The sending half of a bounded channel. When the receiver is gone, messages are dropped.
impl From<mpsc::Sender<Message>> for MessageSink {
    fn from(sender: mpsc::Sender<Message>) -> Self {
        Self::new(move |message| {
            let sender = sender.clone();
            async move {
                // The receiver is gone, so nobody wants the messages.
                let _ = sender.send(message).await;
            }
        })
    }
}

impl fmt::Debug for MessageSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MessageSink")
    }
}
