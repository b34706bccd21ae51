//! What commands put out in the background, kept as documents of their session: the `output_file` of `task_notification`.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Mutex as OrderedMutex;
use windlass_core::{SessionId, effect::Answer};
use windlass_engine::store::{Lease, SendStore as _, StoreError};

use super::SharedStore;

/// Bytes that are kept of one command: one that never stops talking must not fill the store.
const LONGEST: usize = 64 << 20;

/// The output of the commands of all sessions of an engine. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct TaskOutputs {
    store: SharedStore,
    /// By the model's ids of the calls, in their sessions.
    of_calls: Arc<Mutex<HashMap<(SessionId, String), OfCall>>>,
}

/// Locked for as long as something is written, so that it is written in its order.
type OfCall = Arc<OrderedMutex<Output>>;

/// What a command puts out.
enum Output {
    /// The session has not told of the command yet. So much has come.
    Early(String),
    Kept(Document),
    /// It cannot be kept.
    Lost,
}

struct Document {
    lease: Lease,
    name: String,
    length: usize,
}

impl TaskOutputs {
    pub(crate) fn new(store: SharedStore) -> Self {
        Self {
            store,
            of_calls: Arc::default(),
        }
    }

    /// A command has begun: the place of the document for what it puts out.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be kept.
    pub(crate) async fn begin(&self, lease: Lease, call: &str) -> Result<String, StoreError> {
        let of_call = self.of_call(lease.session, call);
        let mut output = of_call.lock().await;
        let early = match std::mem::replace(&mut *output, Output::Lost) {
            Output::Early(text) => text,
            Output::Kept(_) | Output::Lost => String::new(),
        };
        let name = self.free_name(lease.session, call).await?;
        self.store.put(&lease, &name, early.as_bytes()).await?;
        let place = self.store.document_place(lease.session, &name);
        *output = Output::Kept(Document {
            lease,
            name,
            length: early.len(),
        });
        Ok(place)
    }

    /// What a call answers: only those in the background put anything out before they end.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be written. The session has it all the same.
    pub(crate) async fn answered(
        &self,
        session: SessionId,
        call: &str,
        answer: &Answer,
    ) -> Result<(), StoreError> {
        match answer {
            Answer::Output(text) => {
                let of_call = self.of_call(session, call);
                let mut output = of_call.lock().await;
                match &mut *output {
                    Output::Early(early) if early.len() <= LONGEST => early.push_str(text),
                    Output::Early(_) | Output::Lost => {}
                    Output::Kept(document) => document.extend(&self.store, text).await?,
                }
            }
            answer if answer.is_last() => {
                self.of_calls().remove(&(session, call.to_owned()));
            }
            _ => {}
        }
        Ok(())
    }

    fn of_call(&self, session: SessionId, call: &str) -> OfCall {
        let new = || Arc::new(OrderedMutex::new(Output::Early(String::new())));
        let mut of_calls = self.of_calls();
        let of_call = of_calls
            .entry((session, call.to_owned()))
            .or_insert_with(new);
        Arc::clone(of_call)
    }

    fn of_calls(&self) -> MutexGuard<'_, HashMap<(SessionId, String), OfCall>> {
        // A panic while it is held leaves a map that is whole.
        self.of_calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of a new document: an agent's call may have the id of another one's.
    async fn free_name(&self, session: SessionId, call: &str) -> Result<String, StoreError> {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let plain: String = call.chars().filter(is_plain).take(100).collect();
        let mut name = format!("tasks/{plain}.output");
        let mut number = 1;
        while self.store.get(session, &name).await?.is_some() {
            number += 1;
            name = format!("tasks/{plain}-{number}.output");
        }
        Ok(name)
    }
}

impl Document {
    async fn extend(&mut self, store: &SharedStore, text: &str) -> Result<(), StoreError> {
        if self.length > LONGEST {
            return Ok(());
        }
        self.length += text.len();
        store
            .extend(&self.lease, &self.name, text.as_bytes())
            .await?;
        if self.length > LONGEST {
            let cut = format!("\n[cut here: the command has put out more than {LONGEST} bytes]\n");
            return store.extend(&self.lease, &self.name, cut.as_bytes()).await;
        }
        Ok(())
    }
}
