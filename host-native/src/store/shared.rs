//! A type-erased store.

use std::{fmt, sync::Arc};

use futures_util::future::BoxFuture;
use windlass_core::{SessionId, permission::Destination, uuid_v4};
use windlass_engine::store::{Batch, Lease, SendStore, StoreError, Stored, StoredSession};

/// A store shared by sessions.
#[derive(Clone)]
pub(crate) struct SharedStore(Arc<dyn Boxed>);

impl SharedStore {
    pub(crate) fn new(store: impl SendStore + Sync + 'static) -> Self {
        Self(Arc::new(store))
    }

    /// The location of transcripts as a template, with `{session_id}` for the session's id. A spec contains it
    /// because it applies to many sessions.
    pub(crate) fn place_of_any(&self) -> String {
        let any = uuid_v4([0; 16]);
        let place = self.0.place(any, None);
        place.replace(&any.to_string(), "{session_id}")
    }
}

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedStore").finish_non_exhaustive()
    }
}

type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// [`SendStore`] with boxed futures.
trait Boxed: Send + Sync {
    fn create(&self, session: SessionId) -> Answer<'_, Lease>;
    fn open(&self, session: SessionId) -> Answer<'_, Lease>;
    fn release(&self, lease: &Lease);
    fn append<'a>(&'a self, lease: &'a Lease, batch: Batch<'a>) -> Answer<'a, ()>;
    fn load<'a>(&'a self, session: SessionId, agent: Option<&'a str>)
    -> Answer<'a, Option<Stored>>;
    fn put<'a>(&'a self, lease: &'a Lease, name: &'a str, document: &'a [u8]) -> Answer<'a, ()>;
    fn extend<'a>(&'a self, lease: &'a Lease, name: &'a str, bytes: &'a [u8]) -> Answer<'a, ()>;
    fn get<'a>(&'a self, session: SessionId, name: &'a str) -> Answer<'a, Option<Vec<u8>>>;
    fn list(&self) -> Answer<'_, Vec<StoredSession>>;
    fn delete(&self, session: SessionId) -> Answer<'_, ()>;
    fn place(&self, session: SessionId, agent: Option<&str>) -> String;
    fn document_place(&self, session: SessionId, name: &str) -> String;
    fn settings(&self, of: Destination) -> Answer<'_, Option<Vec<u8>>>;
    fn replace_settings<'a>(
        &'a self,
        of: Destination,
        read: Option<&'a str>,
        settings: &'a [u8],
    ) -> Answer<'a, ()>;
    fn settings_place(&self, of: Destination) -> Option<String>;
}

impl<S: SendStore + Sync> Boxed for S {
    fn create(&self, session: SessionId) -> Answer<'_, Lease> {
        Box::pin(SendStore::create(self, session))
    }

    fn open(&self, session: SessionId) -> Answer<'_, Lease> {
        Box::pin(SendStore::open(self, session))
    }

    fn release(&self, lease: &Lease) {
        SendStore::release(self, lease);
    }

    fn append<'a>(&'a self, lease: &'a Lease, batch: Batch<'a>) -> Answer<'a, ()> {
        Box::pin(SendStore::append(self, lease, batch))
    }

    fn load<'a>(
        &'a self,
        session: SessionId,
        agent: Option<&'a str>,
    ) -> Answer<'a, Option<Stored>> {
        Box::pin(SendStore::load(self, session, agent))
    }

    fn put<'a>(&'a self, lease: &'a Lease, name: &'a str, document: &'a [u8]) -> Answer<'a, ()> {
        Box::pin(SendStore::put(self, lease, name, document))
    }

    fn extend<'a>(&'a self, lease: &'a Lease, name: &'a str, bytes: &'a [u8]) -> Answer<'a, ()> {
        Box::pin(SendStore::extend(self, lease, name, bytes))
    }

    fn get<'a>(&'a self, session: SessionId, name: &'a str) -> Answer<'a, Option<Vec<u8>>> {
        Box::pin(SendStore::get(self, session, name))
    }

    fn list(&self) -> Answer<'_, Vec<StoredSession>> {
        Box::pin(SendStore::list(self))
    }

    fn delete(&self, session: SessionId) -> Answer<'_, ()> {
        Box::pin(SendStore::delete(self, session))
    }

    fn place(&self, session: SessionId, agent: Option<&str>) -> String {
        SendStore::place(self, session, agent)
    }

    fn document_place(&self, session: SessionId, name: &str) -> String {
        SendStore::document_place(self, session, name)
    }

    fn settings(&self, of: Destination) -> Answer<'_, Option<Vec<u8>>> {
        Box::pin(SendStore::settings(self, of))
    }

    fn replace_settings<'a>(
        &'a self,
        of: Destination,
        read: Option<&'a str>,
        settings: &'a [u8],
    ) -> Answer<'a, ()> {
        Box::pin(SendStore::replace_settings(self, of, read, settings))
    }

    fn settings_place(&self, of: Destination) -> Option<String> {
        SendStore::settings_place(self, of)
    }
}

impl SendStore for SharedStore {
    async fn create(&self, session: SessionId) -> Result<Lease, StoreError> {
        self.0.create(session).await
    }

    async fn open(&self, session: SessionId) -> Result<Lease, StoreError> {
        self.0.open(session).await
    }

    fn release(&self, lease: &Lease) {
        self.0.release(lease);
    }

    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<(), StoreError> {
        self.0.append(lease, batch).await
    }

    async fn load(
        &self,
        session: SessionId,
        agent: Option<&str>,
    ) -> Result<Option<Stored>, StoreError> {
        self.0.load(session, agent).await
    }

    async fn put(&self, lease: &Lease, name: &str, document: &[u8]) -> Result<(), StoreError> {
        self.0.put(lease, name, document).await
    }

    async fn extend(&self, lease: &Lease, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.0.extend(lease, name, bytes).await
    }

    async fn get(&self, session: SessionId, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.get(session, name).await
    }

    async fn list(&self) -> Result<Vec<StoredSession>, StoreError> {
        self.0.list().await
    }

    async fn delete(&self, session: SessionId) -> Result<(), StoreError> {
        self.0.delete(session).await
    }

    fn place(&self, session: SessionId, agent: Option<&str>) -> String {
        self.0.place(session, agent)
    }

    fn document_place(&self, session: SessionId, name: &str) -> String {
        self.0.document_place(session, name)
    }

    async fn settings(&self, of: Destination) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.settings(of).await
    }

    async fn replace_settings(
        &self,
        of: Destination,
        read: Option<&str>,
        settings: &[u8],
    ) -> Result<(), StoreError> {
        self.0.replace_settings(of, read, settings).await
    }

    fn settings_place(&self, of: Destination) -> Option<String> {
        self.0.settings_place(of)
    }
}
