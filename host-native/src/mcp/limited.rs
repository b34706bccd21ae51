//! Limits on what a server says of its own accord, over any transport.

use std::sync::Arc;

use rmcp::{
    RoleClient,
    model::{JsonRpcMessage, ServerNotification},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::sync::Semaphore;

/// The maximum number of requests of the server that wait for answers; reading pauses at this limit.
const MAX_REQUESTS: usize = 64;

type Incoming = RxJsonRpcMessage<RoleClient>;

/// A transport from which only what is handled here is received, and not more requests than are answered.
pub(super) struct Limited<T> {
    transport: T,
    /// A request that waits until others are answered.
    held: Option<Incoming>,
    answering: Arc<Semaphore>,
}

impl<T> Limited<T> {
    pub(super) fn new(transport: T) -> Self {
        Self {
            transport,
            held: None,
            answering: Arc::new(Semaphore::new(MAX_REQUESTS)),
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Limited<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let is_answer = matches!(
            message,
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)
        );
        let answered = is_answer.then(|| Arc::clone(&self.answering));
        let sending = self.transport.send(message);
        async move {
            let sent = sending.await;
            if let Some(answering) = answered {
                answering.add_permits(1);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            if self.held.is_some() {
                // The semaphore is never closed.
                self.answering.acquire().await.ok()?.forget();
                return self.held.take();
            }
            match self.transport.receive().await? {
                message @ JsonRpcMessage::Request(_) => self.held = Some(message),
                message if is_handled(&message) => return Some(message),
                _ => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}

/// Whether a message is handled here. Of a server's notifications only one kind is; for each of the others, a task
/// would be started that does nothing.
fn is_handled(message: &Incoming) -> bool {
    match message {
        JsonRpcMessage::Notification(said) => matches!(
            said.notification,
            ServerNotification::ToolListChangedNotification(_)
        ),
        _ => true,
    }
}
