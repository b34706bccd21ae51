//! A lease that is released automatically.

use windlass_core::SessionId;

use super::{Lease, Store, StoreError};

/// A lease that is released when it is dropped.
#[derive(Debug)]
pub struct Leased<S: Store> {
    pub(crate) store: S,
    pub(crate) lease: Lease,
    /// Whether this value still has to release it.
    is_ours: bool,
}

impl<S: Store> Leased<S> {
    /// Acquires the lease for a new session ([`Store::create`]).
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn create(store: S, session: SessionId) -> Result<Self, StoreError> {
        let lease = store.create(session).await?;
        Ok(Self::of(store, lease))
    }

    /// Acquires the lease for an existing session ([`Store::open`]).
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn open(store: S, session: SessionId) -> Result<Self, StoreError> {
        let lease = store.open(session).await?;
        Ok(Self::of(store, lease))
    }

    fn of(store: S, lease: Lease) -> Self {
        Self {
            store,
            lease,
            is_ours: true,
        }
    }

    /// Returns the lease itself; the caller is now responsible for releasing it.
    #[must_use]
    pub fn into_lease(mut self) -> Lease {
        self.is_ours = false;
        self.lease.clone()
    }
}

impl<S: Store> Drop for Leased<S> {
    fn drop(&mut self) {
        if self.is_ours {
            self.store.release(&self.lease);
        }
    }
}
