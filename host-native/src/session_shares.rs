//! What the runners of a session have in common, for as long as the session lasts.

use std::{
    any::Any,
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use windlass_core::SessionId;

/// What the tools and hooks of one session have in common, such as what a plugin remembers of it. It outlives the tools and hooks, which
/// are made anew where settings or plugins are read again.
#[derive(Default)]
pub struct SessionShares(BTreeMap<String, Arc<dyn Any + Send + Sync>>);

impl SessionShares {
    /// What the session has under this name; made when it is first asked for.
    pub fn get_or_make<T: Send + Sync + 'static>(
        &mut self,
        name: &str,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        if let Some(known) = self.0.get(name)
            && let Ok(known) = Arc::clone(known).downcast()
        {
            return known;
        }
        let made = Arc::new(make());
        self.0.insert(name.to_owned(), made.clone());
        made
    }
}

/// The shares of the sessions of a host, and of those that take its place with another configuration.
#[derive(Clone, Default)]
pub(crate) struct SharesBySession(Arc<Mutex<BTreeMap<SessionId, SessionShares>>>);

impl SharesBySession {
    /// Uses those of a session.
    pub(crate) fn with<T>(
        &self,
        session: SessionId,
        using: impl FnOnce(&mut SessionShares) -> T,
    ) -> T {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shares = sessions.entry(session).or_default();
        let used = using(shares);
        // Most sessions have no component that keeps anything.
        if shares.0.is_empty() {
            sessions.remove(&session);
        }
        used
    }

    /// Drops what a session had, which is over.
    pub(crate) fn end(&self, session: SessionId) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = sessions.remove(&session);
        drop(sessions);
        // What it had may take a while to go.
        drop(ended);
    }
}
