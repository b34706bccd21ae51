//! The store of sessions that a page brings along. Its shape is `SessionStore` in `js/index.d.ts`.

use js_sys::{Array, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use windlass_core::{SessionId, UnixMillis, Uuid, permission::Destination};
use windlass_engine::store::{
    Batch, Lease, Snapshot, Store, StoreError, Stored, StoredSession, is_document_name,
};

use crate::imports::reason;

#[wasm_bindgen]
extern "C" {
    /// The functions of a store, all of which may throw. Sessions are named by their ids, leases by a session and an epoch.
    #[derive(Debug, Clone)]
    pub type SessionStore;

    /// Resolves to the epoch of a lease for a new session.
    #[wasm_bindgen(method, catch)]
    fn create(this: &SessionStore, session: &str) -> Result<Promise, JsValue>;

    /// Resolves to the epoch of a lease for a session that is stored.
    #[wasm_bindgen(method, catch)]
    fn open(this: &SessionStore, session: &str) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn release(this: &SessionStore, session: &str, epoch: f64) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch)]
    fn append(
        this: &SessionStore,
        session: &str,
        epoch: f64,
        agent: Option<&str>,
        lines: &Array,
        snapshot: Option<Uint8Array>,
    ) -> Result<Promise, JsValue>;

    /// Resolves to `{ text, snapshot?: { bytes, isCurrent } }`, or to `undefined`.
    #[wasm_bindgen(method, catch)]
    fn load(this: &SessionStore, session: &str, agent: Option<&str>) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn put(
        this: &SessionStore,
        session: &str,
        epoch: f64,
        name: &str,
        document: &Uint8Array,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn extend(
        this: &SessionStore,
        session: &str,
        epoch: f64,
        name: &str,
        bytes: &Uint8Array,
    ) -> Result<Promise, JsValue>;

    /// Resolves to a `Uint8Array`, or to `undefined`.
    #[wasm_bindgen(method, catch)]
    fn get(this: &SessionStore, session: &str, name: &str) -> Result<Promise, JsValue>;

    /// Resolves to an array of `{ id, modified }`.
    #[wasm_bindgen(method, catch)]
    fn list(this: &SessionStore) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn delete(this: &SessionStore, session: &str) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn place(this: &SessionStore, session: &str, agent: Option<&str>) -> Result<String, JsValue>;

    #[wasm_bindgen(method, catch, js_name = documentPlace)]
    fn document_place(this: &SessionStore, session: &str, name: &str) -> Result<String, JsValue>;

    /// Resolves to a `Uint8Array`, or to `undefined`.
    #[wasm_bindgen(method, catch)]
    fn settings(this: &SessionStore, of: &str) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch, js_name = replaceSettings)]
    fn replace_settings(
        this: &SessionStore,
        of: &str,
        read: Option<&str>,
        settings: &Uint8Array,
    ) -> Result<Promise, JsValue>;

    #[wasm_bindgen(method, catch, js_name = settingsPlace)]
    fn settings_place(this: &SessionStore, of: &str) -> Result<Option<String>, JsValue>;

    /// Releases all leases.
    #[cfg(feature = "testkit")]
    #[wasm_bindgen(method, catch)]
    fn close(this: &SessionStore) -> Result<(), JsValue>;
}

/// A store of the page, as the engine calls it.
#[derive(Debug, Clone)]
pub(crate) struct JsStore {
    js: SessionStore,
    /// Of a store that is closed when its last clone is dropped.
    #[cfg(feature = "testkit")]
    _end: Option<std::rc::Rc<CloseOnDrop>>,
}

impl JsStore {
    /// A store that outlives the sessions which are kept in it.
    pub(crate) fn new(js: SessionStore) -> Self {
        Self {
            js,
            #[cfg(feature = "testkit")]
            _end: None,
        }
    }

    /// A store whose leases end with it, as those of a process that ends.
    #[cfg(feature = "testkit")]
    pub(crate) fn ending(js: SessionStore) -> Self {
        let end = CloseOnDrop(js.clone());
        Self {
            js,
            _end: Some(std::rc::Rc::new(end)),
        }
    }
}

#[cfg(feature = "testkit")]
#[derive(Debug)]
struct CloseOnDrop(SessionStore);

#[cfg(feature = "testkit")]
impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        // Its leases end then, or a check finds out that they do not.
        let _ = self.0.close();
    }
}

/// What a call of the store was about, for its error.
#[derive(Clone, Copy)]
struct About<'a> {
    doing: &'static str,
    session: Option<SessionId>,
    name: &'a str,
}

impl<'a> About<'a> {
    fn session(doing: &'static str, session: SessionId) -> Self {
        Self {
            doing,
            session: Some(session),
            name: "",
        }
    }

    fn named(doing: &'static str, name: &'a str) -> Self {
        Self {
            doing,
            session: None,
            name,
        }
    }

    /// The error that an exception stands for; its `kind` says which.
    fn error(self, exception: &JsValue) -> StoreError {
        let kind = Reflect::get(exception, &JsValue::from_str("kind"))
            .ok()
            .and_then(|kind| kind.as_string());
        let place = match self.session {
            Some(session) => format!("session {session}"),
            None => self.name.to_owned(),
        };
        match (kind.as_deref(), self.session) {
            (Some("busy"), Some(session)) => StoreError::Busy(session),
            (Some("stale"), Some(session)) => StoreError::Stale(session),
            (Some("exists"), Some(session)) => StoreError::Exists(session),
            (Some("unknown"), Some(session)) => StoreError::Unknown(session),
            (Some("changed"), None) => StoreError::Changed(place),
            _ => StoreError::failed(self.doing, place, reason(exception)),
        }
    }

    /// A store that does not keep to its contract.
    fn misfit(self, what: &str) -> StoreError {
        self.error(&JsError::new(&format!("the store gave {what}")).into())
    }

    async fn done(self, asked: Result<Promise, JsValue>) -> Result<JsValue, StoreError> {
        let settled = match asked {
            // What is no promise is as good as one that is kept.
            Ok(promise) => JsFuture::from(Promise::resolve(&promise)).await,
            Err(exception) => Err(exception),
        };
        settled.map_err(|exception| self.error(&exception))
    }

    /// Bytes or nothing.
    async fn bytes(self, asked: Result<Promise, JsValue>) -> Result<Option<Vec<u8>>, StoreError> {
        let value = self.done(asked).await?;
        if value.is_undefined() || value.is_null() {
            return Ok(None);
        }
        let bytes = value.dyn_into::<Uint8Array>();
        let bytes = bytes.map_err(|_| self.misfit("something else than bytes"))?;
        Ok(Some(bytes.to_vec()))
    }
}

impl JsStore {
    async fn lease(
        session: SessionId,
        doing: &'static str,
        asked: Result<Promise, JsValue>,
    ) -> Result<Lease, StoreError> {
        let about = About::session(doing, session);
        let epoch = about.done(asked).await?.as_f64();
        let whole = epoch.filter(|epoch| epoch.fract() == 0.0 && (0.0..MAX_SAFE).contains(epoch));
        match whole {
            Some(epoch) => Ok(Lease {
                session,
                epoch: epoch as u64,
            }),
            None => Err(about.misfit("an epoch that is no whole number")),
        }
    }
}

/// As permission updates name it.
fn name_of(destination: Destination) -> &'static str {
    match destination {
        Destination::UserSettings => "userSettings",
        Destination::ProjectSettings => "projectSettings",
        Destination::LocalSettings => "localSettings",
        Destination::Session => "session",
        Destination::CliArg => "cliArg",
    }
}

/// 2^53: above it, doubles are not exact.
const MAX_SAFE: f64 = 9_007_199_254_740_992.0;

/// Epochs come from JavaScript as whole numbers below 2^53, and go back as the same.
fn epoch(lease: &Lease) -> f64 {
    lease.epoch as f64
}

fn checked(name: &str) -> Result<(), StoreError> {
    match is_document_name(name) {
        true => Ok(()),
        false => Err(StoreError::Name(name.to_owned())),
    }
}

fn field(value: &JsValue, name: &str) -> JsValue {
    Reflect::get(value, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

impl Store for JsStore {
    async fn create(&self, session: SessionId) -> Result<Lease, StoreError> {
        let asked = self.js.create(&session.to_string());
        Self::lease(session, "creating", asked).await
    }

    async fn open(&self, session: SessionId) -> Result<Lease, StoreError> {
        let asked = self.js.open(&session.to_string());
        Self::lease(session, "opening", asked).await
    }

    fn release(&self, lease: &Lease) {
        // A store that cannot release it has lost it anyway.
        let _ = self.js.release(&lease.session.to_string(), epoch(lease));
    }

    async fn append(&self, lease: &Lease, batch: Batch<'_>) -> Result<(), StoreError> {
        let lines: Array = (batch.lines.iter())
            .map(|line| JsValue::from_str(line.get()))
            .collect();
        let session = lease.session.to_string();
        let snapshot = batch.snapshot.map(Uint8Array::from);
        let appended = self
            .js
            .append(&session, epoch(lease), batch.agent, &lines, snapshot);
        let about = About::session("writing", lease.session);
        about.done(appended).await.map(drop)
    }

    async fn load(
        &self,
        session: SessionId,
        agent: Option<&str>,
    ) -> Result<Option<Stored>, StoreError> {
        let about = About::session("reading", session);
        let loaded = self.js.load(&session.to_string(), agent);
        let stored = about.done(loaded).await?;
        if stored.is_undefined() || stored.is_null() {
            return Ok(None);
        }
        let text = field(&stored, "text").as_string();
        let text = text.ok_or_else(|| about.misfit("a transcript without `text`"))?;
        let kept = field(&stored, "snapshot");
        let bytes = field(&kept, "bytes").dyn_into::<Uint8Array>().ok();
        Ok(Some(Stored {
            text: text.into_bytes(),
            snapshot: bytes.map(|bytes| Snapshot {
                bytes: bytes.to_vec(),
                is_current: field(&kept, "isCurrent").is_truthy(),
            }),
        }))
    }

    async fn put(&self, lease: &Lease, name: &str, document: &[u8]) -> Result<(), StoreError> {
        checked(name)?;
        let session = lease.session.to_string();
        let put = self.js.put(&session, epoch(lease), name, &document.into());
        let about = About::session("writing", lease.session);
        about.done(put).await.map(drop)
    }

    async fn extend(&self, lease: &Lease, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        checked(name)?;
        let session = lease.session.to_string();
        let extended = self.js.extend(&session, epoch(lease), name, &bytes.into());
        let about = About::session("writing", lease.session);
        about.done(extended).await.map(drop)
    }

    async fn get(&self, session: SessionId, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        checked(name)?;
        let document = self.js.get(&session.to_string(), name);
        About::session("reading", session).bytes(document).await
    }

    async fn list(&self) -> Result<Vec<StoredSession>, StoreError> {
        let about = About::named("listing", "the sessions");
        let listed = about.done(self.js.list()).await?;
        let listed: Array = (listed.dyn_into()).map_err(|_| about.misfit("no list of sessions"))?;
        let session = |value: JsValue| {
            let id = field(&value, "id").as_string()?;
            Some(StoredSession {
                id: Uuid::try_parse(&id).ok()?,
                modified: UnixMillis(field(&value, "modified").as_f64()? as u64),
            })
        };
        let sessions: Option<Vec<StoredSession>> = listed.iter().map(session).collect();
        sessions.ok_or_else(|| about.misfit("a session without `id` and `modified`"))
    }

    async fn delete(&self, session: SessionId) -> Result<(), StoreError> {
        let deleted = self.js.delete(&session.to_string());
        let about = About::session("deleting", session);
        about.done(deleted).await.map(drop)
    }

    fn place(&self, session: SessionId, agent: Option<&str>) -> String {
        self.js
            .place(&session.to_string(), agent)
            .unwrap_or_default()
    }

    fn document_place(&self, session: SessionId, name: &str) -> String {
        (self.js.document_place(&session.to_string(), name)).unwrap_or_default()
    }

    async fn settings(&self, of: Destination) -> Result<Option<Vec<u8>>, StoreError> {
        let about = About::named("reading", name_of(of));
        about.bytes(self.js.settings(name_of(of))).await
    }

    async fn replace_settings(
        &self,
        of: Destination,
        read: Option<&str>,
        settings: &[u8],
    ) -> Result<(), StoreError> {
        let about = About::named("writing", name_of(of));
        let replaced = self
            .js
            .replace_settings(name_of(of), read, &settings.into());
        about.done(replaced).await.map(drop)
    }

    fn settings_place(&self, of: Destination) -> Option<String> {
        self.js.settings_place(name_of(of)).unwrap_or_default()
    }
}
