//! Checks whether a store of the page keeps the contract of stores, for tests.

use std::{future::Future, rc::Rc};

use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use windlass_core::{SessionId, permission::Destination};
use windlass_engine::store::{Batch, Lease, Store, StoreError, Stored, StoredSession};
use windlass_testkit::store::{Place, check};

use crate::store::{JsStore, SessionStore};

/// Resolves to the broken promises of a store, each a text. `place` is called for each check and gives a new, empty place: an
/// object whose `store()` opens a store over it, or a promise of one, and whose `pause()` resolves when the clock has gone on.
#[wasm_bindgen(js_name = checkStore)]
pub fn check_store(place: Function) -> Promise {
    future_to_promise(async move {
        let broken =
            check(|| JsPlace(place.call0(&JsValue::NULL).unwrap_or_default().into())).await;
        let texts = broken.iter().map(|it| JsValue::from(it.to_string()));
        Ok(texts.collect::<Array>().into())
    })
}

#[wasm_bindgen]
extern "C" {
    type PlaceOfPage;

    /// A store, or a promise of one.
    #[wasm_bindgen(method)]
    fn store(this: &PlaceOfPage) -> JsValue;

    /// Resolves when the clock has gone on.
    #[wasm_bindgen(method)]
    fn pause(this: &PlaceOfPage) -> Promise;
}

struct JsPlace(PlaceOfPage);

impl Place for JsPlace {
    type Store = OpenedStore;

    async fn store(&self) -> OpenedStore {
        let opened = JsFuture::from(Promise::resolve(&self.0.store())).await;
        let store: SessionStore = opened.unwrap_or_default().unchecked_into();
        OpenedStore {
            store: JsStore(store.clone()),
            _end: Rc::new(CloseOnDrop(store)),
        }
    }

    async fn pause(&self) {
        // There is nothing to wait for if it does not work.
        let _ = JsFuture::from(self.0.pause()).await;
    }
}

/// A store whose leases end when it is dropped, as those of a process that ends.
#[derive(Clone)]
struct OpenedStore {
    store: JsStore,
    _end: Rc<CloseOnDrop>,
}

struct CloseOnDrop(SessionStore);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        // Its leases end then, or a check finds out that they do not.
        let _ = self.0.close();
    }
}

impl Store for OpenedStore {
    fn create(&self, session: SessionId) -> impl Future<Output = Result<Lease, StoreError>> {
        Store::create(&self.store, session)
    }

    fn open(&self, session: SessionId) -> impl Future<Output = Result<Lease, StoreError>> {
        Store::open(&self.store, session)
    }

    fn release(&self, lease: &Lease) {
        Store::release(&self.store, lease);
    }

    fn append(
        &self,
        lease: &Lease,
        batch: Batch<'_>,
    ) -> impl Future<Output = Result<(), StoreError>> {
        Store::append(&self.store, lease, batch)
    }

    fn load(
        &self,
        session: SessionId,
        agent: Option<&str>,
    ) -> impl Future<Output = Result<Option<Stored>, StoreError>> {
        Store::load(&self.store, session, agent)
    }

    fn put(
        &self,
        lease: &Lease,
        name: &str,
        document: &[u8],
    ) -> impl Future<Output = Result<(), StoreError>> {
        Store::put(&self.store, lease, name, document)
    }

    fn extend(
        &self,
        lease: &Lease,
        name: &str,
        bytes: &[u8],
    ) -> impl Future<Output = Result<(), StoreError>> {
        Store::extend(&self.store, lease, name, bytes)
    }

    fn get(
        &self,
        session: SessionId,
        name: &str,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, StoreError>> {
        Store::get(&self.store, session, name)
    }

    fn list(&self) -> impl Future<Output = Result<Vec<StoredSession>, StoreError>> {
        Store::list(&self.store)
    }

    fn delete(&self, session: SessionId) -> impl Future<Output = Result<(), StoreError>> {
        Store::delete(&self.store, session)
    }

    fn place(&self, session: SessionId, agent: Option<&str>) -> String {
        Store::place(&self.store, session, agent)
    }

    fn document_place(&self, session: SessionId, name: &str) -> String {
        Store::document_place(&self.store, session, name)
    }

    fn settings(
        &self,
        of: Destination,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, StoreError>> {
        Store::settings(&self.store, of)
    }

    fn replace_settings(
        &self,
        of: Destination,
        read: Option<&str>,
        settings: &[u8],
    ) -> impl Future<Output = Result<(), StoreError>> {
        Store::replace_settings(&self.store, of, read, settings)
    }

    fn settings_place(&self, of: Destination) -> Option<String> {
        Store::settings_place(&self.store, of)
    }
}
