//! Output of background commands, stored as documents of their session: the `output_file` of `task_notification`.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Mutex as OrderedMutex;
use windlass_core::{SessionId, effect::Answer};
use windlass_engine::store::{Lease, SendStore as _, StoreError};

use super::SharedStore;

/// The maximum number of bytes stored per command, so that endless output does not fill the store.
const LONGEST: usize = 64 << 20;

/// The output of background commands of all sessions of an engine. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct TaskOutputs {
    store: SharedStore,
    /// By session and tool call id.
    of_calls: Arc<Mutex<HashMap<(SessionId, String), OfCall>>>,
}

/// Locked during a write, so that output is written in order.
type OfCall = Arc<OrderedMutex<Output>>;

/// The output of a command.
enum Output {
    /// Received before the session announced the command.
    Early(String),
    Kept(Document),
    /// It cannot be stored.
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

    /// Starts storing a command's output. Returns the location of its document.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be stored.
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

    /// Stores the output in a call's answers: only background commands report output before they end.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be written. The session receives it anyway.
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
        // A panic while the lock is held leaves a valid map.
        self.of_calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A free name for a document: calls of different agents may have the same id.
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
