//! Checkpoint storage: documents of the session.

use tokio::runtime::Handle;
use windlass_core::SessionId;
use windlass_engine::{
    checkpoint::{DOCUMENTS, INDEX},
    store::{Lease, MemoryStore, SendStore as _, StoreError},
};

use super::CheckpointError;
use crate::store::SharedStore;

/// The documents of a session's checkpoints. All operations block on the store, so call them from a thread that may block.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    runtime: Handle,
    store: SharedStore,
    lease: Lease,
}

impl Documents {
    /// For a session with a lease for writing. `runtime` is where the store's futures run.
    pub(super) fn new(runtime: Handle, store: SharedStore, lease: Lease) -> Self {
        Self {
            runtime,
            store,
            lease,
        }
    }

    /// For a session that is not stored: the documents last as long as this value.
    pub(super) fn in_memory(runtime: Handle, session: SessionId) -> Result<Self, StoreError> {
        let store = SharedStore::new(MemoryStore::default());
        let lease = runtime.block_on(store.create(session))?;
        Ok(Self::new(runtime, store, lease))
    }

    /// For a session that is only read.
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

    /// The location of a document.
    pub(super) fn place(&self, name: &str) -> String {
        let session = self.lease.session;
        self.store.document_place(session, &document(name))
    }

    /// The text of the index; `None` if there is none.
    pub(super) fn index(&self) -> Result<Option<Vec<u8>>, CheckpointError> {
        let index = self.get(INDEX);
        index.map_err(|error| CheckpointError::of_store(self.place(INDEX), error))
    }
}

fn document(name: &str) -> String {
    [DOCUMENTS, name].concat()
}
