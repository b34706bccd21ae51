//! A lease that is given back.

use windlass_core::SessionId;

use super::{Lease, Store, StoreError};

/// A lease that is given back when it is dropped.
#[derive(Debug)]
pub struct Leased<S: Store> {
    pub(crate) store: S,
    pub(crate) lease: Lease,
    /// Nobody else answers for it.
    is_ours: bool,
}

impl<S: Store> Leased<S> {
    /// The right to write to a session that begins ([`Store::create`]).
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn create(store: S, session: SessionId) -> Result<Self, StoreError> {
        let lease = store.create(session).await?;
        Ok(Self::of(store, lease))
    }

    /// The right to write to a session that goes on ([`Store::open`]).
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

    /// The lease itself: from now on whoever has it gives it back.
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
