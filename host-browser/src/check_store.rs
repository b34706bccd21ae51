//! Checks whether a store of the page keeps the contract of stores, for tests.

use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use windlass_testkit::store::{Place, check};

use crate::store::JsStore;

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
    type Store = JsStore;

    async fn store(&self) -> JsStore {
        let opened = JsFuture::from(Promise::resolve(&self.0.store())).await;
        JsStore::ending(opened.unwrap_or_default().unchecked_into())
    }

    async fn pause(&self) {
        // There is nothing to wait for if it does not work.
        let _ = JsFuture::from(self.0.pause()).await;
    }
}
