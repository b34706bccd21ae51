//! Where a host puts the messages of a session.

use std::{fmt, future::Future, sync::Arc};

use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use windlass_core::Message;

type Take = dyn Fn(Message) -> BoxFuture<'static, ()> + Send + Sync;

/// Takes the messages of a session in their order. The session waits until a message is taken.
#[derive(Clone)]
pub struct MessageSink(Arc<Take>);

impl MessageSink {
    /// A sink that is a function.
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

/// The sending half of a bounded channel. When nobody receives any more, messages are dropped.
impl From<mpsc::Sender<Message>> for MessageSink {
    fn from(sender: mpsc::Sender<Message>) -> Self {
        Self::new(move |message| {
            let sender = sender.clone();
            async move {
                // The receiver is gone: whoever wanted the messages no longer does.
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
