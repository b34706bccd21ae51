//! Where checkpoints are kept: as documents of their session.

use tokio::runtime::Handle;
use windlass_core::SessionId;
use windlass_engine::{
    checkpoint::{DOCUMENTS, INDEX},
    store::{Lease, MemoryStore, SendStore as _, StoreError},
};

use super::CheckpointError;
use crate::store::SharedStore;

/// The documents of the checkpoints of a session. Whoever asks waits for the store: on a thread where that is no harm.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    runtime: Handle,
    store: SharedStore,
    lease: Lease,
}

impl Documents {
    /// Those of a session that somebody may write to. `runtime` is where the store does its work.
    pub(super) fn new(runtime: Handle, store: SharedStore, lease: Lease) -> Self {
        Self {
            runtime,
            store,
            lease,
        }
    }

    /// Those of a session of which nothing is kept: they last as long as this value.
    pub(super) fn in_memory(runtime: Handle, session: SessionId) -> Result<Self, StoreError> {
        let store = SharedStore::new(MemoryStore::default());
        let lease = runtime.block_on(store.create(session))?;
        Ok(Self::new(runtime, store, lease))
    }

    /// Those of a session that are only read.
    pub(super) fn of(runtime: Handle, store: SharedStore, session: SessionId) -> Self {
        Self::new(runtime, store, Lease { session, epoch: 0 })
    }

    pub(super) fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let name = document(name);
        let got = self.store.get(self.lease.session, &name);
        self.runtime.block_on(got)
    }

    pub(super) fn put(&self, name: &str, content: &[u8]) -> Result<(), StoreError> {
        let name = document(name);
        let put = self.store.put(&self.lease, &name, content);
        self.runtime.block_on(put)
    }

    pub(super) fn extend(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let name = document(name);
        let extended = self.store.extend(&self.lease, &name, bytes);
        self.runtime.block_on(extended)
    }

    /// Where a document is found.
    pub(super) fn place(&self, name: &str) -> String {
        let session = self.lease.session;
        self.store.document_place(session, &document(name))
    }

    /// The text of the index; none where nothing is kept.
    pub(super) fn index(&self) -> Result<Option<Vec<u8>>, CheckpointError> {
        let index = self.get(INDEX);
        index.map_err(|error| CheckpointError::of_store(self.place(INDEX), error))
    }
}

fn document(name: &str) -> String {
    [DOCUMENTS, name].concat()
}
