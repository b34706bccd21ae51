//! A store on a disk that is temporarily full.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use windlass_core::{SessionId, permission::Destination};

use crate::store::{Batch, Lease, MemoryStore, SendStore, StoreError, Stored, StoredSession};

/// A store whose appends fail for a while.
#[derive(Clone)]
pub(super) struct Broken {
    store: MemoryStore,
    is_broken: Arc<AtomicBool>,
}

impl Broken {
    pub(super) fn over(store: MemoryStore) -> Self {
        Self {
            store,
            is_broken: Arc::default(),
        }
    }

    pub(super) fn set(&self, is_broken: bool) {
        self.is_broken.store(is_broken, Ordering::Relaxed);
    }
}

impl SendStore for Broken {
    async fn create(&self, session: SessionId) -> Result<Lease, StoreError> {
        self.store.create(session).await
    }

    async fn open(&self, session: SessionId) -> Result<Lease, StoreError> {
        self.store.open(session).await
    }

    fn release(&self, lease: &Lease) {
        self.store.release(lease);
    }

    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<(), StoreError> {
        match self.is_broken.load(Ordering::Relaxed) {
            true => Err(StoreError::failed("writing", "here", "it is full")),
            false => self.store.append(lease, batch).await,
        }
    }
    async fn load(
        &self,
        session: SessionId,
        agent: Option<&str>,
    ) -> Result<Option<Stored>, StoreError> {
        self.store.load(session, agent).await
    }

    async fn put(&self, lease: &Lease, name: &str, document: &[u8]) -> Result<(), StoreError> {
        self.store.put(lease, name, document).await
    }

    async fn extend(&self, lease: &Lease, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.store.extend(lease, name, bytes).await
    }

    async fn get(&self, session: SessionId, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.get(session, name).await
    }

    async fn list(&self) -> Result<Vec<StoredSession>, StoreError> {
        self.store.list().await
    }

    async fn delete(&self, session: SessionId) -> Result<(), StoreError> {
        self.store.delete(session).await
    }

    fn place(&self, session: SessionId, agent: Option<&str>) -> String {
        self.store.place(session, agent)
    }

    fn document_place(&self, session: SessionId, name: &str) -> String {
        self.store.document_place(session, name)
    }

    async fn settings(&self, of: Destination) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.settings(of).await
    }

    async fn replace_settings(
        &self,
        of: Destination,
        read: Option<&str>,
        settings: &[u8],
    ) -> Result<(), StoreError> {
        self.store.replace_settings(of, read, settings).await
    }

    fn settings_place(&self, of: Destination) -> Option<String> {
        self.store.settings_place(of)
    }
}
