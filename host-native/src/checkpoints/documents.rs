//! Where checkpoints are kept: as documents of their session.

use windlass_core::SessionId;
use windlass_engine::{
    checkpoint::DOCUMENTS,
    store::{Lease, MemoryStore, SendStore as _, StoreError},
};

use crate::store::SharedStore;

/// The documents of the checkpoints of a session.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    store: SharedStore,
    lease: Lease,
}

impl Documents {
    /// Those of a session that somebody may write to.
    pub(super) fn new(store: SharedStore, lease: Lease) -> Self {
        Self { store, lease }
    }

    /// Those of a session of which nothing is kept: they last as long as this value.
    pub(super) async fn in_memory(session: SessionId) -> Result<Self, StoreError> {
        let store = SharedStore::new(MemoryStore::default());
        let lease = store.create(session).await?;
        Ok(Self { store, lease })
    }

    /// Those of a session that are only read.
    pub(super) fn of(store: SharedStore, session: SessionId) -> Self {
        let lease = Lease { session, epoch: 0 };
        Self { store, lease }
    }

    pub(super) async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let name = document(name);
        self.store.get(self.lease.session, &name).await
    }

    pub(super) async fn put(&self, name: &str, content: &[u8]) -> Result<(), StoreError> {
        let name = document(name);
        self.store.put(&self.lease, &name, content).await
    }

    pub(super) async fn extend(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let name = document(name);
        self.store.extend(&self.lease, &name, bytes).await
    }
}

fn document(name: &str) -> String {
    [DOCUMENTS, name].concat()
}
